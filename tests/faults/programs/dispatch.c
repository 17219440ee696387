/* SPDX-License-Identifier: MIT */
/*
 * dispatch.c - the kernel turns the program's system calls into signals
 *
 *   dispatch asked N   ask for this (PR_SET_SYSCALL_USER_DISPATCH), and work
 *   dispatch refused N the kernel refuses what the program asks for
 *
 * The exit status is 77 if the kernel does not have this, and otherwise 5.  The
 * program prints which system calls became signals.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF	     0
#define PR_SYS_DISPATCH_ON	     1
#endif
/* A system call that no kernel has. */
#define NO_CALL 0xe000

/* While 'selector' is 1, a system call becomes a signal. */
static volatile char selector;
static volatile int nsignals;
static volatile int number;

static void
on_call(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	selector = 0;
	nsignals++;
	number = info->si_syscall;
}

static void
work(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		char *volatile p = malloc((size_t)(i % 300) + 1);

		free(p);
	}
}

static void
report(const char *what)
{
	selector = 0;
	printf("%s: %d signals, the last for call %d\n", what, nsignals,
	       number);
	nsignals = 0;
	number = 0;
}

/* Is the refused call refused for the reason that it should be? */
static int
is_refused(int option, unsigned long where)
{
	return prctl(PR_SET_SYSCALL_USER_DISPATCH, option, where, 0UL,
		     &selector) == -1 &&
	       errno == EINVAL;
}

int
main(int argc, char **argv)
{
	struct sigaction action;
	long rounds;

	if (argc < 3)
		return 2;
	rounds = atol(argv[2]);
	work(rounds);
	if (strcmp(argv[1], "refused") == 0) {
		if (!is_refused(PR_SYS_DISPATCH_OFF, 0) || !is_refused(99, 0))
			return 3;
		work(rounds);
		return 5;
	}
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_call;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSYS, &action, NULL);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0UL, 0UL,
		  &selector) != 0)
		return 77;
	selector = 1;
	printf("result %ld\n", syscall(NO_CALL));
	report("syscall");
	selector = 1;
	work(rounds);
	report("work");
	prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0UL, 0UL, 0UL);
	work(rounds);
	return 5;
}

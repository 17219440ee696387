/* SPDX-License-Identifier: MIT */
/*
 * fork_steps.c - a signal handler forks after each instruction of the recorder
 *
 * usage: fork_steps malloc|free [allocate]
 *
 * Run one call of this function after the other, instruction by instruction.
 * In the first call, the handler of SIGTRAP forks at the first instruction in
 * libhatftrace.so, in the second call at the second one, and so on, until a
 * call has no more instructions there.  The child returns into the call and
 * goes on.  With "allocate", it first allocates in the handler.  Print how many
 * children there were, and how many of them ended badly.
 */
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* EFLAGS.TF: trap after each instruction */
#define TRAP_FLAG 0x100
/* A call has some hundreds of instructions in the recorder. */
#define STEPS_MAX 20000

static uintptr_t code_begin, code_end;
static volatile long step, fork_at;
static volatile sig_atomic_t is_child;
static bool child_allocates;

/* Compilers remove free(malloc(nbytes)). */
static void
allocate(size_t nbytes)
{
	void *volatile p = malloc(nbytes);

	free(p);
}

static int
find_code(struct dl_phdr_info *info, size_t nbytes, void *data)
{
	(void)nbytes, (void)data;
	if (strstr(info->dlpi_name, "libhatftrace") == NULL)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
			code_begin =
				info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			code_end = code_begin + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

static void
on_step(int sig, siginfo_t *info, void *context)
{
	greg_t *const reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig, (void)info;
	if ((uintptr_t)reg[REG_RIP] - code_begin >= code_end - code_begin ||
	    ++step != fork_at)
		return;
	reg[REG_EFL] &= ~TRAP_FLAG;
	if (fork() != 0)
		return;
	is_child = 1;
	alarm(10);
	if (child_allocates)
		allocate(100);
}

static inline __attribute__((always_inline)) void
set_trap_flag(bool is_on)
{
	/* The red zone may be in use. */
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "andq $~0x100, (%%rsp)\n\t"
			 "orq %0, (%%rsp)\n\t"
			 "popfq\n\t"
			 "lea 128(%%rsp), %%rsp"
			 :
			 : "r"(is_on ? (uint64_t)TRAP_FLAG : 0)
			 : "cc", "memory");
}

/* Call the function, and fork after so many of its instructions. */
static void
call(const char *function, long at)
{
	const bool is_malloc = function[0] == 'm';
	void *volatile p = NULL;

	/* Keep the recorder busy, so that the call takes its fast path. */
	for (int i = 0; i < 5000; i++)
		allocate(200);
	if (!is_malloc)
		p = malloc(300);
	step = 0;
	fork_at = at;
	set_trap_flag(true);
	if (is_malloc)
		p = malloc(400);
	else
		free(p);
	set_trap_flag(false);
	if (is_malloc)
		free(p);
	for (int i = 0; i < 4; i++)
		allocate(200);
}

int
main(int argc, char **argv)
{
	const struct sigaction action = { .sa_sigaction = on_step,
					  .sa_flags = SA_SIGINFO };
	long at = 0, bad = 0;

	child_allocates = argc > 2;
	dl_iterate_phdr(find_code, NULL);
	if (argc < 2 || code_end == 0 || sigaction(SIGTRAP, &action, NULL) != 0)
		return 2;
	do {
		int status = 0;

		call(argv[1], ++at);
		if (is_child)
			_exit(0);
		if (step == at && wait(&status) > 0 && status != 0)
			bad++;
	} while (step == at && at < STEPS_MAX);
	printf("%ld %ld\n", at - 1, bad);
	return 0;
}

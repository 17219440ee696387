/* SPDX-License-Identifier: MIT */
/*
 * call_paths.c - allocations by known call paths
 *
 *   call_paths          each path several times, then exit
 *   call_paths forever  until it is killed
 *
 * The call paths are main -> outer -> inner -> malloc, main -> inner -> malloc,
 * main -> grow -> realloc, and thread -> inner -> malloc.  A handler of SIGUSR1
 * on a stack of its own allocates by handler -> inner, a context of
 * makecontext(3) by coroutine -> inner.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define ROUNDS 100

static void *volatile sink;
static ucontext_t main_context, other_context;

__attribute__((noinline)) static void *
inner(size_t nbytes)
{
	void *const p = malloc(nbytes);

	sink = p;
	return p;
}

__attribute__((noinline)) static void *
outer(size_t nbytes)
{
	void *const p = inner(nbytes);

	sink = p;
	return p;
}

__attribute__((noinline)) static void *
grow(void *p, size_t nbytes)
{
	p = realloc(p, nbytes);
	sink = p;
	return p;
}

static void *
thread(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		free(inner(3000));
	return unused;
}

static void
handler(int number)
{
	(void)number;
	free(inner(4000));
}

static void
coroutine(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		free(inner(5000));
		swapcontext(&other_context, &main_context);
	}
}

static void
run_round(void)
{
	free(outer(1000));
	free(inner(2000));
	free(grow(malloc(10), 6000));
	raise(SIGUSR1);
	swapcontext(&main_context, &other_context);
}

int
main(int argc, char **argv)
{
	static char signal_stack[65536], other_stack[65536];
	const stack_t stack = { .ss_sp = signal_stack,
				.ss_size = sizeof(signal_stack) };
	struct sigaction action = { .sa_handler = handler,
				    .sa_flags = SA_ONSTACK };
	pthread_t id;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = other_stack;
	other_context.uc_stack.ss_size = sizeof(other_stack);
	other_context.uc_link = &main_context;
	makecontext(&other_context, coroutine, 0);
	for (int i = 0; i < ROUNDS; i++)
		run_round();
	if (argc > 1 && strcmp(argv[1], "forever") == 0) {
		puts("ready");
		fflush(stdout);
		for (;;) {
			free(outer(1000));
			usleep(20);
		}
	}
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	return 0;
}

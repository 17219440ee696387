/* SPDX-License-Identifier: MIT */
/*
 * rawexit.c - a program that ends by a direct system call, as Go programs do
 *
 * usage: rawexit STATUS
 *
 * It makes a thread, as Go's run time does, and 1000 blocks, frees half of
 * them, and makes no further calls of libc.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>

__attribute__((noreturn)) static void
end(long status)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 :
			 : "a"(SYS_exit_group), "D"(status)
			 : "rcx", "r11", "memory");
#else
	register long number __asm__("x8") = SYS_exit_group;
	register long first __asm__("x0") = status;

	__asm__ volatile("svc 0" : : "r"(number), "r"(first) : "memory");
#endif
	__builtin_unreachable();
}

static void *
do_nothing(void *argument)
{
	return argument;
}

int
main(int argc, char **argv)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, do_nothing, NULL) != 0)
		return 99;
	pthread_join(thread, NULL);
	for (int i = 0; i < 1000; i++) {
		void *const p = malloc(16 + (size_t)i);

		if (i % 2 == 0)
			free(p);
	}
	end(argc > 1 ? atol(argv[1]) : 0);
}

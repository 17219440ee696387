#!/bin/bash
# SPDX-License-Identifier: MIT
#
# small-stack.sh - call stacks are captured on a small stack
#
# A signal handler allocates on an alternate stack.  The recorder must need
# little of it, also when it records the first stack of a program.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

cat >small.c <<'E_SMALL'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
static void *kept[1000];
static void handle(int unused)
{
	(void)unused;
	for (int i = 0; i < 1000; i++)
		kept[i] = malloc(24);
	for (int i = 0; i < 1000; i++)
		free(kept[i]);
}
int main(void)
{
	const size_t half = 1 << 19;
	char *const base = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = base + half, .ss_size = 8192 };
	struct sigaction action = { .sa_handler = handle,
				    .sa_flags = SA_ONSTACK };
	mprotect(base, half, PROT_NONE);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	puts("fine");
}
E_SMALL
${CC:-cc} -O1 -fno-builtin -w -Wl,-z,now -o small small.c ||
	fail 'cannot build small'
# On some processors the registers alone take more.
[ "$(./small 2>/dev/null)" = fine ] || skip 'a signal needs a larger stack'
for stacks in off caller on on:frees; do
	check "$stacks" "$(HATFTRACE_STACKS=$stacks trace $stacks.gz ./small)" \
		fine
	clean $stacks.gz
done
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# filter-after-fork.sh - a forked child installs a filter and executes
#
# The filter kills the process for a call that the recorder makes when a program
# begins.  So the program that the child executes must run untraced, also if the
# child itself has not allocated anything.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

cat >filter.c <<'E_FILTER'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atoi(argv[1]), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };
	int status;
	pid_t child;
	free(malloc(10));
	child = fork();
	if (child == 0) {
		if (argc > 2)
			free(malloc(20));
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	printf("%x\n", status);
}
E_FILTER
${CC:-cc} -O1 -fno-builtin -w -o filter filter.c || fail 'cannot build filter'

number()
{
	printf '#include <sys/syscall.h>\nSYS_%s\n' "$1" | ${CC:-cc} -E - |
		tail -1
}

for name in getpid gettid futex; do
	nr=$(number $name)
	[ "$(./filter "$nr")" = 0 ] || continue
	for allocates in '' yes; do
		check "$name ${allocates:+after an allocation}" \
			"$(HATFTRACE_OUT=$TMP/t.%p.gz LD_PRELOAD=$SO \
				./filter "$nr" $allocates)" 0
	done
done
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# ring-holes.sh - a ring that cannot grow keeps its addresses
#
# A filter refuses madvise(2) in all threads, the writer included.  Otherwise
# the program could map memory inside the ring, and the next attempt to let the
# ring grow would replace that memory.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

cat >refuse.c <<'E_REFUSE'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static struct sock_fprog program = { 4, filter };
/* Find the hidden words of the initial thread's ring. */
static void find_hidden(unsigned long *from, unsigned long *to)
{
	FILE *const f = fopen("/proc/self/maps", "r");
	char line[4096];
	while (fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, "---s") != NULL && strstr(line, ".rings"))
			sscanf(line, "%lx-%lx", from, to);
	fclose(f);
}
int main(void)
{
	unsigned long from = 0, to = 0;
	/* The first events make the ring; wait until it is in the file. */
	for (int i = 0; i < 500 && from == 0; i++) {
		free(malloc(1));
		usleep(10000);
		find_hidden(&from, &to);
	}
	if (from == 0)
		return 2;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		return 3;
	for (int i = 0; i < 1000000; i++)
		free(malloc(7));
	return msync((void *)from, to - from, MS_ASYNC) == 0 ? 0 : 4;
}
E_REFUSE
${CC:-cc} -O1 -fno-builtin -o refuse refuse.c || fail 'cannot build'
trace "$TMP/refuse.gz" ./refuse
check 'status' $? 0
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# execs.sh - a new image has a new trace, and the old one is whole
. "$(dirname "$0")/lib.sh"

# start WAY STATUS: run it and check every trace.
start()
{
	rm -rf tally tally.traces
	trace_tallied tally "$PROGS/lifecycle" "$1" >out 2>err
	check "$1: status" $? "$2"
	[ -s err ] && fail "$1: stderr: $(cat err)"
	clean tally.traces/*
	compare_tallies tally
	check "$1: traces" "$(find tally.traces -type f | wc -l)" \
		"$(find tally -type f | wc -l)"
}

# Both images have the same process number, so the name of the second trace is
# taken.
for way in exec exec-in-thread; do
	start $way 0
	first=$(find tally.traces -name '*.gz')
	check "$way: end" "$(trailer "$first" end)" exec
	check "$way: end of the second image" "$(trailer "$first.1" end)" exit
	check "$way: same process" "$(info "$first" pid)" \
		"$(info "$first.1" pid)"
	check "$way: command" "$(header "$first.1" command | sed 's/.* //')" \
		image
done

start exec-fail 12
check "exec-fail: AFTER" "$(events tally.traces/* | grep -c '^alloc 30002 ')" 1
check "exec-fail: end" "$(trailer tally.traces/* end)" exit
waited=$(trailer tally.traces/* wait_ns)
check_le 'exec-fail: time that producers wait' "${waited:-0}" 500000000

# A handler leaves an abort() by a jump: no thread waits long after it.
start abort-jump 12
check "abort-jump: end" "$(trailer tally.traces/* end)" exit
waited=$(trailer tally.traces/* wait_ns)
check_le 'abort-jump: time that producers wait' "${waited:-0}" 500000000

# Each of nine children has one trace before the exec and one after it.
start exec-variants 0
check "exec-variants: processes" "$(find tally.traces -name '*.gz' | wc -l)" 10
for trace in tally.traces/*.gz; do
	[ -z "$(header "$trace" parent_pid)" ] ||
		check "exec-variants: end of $trace" "$(trailer "$trace" end)" \
			exec
done

for way in vfork spawn; do
	start $way 0
	for trace in tally.traces/*; do
		case $(header "$trace" command) in
		*lifecycle*)
			check "$way: AFTER" "$(events "$trace" |
				grep -c '^alloc 30002 ')" 1
			check "$way: end" "$(trailer "$trace" end)" exit
			;;
		esac
	done
done

start system 0

# An image that is not traced leaves no file.
start exec-clean 0
check "exec-clean: traces" "$(find tally.traces -type f | wc -l)" 1
check "exec-clean: end" "$(trailer tally.traces/* end)" exec

# Regression: a ring became larger when its trace went on in another ring file,
# and the thread put its events where the writer did not look for them.
cat >goes-on.c <<'EOT'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *blocks[256];

static void
use(int n)
{
	for (unsigned i = 0; i < n; i++) {
		const unsigned k = i * 7 % 256;

		free(blocks[k]);
		blocks[k] = malloc(16 + i % 1000);
	}
}

static void *
nothing(void *unused)
{
	return unused;
}

int
main(void)
{
	char *argv[] = { "no", NULL };
	pthread_t thread;

	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, NULL);
	use(6000);
	usleep(700000);
	use(50);
	usleep(700000);
	free(aligned_alloc(64, 64));
	use(4000);
	execv("/etc/passwd", argv);
	use(7000);
	return 0;
}
EOT
${CC:-cc} -w -O1 -fno-builtin -o goes-on goes-on.c -lpthread ||
	fail 'cannot build goes-on'
for _ in 1 2 3; do
	rm -f goes-on.gz
	trace goes-on.gz ./goes-on
	clean goes-on.gz
	check 'goes on: blocks at 0' \
		"$("$HATF" dump goes-on.gz | grep -c 'addr=0x0 ')" 0
done

# An exec in a child that has another thread-local area, as in a sandbox's
# helper, and one under a filter that kills the process for access().
cat >odd.c <<'EOT'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char tls[65536] __attribute__((aligned(64)));
static char stack[1 << 18] __attribute__((aligned(64)));
static char *argv0[] = { "true", NULL }, *envp0[] = { NULL };

__attribute__((optimize("no-stack-protector"))) static int
child(void *path)
{
	execve(path, argv0, envp0);
	return 77;
}

#ifdef SYS_access
static int
filtered(const char *path)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_access, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 4, filter };

	/* Let the child have a trace, which this filter does not end. */
	free(malloc(3));
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	execve(path, argv0, envp0);
	return errno;
}
#else
static int
filtered(const char *path)
{
	return ENOENT;
}
#endif

int
main(void)
{
	int status[3];
	pid_t pid;

	free(malloc(3));
	pid = clone(child, stack + sizeof(stack) - 128,
		    SIGCHLD | CLONE_VM | CLONE_VFORK | CLONE_SETTLS,
		    "/bin/true", NULL, tls + sizeof(tls) / 2);
	waitpid(pid, &status[0], 0);
	pid = clone(child, stack + sizeof(stack) - 128, SIGCHLD | CLONE_SETTLS,
		    "/bin/true", NULL, tls + sizeof(tls) / 2);
	waitpid(pid, &status[1], 0);
	pid = fork();
	if (pid == 0)
		_exit(filtered("/nonexistent"));
	waitpid(pid, &status[2], 0);
	printf("%#x %#x %#x\n", status[0], status[1], status[2]);
	return 0;
}
EOT
if ${CC:-cc} -w -O1 -fno-builtin -D_GNU_SOURCE -o odd odd.c 2>/dev/null; then
	check 'odd children, bare' "$(./odd)" '0 0 0x200'
	check 'odd children' "$(trace "$TMP/odd.%p.gz" ./odd)" '0 0 0x200'
	clean odd.*.gz
	check 'odd children: traces' "$(find . -name 'odd.*.gz' | wc -l)" 2
fi
finish

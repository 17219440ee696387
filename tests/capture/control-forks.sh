#!/bin/bash
# SPDX-License-Identifier: MIT
#
# control-forks.sh - orders to stop during forks do not disturb later segments
#
# A segment does not end while a fork is under way.  If recording stops in the
# middle of a fork, the fork must not count as under way for ever.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

control_folder
cat >forks.c <<'E_FORKS'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *unused)
{
	unsigned s = 1;
	static void *kept[512];
	for (;;) {
		s = s * 1103515245 + 12345;
		void **const p = &kept[(s >> 10) % 512];
		free(*p);
		*p = malloc((s >> 16) % 9000);
	}
	return unused;
}
static void linger(void)
{
	usleep(50000);
}
int main(void)
{
	pthread_t t;
	pthread_atfork(linger, NULL, NULL);
	pthread_create(&t, NULL, work, NULL);
	for (;;) {
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		usleep(10000);
	}
}
E_FORKS
${CC:-cc} -O1 -fno-builtin -o forks forks.c -pthread ||
	fail 'cannot build forks'

(exec env HATFTRACE_START=off HATFTRACE_FOLLOW=none HATFTRACE_KEEP=64M \
	HATFTRACE_OUT="$TMP/f.%s.gz" LD_PRELOAD="$SO" ./forks) &
pid=$!
sleep 0.3
for _ in {1..60}; do
	ctl $pid start >/dev/null 2>&1
	ctl $pid stop >/dev/null 2>&1
done
ctl $pid start >out 2>&1
check 'start' $? 0
# A fork is under way most of the time; 'hatf ctl' then repeats the order.
for i in 1 2 3; do
	ctl $pid rotate >out 2>&1 || fail "rotation $i: $(cat out)"
done
kill $pid
wait $pid 2>/dev/null
finish

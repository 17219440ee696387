#!/bin/bash
# SPDX-License-Identifier: MIT
#
# top.sh - 'hatf top' shows what a running program has at each moment
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'

cat >program.c <<'END'
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *kept[100000];
static int count;
__attribute__((noinline)) void *
wrap(size_t nbytes)
{
	void *volatile p = malloc(nbytes);

	return p;
}
__attribute__((noinline)) void
keep(int n)
{
	for (int i = 0; i < n; i++)
		kept[count++] = malloc(1000);
}
__attribute__((noinline)) void
keep_wrapped(int n)
{
	for (int i = 0; i < n; i++)
		kept[count++] = wrap(1000);
}
__attribute__((noinline)) void
churn(int n)
{
	for (int i = 0; i < n; i++)
		free(malloc(100));
}
static void *
busy(void *arg)
{
	pthread_setname_np(pthread_self(), "busy");
	keep(50);
	return arg;
}
static void
run_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, busy, NULL) == 0)
		pthread_join(t, NULL);
}
/*
 * Write events until there is more input, but fewer per second than 'hatf top'
 * can read.
 */
static void
run_busily(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	while (poll(&input, 1, 1) == 0)
		churn(1000);
}
int
main(void)
{
	static char line[64];
	char c;

	/* stdio must not allocate. */
	setvbuf(stdout, line, _IOLBF, sizeof(line));
	printf("%d\n", getpid());
	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == 'k')
			keep(100);
		else if (c == 'c')
			churn(500);
		else if (c == 'w')
			keep_wrapped(10);
		else if (c == 'b')
			run_busily();
		else if (c == 't')
			run_thread();
		else
			while (count > 0)
				free(kept[--count]);
		printf("done\n");
	}
	return 0;
}
END
gcc -g -O1 -fno-builtin -pthread -o program program.c || fail 'gcc failed'
run "$PYTHON" "$CLI/top.py" "$HATF" ./program
check_status "steps: $(cat err)" 0

# ----------------------------------------------------------------- wrong input
wrong()
{
	local want=$1 message=$2
	shift 2
	run "$HATF" top "$@"
	check_status "top $*" "$want"
	check_one_line "top $*" "$message"
}
wrong 2 'hatf top: one PID or FILE is needed*'
wrong 2 'hatf top: one PID or FILE is needed*' 1 2
wrong 2 "hatf top: --sort: unknown value 'size' *" -s size 1
wrong 2 "hatf top: --interval: not a number *" -d x 1
wrong 2 'hatf top: --wrapper: the name of a function is missing*' \
	--wrapper '' 1
wrong 1 'hatf top: none.hatf: No such file or directory' none.hatf
echo 'no trace' >text.hatf
wrong 1 'hatf top: text.hatf: *' text.hatf
wrong 1 'hatf top: *' $$
sleep 0.01 &
gone=$!
wait
wrong 1 'hatf top: *' "$gone"
mkfifo pipe.hatf
(exec 3<>pipe.hatf && timeout 10 "$HATF" top pipe.hatf 2>err >out)
[ "$?" -eq 1 ] || fail "a pipe: $(cat err)"

# The process goes on as a program that is not recorded.
rm -f out
LD_PRELOAD=$BUILD/libhatftrace.so HATFTRACE_OUT=exec.hatf HATFTRACE_BEGIN=now \
	perl -e '@texts = map { "x" x $_ } 1 .. 5000;
		select undef, undef, undef, 0.05 until -s "out";
		delete $ENV{LD_PRELOAD};
		exec "sleep", "60"' &
process=$!
for ((i = 0; i < 500; i++)); do
	[ -s exec.hatf ] && break
	sleep 0.02
done
sleep 0.8 # the process has a control socket 0.5 s after its start
run "$HATF" top -d 0.2 $process
check_status 'a program that is not recorded' 0
grep -q ': the trace has ended$' err || fail "not recorded: $(cat err)"
kill $process
wait $process 2>/dev/null

# A damaged trace, and names that would change a terminal.
{
	header clock=us unit=us
	comment 'HATF frame\nframe=1\nfunction=evil\\x1b[2Jname\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	layout
	alloc 4096 0x5581a0 0 0 6 '\x45\x01'
} >evil.hatf
cp evil.hatf bad.hatf
trailer evil.hatf 1 4
run "$HATF" top evil.hatf
check_status 'a finished trace' 0
grep -q $'\033' out && fail 'a name has sent an escape sequence'
grep -qF 'evil\x1b[2Jname' out || fail "names: $(cat out)"
u 1 77 >>bad.hatf
run "$HATF" top bad.hatf
check_status 'a damaged trace' 1
grep -q '^hatf top: bad.hatf: ' err || fail "damaged: $(cat err)"
finish

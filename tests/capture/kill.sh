#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# kill.sh - what a killed program allocated is in its trace after 'hatf recover'
#
#	ROUNDS=N	kills (default 20)
#	SEED=N		seed of the random moments and settings
. "$(dirname "$0")/lib.sh"
ROUNDS=${ROUNDS:-20}
RANDOM=${SEED:-$$}

stat -f -c %T . | grep -qE 'ext|xfs|tmpfs|overlay|btrfs|f2fs' ||
	skip "no ring file is safe on $(stat -f -c %T .)"

# running DIR: count the live processes among those that have logs in DIR.
running()
{
	local log count=0
	for log in "$1"/log.*; do
		log=${log##*/log.}
		[ -e "/proc/${log%%.*}/stat" ] &&
			! grep -q ') Z' "/proc/${log%%.*}/stat" &&
			count=$((count + 1))
	done
	echo $count
}

# kill_group PID: kill the process and its children at once, and wait for their
# end.
kill_group()
{
	kill -9 -- "-$1"
	wait "$1" 2>/dev/null
	for _ in $(seq 100); do
		[ "$(running logs)" -eq 0 ] && return
		sleep 0.02
	done
}

# examine WHAT: recover every trace in traces/, compare it with the logs.
examine()
{
	local trace pid
	"$HATF" recover traces >recovered.out 2>&1 ||
		fail "$1: recover: $(cat recovered.out)"
	for trace in traces/*.hatf*; do
		case $trace in
		*.rings*) fail "$1: $trace is left"; continue ;;
		esac
		# This child had just been created; its trace has no content
		# yet.
		if [ ! -s "$trace" ]; then
			unborn=$((unborn + 1))
			continue
		fi
		clean "$trace"
		pid=$(header "$trace" pid)
		check "$1: end" "$(trailer "$trace" end)" abrupt
		check "$1: complete" "$(trailer "$trace" complete)" 1
		"$HATF" dump "$trace" >dump.txt
		if compgen -G "logs/log.$pid.*" >/dev/null; then
			"$PYTHON" "$CAPTURE/witness.py" dump.txt \
				logs/log."$pid".* >count 2>err ||
				fail "$1: $trace: $(head -n 3 err)"
			total=$((total + $(cat count)))
		fi
	done
}

# nap MS: sleep so many milliseconds.
nap()
{
	sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}

total=0 unborn=0
kinds=('4 0 0' '1 0 0' '2 300 0' '8 5000 0' '2 0 2' '3 1000 1')
settings=('' HATFTRACE_BUFFER=4K HATFTRACE_COMPRESS=none HATFTRACE_CLOCK=ns
	HATFTRACE_CLOCK=off)
for round in $(seq "$ROUNDS"); do
	rm -rf logs traces
	mkdir logs traces
	read -r threads life forks <<<"${kinds[RANDOM % ${#kinds[@]}]}"
	setting=${settings[RANDOM % ${#settings[@]}]}
	ms=$((RANDOM % 10 == 0 ? RANDOM % 900 : RANDOM % 150))
	what="round $round: $threads threads, life $life, $forks forks,"
	what+=" ${setting:-defaults}, $ms ms"
	# shellcheck disable=SC2086 # no setting is no word
	setsid env $setting HATFTRACE_OUT="$TMP/traces/%p.hatf.gz" \
		LD_PRELOAD="$SO" "$PROGS/witness" logs "$threads" "$life" \
		"$forks" &
	pid=$!
	# Wait for the first log: 'env' has a trace, too, but no log.
	until compgen -G 'logs/log.*' >/dev/null; do sleep 0.005; done
	nap "$ms"
	kill_group $pid
	examine "$what"
done

# Killed in the events after the writer has come: its ring is then in a file,
# and larger than before.  No event is missing.
cat >count.c <<'EOT'
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void *blocks[300000];

int
main(int argc, char **argv)
{
	const int n = atoi(argv[1]);

	for (int i = 0; i < n; i++)
		blocks[i] = i % 5 == 4 ? realloc(blocks[i - 1], 90)
				       : malloc(16 + i % 50);
	if (argc > 2)
		raise(SIGKILL);
	return 0;
}
EOT
${CC:-cc} -w -O1 -fno-builtin -o count count.c || fail 'cannot build count'
for stacks in off on; do
	for n in 24600 26000 32700 33000 60000 140000 300000; do
		rm -rf traces
		mkdir traces
		for how in '' kill; do
			# shellcheck disable=SC2086 # no 'kill' is no word
			HATFTRACE_STACKS=$stacks LD_PRELOAD=$SO \
				HATFTRACE_OUT="$TMP/traces/${how:-end}.gz" \
				./count $n $how 2>/dev/null
		done 2>/dev/null
		"$HATF" recover traces/kill.gz >recovered.out 2>&1 ||
			fail "killed at $n: recover: $(cat recovered.out)"
		clean traces/kill.gz
		for what in end kill; do
			check "$what at $n, stacks $stacks: events" \
				"$(info traces/$what.gz events)" $n
		done
	done
done

# Killed after a malloc(0) that returned NULL.
cat >null.c <<'EOT'
#include <stddef.h>

void *__libc_malloc(size_t);

void *
malloc(size_t n)
{
	return n == 0 ? NULL : __libc_malloc(n);
}
EOT
cat >empty.c <<'EOT'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static void *
run(void *arg)
{
	for (int i = 0; i < 30000; i++) {
		malloc(24);
		malloc(0);
	}
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t thread;

	run(NULL);
	if (argc > 1 && pthread_create(&thread, NULL, run, NULL) == 0)
		pthread_join(thread, NULL);
	raise(SIGKILL);
	return argc;
}
EOT
${CC:-cc} -w -O1 -fno-builtin -o empty empty.c -pthread &&
	${CC:-cc} -O1 -fPIC -shared -fno-builtin -o null.so null.c ||
	fail 'cannot build empty'
for stacks in off on; do
	for threads in 1 2; do
		rm -rf traces
		mkdir traces
		# shellcheck disable=SC2046 # no argument is no word
		HATFTRACE_STACKS=$stacks HATFTRACE_OUT="$TMP/traces/t.gz" \
			LD_PRELOAD="$SO:$TMP/null.so" \
			./empty $([ $threads = 1 ] || echo 2) 2>/dev/null
		"$HATF" recover traces/t.gz >recovered.out 2>&1 ||
			fail "malloc(0), $threads: $(cat recovered.out)"
		clean traces/t.gz
		check "malloc(0), $threads threads, stacks $stacks" \
			"$("$HATF" dump traces/t.gz |
				grep -c 'alloc size=0 addr=0x\?0 ')" \
			$((30000 * threads))
	done
done
echo "$ROUNDS kills, $total calls compared," \
	"$unborn traces without content, $failures failures"
finish

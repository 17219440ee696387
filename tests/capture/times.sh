#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# times.sh - each event's time against the program's own clock
#
# No time is later than the return of the call, and none is earlier than its
# beginning by more than the trace says.  At first, times were up to some
# milliseconds late if there was a second thread, for three reasons: at each
# change between ticks and stamps, the trace's time was raised to that of a
# round; a writer that was interrupted between its two clock readings trusted
# the later one; and times before the last two readings were extrapolated from
# the slope between those.
#
#	CALLS=N		calls of each thread (default 2000)
#	SHOW=1		print the figures
. "$(dirname "$0")/lib.sh"
need taskset
CALLS=${CALLS:-2000}
busy=()
trap 'kill "${busy[@]}" 2>/dev/null' EXIT

# held WHAT [recovered]: compare the traces of the last run with its logs.
held()
{
	local trace way calls late figures
	for trace in t.*.hatf; do
		"$HATF" dump -m "$trace" >"$trace.txt" ||
			fail "$1: cannot read $trace"
	done
	"$PYTHON" "$CAPTURE/times.py" log t.*.hatf.txt >figures 2>figures.err ||
		fail "$1: $(tail -n 1 figures.err)"
	[ -z "${SHOW-}" ] || sed "s/^/$1: /" figures
	while read -r way calls late figures; do
		check "$1: of $calls times ($way), late ($figures)" "$late" 0
		[ "${2-}" = recovered ] && [ "$way" = coarse ] && continue
		check "$1: of $calls times ($way), too early ($figures)" \
			"${figures##* }" 0
	done <figures
}

# times WHAT MODE THREADS CALLS [PROCESSES]
times()
{
	local what=$1
	shift
	rm -f log.* t.*
	trace "$TMP/t.%p.hatf" "$PROGS/times" log "$@"
	check "$what: status" $? 0
	held "$what"
}

# begin CLOCK THREADS CALLS: the same in the background; set 'pid' and wait
# until there is a trace.
begin()
{
	rm -f log.* t.*
	env HATFTRACE_OUT="$TMP/t.%p.hatf" HATFTRACE_CLOCK="$1" \
		HATFTRACE_BEGIN=now LD_PRELOAD="$SO" \
		"$PROGS/times" log bursts "$2" "$3" &
	pid=$!
	for _ in $(seq 200); do
		[ -s "t.$pid.hatf" ] && return
		sleep 0.02
	done
	fail "$1: no trace"
}

export HATFTRACE_COMPRESS=none
for clock in auto us ns coarse off; do
	for threads in 1 2 8; do
		HATFTRACE_CLOCK=$clock times "$clock, $threads threads" \
			bursts "$threads" "$CALLS"
	done
done
for threads in 1 2 8; do
	times "turns, $threads threads" turns "$threads" $((CALLS * 4))
	times "steady, $threads threads" steady "$threads" $((CALLS * 4))
	times "idle, $threads threads" idle "$threads" 40
done

# Several processes share one time line, with traces from the beginning and with
# late ones.
for begin in late now; do
	for clock in auto ns; do
		HATFTRACE_BEGIN=$begin HATFTRACE_CLOCK=$clock \
			times "begin $begin, $clock, processes" \
			bursts 2 "$CALLS" 2
	done
done

# stopped CLOCK THREADS: stop the whole process several times, with its writer.
stopped()
{
	begin "$1" "$2" "$CALLS"
	for _ in 1 2 3; do
		sleep 0.015
		kill -STOP $pid 2>/dev/null
		sleep 0.03
		kill -CONT $pid 2>/dev/null
	done
	wait $pid
	check "stopped, $1: status" $? 0
	held "stopped, $1, $2 threads"
}

for clock in auto us coarse; do
	for threads in 1 2; do
		stopped "$clock" "$threads"
	done
done

# Recovered events are not late either.  Recovery does not know how long ticks
# lasted.
for clock in us ns auto; do
	for threads in 1 2; do
		begin "$clock" "$threads" 1000000
		sleep 0.3
		kill -KILL $pid
		wait $pid 2>/dev/null
		"$HATF" recover t.*.hatf >recovered.out 2>&1 ||
			fail "killed, $clock: recover: $(cat recovered.out)"
		held "killed, $clock, $threads threads" recovered
	done
done

# All threads share one processor with two busy processes.
cpu=$(taskset -pc $$ | sed 's/.*[ ,-]//')
for _ in 1 2; do
	taskset -c "$cpu" bash -c 'while :; do :; done' &
	busy+=($!)
done
taskset -pc "$cpu" $$ >/dev/null
for clock in auto us coarse; do
	for threads in 1 2; do
		HATFTRACE_CLOCK=$clock HATFTRACE_BUFFER=4K \
			times "starved, $clock, $threads threads" \
			steady "$threads" "$CALLS"
	done
done
kill "${busy[@]}"
busy=()

finish

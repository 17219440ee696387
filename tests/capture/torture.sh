#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# torture.sh - hundreds of threads, blocks freed by others, reallocs, fork
# storms
#
# The traces of a process have every event that reaches the allocator, in a
# possible order.  TORTURE=N runs everything N times.
. "$(dirname "$0")/lib.sh"

# torment NAME ARGS...
torment()
{
	local name=$1
	shift
	rm -rf t t.traces
	trace_tallied t "$PROGS/torture" "$@" >out 2>err
	check "$name: status" $? 0
	[ -s err ] && fail "$name: stderr: $(head -n 3 err)"
	grep -q '^mistakes 0 ' out || fail "$name: $(cat out)"
	clean t.traces/*
	compare_tallies t
	check "$name: traces" "$(find t.traces -type f | wc -l)" "$((1 + $4))"
}

for ((round = 1; round <= ${TORTURE:-1}; round++)); do
	for clock in auto off coarse us ns; do
		export HATFTRACE_CLOCK=$clock
		torment "clock $clock" 48 16 6000 9 "$round$RANDOM"
	done
	unset HATFTRACE_CLOCK
	torment "hundreds at once" 400 400 1000 10 "$RANDOM"
	torment "short lives" 3000 100 20 30 "$RANDOM"
	torment "fork storm" 16 16 10000 100 "$RANDOM"
	HATFTRACE_BUFFER=4K torment "small rings" 100 50 1000 4 "$RANDOM"
done
finish

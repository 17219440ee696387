#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# journal.sh - the trace is, event by event, what reached the allocator
#
# In one thread the order is known: the trace has the sizes and addresses of the
# first million events that shared/tally.c noted, in the same order.
. "$(dirname "$0")/lib.sh"

# journal FILE: print a line for each event: WHAT SIZE OLD NEW.
journal()
{
	local n
	n=$(counted "$1")
	od -An -v -t x8 -w32 -j 16 -N "$((32 * (n < 1000000 ? n : 1000000)))" \
		"$1" | sed 's/ 0*\([0-9a-f]\)/ \1/g; s/^ //'
}

recorded()
{
	events "$1" | awk '
	function hex(n) { return sprintf("%x", n) }
	skip > 0 { skip--; next }
	{ sub(/^0x/, "", $3); sub(/^0x/, "", $4) }
	$1 == "alloc" { print 1, hex($2), 0, $3 }
	$1 == "free" { print 2, 0, $3, 0 }
	$1 ~ /^realloc/ { print 3, hex($2), $4, $3 }
	$1 == "reallocAllocFree" { skip = 2 }
	$1 == "reallocAlloc" || $1 == "reallocFree" { skip = 1 }' |
		head -n 1000000
}

compare()
{
	local pid
	rm -rf tally tally.traces
	trace_tallied tally "$@" >out 2>err
	check "$*: status" $? 0
	for pid in tally/*; do
		pid=${pid#*/}
		journal "tally/$pid" >theirs
		recorded "tally.traces/t.$pid.hatf.gz" >ours
		check_ge "$*: events" "$(wc -l <theirs)" 1000
		diff theirs ours >difference ||
			fail "$*: differs: $(head -n 10 difference)"
	done
	compare_tallies tally
	clean tally.traces/*
}

compare "$PROGS/libcwork"
# shellcheck disable=SC2016 # perl's own
compare perl -e 'push @a, "x" x $_ for 1 .. 20000; print scalar(@a)'
PYTHONMALLOC=malloc compare "$PYTHON" -c '
import json
print(len(json.dumps([str(i) * 10 for i in range(50000)])))'
finish

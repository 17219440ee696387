#!/bin/bash
# SPDX-License-Identifier: MIT
#
# edges.sh - figures at the edges of a trace, of a window and of the time axis,
# of one event, and at two peaks
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v jq >/dev/null || skip 'no jq'

# ------------------------------------------------------ the edges of a window
# The next call of the thread frees the block of the second event.  A window
# that begins between the two calls does not count the allocation, so it counts
# no temporary block.
{
	header unit=us
	layout
	alloc 8 0x1000 0 0 0
	alloc 8 0x2000 0 0 1
	free 0x2000 0 0 2
	alloc 50 0x3000 0 0 3
} >window.hatf
trailer window.hatf 4 5
# temporary WANT OPTION...: this many blocks are temporary.
temporary()
{
	local want=$1

	shift
	run "$HATF" stat --json "$@" window.hatf
	check_status "temporary $*" 0
	check "temporary $*" "$(jq -c '[.total.temporary.blocks,
		.total.freed.blocks]' out)" "[$want,1]"
}
temporary 1
temporary 1 --from 1
temporary 0 --from 2

# -------------------------------------- threads that end before their blocks
# The threads that leave something allocate least.
{
	header unit=us
	layout
	for i in {1..6}; do
		thread_event 8 "$i" "$i"
		alloc "$((i < 4 ? 1000 : i))" "$((0x1000 * i))" "$i" 0 "$i"
		[ "$i" -ge 4 ] || free "$((0x1000 * i))" "$i" 0 "$i"
		thread_event 9 "$i" "$i"
	done
} >threads.hatf
trailer threads.hatf 9 22 complete=1 end=exit lost=0 threads=7
# left TOP: print the lines of the second list.
left()
{
	run "$HATF" stat --by thread --top "$1" threads.hatf
	check_status "threads, --top $1" 0
	sed -n '/bytes left/,$p' out | sed 1d | tr -s ' '
}
check 'threads, --top 2' "$(left 2)" " 6 B 1 thread 6
 5 B 1 thread 5
and 1 more"
check 'threads, --top 3' "$(left 3)" " 6 B 1 thread 6
 5 B 1 thread 5
 4 B 1 thread 4"

# ------------------------------------------------------- where the time begins
# The time of a carried block is when the segment began.  All commands count
# from there.
{
	header unit=us
	layout
	alloc 8 0x1000 0 0 100 '\x02'
	alloc 8 0x2000 0 0 1000
	alloc 8 0x3000 0 0 1500
	free 0x2000 0 0 2000
} >segment.hatf
trailer segment.hatf 3 5
check 'duration' "$("$HATF" info --json segment.hatf | jq .duration_ns)" 1900000
run "$HATF" report --json segment.hatf
check 'moments' "$(jq -c '[.peak.ns, .end.ns]' out)" '[1400000,1900000]'
run "$HATF" stat --json --from 1400us segment.hatf
check 'a window' "$(jq -c .first out)" '{"event":1,"ns":1400000}'

# ---------------------------------------------------- the end of the time axis
# The largest time there is belongs to an event like any other.
cat >latest.json <<'EOF'
{"tag":"comment","text":"HATF 1.0\nproducer=test\nunit=us\n"}
{"tag":"alloc","size":8,"address":"0x1000","time":3}
{"tag":"alloc","size":8,"address":"0x2000","time":18446744073709551615}
{"tag":"alloc","size":8,"address":"0x3000","time":18446744073709551615}
{"tag":"free","address":"0x1000","time":18446744073709551615}
EOF
run "$HATF" stat --json latest.json
check 'the largest time' "$(jq -c '[.first.ns, .peak.ns, .peak.event]' out)" \
	'[0,"18446744073709551615",3]'
run "$HATF" report latest.json
grep -q ', after 0 ns of ' out && fail "the largest time: $(grep ' after ' out)"

# --------------------------------------------------- a single event of a kind
{
	header unit=us
	layout
	alloc 1 0x1000 0 0 0
} >single.hatf
trailer single.hatf 1 2
run "$HATF" verify single.hatf
check 'single: verify' "$(cat out)" 'single.hatf: ok, 1 event'
run "$HATF" report single.hatf
grep -q '^  peak .* in 1 block, after .*, 1 call$' out ||
	fail "single: report: $(cat out)"
grep -q '^  calls  *1: 1 allocation, 0 frees, 0 reallocs' out ||
	fail "single: report: $(cat out)"
run "$HATF" stat --by size single.hatf
grep -q ' 1 byte$' out || fail "single: stat: $(cat out)"
run "$HATF" tree single.hatf
grep -q ', 1 event (' out || fail "single: tree: $(cat out)"
# ------------------------------------------- two peaks, at different moments
{
	header unit=us
	layout
	alloc 1000 0x1000 0 0 0
	free 0x1000 0 0 1
	alloc 8 0x2000 0 0 2
	alloc 8 0x3000 0 0 3
} >peaks.hatf
trailer peaks.hatf 4 5
run "$HATF" replay -r 1 -a glibc peaks.hatf
heading='  peak 1000 B; most blocks 2, perhaps at another moment; at the end '
grep -qFx "${heading}16 B in 2 blocks" out || fail "two peaks: $(cat out err)"
finish

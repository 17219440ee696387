#!/bin/bash
# SPDX-License-Identifier: MIT
#
# snapshots.sh - a snapshot says where its blocks came from
#
# A snapshot has the call stack and the thread of each block, as the trace
# itself has them.  The commands that read it claim nothing that it lacks.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

need jq
[ "$(uname -m)" = x86_64 ] || skip 'call stacks are for x86-64'
control_folder

# begin NAME VARIABLE=VALUE...: run the program, traced to NAME.hatf.gz, until
# it has all its blocks; set 'pid'.
begin()
{
	local name=$1 ready
	shift
	rm -f to from
	mkfifo to from
	(exec env HATFTRACE_OUT="$TMP/$name.hatf.gz" HATFTRACE_BEGIN=now \
		LD_PRELOAD="$SO" "$@" "$PROGS/keep" <to >from) &
	pid=$!
	exec 8>to 9<from
	read -r ready <&9
	check 'the program' "$ready" ready
	await_socket "$pid"
}

# end: let the program end.
end()
{
	exec 8>&- 9<&-
	wait "$pid"
}

# kept FILE: print the blocks and bytes of each function that keeps blocks.
kept()
{
	"$HATF" symbolize -o "$1.named" "$1" >/dev/null ||
		fail "symbolize $1"
	"$HATF" leaks --json --top 0 "$1.named" >"$1.json" ||
		fail "leaks $1.named"
	jq -r '.sites[] | select(.name | test("keep_|grow|begin_")) |
		"\(.name | sub(" .*"; "")) \(.blocks) \(.bytes)"' \
		"$1.json" | sort
}

# check_report FILE: 'hatf report' says what is true of a snapshot.
check_report()
{
	"$HATF" report "$1" >report.txt || fail "report $1"
	grep -q '0 ns to' report.txt &&
		fail "ages: $(cat report.txt)"
	grep -q 'age unknown, sizes ' report.txt ||
		fail "no ages: $(cat report.txt)"
	grep -A 3 '^Threads, by bytes live' report.txt >threads.txt ||
		fail "threads: $(cat report.txt)"
	grep -q '(keeper)' threads.txt ||
		fail "no thread 'keeper': $(cat threads.txt)"
	"$HATF" leaks "$1" >leaks.txt || fail "leaks $1"
	grep -q 'age unknown' leaks.txt || fail "leaks: $(cat leaks.txt)"
	grep -q '0 ns' leaks.txt && fail "leaks: $(cat leaks.txt)"
}

test_stacks()
{
	begin whole HATFTRACE_STACKS=on
	check 'live bytes without a table' \
		"$(ctl --json "$pid" status | jq .live_bytes)" null
	ctl "$pid" snapshot -o snap.hatf.gz >/dev/null || fail snapshot
	end
	clean whole.hatf.gz snap.hatf.gz
	kept whole.hatf.gz >want.txt
	check 'functions' "$(cut -d ' ' -f 1 want.txt | xargs)" \
		'grow keep_first keep_second keep_third'
	check 'blocks of functions' "$(kept snap.hatf.gz)" "$(cat want.txt)"
	"$HATF" report snap.hatf.gz.named | grep -q 'call stacks' &&
		fail 'stacks are missing'
	# It defines no stack that no block has.
	"$HATF" symbolize -o named.hatf whole.hatf.gz >/dev/null
	plain named.hatf | grep -aq keep_nothing || fail 'not in the trace'
	plain snap.hatf.gz.named | grep -aq keep_nothing &&
		fail 'more stacks than blocks'
	check_report snap.hatf.gz.named
	check_report snap.hatf.gz
}

# A snapshot of the blocks with which a file begins, and one of that file after
# some events.
test_stacks_of_segments()
{
	begin parts HATFTRACE_STACKS=on HATFTRACE_ROTATE=1024G
	# The recorder has a table of the live blocks.
	ctl "$pid" flush >/dev/null || fail flush
	ctl --json "$pid" status >status.json || fail status
	ctl --json --live "$pid" status >live.json || fail 'status --live'
	check 'live bytes and blocks' \
		"$(jq -c '[.live_bytes, .live_objects]' status.json)" \
		"$(jq -c '[.live_bytes, .live_objects]' live.json)"
	check_ge 'live blocks' "$(jq .live_objects status.json)" 301
	ctl "$pid" status | grep -q ' live in [0-9 ]* blocks: ' ||
		fail 'status without live bytes'
	ctl --rotate "$pid" snapshot -o fresh.hatf.gz >/dev/null ||
		fail 'snapshot --rotate'
	ctl "$pid" snapshot -o later.hatf.gz >/dev/null || fail snapshot
	end
	clean parts.s0000.hatf.gz parts.s0001.hatf.gz fresh.hatf.gz \
		later.hatf.gz
	kept parts.s0000.hatf.gz >want.txt
	check 'blocks of a fresh file' "$(kept fresh.hatf.gz)" \
		"$(cat want.txt)"
	check 'blocks of a later file' "$(kept later.hatf.gz)" \
		"$(cat want.txt)"
	check_report fresh.hatf.gz.named
}

# Blocks that are older than the trace: only a least age is known.
test_ages_of_a_segment()
{
	"$HATF" leaks --json --top 0 parts.s0001.hatf.gz >leaks.json ||
		fail 'leaks of a segment'
	check 'blocks older than the trace' \
		"$(jq '[.sites[] | .older_blocks] | add' leaks.json)" \
		"$(info parts.s0001.hatf.gz carried_objects)"
}

test_without_stacks()
{
	begin bare HATFTRACE_STACKS=off
	ctl "$pid" snapshot -o bare.snap.hatf.gz >/dev/null || fail snapshot
	end
	clean bare.snap.hatf.gz
	check_report bare.snap.hatf.gz
	grep -q 'no block of this snapshot has a call stack' report.txt ||
		fail "advice: $(cat report.txt)"
	grep -q 'without -G' report.txt || fail "advice: $(cat report.txt)"
}

test_stacks
test_stacks_of_segments
test_ages_of_a_segment
test_without_stacks
finish

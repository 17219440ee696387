#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_window.sh - 'hatf replay --from --to' replays a part of a trace
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

programs=$BUILD/tests/capture/programs

timeout 200 python3 "$CLI/replay_window.py" "$HATF" 60 ||
	fail 'a window of a random trace'

# Real threads: the live blocks are made by their threads before the window.
"$HATF" record --follow none -G -o threads.hatf.gz -- "$programs/threads" \
	>/dev/null 2>&1
events=$("$HATF" info --json threads.hatf.gz | jq .events)
for from in 0 $((events / 3)) $((events - 1)) $((events + 9)); do
	run timeout 60 "$HATF" replay --check -r 5 -a glibc --from "$from" \
		threads.hatf.gz
	check_status "threads, from $from: $(cat err)" 0
done

# What is made before the window is in no measure: 2000 blocks of 20 KiB.
awk 'BEGIN {
	print "10 HATF ascii thread heap time attributes"
	for (i = 1; i <= 2000; i++)
		printf("0 20000 0x%x 0 0 1\n", i * 65536)
	print "0 100 0x10 0 0 1"
}' >large.ascii
run "$HATF" replay --json -l -r 1 -a glibc --from 2000 large.ascii
check_status 'large' 0
check 'faults in the window' "$(jq '.allocators[0].faults.median < 100' out)" \
	true
check 'timed calls' "$(jq '.allocators[0].latency_ns.malloc.calls' out)" 1
# The kernel counts pages in batches, so the figure is up to 1 MB too small.
check 'resident memory' "$(jq '.allocators[0].end_rss.median > 39000000' out)" \
	true

run "$HATF" replay -r 1 -a glibc --from 2000 large.ascii
grep -qx '  live before the first measured call: 38.1 MiB in 2 000 blocks' \
	out || fail "$(cat out)"
run "$HATF" replay -r 1 -a glibc --from 1s large.ascii
check_status 'no times' 1
check_one_line 'no times' \
	'hatf replay: large.ascii: the trace states no unit of time*'
run "$HATF" replay -a glibc --from 1x large.ascii
check_status 'not a bound' 2
# Without a call, there is nothing to rank.
cat >two.ascii <<'END'
10 HATF ascii thread heap time attributes
10 HATF 1.0\x0aproducer=test\x0aunit=us\x0a
0 100 0x1000 0 0 1
1 0x1000 0 0 2
10 HATF end\x0aevents=2\x0arecords=3\x0acomplete=1\x0aend=exit\x0alost=0\x0a
END
for window in '--from 2' '--from 1 --to 1' '--from 1h' '--from 2 --to 1'; do
	# shellcheck disable=SC2086 # words
	run "$HATF" replay -r 1 -a glibc -a glibc:X=1 $window two.ascii
	check_status "$window" 0
	check_one_line "$window" \
		'hatf replay: two.ascii: contains no calls to replay'
	! grep -q '^Least' out || fail "$window: a verdict"
done
run "$HATF" replay -r 1 -a glibc -a glibc:X=1 --from 1 two.ascii
check_status 'a call' 0
check_silent 'a call'
grep -q '^Least' out || fail 'no verdict'
finish

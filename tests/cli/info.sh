#!/bin/bash
# SPDX-License-Identifier: MIT
#
# info.sh - 'hatf info' has the right figures of whole and of damaged traces
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Live bytes: 100, 100 + 50 (the most bytes), 50, 50 + 10 + 20 (the most
# objects), 80.  A failed allocation is an event, but no object.
{
	header clock=auto unit=us pid=4242 'command=ls -l \xff\x1b[2J' \
		host=here start_time=1700000000123456789
	layout
	alloc 100 0x1000 0 0 10
	alloc 50 0x2000 0 0 11
	free 0x1000 0 0 12
	thread_event 8 1 13
	alloc 10 0x3000 1 0 14
	alloc 20 0x4000 1 0 15
	resize 3 30 0x3000 0x5000 0 0 16
	alloc 30 0x5000 0 0 16
	free 0x3000 0 0 16
	alloc 9999 0 0 0 1510
	thread_event 9 1 1510
} >a.hatf
trailer a.hatf 7 12
gzip -c a.hatf >a.hatf.gz
plain=$(stat -c %s a.hatf)

run "$HATF" info --json a.hatf
check_status json 0
check_silent json
check_text json out <<END
{"format":"HATF","version":"1.0","complete":true,"written_by":null,"events":7,"records":{"alloc":6,"free":2,"reallocNoAlloc":0,"reallocAllocFree":1,"reallocAlloc":0,"reallocFree":0,"createHeap":0,"destroyHeap":0,"createThread":1,"destroyThread":1,"comment":2},"lost":0,"threads":2,"duration_ns":1500000,"file_bytes":$plain,"hatf_bytes":$plain,"bytes_per_record":$(awk "BEGIN { printf \"%.6g\", $plain / 13 }"),"metadata_records":10,"blocks":0,"peak_live_bytes":150,"peak_live_objects":3,"end_live_objects":3,"segment":null,"events_before":null,"carried_objects":0,"carried_bytes":0,"heritage":"none","start_live_objects":0,"start_live_bytes":0,"inherited_live_objects":0,"inherited_live_bytes":0,"pid":4242,"command":"ls -l \\\\xff\\u001B[2J","clock":"auto","sample_rate":null,"frames":0,"stacks":0,"sites":0,"stack_depth_mean":0.0,"stack_depth_max":0,"allocations_without_stack":5,"allocations_cut_off":0,"allocations_unknown_caller":0,"frames_with_function":0,"frames_with_line":0}
END

# Several files: a line for each good one, and bad ones do not stop the command.
{
	header clock=off unit=none
	layout
	alloc 1 0x1000 0 0 0
} >cut.hatf
printf 'no trace' >text
run "$HATF" info --json a.hatf.gz text missing cut.hatf - <a.hatf
check_status several 1
check 'several: objects' "$(wc -l <out)" 2
# shellcheck disable=SC2016 # sed's
check 'several: complete' \
	"$(sed -E 's/.*"complete":([a-z]+).*/\1/' out | xargs)" 'true false'
check 'several: complaints' "$(cut -d : -f 2 err | xargs)" \
	'text missing cut.hatf standard input'
packed=$(stat -c %s a.hatf.gz)
sed -n 1p out | grep -q "\"file_bytes\":$packed,\"hatf_bytes\":$plain," ||
	fail 'several: sizes of the compressed file'
unknown='"duration_ns":null,.*"pid":null,"command":null,"clock":"off"'
sed -n 2p out | grep -q "$unknown" ||
	fail 'several: unknown figures are not null'
if command -v jq >/dev/null; then
	"$HATF" info --json a.hatf cut.hatf 2>/dev/null |
		jq -e .records.comment >/dev/null || fail 'jq'
fi

# The text for people.
run "$HATF" info a.hatf
check_status human 0
check_text human out <<END
a.hatf: HATF 1.0, complete
  command           ls -l \\xff\\x1b[2J
  process           4242 on here, 2023-11-14 22:13:20 UTC
  clock             auto, in us
  duration          1.500 ms
  events            7
  lost events       0
  records           13
                    6 alloc
                    2 free
                    1 reallocAllocFree
                    1 createThread
                    1 destroyThread
                    2 comment
  threads           2
  most live bytes   150 (150 B)
  most live objects 3
  live at the end   3 objects, 100 B
  file              $plain bytes, $(awk "BEGIN { printf \"%.2f\", $plain / 7 }") an event
  HATF              $plain bytes, $(awk "BEGIN { printf \"%.2f\", $plain / 13 }") a record
  metadata records  10
  blocks            0
END

# A number that a JSON reader would round is a string.
printf '0 9223372036854775809 0x10\n' >huge.ascii
run "$HATF" info --json huge.ascii
check_status huge 0
grep -q '"peak_live_bytes":"9223372036854775809"' out ||
	fail "huge: $(cat out)"

# Traces whose trailers state that they are incomplete.
cp cut.hatf lost.hatf
comment 'HATF lost\nthread=0\ncount=7\nfrom=0\nto=0\n' >>lost.hatf
trailer lost.hatf 1 3 complete=0 end=exit lost=7
run "$HATF" info --json lost.hatf
check_status lost 1
check_one_line lost 'hatf info: lost.hatf: 7 events were lost while recording'
grep -q '"complete":false,.*"lost":7,' out || fail 'lost: not in the object'
cp cut.hatf failed.hatf
trailer failed.hatf 1 2 complete=0 end=error lost=0
run "$HATF" info failed.hatf
check_status failed 1
check_one_line failed \
	'hatf info: failed.hatf: the trace says that it is not complete: error'
check failed "$(head -1 out)" 'failed.hatf: HATF 1.0, NOT COMPLETE'

"$HATF" info a.hatf >/dev/full 2>err
status=$?
check_status 'full disk' 1
check_one_line 'full disk' \
	'hatf info: standard output: No space left on device'

# The number of call stacks is the number of their definitions.
{
	header
	layout
	comment 'HATF frame\nframe=1\nfunction=f\n'
	comment 'HATF frame\nframe=2\nfunction=g\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	alloc 24 0x5581c0 0 0 1 '\x45\x01'
} >stacks.hatf
trailer stacks.hatf 1 5
run "$HATF" info stacks.hatf
check_status 'stacks' 0
check 'stacks' "$(grep -c '^  call stacks       1 with 2 frames, ' out)" 1
"$HATF" info --json stacks.hatf | grep -q '"frames":2,"stacks":1,' ||
	fail 'stacks: JSON'
check 'no frame is missing' "$(grep -cE 'stack cut off|unknown caller' out)" 0

# The outermost frame says whether outer frames are missing.  A frame with an
# address is a function of the program, whatever its name.
{
	header
	layout
	comment 'HATF frame\nframe=1\nfunction=f\n'
	comment 'HATF frame\nframe=2\nfunction=[cut off]\n'
	comment 'HATF frame\nframe=3\nfunction=[unknown caller]\n'
	comment 'HATF frame\nframe=4\nfunction=[cut off]\naddress=0x10\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	comment 'HATF stack\nstack=2\nframe=2\n'
	comment 'HATF stack\nstack=3\nparent=2\nframe=1\n'
	comment 'HATF stack\nstack=4\nframe=3\n'
	comment 'HATF stack\nstack=5\nparent=4\nframe=1\n'
	comment 'HATF stack\nstack=6\nframe=4\n'
	comment 'HATF stack\nstack=7\nparent=6\nframe=1\n'
	comment 'HATF stack\nstack=8\nparent=3\nframe=1\n'
	n=0
	for stack in 1 3 3 5 7 8 8 8; do
		n=$((n + 1))
		alloc 24 $((0x5581c0 + 64 * n)) 0 0 1 "\\x45\\x0$stack"
	done
} >ends.hatf
trailer ends.hatf 8 21
run "$HATF" info ends.hatf
check_status 'ends of stacks' 0
check 'cut off' \
	"$(grep -c '^  stack cut off     5 of 8 allocations (62.5 %)$' out)" 1
check 'unknown caller' \
	"$(grep -c '^  unknown caller    1 of 8 allocations (12.5 %)$' out)" 1
"$HATF" info --json ends.hatf | grep -q \
	'"allocations_cut_off":5,"allocations_unknown_caller":1,' ||
	fail 'ends of stacks: JSON'

finish

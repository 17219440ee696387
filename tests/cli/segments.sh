#!/bin/bash
# SPDX-License-Identifier: MIT
#
# segments.sh - 'hatf verify' checks segments alone and one after the other
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip "no jq"

# segment FILE NUMBER EVENTS_BEFORE CARRIED EVENTS: write a segment with the
# records on stdin.
# shellcheck disable=SC2028 # the backslashes are the format's
segment()
{
	local records
	records=$(cat)
	{
		echo '10 HATF ascii attributes'
		echo "10 HATF 1.0\\x0apid=42\\x0astart_monotonic=7\\x0a\
segment=$2\\x0aevents_before=$3\\x0alive=exact\\x0acarried=$4\\x0a"
		echo "$records"
		echo "10 HATF end\\x0acomplete=1\\x0aend=rotate\\x0a\
events=$5\\x0arecords=$(($(wc -l <<<"$records") + 1))\\x0alost=0\\x0a"
	} >"$1"
}

segment a.ascii 0 0 0 4 <<'END'
0 10 0x1000
0 20 0x2000
0 30 0x3000
1 0x1000
END
segment b.ascii 1 4 2 2 <<'END'
0 20 0x2000 02
0 30 0x3000 02
1 0x3000
0 40 0x1000
END
# A block with another size, a missing block, a wrong count.
sed 's/^0 20/0 21/' b.ascii >size.ascii
segment missing.ascii 1 4 1 1 <<'END'
0 30 0x3000 02
1 0x3000
END
segment count.ascii 1 5 2 0 <<'END'
0 20 0x2000 02
0 30 0x3000 02
END
# Truncated within the carried blocks.
head -n 3 b.ascii >cut.ascii

run "$HATF" verify b.ascii
check_status alone 0
check_text alone out <<'END'
b.ascii: ok, 2 events, 2 objects live at its start
END
run "$HATF" verify a.ascii b.ascii b.ascii
check_status pair 0
check_text pair out <<'END'
a.ascii: ok, 4 events
b.ascii: ok, 2 events, 2 objects live at its start, continues the file before it
b.ascii: ok, 2 events, 2 objects live at its start
END
for wrong in size missing count; do
	run "$HATF" verify a.ascii $wrong.ascii
	check_status $wrong 1
	text='does not continue the file before it'
	grep -q "^$wrong.ascii: not ok, .*, $text$" out ||
		fail "$wrong: $(cat out)"
done
run "$HATF" verify a.ascii cut.ascii
check_status cut 1
grep -q 'continues\|continue' out && fail "cut: $(cat out)"

# In a directory, the headers give the order, not the names.
mkdir folder
"$HATF" convert a.ascii folder/2.hatf
"$HATF" convert b.ascii folder/1.hatf
run "$HATF" verify folder
check_status folder 0
check_text folder out <<'END'
folder/2.hatf: ok, 4 events
folder/1.hatf: ok, 2 events, 2 objects live at its start, continues the file before it
END

# The same in HATF, where the decoder counts the carried blocks.
for name in a b; do
	run "$HATF" convert $name.ascii $name.hatf.gz
	check_status convert 0
done
run "$HATF" verify --json a.hatf.gz b.hatf.gz
check_status hatf 0
check json "$(jq -c '[.events, .carried, .goes_on]' out | tr '\n' ' ')" \
	'[4,0,null] [2,2,true] '
run "$HATF" info --json b.hatf.gz
check info "$(jq -c '[.segment, .events_before, .events, .carried_objects,
	.carried_bytes, .peak_live_objects, .end_live_objects]' out)" \
	'[1,4,2,2,50,2,2]'
run "$HATF" info b.hatf.gz
grep -q '^  segment           1, after 4 events$' out || fail "info: $(cat out)"
grep -q '^  live at the start 2 objects, 50 B$' out || fail "info: $(cat out)"
run "$HATF" dump b.hatf.gz
grep -q '^2 alloc size=20 addr=0x2000 .* carried=1$' out ||
	fail "dump: $(cat out)"

# Commands that treat each file as a trace say that files are segments.
for command in leaks report; do
	run "$HATF" "$command" a.hatf.gz b.hatf.gz
	check_status "$command" 0
	check "$command: note" "$(tail -n 1 out | cut -d : -f 1-2)" \
		'note: 2 files are segments of one process'
	for files in a.hatf.gz 'a.hatf.gz --json b.hatf.gz'; do
		# shellcheck disable=SC2086 # several words
		run "$HATF" "$command" $files
		check "$command $files" "$(grep -c segments out)" 0
	done
done
sed 's/pid=42/pid=43/' a.ascii >c.ascii
sed 's/pid=42/pid=43/' b.ascii >d.ascii
run "$HATF" leaks a.ascii b.ascii b.ascii c.ascii d.ascii
check 'two processes' "$(tail -n 1 out | cut -d : -f 1-2)" \
	'note: 5 files are segments of 2 processes'
run "$HATF" leaks a.hatf.gz b.hatf.gz
check 'leaks: advice' "$(tail -n 1 out | cut -d : -f 3)" \
	' the last segment has the blocks that are live when the process' \
	'ends'
run "$HATF" tree --peak --json a.hatf.gz b.hatf.gz
check 'tree: peak' "$(jq .peak_live_bytes out)" 60

# After 'hatf ctl PID rotate' without HATFTRACE_ROTATE, the header of the first
# segment does not say that it is one, and the second segment does not have the
# blocks that were live.
sed 's/segment=0[^ ]*carried=0/x=0/' a.ascii >first.ascii
segment second.ascii 1 4 0 3 <<'END'
1 0x3000
0 40 0x1000
1 0x1000
END
sed -i -e 's/live=exact/live=unknown/' -e 's/end=rotate/end=exit/' second.ascii
lacks='the segment lacks blocks that were live at its start'
run "$HATF" check --max-live-at-end 10 first.ascii second.ascii
check_status 'unknown start: check' 4
grep -q "^hatf check: second.ascii: $lacks" err || fail "check: $(cat err)"
run "$HATF" diff first.ascii second.ascii -- second.ascii first.ascii
check_status 'unknown start: diff' 4
check 'unknown start: diff counts one run' \
	"$(grep '^allocations' out | tr -s ' ')" 'allocations 4 4 0'
grep -q "^hatf diff: second.ascii: $lacks" err || fail "diff: $(cat err)"
run "$HATF" leaks first.ascii second.ascii
check_status 'unknown start: leaks' 0
grep -q "^doubtful: $lacks" out || fail "leaks: $(cat out)"
check 'unknown start: note' "$(tail -n 1 out)" \
	'note: 2 files are segments of one process: the last segment may' \
	'lack blocks that are live when the process ends'
run "$HATF" leaks --fail-over 10 second.ascii
check_status 'unknown start: leaks --fail-over' 1
grep -q "cannot judge the live bytes: $lacks" err || fail "$(cat err)"
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# leaks.sh - 'hatf leaks' lists the blocks live at the end, and obeys its
# options
#
# stat.sh compares the figures of leaks with a slow census.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v jq >/dev/null || skip 'no jq'

# A trace of 100 events, each at its own microsecond: 'grow' keeps a block of 10
# bytes every tenth event, 'once' keeps one of 500 bytes, and another function
# one byte.
{
	header unit=us
	layout
	comment 'HATF frame\nframe=1\nfunction=main\nfile=src/app.c\nline=9\n'
	comment 'HATF frame\nframe=2\nfunction=grow\nfile=src/app.c\nline=5\n'
	comment 'HATF frame\nframe=3\nfunction=once\nobject=/lib/libone.so.1\n'
	comment 'HATF frame\nframe=4\nfunction=\x1b[31m<script>\nline=1\n'
	comment 'HATF stack\nstack=1\nparent=0\nframe=1\n'
	comment 'HATF stack\nstack=2\nparent=1\nframe=2\n'
	comment 'HATF stack\nstack=3\nparent=1\nframe=3\n'
	comment 'HATF stack\nstack=4\nparent=0\nframe=4\n'
	for ((i = 0; i < 100; i++)); do
		if [ $((i % 10)) -eq 5 ]; then
			alloc 10 $((0x1000 + 16 * i)) 0 0 "$i" '\x45\x02'
		elif [ "$i" -eq 20 ]; then
			alloc 500 0x8000 0 0 20 '\x45\x03'
		elif [ "$i" -eq 90 ]; then
			alloc 1 0x9000 0 0 90 '\x45\x04'
		else
			resize 2 100 0 0 0 0 "$i"
		fi
	done
} >app.hatf
trailer app.hatf 100 109

run "$HATF" leaks app.hatf
check_status 'leaks' 0
check_silent 'leaks'
check_text 'leaks' out <<'EOF'
app.hatf: 601 B in 12 blocks live at the end, at 3 sites
       500 B          1  once
                         age 79.000 us, over time 0099999999
       100 B         10  grow (src/app.c:5)
                         age 4.000 us to 94.000 us, median 54.000 us, over time 1234556789, grows since 9.000 us
         1 B          1  \x1b[31m<script>
                         age 9.000 us, over time 0000000009
EOF

# Whole stacks.
run "$HATF" leaks --stacks --top 2 app.hatf
check 'stacks' "$(grep -cE '^ {26}(grow|main|once)' out)" 4
check 'more' "$(tail -n 1 out)" "and 1 more site ('--top 0' prints all)"

# ---------------------------------------------------------------- suppressions
# suppressed WANT LINE...: with these lines, WANT bytes are not suppressed.
suppressed()
{
	local want=$1

	shift
	printf '%s\n' "$@" >supp
	run "$HATF" leaks --json --suppressions supp app.hatf
	check_status "$*" 0
	check "$*" "$(jq -c '[.live.bytes, .suppressed.bytes,
		([.sites[].bytes] | add)]' out)" \
		"[$want,$((601 - want)),$want]"
}
suppressed 501 leak:grow
suppressed 501 '  # a comment' '' '   leak:^grow$  '
suppressed 501 'leak:gr*w'
suppressed 601 leak:GROW
suppressed 601 'leak:^row'
suppressed 601 'leak:gro$'
suppressed 501 'leak:row$'
suppressed 101 leak:libone
suppressed 101 'leak:^/lib/*.so'
suppressed 101 leak:once leak:nothing
# A suppression that matches only the file of a caller applies.
suppressed 1 leak:app.c
# The module of operator new does not count, unless another frame is in it, too.
{
	header unit=us
	layout
	comment 'HATF frame\nframe=1\nfunction=main\nobject=/bin/app\n'
	library='object=/lib/libstdc++.so.6'
	new='function=operator new(long)'
	comment "HATF frame\\nframe=2\\n$new\\n$library\\n"
	comment "HATF frame\\nframe=3\\nfunction=pool\\n$library\\n"
	comment 'HATF stack\nstack=1\nparent=0\nframe=1\n'
	comment 'HATF stack\nstack=2\nparent=1\nframe=2\n'
	comment 'HATF stack\nstack=3\nparent=1\nframe=3\n'
	alloc 40 0x1000 0 0 1 '\x45\x02'
	alloc 7 0x2000 0 0 2 '\x45\x03'
} >new.hatf
trailer new.hatf 2 8
while read -r live pattern; do
	echo "leak:$pattern" >supp
	run "$HATF" leaks --json --suppressions supp new.hatf
	check "$pattern" "$(jq .live.bytes out)" "$live"
done <<'EOF'
40 libstdc++
7 operator new
0 /bin/app
EOF
# Blocks that standard libraries allocated for themselves at the start are left
# out, unless their stack is cut off or has a frame of the program.  If the
# loader seems to call strdup(), a constructor has jumped there.
{
	header unit=us
	layout
	ld='object=/lib64/ld-linux-x86-64.so.2'
	comment 'HATF frame\nframe=1\nfunction=[unknown caller]\n'
	comment 'HATF frame\nframe=2\nfunction=[cut off]\n'
	comment "HATF frame\nframe=3\nfunction=_dl_init\n$ld\n"
	comment "HATF frame\nframe=4\nfunction=pool\n$library\n"
	comment 'HATF frame\nframe=5\nobject=/lib/libjemalloc.so.2\n'
	comment 'HATF frame\nframe=6\nfunction=init\nobject=/lib/libapp.so.1\n'
	comment 'HATF frame\nframe=7\nfunction=clone\nobject=/lib/libc.so.6\n'
	comment 'HATF frame\nframe=8\nfunction=strdup\nobject=/lib/libc.so.6\n'
	comment 'HATF stack\nstack=1\nparent=0\nframe=1\n'
	comment 'HATF stack\nstack=2\nparent=1\nframe=3\n'
	comment 'HATF stack\nstack=3\nparent=2\nframe=4\n'
	comment 'HATF stack\nstack=4\nparent=3\nframe=5\n'
	comment 'HATF stack\nstack=5\nparent=0\nframe=2\n'
	comment 'HATF stack\nstack=6\nparent=5\nframe=3\n'
	comment 'HATF stack\nstack=7\nparent=6\nframe=4\n'
	comment 'HATF stack\nstack=8\nparent=2\nframe=6\n'
	comment 'HATF stack\nstack=9\nparent=8\nframe=4\n'
	comment 'HATF stack\nstack=10\nparent=1\nframe=7\n'
	comment 'HATF stack\nstack=11\nparent=1\nframe=4\n'
	comment 'HATF stack\nstack=12\nparent=2\nframe=8\n'
	alloc 1 0x1000 0 0 1 '\x45\x03'
	alloc 2 0x2000 0 0 2 '\x45\x04'
	alloc 4 0x3000 0 0 3 '\x45\x07'
	alloc 8 0x4000 0 0 4 '\x45\x09'
	alloc 16 0x5000 0 0 5 '\x45\x0a'
	alloc 32 0x6000 0 0 6 '\x45\x0b'
	alloc 64 0x7000 0 0 7 '\x45\x0c'
} >start.hatf
trailer start.hatf 7 28
run "$HATF" leaks --json --fail-over 124 start.hatf
check_status '--fail-over, blocks of the start' 0
check 'blocks of the start' \
	"$(jq -c '[.startup.blocks, .startup.bytes, .live.bytes,
		([.sites[].bytes] | add)]' out)" '[2,3,124,124]'
run "$HATF" leaks start.hatf
check 'blocks of the start' "$(tail -n 1 out)" 'Left out: 3 B in 2 blocks '\
'that standard libraries allocated for themselves when the program started'
run "$HATF" leaks --json --raw-stacks start.hatf
check 'blocks of the start, --raw-stacks' \
	"$(jq -c '[.startup.bytes, .live.bytes]' out)" '[0,127]'
echo leak:pool >supp
run "$HATF" leaks --json --suppressions supp start.hatf
check 'blocks of the start, suppressed' \
	"$(jq -c '[.startup.bytes, .suppressed.bytes, .live.bytes]' out)" \
	'[0,47,80]'

printf 'leak:once\nleak:nothing\n' >supp
run "$HATF" leaks --suppressions supp app.hatf
tail -n 2 out >last
check_text 'suppressed' last <<'EOF'
Suppressed: 500 B in 1 block
       500 B          1  leak:once
EOF
# The figures of a suppression are those of one trace.
run "$HATF" leaks --suppressions supp app.hatf app.hatf
check 'suppressed in two traces' \
	"$(grep -c '^       500 B          1  leak:once$' out)" 2
echo 'race:once' >supp
run "$HATF" leaks --suppressions supp app.hatf
check_status 'another type' 2
check_one_line 'another type' 'hatf leaks: supp:1: not a suppression: *'
run "$HATF" leaks --suppressions missing app.hatf
check_status 'a missing file' 2
check_one_line 'a missing file' 'hatf leaks: missing: No such file *'

# ----------------------------------------------------------------- exit status
run "$HATF" leaks --fail-over 601 app.hatf
check_status 'not over' 0
run "$HATF" leaks --fail-over 600 app.hatf
check_status 'over' 3
check_one_line 'over' 'hatf leaks: app.hatf: 601 bytes live at the end, more *'
echo 'leak:once' >supp
run "$HATF" leaks --fail-over 200 --suppressions supp app.hatf
check_status 'suppressed, not over' 0
head -c "$(($(stat -c %s app.hatf) - 100))" app.hatf >cut.hatf
run "$HATF" leaks --fail-over 0 cut.hatf app.hatf
check_status 'a damaged trace is worse' 1
run "$HATF" leaks --json --fail-over 1 app.hatf
check 'over' "$(jq .over out)" true

# ---------------------------------------------------------------------- trends
# trace_of: print a trace in JSON from lines "TIME SIZE STACK".
trace_of()
{
	printf '{"tag":"comment","text":"%s"}\n' \
		'HATF 1.0\nproducer=test\nunit=ns\n' \
		'HATF frame\nframe=1\nfunction=f\n' \
		'HATF frame\nframe=2\nfunction=g\n' \
		'HATF stack\nstack=1\nparent=0\nframe=1\n' \
		'HATF stack\nstack=2\nparent=0\nframe=2\n'
	awk '{
		printf "{\"tag\":\"alloc\",\"size\":%s,", $2
		printf "\"address\":\"0x%x\",", 4096 * NR
		printf "\"attributes\":\"450%s\",\"time\":%s}\n", $3, $1
	}'
}
# trend NAME FILE WANT: the trend of the function f.
trend()
{
	run "$HATF" leaks --json "$2"
	check "$1" "$(jq -c '.sites[] | select(.name == "f") |
		.trend.bytes' out)" "$3"
}
# f allocates a block 1/400 of the run before the end of each tenth.
for ((i = 0; i <= 4000; i++)); do
	echo "$i 1 2"
	[ $((i % 400)) -ne 390 ] || echo "$i 1 1"
done | trace_of >ticks.json
trend 'just before the tenths' ticks.json '[1,2,3,4,5,6,7,8,9,10]'
# A run that lasts as long as numbers can say, in intervals of many units.
{
	echo '0 1 1'
	for ((i = 1; i < 3000; i++)); do
		printf '%u 1 2\n' $((i << 52))
	done
	echo '18446744073709551615 5 1'
} | trace_of >eons.json
trend 'the longest run' eons.json '[1,1,1,1,1,1,1,1,1,6]'

# -------------------------------------------------------------- without stacks
{
	header
	layout
	alloc 24 0x1000 0 0 0
	alloc 24 0x2000 0 0 0
} >bare.hatf
trailer bare.hatf 2 3
run "$HATF" leaks bare.hatf
advice="'hatf record' without -G takes call stacks"
check_text 'without stacks' out <<EOF
bare.hatf: 48 B in 2 blocks live at the end, at 1 site
        48 B          2  thread 0, 17 to 32 bytes
                         age 0 events to 1 event, median 1 event
note: no call stacks, so threads and sizes stand for call sites: $advice
EOF

# -------------------------------------------------------------- without events
header >zero.hatf
layout >>zero.hatf
trailer zero.hatf 0 1
{
	header
	layout
	alloc 24 0 0 0 0
} >failed.hatf
trailer failed.hatf 1 2
for command in leaks report stat; do
	run "$HATF" "$command" zero.hatf
	check_status "$command, no events" 0
	check "$command, no events" "$(grep '^ *note' out | tr -d : | xargs)" \
		'note the trace has no events'
	run "$HATF" "$command" failed.hatf
	check "$command, no allocations" "$(grep -o 'no alloc.*' out)" \
		'no allocations, so there are no call sites'
done
for trace in zero failed; do
	run "$HATF" top "$trace.hatf"
	check_status "top, $trace" 0
	grep -q ' site$' out || fail "top, $trace: $(cat out)"
	grep -q 'call stacks' out && fail "top, $trace: $(cat out)"
done

# -------------------------------------------------------------- a coarse clock
# aged FILE LINE...: a trace with such clock comments, whose 3 blocks have the
# ages 1.234567 s, 60.4 ms and 0.
aged()
{
	local file=$1

	shift
	{
		header clock=auto unit=us
		layout
		while [ $# -gt 0 ]; do
			comment "HATF clock\n$1\n"
			shift
		done
		alloc 24 0x1000 0 0 0
		alloc 240 0x2000 0 0 1174167
		alloc 2400 0x3000 0 0 1234567
	} >"$file"
	trailer "$file" 3 $((4 + $(grep -ac 'HATF clock' "$file")))
}
# ages FILE: the ages in the report of the leaks, from the oldest block on.
ages()
{
	run "$HATF" leaks "$1"
	check_status "$1: $(cat err)" 0
	sed -n 's/^ *age //p' out | tac | tr '\n' ',' | sed 's/,$//'
}
aged auto.hatf
check 'ticks of 2 ms' "$(ages auto.hatf)" '1.235 s,60 ms,less than 2 ms'
aged long.hatf 'clock=coarse\ntime=0\nstep=130000' 'clock=coarse\ntime=9'
check 'ticks of 130 ms' "$(ages long.hatf)" \
	'1.2 s,less than 200 ms,less than 200 ms'
check 'the longest tick' "$("$HATF" leaks --json long.hatf | jq -c \
	'[.tick_ns, .sites[2].oldest.ns]')" '[130000000,1234567000]'
run "$HATF" report long.hatf
check 'ages of a report' "$(grep -c ' age less than 200 ms, sizes' out)" 2
check 'no ticks' "$("$HATF" leaks --json app.hatf | jq .tick_ns)" null
run "$HATF" stat --by lifetime long.hatf
grep -q 'has ticks of up to 130 ms: ' out || fail "the note: $(cat out)"
# Several ages of one site, with and without a block from before the trace.
{
	header clock=coarse unit=us
	layout
	alloc 24 0x1000 0 0 0 '\x02'
	alloc 24 0x2000 0 0 1000
	alloc 24 0x3000 0 0 51000
	alloc 24 0x4000 0 0 91700
} >carried.hatf
trailer carried.hatf 3 5
check 'a block from before' "$(ages carried.hatf)" \
	'0 ms to more than 89 ms, median 91 ms'
{
	header clock=coarse unit=us
	layout
	alloc 24 0x1000 0 0 1000
	alloc 24 0x2000 0 0 1001
	alloc 24 0x3000 0 0 1002
} >short.hatf
trailer short.hatf 3 4
check 'short ages' "$(ages short.hatf)" 'less than 3 ms'
finish

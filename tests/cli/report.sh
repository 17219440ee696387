#!/bin/bash
# SPDX-License-Identifier: MIT
#
# report.sh - report shows one screen, escapes names, and reads damaged traces
#
# stat.sh compares the figures of report with a slow census.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v jq >/dev/null || skip 'no jq'

# A trace of 10 milliseconds: a block of 1 MiB lives in the middle, and 20 bytes
# at the end.  The names of a function, a thread and the command would reach the
# terminal.
{
	header unit=us 'command=./app\x1b[2J'
	layout
	comment 'HATF frame\nframe=1\nfunction=big\nfile=/src/a.c\nline=3\n'
	comment 'HATF frame\nframe=2\nfunction=<b>\x1b[31m\nline=1\n'
	comment 'HATF stack\nstack=1\nparent=0\nframe=1\n'
	comment 'HATF stack\nstack=2\nparent=0\nframe=2\n'
	thread_event 8 1 0 '\x42\x00\x81\x04a\x1b[m'
	alloc 10 0x1000 0 0 0 '\x45\x02'
	alloc 1048576 0x100000 0 0 4000 '\x45\x01'
	alloc 8 0x2000 1 0 5000
	resize 3 10 0x2000 0x3000 1 0 5500 '\x45\x02'
	alloc 10 0x3000 1 0 5500
	free 0x2000 1 0 5500
	free 0x100000 0 0 6000
	alloc 99 0x4000 0 0 9000 '\x45\x01'
	free 0x4000 0 0 9999
} >app.hatf
trailer app.hatf 7 15

run "$HATF" report app.hatf
check_status 'report' 0
check_silent 'report'
check_text 'report' out <<'EOF'
Heap of app.hatf
  command     ./app\x1b[2J
  peak        1.0 MiB in 3 blocks, after 5.500 ms of 9.999 ms, 4 calls
  at the end  20 B in 2 blocks
  allocated   1.0 MiB in 5 blocks, 60 % of them temporary
  calls       7: 4 allocations, 2 frees, 1 realloc (1 moved)
  over time   1111111111111111111111111999999999999991111111111111111111111111
Live at the peak
     1.0 MiB            1  100 %  big (/src/a.c:3)
        20 B            2  0.0 %  <b>\x1b[31m
Live at the end
        20 B            2  100 %  <b>\x1b[31m
                                  age 4.999 ms to 9.999 ms, sizes 10 B to 10 B
Most bytes allocated
     1.0 MiB            2  100 %  big (/src/a.c:3)
        20 B            2  0.0 %  <b>\x1b[31m
         8 B            1  0.0 %  [no stack]
Most allocations
        20 B            2   40 %  <b>\x1b[31m
     1.0 MiB            2   40 %  big (/src/a.c:3)
         8 B            1   20 %  [no stack]
Most temporary allocations
     1.0 MiB            2   67 %  big (/src/a.c:3)
         8 B            1   33 %  [no stack]
Most reallocs that moved
         8 B            1  100 %  <b>\x1b[31m
Threads, by bytes allocated
     1.0 MiB            3  100 %  thread 0
        18 B            2  0.0 %  thread 1 (a\x1b[m)
Trace
  complete
EOF

awk 'length > 80' out | grep . && fail 'more than 80 columns'
[ "$(wc -l <out)" -le 40 ] || fail 'more than a screen'

# --------------------------------------------------------------------- terminal
# A terminal gets colours, NO_COLOR and a dumb one get none.
if command -v script >/dev/null; then
	for want in 1 0:NO_COLOR=1 0:TERM=dumb; do
		setting=${want#*:}
		[ "$setting" != "$want" ] || setting=X=
		env TERM=xterm NO_COLOR= "$setting" script -qec \
			"'$HATF' report app.hatf" /dev/null >out </dev/null
		check "colours with $setting" \
			"$(grep -c $'\e\[1mThreads' out)" "${want%%:*}"
		grep $'\e\[31m' out &&
			fail "$setting: a name reached the terminal"
	done
fi
LC_ALL=C.UTF-8 run "$HATF" report app.hatf
grep -q 'over time   ▁.*█.*▁$' out || fail 'no bars in UTF-8'

# ----------------------------------------------------------------------- JSON
run "$HATF" report --json app.hatf
check_status 'JSON' 0
check 'JSON: peak' \
	"$(jq -c '[.peak.ns, .peak.event, .total.at_peak.bytes]' out)" \
	'[5500000,4,1048596]'
check 'JSON: a name' "$(jq -r '.at_end[0].name' out)" '<b>\x1b[31m'
check 'JSON: median' "$(jq -c '.at_end[0].median' out)" \
	'{"events":6,"ns":9999000}'
# hatf-report(1) explains each key.
for key in $(jq -r 'keys[]' out); do
	sed -n '/^\.Ss JSON/,$p' "$CLI/../../tools/man/hatf-report.1" |
		grep -qE "^\.It Cm (.* , )?$key( ,|\$)" ||
		fail "hatf-report(1) does not explain $key"
done
"$HATF" convert -p -t hatf app.hatf - | "$HATF" report --json - >piped
check 'a pipe' "$(jq -c .total piped)" "$(jq -c .total out)"

# A page that cannot be written to standard output.
[ -w /dev/full ] && {
	"$HATF" report --html - app.hatf >/dev/full 2>err
	# shellcheck disable=SC2034 # check_status reads it
	status=$?
	check_status 'a page to a full disk' 1
	check_one_line 'a page to a full disk' \
		'hatf report: standard output: No space left *'
}

# How many lines of each list: some by default, and all with --top 0.
{
	header unit=us
	layout
	for i in {0..11}; do
		alloc 10 $((0x1000 + 16 * i)) "$i" 0 "$i"
	done
} >many.hatf
trailer many.hatf 12 24
for options in :3 "--top=2:2" "--top=0:12" "--json:10" "--json --top=0:12"; do
	want=${options##*:}
	# shellcheck disable=SC2086 # several options
	run "$HATF" report ${options%:*} many.hatf
	case $options in
	*json*) got=$(jq '.threads | length' out) ;;
	*) got=$(sed -n '/^Threads/,/^Trace/p' out | grep -c ' thread ') ;;
	esac
	check "lines with '${options%:*}'" "$got" "$want"
done

# Sums of bytes that no number can hold are called wrong.
{
	echo '10 HATF ascii'
	for i in 1 2 3; do
		printf '0 9223372036854775808 0x%x0000000000\n' $i
	done
} >vast.ascii
run "$HATF" report vast.ascii
check_status 'vast' 0
grep -q '^  blocks whose size made a sum overflow (the sum is wrong): 1' out ||
	fail 'vast: sums that are wrong pass for right'
head -n 2 vast.ascii >single.ascii
run "$HATF" report single.ascii
check 'one block of 2^63 bytes' "$(grep -c 'sums are wrong' out)" 0

# --------------------------------------------------------------- damaged traces
# At any byte, what can be read is shown.
size=$(stat -c %s app.hatf)
for ((cut = size - 400; cut < size; cut += 7)); do
	head -c "$cut" app.hatf >cut.hatf
	run "$HATF" report cut.hatf
	check_status "cut at $cut" 1
	check_one_line "cut at $cut" 'hatf report: cut.hatf: *'
	grep -q '^  not complete: ' out || fail "cut at $cut: health"
done
run "$HATF" report missing.hatf
check_status 'missing' 1
check_one_line 'missing' 'hatf report: missing.hatf: *'

# ----------------------------------------------------------------------- memory
# Ten times the events with the same live set take the same memory.
make()
{
	awk -v events="$1" 'BEGIN {
		print "10 HATF ascii thread time attributes"
		for (i = 1; i <= 3; i++) {
			printf "10 HATF frame\\x0aframe=%d\\x0a", i
			printf "function=f%d\\x0a\n", i
			printf "10 HATF stack\\x0astack=%d\\x0a", i
			printf "parent=%d\\x0aframe=%d\\x0a\n", i - 1, i
		}
		for (i = 0; i < events; i++) {
			slot = int(i * 7919 / 3) % 5000
			if (live[slot]) {
				print 1, live[slot], slot % 3, i
				live[slot] = 0
			} else {
				live[slot] = 65536 + 48 * ++count
				print 0, slot % 40, live[slot], slot % 3, i, \
					"450" slot % 3 + 1
			}
		}
	}'
}
peak=$BUILD/tests/capture/programs/peak
if [ -x "$peak" ]; then
	for events in 100000 1000000; do
		make "$events" >long.ascii
		"$HATF" convert long.ascii "$events.hatf" || fail "$events"
		for command in report leaks stat; do
			"$peak" "$HATF" "$command" "$events.hatf" -- true \
				>peaks 2>err
			head -n 1 peaks >"$events.$command"
		done
	done
	for command in report leaks stat; do
		short=$(cat "100000.$command") long=$(cat "1000000.$command")
		[ "$long" -le "$((short + 2048))" ] ||
			fail "$command: $long KiB for ten times $short KiB"
	done
fi
finish

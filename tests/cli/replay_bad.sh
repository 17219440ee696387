#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_bad.sh - 'hatf replay' survives allocators that hang, crash or cheat
#
# bad_heap.c misbehaves as its environment says.  In each case one line says
# what is wrong, the status is 1, glibc still has its row, and no process and no
# file is left.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

"${CC:-cc}" -O1 -D_GNU_SOURCE -fno-builtin -shared -fPIC -pthread \
	-o bad.so "$CLI/bad_heap.c" || fail 'cannot build bad_heap.c'
first_line='10 HATF ascii thread heap time attributes'
mkdir tmp
export TMPDIR=$PWD/tmp

# 2000 calls of two threads, one of which is malloc(301): call 284 of thread 7.
awk -v first="$first_line" 'BEGIN {
	print first
	print "0 10 0x100 0 0 1"
	print "8 7 0 1 4200"
	for (i = 1; i < 1000; i++)
		printf("0 %d 0x%x %d 0 1\n", i == 667 ? 301 : 20 + i % 50,
			4096 * i, i >= 100 && i % 2 ? 7 : 0)
	for (i = 1; i < 1000; i++)
		printf("1 0x%x %d 0 1\n", 4096 * i, i % 3 ? 7 : 0)
	print "9 7 0 1"
}' >two.ascii
printf '%s\n' "$first_line" '0 301 0x1000 5 0 1' '1 0x1000 5 0 1' >one.ascii

# bad MODE PATTERN [OPTION...]: replay two.ascii with glibc and the bad heap.
bad()
{
	local mode=$1 pattern=$2 name

	shift 2
	name="./bad.so:BAD_HEAP=$mode"
	# A blank would begin another variable.
	export BAD_HEAP=$mode
	case $mode in
	*' '*) name=./bad.so:X=Y ;;
	*) unset BAD_HEAP ;;
	esac
	run timeout 60 "$HATF" replay -r 2 --timeout 1 -a glibc -a "$name" \
		"$@" two.ascii
	unset BAD_HEAP
	check_status "$mode" 1
	check_one_line "$mode" "hatf replay: $name: $pattern"
	[[ $* == *--check* ]] && return
	# Its memory can be 0 B: the kernel counts pages in batches.
	grep -Eq '^glibc +(too short|[0-9.]+ (ns|us|ms|s)) ' out ||
		fail "$mode: no row of glibc: $(cat out)"
	grep -Eq "^${name//./\\.} +failed( +-){10}$" out ||
		fail "$mode: no failed row"
	! grep -q '^Least' out || fail "$mode: a verdict on one allocator"
}

stands='no progress for 1 s: thread 7 hangs in malloc(301), its call 284'
bad loop "$stands"
bad deadlock "$stands"
bad loop 'no progress for 1 s: thread 7 hangs in malloc(301), its *' --check
bad free 'no progress for 1 s: thread * hangs in free(p), its call *'
bad start 'no progress for 1 s, before the first call'
end='no progress for 1 s: thread 7 does not end after call 1 116, its last one'
bad 'thread end' "$end"
bad stop "no progress for 1 s: signal $(kill -l STOP) (*) has stopped *"
bad stop 'no progress for 1 s: signal *' --check
bad 'stop at the start' 'no progress for 1 s: signal *'
bad 'read a terminal' "no progress for 1 s: signal $(kill -l TTIN) (*) *"
bad exit 'the replay exited with status 0 before its last call'
bad close 'the allocator has closed a descriptor of the replay'
bad 'close at the start' \
	"the allocator's library closed descriptors of the replay *, so no *"
bad fork 'the allocator started a process that outlived the run (now killed)'
bad null 'every allocation failed'
bad same 'a block was changed: the allocator gave its memory to another block'
bad overlap 'a block was changed: *'
bad odd 'a block is misaligned: *'
bad odd 'a block is misaligned: *' --check
bad 'shared memory' 'the allocator wrote to the memory of the replay'

# The call is found without the check of a library, too: in the measured run.
cp bad.so libjemalloc.so.2
LD_LIBRARY_PATH=$PWD run timeout 60 "$HATF" replay -r 1 --timeout 1 \
	-a glibc -a jemalloc:BAD_HEAP=loop two.ascii
check_one_line 'found by its name' "hatf replay: jemalloc:*: $stands"
# Two calls share a word: either can be the one.
for i in 7 8; do
	awk -v first="$first_line" -v call="$i" 'BEGIN {
		print first
		for (i = 1; i < 30; i++)
			printf("0 %d 0x%x 0 0 1\n", i == call ? 301 : i, 64 * i)
	}' >half.ascii
	LD_LIBRARY_PATH=$PWD run timeout 60 "$HATF" replay -r 1 --timeout 1 \
		-a glibc -a jemalloc:BAD_HEAP=loop half.ascii
	check_one_line "call $i" \
		"*: thread 0 hangs in malloc(301), its call $i"
done
run timeout 60 "$HATF" replay -r 1 --timeout 1 -a ./bad.so:BAD_HEAP=loop \
	--threads 1 two.ascii
check_one_line 'one thread' '*: thread 0 hangs in malloc(301), its call 668'
run timeout 60 "$HATF" replay -r 1 --timeout 1 -a ./bad.so:BAD_HEAP=loop \
	--from 400 two.ascii
check_one_line 'a window' '*: thread 7 hangs in malloc(301), its call 134'
run timeout 60 "$HATF" replay -r 1 --timeout 1 -a ./bad.so:BAD_HEAP=loop \
	--from 900 two.ascii
check_one_line 'before a window' \
	'*: thread 7 hangs in malloc(301), its call 284,' \
	'before the first measured call'

# JSON has the reason, and limits of allocators that failed do not matter.
run timeout 60 "$HATF" replay --json -r 1 --timeout 1 -a glibc \
	-a ./bad.so:BAD_HEAP=loop -f 'wall>1*glibc' two.ascii
check_status JSON 1
check JSON "$(jq -r '.allocators[] | .error' out)" "null
${stands}"
check 'JSON: best' "$(jq -c .best.wall out)" '["glibc"]'

# An allocator that fails calls looks better than it is: it has no rank, and a
# limit does not pass.
export BAD_HEAP='no memory'
run "$HATF" replay -r 2 -a ./bad.so -a glibc -a glibc:X=1 two.ascii
check_status 'failed calls' 1
failed='hatf replay: ./bad.so: 1 call failed, more than with another allocator'
check_one_line 'failed calls' "$failed"
grep -q 'failed calls: 1$' out || fail "failed calls: $(cat out)"
grep '^Least' out | grep -q 'bad.so' && fail "failed calls: $(cat out)"
grep -q '^Least time: glibc' out || fail "failed calls: $(cat out)"
for options in --markdown '--fail-if peak_rss>9*glibc' --check; do
	# shellcheck disable=SC2086 # words
	run "$HATF" replay -r 2 -a glibc -a ./bad.so $options two.ascii
	check_status "failed calls, $options" 1
	check_one_line "failed calls, $options" "$failed"
	! grep -q '^Least' out || fail "failed calls, $options: a verdict"
done
run "$HATF" replay -r 2 -a glibc -a ./bad.so --markdown two.ascii
grep -qx -- '- ./bad.so: failed calls: 1' out ||
	fail "failed calls in Markdown: $(cat out)"
run "$HATF" replay --json -r 2 -a glibc -a ./bad.so two.ascii
check 'failed calls: best' "$(jq -c '[.best[] | index("./bad.so")]' out)" \
	'[null,null,null,null,null]'
run "$HATF" replay -r 2 -a glibc -a ./bad.so -w sizes:round=2 two.ascii
grep -qx '  ./bad.so: not compared, because calls failed' out ||
	fail "failed calls, --what-if: $(cat out)"
# With the same failures, all have a rank.
run "$HATF" replay -r 2 -a ./bad.so -a ./bad.so:X=1 two.ascii
check_status 'the same failed calls' 0
grep -q '^Least time: .*bad.so' out || fail "no verdict: $(cat out)"
unset BAD_HEAP

# What an allocator prints is not in our output.  The process that it forks
# makes calls, too, but its figures do not count.
run "$HATF" replay --json -r 1 -a ./bad.so:BAD_HEAP=print two.ascii
check_status 'an allocator that prints' 0
check 'an allocator that prints' "$(jq .calls out)" 1999
check 'an allocator that prints' "$(sort -u err)" 'a line'
BAD_HEAP='fork on' run timeout 60 "$HATF" replay --json -r 1 --timeout 1 \
	-a ./bad.so two.ascii
case $status in
0 | 1) ;;
*) fail "fork on: status $status" ;;
esac

# ------------------------------------------------------ waits for other threads
# Thread 1 waits for the block that the other thread gets after 0.3 s.
printf '%s\n' "$first_line" '8 1 0 0 4200' '0 301 0x1000 0 0 1' \
	'1 0x1000 1 0 1' >wait.ascii
run "$HATF" replay --json -r 1 -a ./bad.so:BAD_HEAP=slow wait.ascii
check_status waits 0
check 'the time in waits' "$(jq '.allocators[0].wait.median |
	. > 200000000 and . < 10000000000' out)" true
check 'the time in calls' "$(jq '.allocators[0] |
	.busy.measured[0] >= 300000000 and
	.busy.measured[0] < 300000000 + .wait.median * 0.75' out)" true
check 'the CPU time of waits' "$(jq '.allocators[0].wait_cpu.median |
	. < 50000000' out)" true
run "$HATF" replay -r 1 -a ./bad.so:BAD_HEAP=slow wait.ascii
grep -q '^Sum over all threads: time in calls + in' out || fail "$(cat out)"
grep -Eq '^  \./bad.so:BAD_HEAP=slow: [0-9.]+ m?s \+ [0-9.]+ m?s \(CPU ' out ||
	fail "no row of waits: $(cat out)"
# One allocator takes more time, the other more CPU time: if the machine does
# not make one of them the best by both, the verdict has both.
run "$HATF" replay -r 2 -a ./bad.so:BAD_HEAP=slow -a ./bad.so:BAD_HEAP=spin \
	one.ascii
grep -Eq '^Least time: .*=slow; peak|; CPU time: .*BAD_HEAP=slow; peak' out ||
	fail "time and CPU time: $(cat out)"
run "$HATF" replay --json -r 1 -a ./bad.so:BAD_HEAP=slow --threads 1 wait.ascii
check 'one thread does not wait' "$(jq '.allocators[0].wait.max' out)" 0

# --------------------------------------------------- no progress, but no fault
run "$HATF" replay -r 1 --timeout 0.2 -a ./bad.so:BAD_HEAP=slow one.ascii
check_status 'too slow' 1
run "$HATF" replay -r 1 --timeout 3 -a ./bad.so:BAD_HEAP=slow one.ascii
check_status 'slow' 0
run "$HATF" replay -r 1 --timeout 0 -a ./bad.so:BAD_HEAP=slow one.ascii
check_status 'no limit' 0

# Pauses of the trace, also while another thread waits.
cat >pauses.ascii <<END
10 HATF ascii thread heap time attributes
10 HATF 1.0\x0aproducer=test\x0aunit=us\x0a
8 1 0 0 4200
0 100 0x1000 0 0 0
1 0x1000 1 0 1500000
0 100 0x2000 1 0 1500000
1 0x2000 0 0 1500000
10 HATF end\x0aevents=4\x0arecords=6\x0acomplete=1\x0aend=exit\x0alost=0\x0a
END
run timeout 60 "$HATF" replay --speed real -r 1 --timeout 0.5 -a glibc \
	pauses.ascii
check_status "pauses: $(cat err)" 0

# A replay that is stopped, with its driver: the process that has BAD_HEAP.
drivers()
{
	grep -lsz "^BAD_HEAP=$1\$" /proc/[0-9]*/environ | cut -d / -f 3
}
awk -v first="$first_line" 'BEGIN {
	print first
	for (i = 1; i <= 10; i++)
		printf("0 301 0x%x 0 0 1\n", 4096 * i)
}' >slow.ascii
# state PID: 'T' if a signal has stopped the process
state()
{
	sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"
}
for signal in STOP TSTP; do
	"$HATF" replay -r 1 --timeout 1.5 -a ./bad.so:BAD_HEAP=slow \
		slow.ascii >stopped.out 2>&1 &
	replay=$!
	for ((i = 0; i < 100; i++)); do
		driver=$(drivers slow)
		[ -z "$driver" ] || break
		sleep 0.02
	done
	[ -n "$driver" ] || fail "SIG$signal: no driver"
	kill -"$signal" "$replay"
	# SIGTSTP, as by Ctrl-Z, is passed on.
	[ "$signal" = TSTP ] || kill -STOP "$driver"
	sleep 2.5
	check "SIG$signal" "$(state "$replay")$(state "$driver")" TT
	[ "$signal" = TSTP ] || kill -CONT "$driver"
	kill -CONT "$replay"
	wait "$replay" || fail "a replay after SIG$signal: $(cat stopped.out)"
done

# ------------------------------------------------------- a signal in the middle
for signal in INT TERM HUP; do
	# An interactive shell would not ignore SIGINT in the background.
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$HATF" replay --timeout 0 \
		-a "./bad.so:BAD_HEAP=deadlock" one.ascii >signal.out 2>&1 &
	replay=$!
	for ((i = 0; i < 100; i++)); do
		[ -z "$(drivers deadlock)" ] || break
		sleep 0.05
	done
	[ -n "$(drivers deadlock)" ] || fail "SIG$signal: no driver"
	sleep 0.3
	kill -"$signal" "$replay"
	wait "$replay" 2>/dev/null
	check "SIG$signal" $? $((128 + $(kill -l "$signal")))
	check "SIG$signal: processes" "$(drivers deadlock)" ''
done
check 'files' "$(ls tmp)" ''
check 'processes' "$(drivers fork)" ''

# --------------------------------------------------- libraries that are none
mkfifo fifo.so
mkdir folder.so
echo text >text.so
: >empty.so
head -c 2000 bad.so >cut.so
for file in ./fifo.so ./folder.so ./text.so ./empty.so /dev/null; do
	run timeout 20 "$HATF" replay -r 1 -a "$file" one.ascii
	check_status "$file" 2
	check_one_line "$file" 'hatf replay: --allocator: not a shared *'
done
run timeout 20 "$HATF" replay -r 1 -a ./cut.so one.ascii
check_status 'a library that is cut off' 1
for text in glibc: glibc:=x 'glibc:A=1 B' 'glibc:A=1 =2' \
	glibc:LD_PRELOAD=./bad.so; do
	run "$HATF" replay -r 1 -a "$text" one.ascii
	check_status "$text" 2
	check_one_line "$text" 'hatf replay: --allocator: *'
done
# A variable can be empty, and blanks can be doubled.
run "$HATF" replay -r 1 -a 'glibc:A=  B=1' one.ascii
check_status 'an empty variable' 0

for value in x -1 1e99 nan ''; do
	run "$HATF" replay --timeout "$value" one.ascii
	check_status "--timeout '$value'" 2
	check_one_line "--timeout '$value'" 'hatf replay: --timeout: *'
done
finish

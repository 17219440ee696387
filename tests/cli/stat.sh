#!/bin/bash
# SPDX-License-Identifier: MIT
#
# stat.sh - stat, report and leaks agree with a slow and simple census
#
# census.py counts what traces have allocated, and compares every figure: of a
# trace made by hand, of random ones with threads, heaps and mistakes, of other
# systems', of recorded programs and of a forked child.  valgrind and heaptrack
# count the same programs.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# The interpreter itself: 'python3' may be a script that runs other programs.
PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'
command -v jq >/dev/null || skip 'no jq'

# compare NAME TRACE [WINDOW...]
compare()
{
	local name=$1

	shift
	run "$PYTHON" "$CLI/census.py" "$HATF" "$@"
	# shellcheck disable=SC2154 # run sets it
	[ "$status" -eq 0 ] || fail "$name: $(tail -n 3 err) $(cat out)"
}

# frame ID FUNCTION FILE LINE, stack ID PARENT FRAME: definitions.
frame()
{
	comment "HATF frame\nframe=$1\nfunction=$2\nfile=$3\nline=$4\n"
}
stack()
{
	comment "HATF stack\nstack=$1\nparent=$2\nframe=$3\n"
}

# ------------------------------------------------------- a trace made by hand
{
	header unit=us
	layout
	frame 1 main a.c 10
	frame 2 make a.c 20
	frame 3 keep b.c 30
	stack 1 0 1
	stack 2 1 2
	stack 3 1 3
	thread_event 8 1 0 '\x42\x00\x81\x06worker'
	# A temporary block, although the other thread calls in between.
	alloc 10 0x1000 0 0 100 '\x45\x02'
	alloc 50 0x2000 1 0 110 '\x45\x03'
	free 0x1000 0 0 120
	# The realloc moves a block to another site.  That block is kept.
	resize 3 100 0x2000 0x3000 1 0 130 '\x45\x02'
	alloc 100 0x3000 1 0 130
	free 0x2000 1 0 130
	# The peak: 100 + 1000.
	alloc 1000 0x4000 0 0 200 '\x45\x03'
	# Freed by the other thread, and not temporary.
	alloc 7 0x5000 0 0 205
	free 0x4000 1 0 400
	free 0x5000 1 0 410
	# A call that fails, and the free of a block that is not known.
	alloc 99 0 0 0 500 '\x45\x02'
	free 0x9999 0 0 600
	# The block that is kept outlives its thread.
	thread_event 9 1 600
} >hand.hatf
trailer hand.hatf 10 21

contradicted="doubtful: events that contradict others ('hatf verify' lists \
them): 1"

# check_stat NAME OPTION...: compare with standard input.  The unknown block is
# freed after 'a part of the time'.
check_stat()
{
	local name=$1

	shift
	run "$HATF" stat "$@" hand.hatf
	check_status "$name" 0
	check_silent "$name"
	{
		cat
		echo "$contradicted"
		[ "$name" = 'a part of the time' ] ||
			echo 'doubtful: frees of unknown blocks: 1'
	} >want
	check_text "$name" out <want
}

check_stat 'by site' <<'EOF'
  allocated       blocks     at peak      at end   temporary     moved  site
    1.1 KiB            5     1.1 KiB       100 B           2         1  all
    1.0 KiB            2      1000 B         0 B           1         0  keep (b.c:30)
      110 B            2       100 B       100 B           1         1  make (a.c:20)
        7 B            1         7 B         0 B           0         0  [no stack]
EOF
check_stat 'at the peak' --by function --at-peak <<'EOF'
    at peak       blocks    part  function
    1.1 KiB            3   100 %  all
     1000 B            1    90 %  keep
      100 B            1   9.0 %  make
        7 B            1   0.6 %  [no stack]
EOF
check_stat 'by thread' --by thread --sort temporary <<'EOF'
  allocated       blocks     at peak      at end   temporary     moved  thread
    1.1 KiB            5     1.1 KiB       100 B           2         1  all
      150 B            2       100 B       100 B           1         1  thread 1 (worker)
     1017 B            3      1007 B         0 B           1         0  thread 0

 bytes left  blocks left  by a thread, when the recorder noticed its end
      100 B            1  thread 1 (worker)
EOF
check_stat 'over time' --by time <<'EOF'
  most live live at end   allocated       blocks        frees      bytes/s      blocks/s  time
        0 B         0 B         0 B            0            0          0 B             0  from 0 ns
       60 B        50 B        60 B            2            1      1.8 MiB        64 516  from 93.000 us
      100 B       100 B       100 B            1            1      3.1 MiB        32 258  from 124.000 us
    1.1 KiB     1.1 KiB      1007 B            2            0     31.0 MiB        64 516  from 186.000 us
    1.1 KiB       107 B         0 B            0            1          0 B             0  from 372.000 us
      107 B       100 B         0 B            0            1          0 B             0  from 403.000 us
      100 B       100 B         0 B            0            0          0 B             0  from 496.000 us
      100 B       100 B         0 B            0            0          0 B             0  from 589.000 us
EOF
# The parts divide the window.
check_stat 'a part of the time' --by time --from 100us --to 140us <<'EOF'
  most live live at end   allocated       blocks        frees      bytes/s      blocks/s  time
       10 B        10 B        10 B            1            0      4.8 MiB       500 000  from 100.000 us
       60 B        60 B        50 B            1            0     23.8 MiB       500 000  from 110.000 us
       60 B        50 B         0 B            0            1          0 B             0  from 120.000 us
      100 B       100 B       100 B            1            1     47.7 MiB       500 000  from 130.000 us
EOF
check_stat 'by size' --by size --top 2 <<'EOF'
  allocated       blocks     at peak      at end   temporary     moved  size
    1.1 KiB            5     1.1 KiB       100 B           2         1  all
     1000 B            1      1000 B         0 B           0         0  513 to 1024 bytes
      100 B            1       100 B       100 B           0         1  65 to 128 bytes
and 3 more ('--top 0' prints all)

    at peak    part      at end    part   allocated    part  wasted by the size classes of
       45 B   3.9 %        12 B    11 %        81 B   6.5 %  glibc
       37 B   3.2 %        12 B    11 %        57 B   4.7 %  jemalloc
       37 B   3.2 %        12 B    11 %        57 B   4.7 %  tcmalloc
       37 B   3.2 %        12 B    11 %        57 B   4.7 %  mimalloc
EOF
check_stat 'sizes at the end' --by size --at-end <<'EOF'
     at end       blocks    part  size
      100 B            1   100 %  all
      100 B            1   100 %  65 to 128 bytes

     at end    part  wasted by the size classes of
       12 B    11 %  glibc
       12 B    11 %  jemalloc
       12 B    11 %  tcmalloc
       12 B    11 %  mimalloc
EOF
check_stat 'by lifetime' --by lifetime <<'EOF'
      freed       blocks    part  lifetime
       10 B            1    33 %  up to 32.000 us
     1007 B            2    67 %  up to 256.000 us
      100 B            1          live at the end
EOF
run "$HATF" stat --by file --from 6 --to 300us hand.hatf
check_one_line 'a window' \
	'hatf stat: hand.hatf: no call is in the range of --from and --to'
check_text 'a window' out <<EOF
  allocated       blocks     at peak      at end   temporary     moved  file
        0 B            0     1.1 KiB     1.1 KiB           0         0  all
        0 B            0      1000 B      1000 B           0         0  b.c
        0 B            0       100 B       100 B           0         0  a.c
        0 B            0         7 B         7 B           0         0  [no stack]
$contradicted
EOF
check_stat 'by stack' --by stack --at-peak <<'EOF'
    at peak       blocks    part  stack
    1.1 KiB            3   100 %  all
     1000 B            1    90 %  stack 3: keep (b.c:30)
                          main (a.c:10)
      100 B            1   9.0 %  stack 2: make (a.c:20)
                          main (a.c:10)
        7 B            1   0.6 %  [no stack]
EOF
run "$HATF" stat --by stack --json --top 1 --at-end hand.hatf
check 'a stack' "$(jq -c '.rows[0] | [.id, .name, .at_end.bytes]' out)" \
	'[2,"stack 2: make (a.c:20)",100]'
check 'frames' "$(jq -c '.rows[0].frames' out)" \
	'["make (a.c:20)","main (a.c:10)"]'
run "$HATF" stat --by thread --json hand.hatf
check 'failed and unknown' \
	"$(jq -c '.health | [.failed_calls, .unknown_frees]' out)" '[1,1]'
# A range without a call.
for range in '2s 1s' '5 5' '5us 5us'; do
	for command in 'stat' 'plot -o x.svg'; do
		# shellcheck disable=SC2086 # several words
		run "$HATF" $command --from ${range% *} --to ${range#* } \
			hand.hatf
		check_status "$command: $range" 2
		grep -q 'hatf .*: --to must be after --from' err ||
			fail "$command: $range: $(cat err)"
	done
done
run "$HATF" stat --from 10s hand.hatf
check_status 'beyond the end' 0
check_one_line 'beyond the end' 'hatf stat: hand.hatf: no call is in the' \
	'range of --from and --to; the trace has 10 calls and ends after' \
	'600.000 us'
run "$HATF" stat --from 6 --to 1us hand.hatf
check_one_line 'crossed' \
	'hatf stat: hand.hatf: no call is in the range of --from and --to'
compare 'by hand' hand.hatf '--from 2 --to 7' '--from 100us --to 300us'

# Without stacks.
{
	header unit=us clock=auto
	layout
	alloc 20000000 0x10000000 0 0 10
	alloc 2000 0x1000 0 0 10
	free 0x1000 0 0 10
} >bare.hatf
trailer bare.hatf 3 4
run "$HATF" stat --by function --sort peak bare.hatf
check 'without stacks: head' "$(head -n 1 out | sed 's/.*  //')" 'thread, size'
check 'a large size' "$(sed -n '3s/.*  //p' out)" \
	'thread 0, 16777217 to 33554432 bytes'
run "$HATF" stat --by size bare.hatf
check 'large sizes' "$(sed -n '3,4s/.*  //p' out | xargs)" \
	'16777217 to 33554432 bytes 1025 to 2048 bytes'
check 'exact sizes' "$("$HATF" stat --json --by size bare.hatf |
	jq -c '[.rows[].to]')" '[33554432,2048]'
# Lifetimes that are shorter than the ticks of the clock.
run "$HATF" stat --by lifetime bare.hatf
check 'a coarse clock' "$(tail -n 1 out)" 'note: the clock of this trace' \
	'has ticks of up to 2 ms: shorter lifetimes may look like 0; use' \
	"'hatf record --clock us'"
run "$HATF" stat --by lifetime hand.hatf
grep note: out && fail 'lifetimes: a note on an exact clock'

# --------------------------------------------------- random traces, with faults
# random SEED EVENTS: print records of four threads and three heaps, of which
# some are destroyed; some frees, reallocs and allocs are wrong.
random()
{
	awk -v seed="$1" -v events="$2" 'BEGIN {
		srand(seed)
		print "10 HATF ascii thread heap time attributes"
		for (i = 1; i <= 9; i++) {
			printf "10 HATF frame\\x0aframe=%d\\x0a", i
			printf "function=f%d\\x0aline=%d\\x0a\n", i % 6, i
			printf "10 HATF stack\\x0astack=%d\\x0a", i
			printf "parent=%d\\x0aframe=%d\\x0a\n", int(i / 3), i
		}
		for (i = 0; i < events; i++) {
			time += int(rand() * 5)
			thread = int(rand() * 4)
			heap = int(rand() * rand() * 3)
			slot = heap " " int(rand() * rand() * 200)
			size = int(exp(rand() * 9)) - 1
			stack = "450" int(rand() * 10)
			tail = thread " " heap " " time
			address = 65536 + 16 * ++count
			if (rand() < 0.001 && heap) {
				print 7, heap, thread, time
			} else if (rand() < 0.003) {
				print 1, address, tail
			} else if (live[slot] && rand() < 0.2) {
				if (rand() < 0.5)
					address = live[slot]
				print address == live[slot] ? 2 : 3, size,
					live[slot], address, tail, stack
				if (address != live[slot]) {
					print 0, size, address, tail
					print 1, live[slot], tail
				}
				live[slot] = address
			} else if (live[slot] && rand() < 0.99) {
				print 1, live[slot], tail
				live[slot] = 0
			} else {
				if (live[slot] && rand() < 0.5)
					address = live[slot]
				print 0, size, address, tail, stack
				live[slot] = address
			}
		}
	}'
}
for seed in 1 2 3; do
	random "$seed" 3000 >"random$seed.ascii"
	"$HATF" convert "random$seed.ascii" "random$seed.hatf.gz" 2>err ||
		fail "random $seed: $(cat err)"
	compare "random $seed" "random$seed.hatf.gz" '--from 500 --to 2500' \
		'--to 2000' '--from 100000'
done

# -------------------------------------------------- what others have recorded
for trace in "$CLI"/../data/golden/blocks.hatf \
	"$CLI"/../data/foreign/heaptrack/*.zst \
	"$CLI"/../data/foreign/mtrc/*64le*; do
	"$HATF" info "$trace" >/dev/null 2>&1 || continue
	compare "${trace##*/}" "$trace"
done

# ------------------------------------------------------------ recorded programs
command -v "${CC:-cc}" >/dev/null || finish
"${CC:-cc}" -g -O1 -o sites "$CLI/sites.c" -lpthread || fail 'sites.c'
run "$HATF" record -o sites.hatf.gz -- ./sites 50
check_status 'record sites' 0
run "$HATF" record -o alone.hatf.gz -- ./sites 50 alone
check_status 'record sites alone' 0
compare 'sites' sites.hatf.gz '--from 20ms --to 40ms' '--from 100 --to 700'
run "$HATF" record -o python.hatf.gz -- "$PYTHON" -S -E -c \
	'print(sorted(str(i) for i in range(3000))[0])'
compare 'python' python.hatf.gz
# Each segment begins with the blocks that were live.
run env PYTHONMALLOC=malloc "$HATF" record --rotate 64K -o s.hatf.gz -- \
	"$PYTHON" -S -E -c 'import json
a = []
for i in range(4000):
    numbers = (str((x * 7919 + i * 31) % 100003) for x in range(i % 97))
    a.append(json.loads("[%s]" % ",".join(numbers)))'
[ -f s.s0001.hatf.gz ] || fail 'no second segment'
for trace in s.s*.hatf.gz; do
	compare "${trace%.gz}" "$trace" '--from 5 --to 2000'
done
# The child inherits what its parent has.
run "$HATF" record -o '%p.hatf.gz' -- "$PYTHON" -S -E -c \
	'import os; a = [bytes(999) for i in range(99)]; os.fork() or a.clear()'
child=
for trace in [0-9]*.hatf.gz; do
	start=$("$HATF" info --json "$trace" | jq .start_live_objects)
	if [ "$start" -eq 0 ]; then
		compare 'a parent' "$trace"
		continue
	fi
	child=$trace
	want=$("$HATF" info --json "$trace" |
		jq -c '[.end_live_objects, .inherited_live_objects]')
	got=$("$HATF" stat --json --top 0 --by stack "$trace" | jq -c '[
		.total.at_end.blocks, (.rows[] |
			select(.name | startswith("[inherited")) |
			.at_end.blocks)]')
	check 'what a child inherits' "$got" "$want"
done
[ -n "$child" ] || fail 'no trace of a child'

# ------------------------------------------------------- valgrind and heaptrack
# total FILTER: print words of the account of all that 'sites' allocated.
total()
{
	"$HATF" stat --json alone.hatf.gz |
		jq -r ".total | [$1] | map(tostring) | join(\" \")"
}

# Both count each realloc as an allocation and a free.
if command -v valgrind >/dev/null; then
	valgrind --run-libc-freeres=no --run-cxx-freeres=no ./sites 50 alone \
		>said 2>&1
	sed -nE 's/,//g
		s/.*at exit: ([0-9]+) bytes in ([0-9]+) .*/\1 \2/p
		s/.*: ([0-9]+) allocs ([0-9]+) frees ([0-9]+) .*/\1 \2 \3/p' \
		said | xargs >want
	check 'valgrind' "$(total '.at_end.bytes, .at_end.blocks,
		.allocated.blocks, .freed.blocks, .allocated.bytes')" \
		"$(cat want)"
fi

# heaptrack loads libstdc++, which allocates one block and keeps it: 72 704
# bytes.  It compares sites and sizes to find temporary blocks, and one order of
# all threads, so that it may find some more.
if command -v heaptrack_print >/dev/null; then
	heaptrack -o ht ./sites 50 alone >said 2>&1 </dev/null
	heaptrack_print ht.* >printed 2>err || fail "heaptrack: $(cat said err)"
	allocated=$(sed -nE 's/^calls to allocation .*: ([0-9]+).*/\1/p' \
		printed)
	temporary=$(sed -nE 's/^temporary memory allocations: ([0-9]+).*/\1/p' \
		printed)
	check 'heaptrack: allocations' "$allocated" \
		"$(($(total .allocated.blocks) + 1))"
	more=$((temporary - $(total .temporary.blocks)))
	[ "$more" -ge 0 ] && [ "$more" -le 2 ] ||
		fail "heaptrack: $more more temporary allocations"
	# Both have the same order of functions at the peak.
	awk '/^PEAK MEMORY/ { on = 1 } /^MOST TEMP/ { on = 0 }
		on && / peak memory consumed over / { getline; print }' \
		printed | grep -E '^(make_peak|leak_slowly)$' >want
	"$HATF" stat --json --by function --at-peak sites.hatf.gz |
		jq -r '.rows[].name' |
		grep -E '^(make_peak|leak_slowly)$' >got
	check_text 'heaptrack: at the peak' got <want
fi
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay.sh - 'hatf replay' makes the calls that the trace has
#
# sized_heap.c logs what malloc returns, in the recorded program and in its
# replay.  Block for block, both have the same size, usable size and distance
# from the first block.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# The interpreter itself: 'python3' may be a script that runs other programs.
PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'
programs=$BUILD/tests/capture/programs
first_line='10 HATF ascii thread heap time attributes'

# replay WHAT [OPTION...] TRACE: one run under glibc, as JSON.
replay()
{
	local what=$1

	shift
	run timeout 60 "$HATF" replay --json --repeat 1 -a glibc "$@"
	check_status "$what: $(cat err)" 0
}

# figures KEY...: print these members of the last replay.
figures()
{
	local key

	for key; do
		jq -r ".$key" out
	done | xargs
}

# ------------------------------------------------------------ a trace by hand
cat >hand.ascii <<END
$first_line
0 100 0x1000 0 0 1
0 200 0x2000 0 0 2 01
0 300 0x3000 0 0 3 414020
8 1 0 4 4200
2 150 0x1000 0x1000 1 0 5
3 5000 0x1000 0x4000 1 0 6
0 5000 0x4000 1 0 6
1 0x1000 1 0 6
4 20 0x0 0x5000 1 0 7
0 20 0x5000 1 0 7
5 0 0x5000 0x0 1 0 8
1 0x5000 1 0 8
2 9999 0x4000 0x0 1 0 9
0 400 0x0 1 0 10
9 1 0 11
1 0x2000 0 0 12
1 0x4000 0 0 13
8 2 0 14 4200
0 40 0x2000 2 0 15
END
replay hand hand.ascii
check 'hand: calls' "$(figures mallocs callocs memaligns reallocs frees)" \
	2 1 1 3 3
check 'hand: threads' "$(figures threads threads_at_once handovers)" 3 2 2
check 'hand: peak' "$(figures peak_bytes peak_blocks)" 5520 4
check 'hand: end' "$(figures end_bytes end_blocks)" 340 2
check 'hand: left out' "$(figures left_out_failed left_out_unknown)" 2 0
check 'hand: without memory' "$(jq '.allocators[0].failed' out)" 0
replay 'hand, one thread' --threads 1 hand.ascii
check 'one thread' "$(figures threads handovers calls)" 1 0 10
for touch in none first all; do
	replay "touch $touch" --touch "$touch" hand.ascii
done

# A trace from a pipe.
run bash -c "cat hand.ascii | '$HATF' replay --json -r 1 -a glibc -"
check_status 'a pipe' 0
check 'a pipe' "$(figures calls)" 10

# A trace in another format is replayed as its conversion to ours is.
foreign=$CLI/../data/foreign
for trace in "$foreign"/{android/calls.android,mtrace/cfrac.mtrace.gz} \
	"$foreign"/{hummingbird/calls.hummingbird,mtrc/awk-64le.trace} \
	"$foreign"/memtrace/lists-v3.ctf.gz; do
	"$HATF" convert "$trace" ours.hatf 2>err ||
		fail "$trace: not converted: $(cat err)"
	replay "$trace" "$trace"
	jq -c 'del(.file, .allocators, .driver, .best)' out >foreign
	replay "$trace, ours" ours.hatf
	check_text "$trace" foreign < <(
		jq -c 'del(.file, .allocators, .driver, .best)' out
	)
	[ "$(figures calls)" -ge 5 ] || fail "$trace: $(figures calls) calls"
done

# Each page of a block is written to, also of one that a realloc has grown: 1000
# blocks of 3 pages and a bit.  A realloc that moves a block writes to it, too.
awk -v first="$first_line" 'BEGIN {
	print first
	for (i = 0; i < 1000; i++)
		printf("0 13000 0x%x 0 0 1\n", 65536 * (i + 1))
	for (i = 0; i < 1000; i += 2)
		printf("2 26000 0x%x 0x%x 0 0 1\n", 65536 * (i + 1),
			65536 * (i + 1))
}' >pages.ascii
for touch in none first all; do
	replay "pages, $touch" --touch "$touch" pages.ascii
	peak=$(jq '.allocators[0].peak_rss.median / 4096 | floor' out)
	case $touch in
	# Some kernels make pages resident that are only read, as by realloc,
	# and count resident pages in batches.
	none) [ "$peak" -lt 4600 ] ;;
	first) [ "$peak" -lt 4600 ] ;;
	all) [ "$peak" -gt 4600 ] && [ "$peak" -lt 7000 ] ;;
	esac || fail "pages, $touch: $peak pages"
done

# The options of the table.
run "$HATF" replay -r 2 -a glibc -a glibc:MALLOC_ARENA_MAX=1 hand.ascii
check_status table 0
check 'rows' "$(grep -c '^glibc' out)" 2
grep -q '^Least time: ' out || fail "no verdict: $(cat out)"
run "$HATF" replay -m -r 1 -a glibc hand.ascii
check 'Markdown' "$(grep -c '^|' out)" 3

# Without calls, the times are unknown, not 0.
printf '%s\n' "$first_line" '0 400 0x0 0 0 1' >none.ascii
run "$HATF" replay -r 2 -a glibc -a glibc:A=1 none.ascii
check_status 'no calls' 0
check 'no calls: no time' \
	"$(grep -cE '^glibc[^ ]* +too short +- +- +too short +- ' out)" 2
run "$HATF" replay --json -r 2 -a glibc none.ascii
check 'no calls: JSON' "$(jq -c '.allocators[0] |
	[(.wall, .cpu, .busy | .median, .min, .max), .wait.median]' out)" \
	'[null,null,null,null,null,null,null,null,null,0]'
run "$HATF" replay -r 2 -a glibc -a glibc:A=1 -f 'wall>0,cpu>0' none.ascii
check_status 'no time exceeds no limit' 0
run "$HATF" replay -r 2 -a glibc -a glibc:A=1 -f 'wall>1.1*glibc' none.ascii
check_status 'a limit of no time' 1
check 'a limit of no time' "$(tail -n 1 err)" 'hatf replay: glibc: wall is' \
	'too short to measure, so the limit is unknown (wall>1.1*glibc)'
# The times of many calls are known.
awk -v first="$first_line" 'BEGIN {
	print first
	for (i = 1; i <= 20000; i++)
		printf("0 5000 0x%x 0 0 1\n", 8192 * i)
}' >many.ascii
run "$HATF" replay -r 3 -a glibc many.ascii
check 'many calls' "$(grep -ci 'too short' out)" 0

# The peak RSS for each live byte: glibc takes 5008 bytes for 5000.
check 'heading of the ratio' "$(grep -c 'peak RSS     x  x live  ' out)" 1
grep -qE '^glibc.* 9[5-9]\.[0-9] MiB  1\.00    1\.0[0-4] ' out ||
	fail "memory for each live byte: $(cat out)"
replay 'memory for each live byte' many.ascii
check 'memory for each live byte: JSON' "$(jq '.allocators[0].peak_rss.median /
	.peak_bytes - .allocators[0].peak_rss_per_live_byte | fabs < 0.001' \
	out)" true
check 'null allocator' "$(jq .driver.peak_rss_per_live_byte out)" null
replay 'not resident' --touch first many.ascii
check 'not resident' "$(jq '.allocators[0].peak_rss_per_live_byte' out)" null
replay 'nothing live' none.ascii
check 'nothing live' "$(jq '.allocators[0].peak_rss_per_live_byte' out)" null

# ------------------------------------------------------------------- latencies
replay latencies --latency hand.ascii
check 'timed calls' "$(jq -c '[.allocators[0].latency_ns[].calls]' out)" \
	'[2,1,1,3,3]'
check 'percentiles grow' "$(jq '.allocators[0].latency_ns.malloc |
	[.p50, .p90, .p99, .p99_9, .p99_99, .max] | . == sort and .[0] >= 0' \
	out)" true
run "$HATF" replay -l -r 1 -a glibc hand.ascii
check_status 'table of latencies' 0
check 'rows of latencies' "$(grep -cE '^[a-z]+ +glibc' out)" 5

# ---------------------------------------------------------------- usable sizes
cat >sizes.ascii <<END
$first_line
0 100 0x1000 0 0 1
0 1000 0x2000 0 0 1
1 0x1000 0 0 1
0 24 0x3000 0 0 1
2 40 0x3000 0x3000 0 0 1
1 0x2000 0 0 1
END
replay usable --usable sizes.ascii
check 'usable: the peak' "$(jq '.allocators[0].peak_asked_bytes' out)" 1100
check 'usable: more' "$(jq '.allocators[0] | .peak_usable_bytes >
	.peak_asked_bytes and .peak_usable_bytes < 1200' out)" true
run "$HATF" replay -u -r 1 -a glibc sizes.ascii
grep -q '^Usable bytes beyond .*: glibc [0-9]* B (' out || fail "$(cat out)"

# ------------------------------------------------- what allocators tell, if any
awk -v first="$first_line" 'BEGIN {
	print first
	for (i = 1; i <= 1000; i++)
		printf("0 1000 0x%x 0 0 1\n", 4096 * i)
}' >kilobytes.ascii
run "$HATF" replay --json --own -r 1 kilobytes.ascii
check_status 'own statistics' 0
check 'sources' "$(jq -c '[.allocators[] | .own == null or (.own |
	.used_bytes == null or (.used_bytes > 990000 and .used_bytes < 1500000)
	)] | all' out)" true
check 'from the system' "$(jq -c '[.allocators[] | .own == null or
	.own.mapped_bytes >= 990000] | all' out)" true
check 'glibc' "$(jq -c '.allocators[0].own | [.source, .arenas]' out)" \
	'["mallinfo2",1]'
check 'null allocator' "$(jq .driver.own out)" null
run "$HATF" replay --own -r 1 -a glibc kilobytes.ascii
grep -qx '  glibc: .* in blocks, .* from the system in 1 arena (mallinfo2)' \
	out || fail "own statistics: $(cat out)"

# The tunables of glibc, in which there are colons, apply to one column.
run "$HATF" replay --json --own -r 1 -a glibc -a "glibc:GLIBC_TUNABLES=$(
	)glibc.malloc.top_pad=33554432:glibc.malloc.arena_max=1" kilobytes.ascii
check_status 'tunables' 0
check 'tunables' "$(jq -c '[.allocators[].own.mapped_bytes >= 33000000]' out)" \
	'[false,true]'

# ---------------------------------------------------------------------- limits
run "$HATF" replay -r 2 -a glibc -a 'glibc:MALLOC_ARENA_MAX=1' \
	-f 'peak_rss>9*glibc' -f 'glibc.wall>1000s, faults > 100K' hand.ascii
check_status 'limits that hold' 0
check_silent 'limits that hold'
printf '%s\n' "$first_line" '0 8388608 0x1000 0 0 1' >block.ascii
run "$HATF" replay -r 2 -a glibc -a 'glibc:MALLOC_ARENA_MAX=1' \
	-f 'glibc:MALLOC_ARENA_MAX=1.faults>0.5*glibc' block.ascii
check_status 'a limit exceeded' 3
check_one_line 'a limit exceeded' \
	'hatf replay: glibc:MALLOC_ARENA_MAX=1: faults is *, at least *(glibc:*'
run "$HATF" replay -r 1 -a glibc -a 'glibc:MALLOC_ARENA_MAX=1' \
	-f ' glibc . wall > 1000 s , peak_rss > 9 * glibc' \
	-f 'glibc . peak_rss>1 M' \
	block.ascii
check_status 'blanks' 3
check_one_line 'blanks' \
	'hatf replay: glibc: peak_rss is *(glibc . peak_rss>1 M)'
# wrong_limit TEXT PATTERN
wrong_limit()
{
	run "$HATF" replay -a glibc -a glibc:A=1 -f "$1" hand.ascii
	check_status "--fail-if '$1'" 2
	check_one_line "--fail-if '$1'" "hatf replay: --fail-if: $2"
}
measures='(known: wall, cpu, peak_rss, end_rss, faults, busy, wait_cpu, wait)'
wrong_limit 'x>1' "unknown measure 'x' $measures"
wrong_limit 'wall>1s,glibc.rss>1' "unknown measure 'rss' $measures"
wrong_limit 'glibc.>1' "unknown measure '' $measures"
for text in 'peak_rss>1*jemalloc' 'peak_rss>1 * jemalloc ,wall>1s' \
	'jemalloc.wall>1s'; do
	wrong_limit "$text" \
		"no allocator 'jemalloc' in this replay (only glibc, glibc:A=1)"
done
for text in 'wall>20' 'cpu>1.5,wall>1s' 'wait>1'; do
	wrong_limit "$text" "a time needs a unit (ns, us, ms or s): '$text'"
done
for text in peak_rss 'peak_rss>' 'peak_rss<1' 'peak_rss>1/0' 'wall>1M' \
	'faults>1s' 'wall x>1s' 'wall>-1' 'wall>nan' 'wall>0x9' 'wall>1s,' \
	'' ','; do
	run "$HATF" replay -a glibc -f "$text" hand.ascii
	check_status "--fail-if '$text'" 2
	check_one_line "--fail-if '$text'" \
		"hatf replay: --fail-if: '$text' is not a limit *"
done

# ------------------------------------------------------------------- real time
cat >slow.ascii <<END
10 HATF ascii thread heap time attributes
10 HATF 1.0\x0aproducer=test\x0aunit=us\x0a
0 100 0x1000 0 0 0
1 0x1000 0 0 300000
10 HATF end\x0aevents=2\x0arecords=3\x0acomplete=1\x0aend=exit\x0alost=0\x0a
END
replay 'real time' --speed real slow.ascii
[ "$(jq '.allocators[0].wall.measured[0]' out)" -ge 300000000 ] ||
	fail 'a replay in real time is too fast'
run "$HATF" replay -s real -r 1 -a glibc -a glibc:X=1 slow.ascii
grep -q '^Least CPU time: .*; peak RSS: ' out ||
	fail "the verdict in real time: $(cat out)"
run "$HATF" replay -s real -r 1 -a glibc hand.ascii
check_status 'no times' 1
check_one_line 'no times' 'hatf replay: hand.ascii: cannot be replayed:' \
	'the trace has no times, which --speed real needs'

# -------------------------------- the same usable sizes, places and peak heap
"${CC:-cc}" -O1 -D_GNU_SOURCE -fno-builtin -shared -fPIC -o sized.so \
	"$CLI/sized_heap.c" || fail 'cannot build sized_heap.c'

# record_sizes NAME COMMAND...: record a command under glibc, with its log.
record_sizes()
{
	local name=$1

	shift
	HATFTRACE_OUT=$PWD/$name.hatf.gz SIZED_HEAP_LOG=$PWD/$name.own \
		LD_PRELOAD="$BUILD/libhatftrace.so $PWD/sized.so" "$@" \
		>/dev/null 2>err </dev/null || fail "$name: $(cat err)"
}

# compare_sizes NAME [OPTION...]: replay it, and compare the two logs.
compare_sizes()
{
	local name=$1

	shift
	run "$HATF" replay --json -r 1 "$@" \
		-a "./sized.so:SIZED_HEAP_LOG=$name.again X=Y" "$name.hatf.gz"
	check_status "$name: $(cat err)" 0
	"$PYTHON" "$CLI/replay_sizes.py" "$name.own" "$name.again" out ||
		fail "$name: the replay differs"
	rm -f "$name".*
}

# same_sizes NAME COMMAND...
same_sizes()
{
	record_sizes "$@"
	compare_sizes "$1"
}
same_sizes python "$PYTHON" -c '
import json
y = json.loads(json.dumps([str(i) * 3 for i in range(30000)]))'
# With more than 131072 live blocks, a call takes a word of its own.
# shellcheck disable=SC2016 # not for this shell
same_sizes perl perl -e 'my %h; $h{$_} = "x" x ($_ % 300) for (1..90000);
	delete $h{$_ * 7 % 90001} for (1..30000); $h{-$_} = $_ for (1..40000)'
seq 1 50000 >numbers
same_sizes awk awk '{ n[$1] = $1 "x" $1 }' numbers
if command -v sqlite3 >/dev/null; then
	same_sizes sqlite sqlite3 :memory: 'create table t (a, b);
		with recursive c(x) as (select 1 union all select x + 1 from c
			where x < 30000)
		insert into t select x, hex(randomblob(20)) from c;
		create index i on t(b);'
fi

# The other threads of redis-server make no calls, but pthread_create() does, in
# the thread that calls it.  The trace has these calls.  With one thread, the
# replay adds none of its own.
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null
then
	record_sizes redis redis-server --port 0 --save '' --appendonly no \
		--unixsocket "$PWD/redis.sock" --loglevel warning &
	server=$!
	for ((i = 0; i < 200; i++)); do
		redis-cli -s redis.sock ping >/dev/null 2>&1 && break
		sleep 0.05
	done
	redis-benchmark -s redis.sock -q -P 8 -r 1000 -n 3000 \
		-t set,get,lpush,hset >/dev/null
	redis-cli -s redis.sock shutdown nosave
	wait "$server"
	check 'redis: threads that make calls' "$("$HATF" stat --by thread \
		--json redis.hatf.gz | jq '.rows | length')" 1
	compare_sizes redis --threads 1
fi

# ---------------------------------------------------------------------- threads
"$HATF" record --follow none -G -o torture.hatf.gz "$programs/torture" \
	60 8 2000 0 >/dev/null 2>err || fail "torture: $(cat err)"
run timeout 300 "$HATF" replay --json -r 25 -a glibc torture.hatf.gz
check_status "torture: $(cat err)" 0
[ "$(figures threads)" -ge 60 ] || fail "torture: $(figures threads) threads"
# 8 run at once; on a busy machine, the end of some is recorded late.
[ "$(figures threads_at_once)" -le 20 ] ||
	fail "torture: $(figures threads_at_once) threads at once"
[ "$(figures handovers)" -gt 1000 ] ||
	fail "torture: $(figures handovers) hand-overs"

# in_order TRACE RUNS [OPTION...]: no run stops, none has a mistake.
in_order()
{
	local trace=$1 runs=$2

	shift 2
	run timeout 300 "$HATF" replay --check -r "$runs" -a glibc "$@" "$trace"
	check_status "$trace in order: $(cat err)" 0
	grep -q "^glibc: $runs runs; all calls ran in order" out ||
		fail "$trace in order: $(cat out)"
}

# Slots are reused: far fewer than the blocks that were allocated.
[ "$(figures slots)" -lt 20000 ] || fail "torture: $(figures slots) slots"

in_order torture.hatf.gz 100

# With all allocators that are installed, which --allocator also finds by name.
run timeout 300 "$HATF" replay --json -r 1 torture.hatf.gz
check_status "torture with all allocators: $(cat err)" 0
for name in $(jq -r '.allocators[].allocator' out); do
	run timeout 100 "$HATF" replay --check -r 3 -a "$name" torture.hatf.gz
	# memalign(256, 512) of mimalloc 2.0 aligns to 128 bytes.
	if ! grep -q 'mimalloc: a block is misaligned' err; then
		check_status "$name in order: $(cat err)" 0
	fi
	run timeout 60 "$HATF" replay -r 1 -a "$name:MALLOC_CONF=narenas:1" \
		torture.hatf.gz
	check_status "$name: $(cat err)" 0
	grep -q "^$name:MALLOC_CONF=narenas:1 " out || fail "$name: no row"
	allocators=${allocators-}$name,
done
case $allocators in
glibc,*) ;;
*) fail "the allocators are '$allocators'" ;;
esac

# One thread allocates and another one frees: slots go back to the first.
awk -v first="$first_line" 'BEGIN {
	print first
	print "8 1 0 1 4200"
	for (i = 0; i < 60000; i++) {
		printf("0 40 0x%x 0 0 1\n", 4096 + 64 * (i % 1000))
		if (i >= 500)
			printf("1 0x%x 1 0 1\n",
				4096 + 64 * ((i - 500) % 1000))
	}
}' >pipe.ascii
in_order pipe.ascii 20
in_order pipe.ascii 2 --threads 1
replay pipe pipe.ascii
[ "$(figures slots)" -lt 6000 ] || fail "pipe: $(figures slots) slots"

# Twenty thousand threads, one after another.
awk -v first="$first_line" 'BEGIN {
	print first
	print "0 10 0x100 0 0 1"
	for (i = 1; i <= 20000; i++)
		printf("8 %d 0 1\n0 10 0x%x %d 0 1\n9 %d 0 1\n", i,
			4096 + 16 * i, i, i)
}' >series.ascii
replay series series.ascii
check series "$(figures threads threads_at_once end_blocks)" 20001 2 20001

# --------------------------------------------------------------------- hostile
# refused WHAT PATTERN OPTION...: one line, status 1.
refused()
{
	local what=$1 pattern=$2

	shift 2
	[[ $* == *-a* ]] || set -- -a glibc "$@"
	run timeout 60 "$HATF" replay -r 1 "$@"
	check_status "$what" 1
	check_one_line "$what" "$pattern"
}
printf '%s\n' "$first_line" '0 1152921504606846976 0x1000 0 0 1' >huge.ascii
refused 'a huge block' 'hatf replay: huge.ascii: a replay would take 1.0 EiB*' \
	huge.ascii
refused 'a huge block, not touched' \
	'hatf replay: glibc: every allocation failed' \
	--touch none huge.ascii
echo '0 10 0x2000 0 0 1' >>huge.ascii
replay 'a huge block and another one' --touch none huge.ascii
check 'a huge block: without memory' "$(jq '.allocators[0].failed' out)" 1
printf '%s\n' "$first_line" '0 18446744073709551615 0x1000 0 0 1' \
	'0 18446744073709551615 0x2000 0 0 1' >sum.ascii
refused 'huge blocks' \
	'hatf replay: sum.ascii: cannot be replayed: *2^64 bytes' sum.ascii
refused 'huge blocks before the window' \
	'hatf replay: sum.ascii: cannot be replayed: *2^64 bytes' \
	--from 2 sum.ascii
# The message has to be right whatever the machine has.
size=$(awk '/^MemTotal/ { print $2 * 1024 }' /proc/meminfo)
printf '%s\n' "$first_line" "0 $size 0x1000 0 0 1" >much.ascii
refused 'more than there is' '* a replay would take * are available*' \
	much.ascii
# A control group's limit counts, too.  Other files hide those of the groups.
awk '/ - cgroup2 / || / - cgroup [^ ]+ [^ ]*memory/ { print $5 }' \
	/proc/self/mountinfo >groups
cat >limited.sh <<'END'
while read -r folder; do
	mount -t tmpfs none "$folder" || exit 77
	echo 67108864 >"$folder/memory.max"
	echo 67108864 >"$folder/memory.limit_in_bytes"
done <groups
[ $# = 0 ] || exec "$@"
END
for options in -m -rm none; do
	unshare "$options" bash limited.sh 2>/dev/null && break
done
if [ "$options" != none ] && [ -s groups ]; then
	printf '%s\n' "$first_line" '0 100000000 0x1000 0 0 1' >group.ascii
	run unshare "$options" bash limited.sh "$HATF" replay -r 1 -a glibc \
		group.ascii
	check_status 'a control group' 1
	check_one_line 'a control group' 'hatf replay: group.ascii: a replay' \
		'would take * of memory, but only 64.0 MiB are available in' \
		'its control group (--touch first takes less)'
	run unshare "$options" bash limited.sh "$HATF" replay -r 1 -a glibc \
		--touch first group.ascii
	check_status 'a control group, not touched' 0
fi
# An event a year after the first one.
cat >year.ascii <<END
$first_line
10 HATF 1.0\x0aproducer=test\x0aunit=us\x0a
0 100 0x1000 0 0 0
1 0x1000 0 0 31536000000000
10 HATF end\x0aevents=2\x0arecords=3\x0acomplete=1\x0aend=exit\x0alost=0\x0a
END
refused 'a year' '*: with --speed real, the replay would take more *week *' \
	--speed real year.ascii
replay 'a year at once' year.ascii
# A realloc may copy the block, which then takes memory without any write.
printf '%s\n' "$first_line" "0 $size 0x1000 0 0 1" \
	"2 $((size + 4096)) 0x1000 0x2000 0 0 1" '1 0x2000 0 0 1' >copied.ascii
refused 'copied' '* a replay would take * are available' \
	--touch none copied.ascii
printf '%s\n' "$first_line" "0 $size 0x1000 0 0 1" \
	'2 4096 0x1000 0x2000 0 0 1' '1 0x2000 0 0 1' >cut.ascii
replay 'cut' --touch none cut.ascii
awk -v first="$first_line" 'BEGIN {
	print first
	for (i = 0; i < 1000000; i++)
		printf("0 10 0x%x %d 0 1\n", 4096 + 16 * i, i)
}' >crowd.ascii
refused 'a million threads' '*: more than 4096 threads at once *' crowd.ascii
replay 'a million threads on one' --threads 1 crowd.ascii
check 'a million blocks' "$(figures end_blocks)" 1000000
# As many, one after another, each with one block.
awk -v first="$first_line" 'BEGIN {
	print first
	for (i = 1; i <= 100001; i++)
		printf("8 %d 0 0\n0 10 0x%x %d 0 0\n9 %d 0 0\n", i,
			4096 + 16 * i, i, i)
}' >births.ascii
refused 'many threads' '*: more than 100000 threads *' \
	births.ascii
replay 'many threads on one' --threads 1 births.ascii
check 'many threads on one' "$(figures end_blocks)" 100001
# They are compiled if the user wants them; only the C program has a limit, too.
run "$HATF" replay --threads original --emit-c births.c births.ascii
check_status 'many threads, wanted' 1
check_one_line 'many threads, wanted' '*: more than 100000 calls*'
cat >wrong.ascii <<END
$first_line
1 0x5000 0 0 1
0 10 0x1000 7 0 1
0 11 0x1000 8 0 1
3 12 0x9000 0x2000 8 0 1
0 12 0x2000 8 0 1
1 0x9000 8 0 1
8 8 0 1 4208
8 5 0 1 4205
9 7 0 1
9 7 0 1
9 55 0 1
1 0x1000 9 0 1
1 0x1000 9 0 1
0 10 0x3000 7 0 1 417f
0 10 0x4000 7 0 1 4100
0 10 0x4000 7 0 1 41ffffffffffffffffff01
0 10 0x6000 7 5 1
END
replay wrong wrong.ascii
check wrong "$(figures left_out_unknown left_out_pools missing_frees)" 3 1 2

# Waits in circles: threads that create each other, or themselves, also after
# their end, while each frees, resizes and reuses the blocks of the others.
awk -v first="$first_line" 'BEGIN {
	print first
	print "8 1 0 1 4202\n8 2 0 1 4203\n8 3 0 1 4201\n8 4 0 1 4204"
	for (i = 0; i < 300; i++) {
		for (t = 1; t <= 4; t++)
			printf("0 40 0x%x %d 0 1\n", 4096 * t, t)
		for (t = 1; t <= 4; t++)
			printf("2 5000 0x%x 0x%x %d 0 1\n", 4096 * t,
				65536 + 8192 * t, t % 4 + 1)
		for (t = 1; t <= 4; t++)
			printf("1 0x%x %d 0 1\n", 65536 + 8192 * t,
				(t + 1) % 4 + 1)
		if (i % 10 == 0)
			printf("9 %d 0 1\n8 %d 0 1 42%02x\n", i % 4 + 1,
				i % 4 + 1, (i + 1) % 4 + 1)
	}
}' >circle.ascii
in_order circle.ascii 20
replay circle circle.ascii
check circle "$(figures calls end_blocks)" 3600 0
[ "$(figures handovers)" -gt 2000 ] || fail "circle: $(figures handovers)"

# Traces of several threads with lines left out, repeated and changed.
"$HATF" record --follow none -G -o small.hatf.gz "$programs/torture" \
	12 4 12 0 >/dev/null 2>err || fail "small: $(cat err)"
"$HATF" convert small.hatf.gz small.ascii || fail 'small: not converted'
"$PYTHON" "$CLI/replay_mutants.py" "$HATF" small.ascii 150 ||
	fail 'a changed trace'

# -------------------------------------------------------------- bad allocators
# An allocator that ends the process, or gives a block twice.
cat >bad.c <<'END'
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t k, size_t n);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t a, size_t n);
void __libc_free(void *p);
static _Alignas(16) char twice[256];
void *malloc(size_t n)
{
	if (n == 201)
		abort();
	if (n == 203)
		return NULL;
	if (n == 204)
		return (char *)__libc_malloc(n + 16) + 3;
	if (n == 205)
		return (void *)8;
	if (n == 206)
		_exit(0);
	return n == 202 ? twice : __libc_malloc(n);
}
void *calloc(size_t k, size_t n) { return __libc_calloc(k, n); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void *memalign(size_t a, size_t n)
{
	return __libc_memalign(a == 4096 ? 16 : a, n);
}
void free(void *p)
{
	if (p != twice)
		__libc_free(p);
}
END
"${CC:-cc}" -O1 -fno-builtin -shared -fPIC -o bad.so bad.c || fail 'no bad.so'
printf '%s\n' "$first_line" '0 201 0x1000 0 0 1' >abort.ascii
refused 'an allocator that aborts' \
	'hatf replay: ./bad.so: the replay was killed by signal 6 (Aborted)' \
	-a ./bad.so abort.ascii
printf '%s\n' "$first_line" '0 202 0x1000 0 0 1' '0 202 0x2000 0 0 1' \
	'1 0x1000 0 0 1' '1 0x2000 0 0 1' >twice.ascii
refused 'an allocator that gives a block twice' \
	'hatf replay: ./bad.so: a block was changed: *' \
	--check -a ./bad.so twice.ascii
for size in 203 204 205 206; do
	printf '%s\n' "$first_line" "0 $size 0x1000 0 0 1" >"bad$size.ascii"
done
# A realloc that fails leaves a block that is too small for a mark.
printf '%s\n' "$first_line" '0 4 0x1000 0 0 1' \
	"2 $((1 << 60)) 0x1000 0x2000 0 0 1" '1 0x2000 0 0 1' >stays.ascii
in_order stays.ascii 2 --touch none
refused 'an allocator that has no memory' \
	'hatf replay: ./bad.so: every allocation failed' \
	-a ./bad.so bad203.ascii
echo '0 10 0x2000 0 0 1' >>bad203.ascii
run "$HATF" replay --json -r 1 -a ./bad.so bad203.ascii
check_status 'an allocator that has not enough memory' 0
check 'without memory' "$(jq '.allocators[0].failed' out)" 1
refused 'an allocator that gives odd addresses' \
	'hatf replay: ./bad.so: a block is misaligned: *' \
	--check -a ./bad.so bad204.ascii
printf '%s\n' "$first_line" '0 99 0x1000 0 0 1 418020' \
	'0 99 0x2000 0 0 1 418020' >align.ascii
refused 'an allocator that ignores alignments' \
	'hatf replay: ./bad.so: a block is misaligned: *' \
	--check -a ./bad.so align.ascii
in_order align.ascii 2
refused 'an allocator that gives addresses of nothing' \
	'hatf replay: ./bad.so: the replay was killed by signal 11 *' \
	-a ./bad.so bad205.ascii
refused 'an allocator that ends the process' \
	'hatf replay: ./bad.so: the replay exited with status 0 *' \
	-a ./bad.so bad206.ascii

# ------------------------------------------------------------ usage and errors
refused 'no trace' 'hatf replay: none: No such file*' none
: >empty
refused 'empty file' 'hatf replay: empty: not a trace*' empty
head -c 3000 torture.hatf.gz >cut.hatf.gz
run "$HATF" replay -r 1 -a glibc cut.hatf.gz
check_status 'cut off' 4
wrong()
{
	local pattern=$1

	shift
	run "$HATF" replay "$@"
	check_status "$*" 2
	check_one_line "$*" "$pattern"
}
wrong 'hatf replay: a FILE is needed*'
wrong 'hatf replay: more than one FILE*' a b
wrong "hatf replay: --allocator: unknown allocator 'none'*" -a none a
wrong "hatf replay: --allocator: unknown allocator './none'*" -a ./none a
wrong "hatf replay: --allocator: not VAR=VALUE: 'x'" -a glibc:x a
wrong 'hatf replay: --check measures nothing*' --check --json a
wrong "hatf replay: --repeat: not a number from 1 to 1000: '0'" -r 0 a
run bash -c "ulimit -f 60; exec '$HATF' replay -r 1 -a glibc torture.hatf.gz"
check_status 'a limit of files' 1
check_one_line 'a limit of files' '* cannot be replayed: File too large'
TMPDIR=$TMP/none run "$HATF" replay hand.ascii
check_status 'no place for the words' 1
check_one_line 'no place for the words' \
	"* cannot create a temporary file in \$TMPDIR, or in /tmp if *"
cp "$(ldd "$HATF" | awk '/libz\.so/ { print $3 }')" libother.so
refused 'no allocator' '*/libother.so could not be preloaded, or has no *' \
	-a ./libother.so hand.ascii
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# verify-claims.sh - 'hatf verify' finds overlaps and wrong figures of a trace
#
# Early versions accepted these traces: blocks that overlap live ones, announced
# records out of order, the destruction of malloc's heap, and wrong figures in
# header, blocks and trailer.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# begin FILE [HEADER LINE...]: write the begin of a trace to FILE.
begin()
{
	local file=$1

	shift
	{
		header clock=us unit=us "$@"
		layout
	} >"$file"
}

# refused WHAT FILE TEXT: 'hatf verify' finds one violation, with this text.
refused()
{
	run "$HATF" verify "$2"
	check_status "$1" 1
	check_silent "$1"
	case $(cat out) in
	"$2: record "*": $3"*$'\n'"$2: not ok, "*", 1 violation"*) ;;
	*) fail "$1: $(cat out)" ;;
	esac
}

# passes WHAT FILE: 'hatf verify' finds no violation.
passes()
{
	run "$HATF" verify "$2"
	check_status "$1" 0
	check_silent "$1"
}

# ---------------------------------------------------------------- overlaps
lies='the block overlaps a live one'
# overlap WHAT RECORD...: RECORD overlaps a live block.
overlap()
{
	begin x.hatf
	{
		alloc 32 0x1000 0 0 1
		alloc 32 0x2000 0 0 1
		"${@:2}"
	} >>x.hatf
	trailer x.hatf 3 4
	refused "$1" x.hatf "$lies: thread 0, time 2"
}
overlap 'its first byte' alloc 16 0x101f 0 0 2
overlap 'its last byte' alloc 17 0x1ff0 0 0 2
overlap within alloc 1 0x1001 0 0 2
overlap around alloc 4096 0xff0 0 0 2
overlap grown resize 2 4097 0x1000 0x1000 0 0 2
begin x.hatf
{
	alloc 32 0x1000 0 0 1
	alloc 32 0x2000 0 0 1
	resize 3 100 0x1000 0x1ff8 0 0 2
	alloc 100 0x1ff8 0 0 2
	free 0x1000 0 0 2
} >>x.hatf
trailer x.hatf 3 6
refused moved x.hatf "$lies: thread 0, time 2, address 0x1ff8"
begin x.hatf
{
	alloc 32 0x1000 0 0 1
	alloc 4294967295 0xfffffffffffffff0 0 0 1
	alloc 1 0xfffffffffffffffe 0 0 1
} >>x.hatf
trailer x.hatf 3 4
refused 'at the end of memory' x.hatf "$lies"

# A block far from the start of a large one, among others of no bytes, and a
# block around others.
begin x.hatf
{
	alloc 1048576 0x100000 0 0 1
	alloc 0 0x180000 0 0 1
	alloc 0 0x180fff 0 0 1
	alloc 16 0x181008 0 0 1
} >>x.hatf
trailer x.hatf 4 5
refused 'in a large one' x.hatf "$lies: thread 0, time 1, address 0x181008"
begin x.hatf
{
	alloc 0 0x180000 0 0 1
	alloc 16 0x181008 0 0 1
	alloc 1048576 0x100000 0 0 1
} >>x.hatf
trailer x.hatf 3 4
refused 'around others' x.hatf "$lies: thread 0, time 1, address 0x100000"

# No overlaps: adjacent blocks, blocks of no bytes, blocks where a freed one
# was, blocks of a pool and in the pool's memory.
begin x.hatf
{
	alloc 32 0x1000 0 0 1
	alloc 32 0x1020 0 0 1
	alloc 32 0xfe0 0 0 1
	alloc 0 0x1010 0 0 1
	free 0x1000 0 0 1
	alloc 16 0x1008 0 0 1
	heap_event 6 1 0 1
	alloc 8 0x1020 0 1 1
	alloc 8 0x1028 0 1 1
	heap_event 7 1 0 1
	heap_event 6 2 0 1
	alloc 16 0x1024 0 2 1
	resize 2 4 0x1020 0x1020 0 0 2
	alloc 8 0x1030 0 0 2
	resize 2 0 0x1030 0 0 0 3
	alloc 9 0x1038 0 0 3
} >>x.hatf
trailer x.hatf 13 17
passes 'no overlap' x.hatf

# In a trace of several threads, a realloc may be recorded after an allocation
# that reuses the memory which it released.  But the realloc must follow, in
# another thread.
# threads_overlap REALLOC...: write a trace in which REALLOC follows such an
# allocation.
threads_overlap()
{
	begin x.hatf
	{
		thread_event 8 1 0
		alloc 1024 0x1000 0 0 1
		alloc 32 0x1100 1 0 2
		"$@"
	} >>x.hatf
}
threads_overlap resize 2 64 0x1000 0x1000 0 0 2
trailer x.hatf 3 5 complete=1 end=exit lost=0 threads=2
passes 'shrunk by another thread' x.hatf
# passes_moved ADDRESS: the newer block is at ADDRESS, before or in the old one.
passes_moved()
{
	begin x.hatf
	{
		thread_event 8 1 0
		alloc 1024 0x1100 0 0 1
		alloc 512 "$1" 1 0 2
		free "$1" 1 0 2
		alloc 400 "$1" 1 0 2
		resize 3 2048 0x1100 0x8000 0 0 2
		alloc 2048 0x8000 0 0 2
		free 0x1100 0 0 2
	} >>x.hatf
	trailer x.hatf 5 9 complete=1 end=exit lost=0 threads=2
	passes "moved by another thread, from $1" x.hatf
}
passes_moved 0x1000
passes_moved 0x1200
threads_overlap resize 2 2048 0x1000 0x1000 0 0 2
trailer x.hatf 3 5 complete=1 end=exit lost=0 threads=2
refused 'not shrunk' x.hatf "$lies: thread 1, time 2, address 0x1100"
threads_overlap resize 2 64 0x1000 0x1000 1 0 2
trailer x.hatf 3 5 complete=1 end=exit lost=0 threads=2
refused 'by the same thread' x.hatf "$lies: thread 1"
# A realloc in progress at the end of the trace is recorded as a free, and is
# its thread's last record.
threads_overlap free 0x1000 0 0 2
trailer x.hatf 3 5 complete=1 end=exit lost=0 threads=2
passes 'freed at the end' x.hatf
threads_overlap free 0x1000 0 0 2
alloc 8 0x8000 0 0 3 >>x.hatf
trailer x.hatf 4 6 complete=1 end=exit lost=0 threads=2
refused 'freed before more' x.hatf "$lies: thread 1"
threads_overlap free 0x1000 1 0 2
trailer x.hatf 3 5 complete=1 end=exit lost=0 threads=2
refused 'freed by the same thread' x.hatf "$lies: thread 1"
threads_overlap alloc 1 0x5000 0 0 3
trailer x.hatf 3 5 complete=1 end=exit lost=0 threads=2
refused 'without a realloc' x.hatf "$lies: thread 1"

# The same holds for a trace that began after its process.
begin x.hatf start=late
{
	alloc 1024 0x1000 0 0 1
	alloc 32 0x1100 0 0 2
} >>x.hatf
trailer x.hatf 2 3
refused 'late, of one thread' x.hatf "$lies: thread 0, time 2, address 0x1100"
begin x.hatf start=late
{
	thread_event 8 1 0
	alloc 1024 0x1000 0 0 1
	alloc 32 0x1100 0 0 2
	free 0x1000 1 0 3
	free 0x1100 1 0 4
} >>x.hatf
trailer x.hatf 4 6 complete=1 end=exit lost=0 threads=2
refused 'late, of two threads' x.hatf "$lies: thread 0, time 2, address 0x1100"

# Without heaps, 'hatf verify' cannot tell a pool's blocks from overlaps.
begin x.hatf
{
	alloc 4096 0x1000 0 0 1
	heap_event 6 1 0 1
	alloc 8 0x1020 0 1 1
} >>x.hatf
trailer x.hatf 2 4
passes 'a pool' x.hatf
"$HATF" convert --drop heap x.hatf dropped.hatf || fail 'drop heap'
passes 'a pool without its heap' dropped.hatf

# -------------------------------------------------------- announced records
announced='the alloc or free differs from what its realloc announced'
# announce WHAT RECORD1 RECORD2: these records, as words, after a realloc from
# 0x1000 to 0x2000 do not fit it.
announce()
{
	begin x.hatf
	{
		alloc 32 0x1000 0 0 1
		resize 3 64 0x1000 0x2000 0 0 2
		# shellcheck disable=SC2086 # words
		$2
		# shellcheck disable=SC2086
		$3
	} >>x.hatf
	cp x.hatf last.hatf
	trailer last.hatf 2 5
	refused "$1, at the end" last.hatf "$announced"
	alloc 1 0x7000 0 0 9 >>x.hatf
	trailer x.hatf 3 6
	refused "$1" x.hatf "$announced"
}
announce order 'free 0x1000 0 0 2' 'alloc 64 0x2000 0 0 2'
announce 'time of the alloc' 'alloc 64 0x2000 0 0 3' 'free 0x1000 0 0 3'
announce 'time of the free' 'alloc 64 0x2000 0 0 2' 'free 0x1000 0 0 3'
announce size 'alloc 65 0x2000 0 0 2' 'free 0x1000 0 0 2'
announce heap 'alloc 64 0x2000 0 7 2' 'free 0x1000 0 0 2'

begin x.hatf
heap_event 7 0 0 1 >>x.hatf
trailer x.hatf 0 2
refused 'destruction of heap 0' x.hatf 'unknown heap, or heap created twice'

# ------------------------------------------------------------------- claims
# claim WHAT TEXT TRAILER LINE...: verify a trace of two threads that ends at
# time 7; TEXT is the violation, or empty.
claim()
{
	begin x.hatf
	{
		thread_event 8 1 0
		alloc 32 0x1000 1 0 7
	} >>x.hatf
	trailer x.hatf 1 3 complete=1 end=exit lost=0 "${@:3}"
	if [ -n "$2" ]; then
		refused "$1" x.hatf "$2"
	else
		passes "$1" x.hatf
	fi
}
claim 'true figures' '' threads=2 time=7
claim 'too few threads' 'the trailer states a wrong number of threads' threads=1
# A thread that is about to begin has a number, but no record yet.
claim 'threads that were about to begin' '' threads=200
text='the trailer states a wrong time of the last event'
claim 'an earlier end' "$text" threads=2 time=6
claim 'a later end' "$text" threads=2 time=8

begin x.hatf
alloc 32 0x1000 0 0 7 >>x.hatf
trailer x.hatf 1 2 complete=1 end=exit threads=3 lost=0
refused 'threads of one' x.hatf 'the trailer states a wrong number of threads'
# The process may end while its second thread is about to begin.
begin x.hatf
alloc 32 0x1000 0 0 7 >>x.hatf
trailer x.hatf 1 2 complete=1 end=exit threads=2 lost=0
passes 'a second thread that was about to begin' x.hatf

# The second thread was about to begin as the trace ended.
begin x.hatf segment=0
alloc 32 0x1000 0 0 7 >>x.hatf
trailer x.hatf 1 2 complete=1 end=rotate threads=2 lost=0
passes 'a thread that is about to begin' x.hatf

# carried COUNT BYTES: write a trace with one carried block of 24 bytes, whose
# header states COUNT blocks of BYTES bytes.
carried()
{
	begin x.hatf segment=1 events_before=5 live=exact "carried=$1" \
		"carried_bytes=$2"
	{
		alloc 24 0x1000 0 0 5 '\x02'
		free 0x1000 0 0 7
	} >>x.hatf
	trailer x.hatf 1 3
}
carried 1 24
passes carried x.hatf
carried 7 24
refused '7 for 1' x.hatf \
	'the header states a wrong number or size of live blocks'
carried 1 25
refused '25 for 24' x.hatf \
	'the header states a wrong number or size of live blocks'
# Without the marks of carried blocks, the header does not count them.
carried 1 24
"$HATF" convert --drop attributes x.hatf dropped.hatf || fail 'drop attributes'
passes 'without marks' dropped.hatf

# --------------------------------------------------------------- block figures
# block_at TIME BYTES: write a trace in which a block begins between records of
# the times 5 and 9, and states TIME and BYTES.
block_at()
{
	local start

	{
		header clock=us unit=us
		comment "HATF block\nblock=0\nrecord=1\nevent=0\ntime=0\n\
bytes=0000000166\n"
		layout
		alloc 32 0x1000 0 0 5
	} >x.hatf
	start=$(stat -c %s x.hatf)
	check "block 0" "$start" 166
	{
		comment "HATF block\nblock=1\nrecord=3\nevent=1\ntime=$1\n\
bytes=$(printf %010d "$2")\n"
		layout
		alloc 32 0x2000 0 0 9
	} >>x.hatf
	trailer x.hatf 2 5
}
length=$((3 + 60 + 40 + 20))
for at in 5 7 9; do
	block_at $at $length
	passes "a block at $at" x.hatf
done
for at in 4 10; do
	block_at $at $((length + (at > 9)))
	refused "a block at $at" x.hatf \
		'the block of records does not begin at the time that it states'
done
for bytes in 1000 9999999999 $((length - 1)); do
	block_at 7 "$bytes"
	run "$HATF" verify x.hatf
	check_status "bytes=$bytes" 1
	check_one_line "bytes=$bytes" \
		'hatf verify: x.hatf: offset 0x*, record 6: bytes:' \
		'a HATF comment is malformed or contradicts the trace'
done

# ------------------------------------------------------------------ strange
# A legal stream whose records have almost no bytes.
{
	width $address 0
	for ((i = 0; i < 100; i++)); do
		u 1 0
		u 4 "$i"
	done
} >strange.hatf
run "$HATF" convert strange.hatf x.csv
check_status 'strange, by content' 1
run "$HATF" convert --from hatf strange.hatf x.csv
check_status 'strange, by name' 0
check 'strange: records' "$(grep -c alloc x.csv)" 100

finish

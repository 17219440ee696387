#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dump.sh - 'hatf dump' prints every kind of record as hatf-dump(1) says
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Every tag; known, unknown and malformed attributes.
{
	header clock=us unit=us pid=4242 'command=a b\\x01'
	layout
	alloc 24 0x5581c0 0 0 17
	alloc 64 0x7ffff7a01230 0 0 18 '\x01'
	alloc 4096 0x10000 0 0 18 '\x41\x80\x20'
	resize 2 32 0x5581c0 0x5581c0 0 0 19
	resize 3 100 0x5581c0 0x559000 0 0 20
	alloc 100 0x559000 0 0 20
	free 0x5581c0 0 0 20
	thread_event 8 1 21 '\x42\x00\x43\x92\x21\x44\x80\x02\x81\x05a"\\\n\x1b'
	resize 4 7 0 0x6000 1 0 22
	alloc 7 0x6000 1 0 22
	heap_event 6 3 1 23
	alloc 8 0x7000 1 3 24 '\x02\x45\x05\x47\x06\x83\x01x'
	free 0x7000 1 3 25
	heap_event 7 3 1 26
	resize 5 0 0x6000 0 1 0 27
	free 0x6000 1 0 27
	alloc 5 0 1 0 28 '\x01\x43'
	comment 'HATF thread\nthread=1\nname=x\n'
	thread_event 9 1 4294967295
} >all.hatf
trailer all.hatf 10 20

run "$HATF" dump all.hatf
check_status dump 0
check_silent dump
check_text dump out <<'END'
1 alloc size=24 addr=0x5581c0 thread=0 heap=0 time=17
2 alloc size=64 addr=0x7ffff7a01230 thread=0 heap=0 time=18 zeroed=1
3 alloc size=4096 addr=0x10000 thread=0 heap=0 time=18 alignment=4096
4 reallocNoAlloc size=32 addr=0x5581c0 old=0x5581c0 thread=0 heap=0 time=19
5 reallocAllocFree size=100 addr=0x559000 old=0x5581c0 thread=0 heap=0 time=20
6 alloc size=100 addr=0x559000 thread=0 heap=0 time=20
7 free addr=0x5581c0 thread=0 heap=0 time=20
8 createThread thread=1 time=21 parent=0 tid=4242 start=0x100 name="a\"\\\n\x1b"
9 reallocAlloc size=7 addr=0x6000 old=0x0 thread=1 heap=0 time=22
10 alloc size=7 addr=0x6000 thread=1 heap=0 time=22
11 createHeap thread=1 heap=3 time=23
12 alloc size=8 addr=0x7000 thread=1 heap=3 time=24 carried=1 stack=5 key0x47=6 key0x83="x"
13 free addr=0x7000 thread=1 heap=3 time=25
14 destroyHeap thread=1 heap=3 time=26
15 reallocFree size=0 addr=0x0 old=0x6000 thread=1 heap=0 time=27
16 free addr=0x6000 thread=1 heap=0 time=27
17 alloc size=5 addr=0x0 thread=1 heap=0 time=28 zeroed=1 attributes=43
19 destroyThread thread=1 time=4294967295
END
cp out whole

# --from is the number of a data record, --count the number of printed ones.
run "$HATF" dump --from 12 --count 3 all.hatf
check_status window 0
sed -n 12,14p whole | check_text window out
run "$HATF" dump -f18 -n 1 all.hatf
check 'hidden comment' "$(cat out)" "$(tail -1 whole)"
run "$HATF" dump --count 0 all.hatf
check 'count 0' "$status $(wc -c <out)" '0 0'
run "$HATF" dump --from 99 all.hatf
check 'from beyond' "$status $(wc -c <out)" '0 0'

# gzip and pipes do not change the output.
gzip -c all.hatf >all.hatf.gz
for way in 'cat all.hatf' 'cat all.hatf.gz'; do
	$way | "$HATF" dump - | diff -q - whole >/dev/null ||
		fail "$way | hatf dump -: differs"
done

# All kinds of metadata, and comments, with offsets.  The trace is by another
# producer, so 'hatf dump' does not explain its attributes.
{
	comment 'tab\there \xff'
	interpret $time $delta 1000
	width $time 2
	interpret $thread $default 7
	interpret $address $base_offset 0x7f0000000000
	interpret $size $stride 16 -8
	interpret $attributes $none
	width $attributes 10
	u 1 0 && u 4 0x10 && u 2 -1 && u 2 2 && printf '\x01A'
	width $heap 0
	u 1 1 && u 4 -16 && u 2 5 && u 2 0
} >meta.hatf
run "$HATF" dump --meta meta.hatf
check_status meta 0
check_text meta out <<'END'
0x0 0 comment text="tab\x09here \xff"
0xd - metadata setFieldInterpretation field=time interpretation=delta initial=1000
0x19 - metadata setFieldSize field=time width=2
0x1d - metadata setFieldInterpretation field=thread interpretation=default default=7
0x29 - metadata setFieldInterpretation field=address interpretation=baseOffset base=0x7f0000000000
0x35 - metadata setFieldInterpretation field=size interpretation=stride initial=16 stride=-8
0x49 - metadata setFieldInterpretation field=attributes interpretation=none
0x4d - metadata setFieldSize field=attributes width=v2
0x51 1 alloc size=8 addr=0x7f0000000010 thread=7 heap=0 time=999 attributes=0141
0x5c - metadata setFieldSize field=heap width=0
0x60 2 free addr=0x7efffffffff0 thread=7 heap=0 time=1004
END

# If the reader closes the pipe, 'hatf dump' ends without a message.
{
	layout
	for ((i = 1; i < 50; i++)); do alloc "$i" "$((i * 4096))" 0 0 "$i"; done
} >block
cat block >long.hatf
for ((i = 0; i < 160; i++)); do cat block; done >>long.hatf
"$HATF" dump long.hatf 2>err | head -1 >out
check 'closed pipe: dies by SIGPIPE or ends' "${PIPESTATUS[0]}" 141
check 'closed pipe' "$(cat out)" \
	'0 alloc size=1 addr=0x1000 thread=0 heap=0 time=1'
check_silent 'closed pipe'
(trap '' PIPE && "$HATF" dump long.hatf 2>err; echo $? >code) | head -1 >out
check 'closed pipe, SIGPIPE ignored' "$(cat code)" 1
check_silent 'closed pipe, SIGPIPE ignored'

"$HATF" dump all.hatf >/dev/full 2>err
status=$?
check_status 'full disk' 1
check_one_line 'full disk' 'hatf dump: standard output: No space left on device'

finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# verify.sh - 'hatf verify' finds each kind of violation, and only those
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

{
	header clock=us unit=us pid=4242
	layout
	alloc 100 0x1000 0 0 10
	free 0x1000 0 0 12
	alloc 100 0x1000 0 0 12
} >good.hatf
trailer good.hatf 3 4
gzip -c good.hatf >good.hatf.gz

run "$HATF" verify good.hatf good.hatf.gz
check_status good 0
check_silent good
check_text good out <<'END'
good.hatf: ok, 3 events
good.hatf.gz: ok, 3 events
END

# One record with each fault, between good ones.
{
	header clock=us unit=us
	layout
} >bad.hatf
first=$(stat -c %s bad.hatf)
{
	alloc 1 0x1000 0 0 10
	alloc 1 0x1000 0 0 10
	free 0x2000 0 0 10
	resize 2 8 0x3000 0x3000 0 0 10
	free 0x1000 0 0 9
	thread_event 8 1 10
	thread_event 8 1 10
	thread_event 9 7 10
	alloc 1 0x4000 9 0 10
	heap_event 7 5 0 10
} >>bad.hatf
trailer bad.hatf 6 11 complete=1 end=exit lost=0 threads=4
run "$HATF" verify bad.hatf
check_status bad 1
check_silent bad
# Offsets: records of 20 bytes, frees of 16, a realloc of 28, threads of 7.
text='unknown thread, or thread created twice'
check_text bad out <<END
bad.hatf: record 2, offset $(printf 0x%x $((first + 20))): the address is allocated while it is live: thread 0, time 10, address 0x1000
bad.hatf: record 3, offset $(printf 0x%x $((first + 40))): free of an unallocated address: thread 0, time 10, address 0x2000
bad.hatf: record 4, offset $(printf 0x%x $((first + 56))): realloc of an unallocated address: thread 0, time 10, address 0x3000
bad.hatf: record 5, offset $(printf 0x%x $((first + 84))): the time goes backwards: thread 0, time 9
bad.hatf: record 7, offset $(printf 0x%x $((first + 107))): $text: thread 1, time 10
bad.hatf: record 8, offset $(printf 0x%x $((first + 114))): $text: thread 7, time 10
bad.hatf: record 9, offset $(printf 0x%x $((first + 121))): $text: thread 9, time 10
bad.hatf: record 10, offset $(printf 0x%x $((first + 141))): unknown heap, or heap created twice: thread 0, time 10
bad.hatf: not ok, 6 events, 8 violations
END

# 'hatf verify' prints the first violations, and how many there are.
{
	layout
	for ((i = 1; i <= 12; i++)); do free "$((i * 16))" 0 0 1; done
} >many.hatf
run "$HATF" verify many.hatf
check_status many 1
check 'many: lines' "$(wc -l <out)" 12
check 'many: more' "$(tail -2 out | xargs)" \
	'many.hatf: ... and 2 more many.hatf: not ok, 12 events, 12 violations'
run "$HATF" verify --max 1 many.hatf
check 'max 1' "$(wc -l <out) $(sed -n 2p out)" '3 many.hatf: ... and 11 more'
run "$HATF" verify --max 0 --json many.hatf good.hatf
check_status 'max 0' 1
check_text 'max 0' out <<'END'
{"file":"many.hatf","ok":false,"legal":true,"complete":true,"error":null,"written_by":null,"events":12,"lost":0,"inherited":0,"heritage":"none","carried":0,"goes_on":null,"violations":12,"first_violations":[]}
{"file":"good.hatf","ok":true,"legal":true,"complete":true,"error":null,"written_by":null,"events":3,"lost":0,"inherited":0,"heritage":"none","carried":0,"goes_on":null,"violations":0,"first_violations":[]}
END
run "$HATF" verify --json bad.hatf
check_status json 1
grep -o '\[{[^}]*}' out >got
check_text 'json: the first' got <<END
[{"record":2,"offset":$((first + 20)),"violation":"the address is allocated while it is live","address":"0x1000","stack":0,"thread":0,"time":10}
END
if command -v jq >/dev/null; then
	check 'json: jq' "$(jq '.first_violations | length' out)" 8
fi

# A forked child may free each block that it has from its parent, but not twice.
{
	header clock=us unit=us pid=2 ppid=1 parent_pid=1 parent_trace=p \
		parent_event=9 parent_event_exact=1
	layout
	free 0x1000 0 0 1
	resize 2 8 0x2000 0x2000 0 0 1
} >child.hatf
cp child.hatf twice.hatf
trailer child.hatf 2 3
run "$HATF" verify child.hatf
check_status inherited 0
check inherited "$(cat out)" 'child.hatf: ok, 2 events,' \
	'2 frees and reallocs of blocks inherited from the parent process' \
	"(which blocks were inherited is unknown:" \
	"the trace of an ancestor, or an earlier segment, was not found)"
free 0x1000 0 0 2 >>twice.hatf
trailer twice.hatf 3 4
run "$HATF" verify twice.hatf
check_status 'inherited twice' 1

# ------------------------------------------------------------------ stacks
# Definitions of call stacks, and references to them.  'hatf verify' reports the
# place of each fault, and checks the rest of the trace.
# stacks DEFINITION: print a trace with DEFINITION in it, without a header.
stacks()
{
	layout
	comment 'HATF frame\nframe=1\nfunction=main\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	comment 'HATF stack\nstack=18446744073709551615\nparent=1\nframe=1\n'
	alloc 1 0x1000 0 0 10 '\x45\x01'
	free 0x1000 0 0 10 '\x45\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01'
	comment "$1"
	alloc 1 0x1000 0 0 10 '\x45\x01'
}
# stack_fault DEFINITION TEXT: 'hatf verify' reports the faulty definition and
# its place.  Without a header it does not, since such comments then have no
# meaning.
stack_fault()
{
	local offset

	{
		header clock=us unit=us
		stacks "$1"
	} >stacks.hatf
	offset=$(grep -abo 'HATF \(frame\|stack\)' stacks.hatf |
		sed -n '4s/:.*//p')
	trailer stacks.hatf 3 8
	run "$HATF" verify stacks.hatf
	check_status "$1" 1
	check_silent "$1"
	check_text "$1" out <<END
stacks.hatf: record 6, offset $(printf 0x%x $((offset - 3))): definition of a $2
stacks.hatf: not ok, 3 events, 1 violation
END
	stacks "$1" >bare.hatf
	run "$HATF" verify bare.hatf
	check_status "$1: without a header" 0
}
stack_fault 'HATF frame\n' 'frame: the definition has no id'
stack_fault 'HATF frame\nframe=0\n' 'frame: the definition has no id'
stack_fault 'HATF frame\nframe=1\nline=2\n' \
	'frame: another definition has the same id'
stack_fault 'HATF frame\nframe=two\n' \
	"frame: the definition's id is not a number"
stack_fault 'HATF frame\nframe=18446744073709551616\n' \
	"frame: the definition's id is not a number"
stack_fault 'HATF frame\nframe=2\nline=-1\n' \
	"frame: the frame's line is not a number"
stack_fault 'HATF frame\nframe=2\ncolumn=1x\n' \
	"frame: the frame's column is not a number"
stack_fault 'HATF frame\nframe=2\naddress=4096\n' \
	"frame: the frame's address is not a hexadecimal number"
stack_fault 'HATF stack\nframe=1\n' 'stack: the definition has no id'
stack_fault 'HATF stack\nstack=1\nparent=1\nframe=1\n' \
	'stack: another definition has the same id'
stack_fault 'HATF stack\nstack=2\n' 'stack: the stack has no frame'
stack_fault 'HATF stack\nstack=2\nframe=9\n' \
	"stack: the stack's frame has not been defined"
stack_fault 'HATF stack\nstack=2\nparent=9\nframe=1\n' \
	"stack: the stack's parent has not been defined"
# The shortest cycle.  A longer one needs a parent that is defined later, too.
stack_fault 'HATF stack\nstack=2\nparent=2\nframe=1\n' \
	"stack: the stack's parent has not been defined"

# Calls with undefined stacks, and one whose stack is defined too late.
{
	header clock=us unit=us
	layout
	comment 'HATF frame\nframe=1\n'
} >dangling.hatf
first=$(stat -c %s dangling.hatf)
{
	alloc 1 0x1000 0 0 10 '\x45\x07'
	free 0x1000 0 0 10 '\x45\x80\x80\x80\x80\x10'
	resize 2 8 0x2000 0x2000 0 0 10 '\x45\x02'
	comment 'HATF stack\nstack=2\nframe=1\n'
	alloc 1 0x1000 0 0 10 '\x45\x02'
	alloc 1 0x3000 0 0 10 '\x45\x00'
} >>dangling.hatf
trailer dangling.hatf 5 8
run "$HATF" verify dangling.hatf
check_status dangling 1
text="the call's stack is not defined"
check_text dangling out <<END
dangling.hatf: record 2, offset $(printf 0x%x "$first"): $text: thread 0, time 10, stack 7
dangling.hatf: record 3, offset $(printf 0x%x $((first + 22))): $text: thread 0, time 10, stack 4294967296
dangling.hatf: record 4, offset $(printf 0x%x $((first + 44))): realloc of an unallocated address: thread 0, time 10, address 0x2000
dangling.hatf: record 4, offset $(printf 0x%x $((first + 44))): $text: thread 0, time 10, stack 2
dangling.hatf: not ok, 5 events, 4 violations
END
run "$HATF" verify --json --max 1 dangling.hatf
check_status 'dangling: json' 1
grep -o '"violations".*' out >got
check_text 'dangling: json' got <<END
"violations":4,"first_violations":[{"record":2,"offset":$first,"violation":"$text","address":"0x0","stack":7,"thread":0,"time":10}]}
END
# The trace in another format has the same violations.
"$HATF" convert --to json dangling.hatf dangling.json
run "$HATF" verify dangling.json
check 'dangling: as json' "$(grep -c "$text" out)" 3

# A truncated trace is incomplete; a trace with a wrong tag is illegal.
head -c -10 good.hatf >cut.hatf
run "$HATF" verify cut.hatf
check_status cut 1
check_one_line cut 'hatf verify: cut.hatf: offset 0x*, record 4*:' \
	'the trace is truncated'
check cut "$(cat out)" 'cut.hatf: not ok, 3 events'
cp good.hatf tag.hatf
u 1 12 >>tag.hatf
run "$HATF" verify --json tag.hatf
check_status 'bad tag' 1
grep -q '"ok":false,"legal":false,"complete":false,"error":"offset 0x' out ||
	fail "bad tag: $(cat out)"
{
	header clock=us unit=us
	layout
	alloc 1 0x1000 0 0 1
	comment 'HATF lost\nthread=0\ncount=2\nfrom=1\nto=1\n'
} >lost.hatf
trailer lost.hatf 1 3 complete=0 end=exit lost=2
run "$HATF" verify lost.hatf
check_status lost 1
check lost "$(cat out)" 'lost.hatf: not ok, 1 event, 2 events lost'

# A directory stands for the traces in it.
mkdir folder empty
cp good.hatf folder/a.hatf
cp bad.hatf folder/b
cp many.hatf folder/headless
echo noise >folder/noise
mkfifo folder/fifo folder/fifo.hatf
run "$HATF" verify folder/b folder/a.hatf good.hatf
cp out want
run timeout 20 "$HATF" verify folder/ good.hatf
check_status folder 1
check_silent folder
check_text folder out <want
run "$HATF" verify --json folder good.hatf
check 'folder: JSON' "$(grep -c '^{"file":"\(folder/[ab]\|good\)' out)" 3
# A file whose name is that of a trace must be a trace.
echo noise >folder/0.hatf
echo noise >folder/z.hatf.gz
run "$HATF" verify folder good.hatf
check_status 'noise in a folder' 1
check_text 'noise in a folder' out <want
check 'noise in a folder' "$(cut -d : -f 2 err | sort | xargs)" \
	'folder/0.hatf folder/z.hatf.gz'
run "$HATF" verify empty good.hatf
check_status 'an empty folder' 1
check_one_line 'an empty folder' 'hatf verify: empty: contains no trace*'
check 'an empty folder' "$(cat out)" 'good.hatf: ok, 3 events'

finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# inherited.sh - a child's inherited blocks come from its parent's trace
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# child FILE PARENT_PID PARENT_TRACE EVENT [LINE...]: begin a child's trace
child()
{
	local file=$1
	shift
	{
		header clock=us unit=us pid=20 "parent_pid=$1" \
			"parent_trace=$2" "parent_event=$3" "${@:4}"
		layout
	} >"$file"
}

# key FILE KEY [OPTION...]: print a value of verify's JSON.
key()
{
	"$HATF" verify --json "${@:3}" "$1" 2>/dev/null |
		sed -n "s/.*\"$2\": *\"\\{0,1\\}\\([^,\"}]*\\).*/\\1/p"
}

# figure FILE KEY: print a value of info's JSON.
figure()
{
	"$HATF" info --json "$1" 2>/dev/null |
		sed -n "s/.*\"$2\": *\"\\{0,1\\}\\([^,\"}]*\\).*/\\1/p"
}

exact='parent_event_exact=1'

# The parent: three blocks, one freed; a heap created after the last event; a
# fork; events of another thread during the fork; an event after the fork, which
# does not concern the child.
{
	header clock=us unit=us pid=10
	layout
	thread_event 8 1 1
	alloc 100 0x1000 0 0 1
	alloc 200 0x2000 0 0 2
	alloc 300 0x3000 0 0 3
	free 0x2000 0 0 4
	heap_event 6 7 0 5
	comment 'HATF fork\nthread=0\nfork=1\nevent=4\ntime=5\n'
	alloc 400 0x4000 1 0 6
	free 0x1000 1 0 7
	resize 3 500 0x3000 0x5000 1 0 7
	alloc 500 0x5000 1 0 7
	free 0x3000 1 0 7
	comment 'HATF fork\nthread=0\nfork=1\nforked=1\nevent=7\ntime=8\n'
	alloc 600 0x6000 0 0 9
} >parent.hatf
trailer parent.hatf 8 15

# At the fork 0x1000 and 0x3000 may be live, or 0x4000 and 0x5000, or some of
# them.
child good.hatf 10 /elsewhere/parent.hatf 4 $exact parent_fork=1
{
	free 0x3000 0 0 1     # inherited
	alloc 8 0x1000 0 0 2  # the parent had freed it
	free 0x1000 0 0 3     # its own
	free 0x4000 0 0 4     # inherited
	alloc 9 0x2000 0 0 5  # was free
	alloc 1 0x7000 0 7 6  # in the parent's heap
} >>good.hatf
trailer good.hatf 6 7
run "$HATF" verify good.hatf
check_status good 0
check_text good out <<'END'
good.hatf: ok, 6 events, 2 frees and reallocs of blocks inherited from the parent process
END
check "good: heritage" "$(key good.hatf heritage)" exact
check "good: at the start" "$(figure good.hatf start_live_objects)" 2
check "good: bytes" "$(figure good.hatf start_live_bytes)" 400
check "good: at the end" "$(figure good.hatf end_live_objects)" 2
check "good: inherited" "$(figure good.hatf inherited_live_objects)" 0

# A fork before any event of the parent's later segment, which begins with the
# live blocks.
{
	header clock=us unit=us pid=10 segment=1 live=exact \
		events_before=4 carried=1
	layout
	alloc 100 0x1000 0 0 1 '\002'
	comment 'HATF fork\nthread=0\nfork=1\nevent=0\ntime=5\n'
	comment 'HATF fork\nthread=0\nfork=1\nforked=1\nevent=0\ntime=8\n'
} >segment.hatf
trailer segment.hatf 0 1
child early.hatf 10 segment.hatf 0 $exact parent_fork=1
free 0x1000 0 0 1 >>early.hatf
trailer early.hatf 1 1
check "fork at event 0: heritage" "$(key early.hatf heritage)" exact

# A free of a block that cannot have been live is a violation, and so is a
# second free.
child bad.hatf 10 parent.hatf 4 $exact parent_fork=1
{
	free 0x2000 0 0 1 # freed by the parent
	free 0x6000 0 0 2 # allocated after the fork
	free 0x4000 0 0 3 # fine
	free 0x4000 0 0 4
	free 0x1000 0 0 5 # fine
	free 0x1000 0 0 6
	alloc 8 0x3000 0 0 7 # fine: it may have been freed
	alloc 8 0x3000 0 0 8
} >>bad.hatf
trailer bad.hatf 8 9
run "$HATF" verify bad.hatf
check_status bad 1
check "bad: violations" "$(grep -c ': record' out)" 5
check "bad: records" "$(sed -n 's/.*: record \([0-9]*\),.*/\1/p' out |
	tr '\n' ' ')" "1 2 4 6 8 "
check "bad: without the parent" "$(key bad.hatf violations --no-parent)" 3
check "bad: then" "$(key bad.hatf heritage --no-parent)" unknown

# A realloc in progress at the fork: in the child, the old block may be free and
# the new one live, or the reverse.
{
	header clock=us unit=us pid=13
	layout
	alloc 100 0x1000 0 0 1
	alloc 200 0x2000 0 0 2
	comment 'HATF fork\nthread=0\nfork=1\nevent=2\ntime=2\n'
	comment 'HATF realloc\nthread=1\nfork=1\nold=4096\naddress=12288\n'
	comment 'HATF realloc\nthread=2\nfork=1\nold=8192\n'
	comment 'HATF fork\nthread=0\nfork=1\nforked=1\nevent=2\ntime=2\n'
	resize 2 150 0x1000 0x3000 0 0 3
} >moving.hatf
trailer moving.hatf 2 2
child moved.hatf 13 moving.hatf 2 $exact parent_fork=1
{
	alloc 8 0x1000 0 0 1
	free 0x3000 0 0 2
	alloc 8 0x2000 0 0 3
	alloc 8 0x2000 0 0 4 # violation: live since record 3
	free 0x3000 0 0 5    # violation: freed by record 2
} >>moved.hatf
trailer moved.hatf 5 5
run "$HATF" verify moved.hatf
check "moving: records" "$(sed -n 's/.*: record \([0-9]*\),.*/\1/p' out |
	tr '\n' ' ')" "4 5 "

# Inherited blocks: one reallocated in place, one moved, one whose realloc
# failed, and one still live at the end.
{
	header clock=us unit=us pid=11
	layout
	alloc 100 0x1000 0 0 1
	alloc 200 0x2000 0 0 2
	alloc 300 0x3000 0 0 3
	alloc 400 0x4000 0 0 3
} >single.hatf
trailer single.hatf 4 5
child resized.hatf 11 single.hatf 4 $exact
{
	resize 2 150 0x1000 0x1000 0 0 1
	resize 3 250 0x2000 0x9000 0 0 2
	alloc 250 0x9000 0 0 2
	free 0x2000 0 0 2
	resize 2 9999 0x3000 0 0 0 3
	free 0x1000 0 0 4
	free 0x9000 0 0 4
	free 0x3000 0 0 5
} >>resized.hatf
trailer resized.hatf 6 9
run "$HATF" verify resized.hatf
check_status resized 0
check "resized: start" "$(figure resized.hatf start_live_bytes)" 1000
check "resized: most" "$(figure resized.hatf peak_live_bytes)" 1100
check "resized: end" "$(figure resized.hatf end_live_objects)" 1
check "resized: left" "$(figure resized.hatf inherited_live_bytes)" 400
run "$HATF" info resized.hatf
grep -q '^  live at the start *4 objects, 1000 B inherited from the' out ||
	fail "info: start: $(cat out)"
grep -q '^  live at the end *1 object, 400 B, of these inherited' out ||
	fail "info: end: $(cat out)"

# A grandchild inherits blocks of its grandparent.
child middle.hatf 11 single.hatf 3 $exact
free 0x1000 0 0 1 >>middle.hatf
sed -i 's/pid=20/pid=21/' middle.hatf
alloc 5 0x5000 0 0 1 >>middle.hatf
trailer middle.hatf 2 3
child grand.hatf 21 middle.hatf 2 $exact
{
	free 0x2000 0 0 1
	free 0x5000 0 0 1
	free 0x1000 0 0 1 # its parent freed it
	free 0x4000 0 0 1 # made after its parent was forked
} >>grand.hatf
trailer grand.hatf 4 5
check "grandchild: violations" "$(key grand.hatf violations)" 2
check "grandchild: start" "$(figure grand.hatf start_live_objects)" 3

# A child's later segment: the inherited blocks that are left at the end of the
# segment before.
{
	header clock=us unit=us pid=20 segment=1 previous=resized0.hatf \
		live=exact carried=1 parent_pid=11 parent_trace=single.hatf \
		parent_event=4 $exact
	layout
	alloc 8 0x8000 0 0 2 '\x02'
	free 0x4000 0 0 5
	free 0x8000 0 0 5
	free 0x3000 0 0 5
} >segment1.hatf
trailer segment1.hatf 3 5
child resized0.hatf 11 single.hatf 4 $exact segment=0
{
	alloc 8 0x8000 0 0 1
	free 0x3000 0 0 1
} >>resized0.hatf
trailer resized0.hatf 2 3 complete=1 end=rotate lost=0 threads=1
check "segment: heritage" "$(key segment1.hatf heritage)" exact
check "segment: start" "$(figure segment1.hatf start_live_objects)" 3
check "segment: violations" "$(key segment1.hatf violations)" 1
check "segment: inherited" "$(key segment1.hatf inherited)" 1

# unknown NAME HERITAGE PARENT_PID PARENT_TRACE EVENT [LINE...]: the inherited
# blocks are unknown for the reason HERITAGE.  Then the first free of each
# address is no violation, and the commands say that the blocks are unknown.
unknown()
{
	local name=$1 want=$2
	child "$name.hatf" "${@:3}"
	free 0x2000 0 0 1 >>"$name.hatf"
	trailer "$name.hatf" 1 2
	check "$name: heritage" "$(key "$name.hatf" heritage)" "$want"
	run timeout 20 "$HATF" verify "$name.hatf"
	check_status "$name" 0
	grep -q 'which blocks were inherited is unknown' out ||
		fail "$name: '$(cat out)'"
	run "$HATF" info "$name.hatf"
	grep -q '^  live at the start *unknown: ' out ||
		fail "$name: info: '$(cat out)'"
}

unknown missing missing 10 nowhere.hatf 4 $exact
unknown other missing 12 parent.hatf 4 $exact
unknown guess inexact 10 parent.hatf 4 parent_event_exact=0
unknown silent inexact 10 parent.hatf 4
unknown number inexact 10 parent.hatf 4x $exact
unknown long damaged 10 parent.hatf 99 $exact
unknown unnoted damaged 10 parent.hatf 3 $exact parent_fork=1
unknown nofork damaged 10 parent.hatf 4 $exact parent_fork=2
unknown itself missing 20 itself.hatf 0 $exact
unknown noise missing 10 "${BASH_SOURCE[0]}" 4 $exact
mkfifo fifo.hatf
unknown pipe missing 10 "$TMP/fifo.hatf" 4 $exact
unknown device missing 10 /dev/zero 4 $exact
unknown folder missing 10 / 4 $exact

# Two traces that claim to be each other's child.
child one.hatf 20 two.hatf 0 $exact
child two.hatf 20 one.hatf 0 $exact
for name in one two; do
	free 0x2000 0 0 1 >>$name.hatf
	trailer $name.hatf 1 2
done
check cycle "$(key one.hatf heritage)" missing

# More ancestors than the limit.
child line00.hatf 20 line01.hatf 0 $exact
trailer line00.hatf 0 1
for i in $(seq 1 70); do
	sed "s/line01/line$(printf %02d $((i + 1)))/" line00.hatf \
		>"line$(printf %02d "$i").hatf"
done
check "too many ancestors" "$(key line00.hatf heritage)" missing
{
	header clock=us unit=us pid=20
	layout
} >line60.hatf
trailer line60.hatf 0 1
check "fewer ancestors" "$(key line00.hatf heritage)" exact

# A parent with lost events, and a parent that was killed after the fork.
{
	header clock=us unit=us pid=10
	layout
	alloc 200 0x2000 0 0 2
	comment 'HATF lost\nthread=0\ncount=3\nfrom=2\nto=2\n'
} >lossy.hatf
trailer lossy.hatf 1 3 complete=0 end=exit lost=3 threads=1
unknown lossy-child damaged 10 lossy.hatf 1 $exact
head -c -20 single.hatf >killed.hatf
child orphan.hatf 11 killed.hatf 3 $exact
free 0x2000 0 0 1 >>orphan.hatf
trailer orphan.hatf 1 2
check "killed parent" "$(key orphan.hatf heritage)" exact

# For standard input, only the header names the parent's trace.
run "$HATF" verify - <resized.hatf
check "pipe: not found" "$("$HATF" verify --json - <resized.hatf |
	grep -c missing)" 0
(mkdir away && cd away && check "pipe: away" \
	"$("$HATF" verify --json - <../resized.hatf | grep -c missing)" 1
exit "$failures") || failures=$((failures + 1))
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# abrupt.sh - processes that end without notifying the recorder
#
# A process ends by a direct system call, as all Go programs do, or by a
# signal.  'hatf record' completes its trace.  Without 'hatf record', the
# commands that read the trace report which events are missing.
. "$(dirname "$0")/lib.sh"

stat -f -c %T . | grep -qE 'ext|xfs|tmpfs|overlay|btrfs|f2fs' ||
	skip "no ring file is safe on $(stat -f -c %T .)"
raw=$PROGS/rawexit

# whole FILE EVENTS END: FILE is complete and has EVENTS events and this end.
whole()
{
	clean "$1"
	check "$1: events" "$(info "$1" events)" "$2"
	check "$1: end" "$(trailer "$1" end)" "$3"
	[ -e "$1.rings" ] && fail "$1.rings is left"
}

# The command itself ends abruptly.
for want in 0 5; do
	"$HATF" record -o "raw$want.gz" -- "$raw" "$want" >out 2>err
	check "exit $want: status" $? "$want"
	check "exit $want: lines" "$(wc -l <err)" 1
	text=' 1 501 events.*, no events lost, completed after an'
	grep -q "$text abrupt end\$" err || fail "exit $want: $(cat err)"
	whole "raw$want.gz" 1501 raw_exit
done
check "tree" "$("$HATF" tree raw5.gz | grep -c 'raw_exit, 1 501 events')" 1
HATFTRACE_BEGIN=now "$HATF" record -o killed.gz -- sh -c 'kill -9 $$' >out 2>err
check "killed: status" $? 137
whole killed.gz "$(info killed.gz events)" killed

# Children end abruptly: only their parents know how they ended.
mkdir tree
HATFTRACE_BEGIN=now "$HATF" record -o 'tree/%e.%p.gz' -- \
	sh -c "$raw 3; $raw 0 && echo on; kill -9 \$\$" >out 2>err
check "children: status" $? 137
check "children: output" "$(cat out)" on
text="(+ 2 traces of child processes, 2 of these completed by 'hatf record'"
grep -q "$text after an abrupt end, no events lost in these)" err ||
	fail "children: $(cat err)"
for file in tree/rawexit.*.gz; do
	whole "$file" 1501 abrupt
done
check "children: tree" "$("$HATF" tree tree | grep -c 'abrupt, 1 501')" 2
"$HATF" record -o 'tree/none.%e.%p.gz' -- sh -c "$raw 3; exit 0" 2>err ||
	fail "a child with status 3 turns 0 into $?: $(cat err)"

# 'hatf record' leaves a child alone that is still running.
mkdir on
HATFTRACE_BEGIN=now "$HATF" record -o 'on/%e.%p.gz' -- \
	sh -c 'sleep 50 >/dev/null 2>&1 & echo $!
		wait -n 2>/dev/null & sleep 0.5' \
	>out 2>err
check "goes on: status" $? 0
grep -q ', 1 of these still being written: the processes are running)$' err ||
	fail "goes on: $(cat err)"
[ -e "on/sleep.$(cat out).gz.rings" ] || fail 'goes on: its ring file is gone'
"$HATF" info "on/sleep.$(cat out).gz" 2>&1 |
	grep -q 'is still being written by process' || fail 'goes on: info'
kill "$(cat out)"

# Without 'hatf record', the commands report what is missing.
trace "$TMP/alone.gz" "$raw" 7
check "alone: status" $? 7
for command in info verify; do
	"$HATF" $command alone.gz >out 2>err && fail "alone: $command is fine"
	grep -q "alone.gz: lacks its last 1501 events" \
		err || fail "alone: $command: $(cat err)"
done
"$HATF" recover alone.gz >out 2>&1 || fail "alone: recover: $(cat out)"
whole alone.gz 1501 abrupt

# The trace of a killed process has all its events, or all but one.
mkfifo go
for more in 0 1; do
	HATFTRACE_BEGIN=now trace "$TMP/saved$more.gz" "$PYTHON" -S -E -c '
import os, sys
me, fd = os.getpid(), os.open("go", os.O_RDONLY)
buffers, kill, read = [bytearray(1)], os.kill, os.readv
print(me, flush=True)
read(fd, buffers)
if sys.argv[1] == "1": kept = b"0" * 10000
kill(me, 9)' $more >pid &
	exec 8>go
	until [ -s pid ]; do sleep 0.02; done
	"$HATF" ctl "$(cat pid)" flush >out 2>&1 || fail "saved: $(cat out)"
	echo >&8
	exec 8>&-
	wait 2>/dev/null
	"$HATF" verify saved$more.gz >out 2>err && fail 'saved: verify is fine'
	[ $more = 0 ] && text='only its trailer' || text='its last event'
	check "saved $more" "$(cat err)" "hatf verify: saved$more.gz: \
lacks $text ('hatf recover' can complete it)"
done

# A folder has the copy of a truncated trace, which no recovery can complete.
mkdir copies
trace whole.hatf "$PYTHON" -S -E -c pass
head -c $(($(stat -c %s whole.hatf) - 200)) whole.hatf >truncated.hatf
"$HATF" convert truncated.hatf copies/copy.hatf 2>/dev/null
"$HATF" recover copies >out 2>&1 || fail "a copy: $(cat out)"
check 'a copy: lines' "$(cat out)" ''
finish

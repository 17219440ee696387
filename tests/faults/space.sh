#!/bin/bash
# SPDX-License-Identifier: MIT
#
# space.sh - the disk gets full while a process runs, and has room again
#
# The trace ends with a trailer that says why.  The process can then be told to
# start another one.  A recorder that keeps only its last segments removes the
# oldest one instead.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

need jq
is_root || skip "no mount without root"
disk=$TMP/disk
export XDG_RUNTIME_DIR=$TMP/run HATFTRACE_RINGS=none
mkdir -m 700 "$disk" "$XDG_RUNTIME_DIR"
mount -t tmpfs -o size=64m none "$disk" 2>/dev/null || skip "no mount"
trap 'umount -l "$disk" 2>/dev/null' EXIT

# status KEY: print one value of the process's status.
status()
{
	"$HATF" ctl --json "$pid" status 2>/dev/null | jq -r ".$1"
}

# await STATE: wait until the process is in this state.
await()
{
	local i
	for ((i = 0; i < 500; i++)); do
		[ "$(status state)" = "$1" ] && return
		sleep 0.02
	done
	fail "never $1: $(cat err)"
}

# 145 KB are free.  Without the file of zeros there is room for all events up to
# the second stop.
head -c $((64 * 1048576 - 148576)) /dev/zero >"$disk/zeros"
(exec env HATFTRACE_OUT="$disk/t.hatf.gz" LD_PRELOAD="$SO" \
	"$PROGS/steer" 3 8 500 >out 2>err) &
pid=$!
await dormant
check "why" "$(status error)" "no space left on device"
first=$disk/t.hatf.gz
"$HATF" ctl "$pid" status | grep -q ': dormant (no space left on device)' ||
	fail "status does not say why: $("$HATF" ctl "$pid" status)"
check "lines said" "$(grep -c '^hatftrace: ' err)" 1
check "end" "$(trailer "$first" end)" error
check "error" "$(trailer "$first" error)" "no space left on device"
check "complete" "$(trailer "$first" complete)" 0
check "violations" "$(violations "$first")" 0
check "events of status" "$(status events)" \
	"$(info "$first" events 2>/dev/null)"
check "lost of status" "$(status lost)" "$(info "$first" lost 2>/dev/null)"
check_ge "lost" "$(status lost)" 1
check "line" "$(grep -o 'after [0-9]* events' err)" \
	"after $(status events) events"
# Not even a header fits.
head -c 2000000 /dev/zero >"$disk/more" 2>/dev/null
"$HATF" ctl "$pid" start >ctl.out 2>&1 && fail "started on a full disk"
check "still" "$(status state)" dormant
rm "$disk/zeros" "$disk/more"
"$HATF" ctl "$pid" start >ctl.out 2>&1 || fail "no start: $(cat ctl.out)"
check "again" "$(status state)" recording
check "no error" "$(status error)" null
sleep 0.1
"$HATF" ctl "$pid" stop >ctl.out 2>&1 || fail "no stop: $(cat ctl.out)"
wait "$pid"
check "status" $? 0
second=$(find "$disk" -name 't.s*.hatf.gz')
"$HATF" verify "$second" >verify.out 2>&1 ||
	fail "second: $(cat verify.out)"
check_ge "events of the second" "$(info "$second" events)" 1
rm -f "$disk"/*

mount -o remount,size=1m "$disk" || fail 'no smaller disk'
HATFTRACE_ROTATE=100K HATFTRACE_KEEP=1000 HATFTRACE_OUT=$disk/k.hatf.gz \
	LD_PRELOAD=$SO "$PROGS/steer" 3 2 >out 2>err
check "keep: status" $? 0
check "keep: said" "$(grep '^hatftrace: ' err)" ""
[ -e "$disk/k.s0000.hatf.gz" ] && fail "keep: the disk was never full"
"$HATF" verify "$disk"/k.s*.hatf.gz >verify.out 2>&1 ||
	fail "keep: $(cat verify.out)"
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# reach.sh - how little an attacker can do who controls the writer thread
#
# The writer thread can open files only in its own folders.  It cannot connect,
# send signals or execute programs.  Afterwards it still does its work.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

need jq
export XDG_RUNTIME_DIR=$TMP/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
mkdir other job

# begin N: start a quiet program with a writer thread; it continues after a line
# is written to gateN.
begin()
{
	mkfifo "gate$1"
	(exec env HATFTRACE_BEGIN=now HATFTRACE_OUT="$TMP/job/t$1.%s.hatf.gz" \
		HATFTRACE_ROTATE=100M LD_PRELOAD="$SO" "$BASH" -c \
		'read -r x <"$0"
		for i in {1..2000}; do x=$x$i; done; echo ${#x}' \
		"gate$1" >"out$1" 2>"err$1") &
	pid=$!
	local i
	for ((i = 0; i < 500; i++)); do
		[ "$("$HATF" ctl --json "$pid" status 2>/dev/null |
			jq -r .state)" = recording ] && return
		sleep 0.02
	done
	fail "never recording: $(cat "err$1")"
}

result()
{
	sed -n "s/^$1 //p" puppet.out
}

begin 0
(cd other && exec "$FAULTS/puppet" "$pid" "$TMP/job") >puppet.out 2>&1
status=$?
[ "$status" -ne 77 ] || {
	kill "$pid"
	skip "$(tail -n 1 puppet.out)"
}
cat puppet.out
check "puppet" "$status" 0
if [ "$(result execute)" = EACCES ]; then
	check "read" "$(result read)" EACCES
	check "outside" "$(result outside)" EACCES
	[ -e other/puppet ] && fail "a file outside"
elif ! "$FAULTS/privileges" landlock >/dev/null 2>&1; then
	untried "writer's reach" "steered by an intruder" "no Landlock here"
else
	fail "the writer executes: $(cat puppet.out)"
fi
check "inside" "$(result inside)" "done"
check "remove" "$(result remove)" "done"
# The kernel restricts these since versions 4 and 6 of Landlock.
for what in tcp abstract; do
	[[ $(result $what) =~ ^(EACCES|EPERM|done)$ ]] ||
		fail "$what: $(result $what)"
done

# The writer's own work: another segment, orders, the end.
"$HATF" ctl "$pid" rotate >ctl.out 2>&1 || fail "rotate: $(cat ctl.out)"
"$HATF" ctl "$pid" flush >ctl.out 2>&1 || fail "flush: $(cat ctl.out)"
"$HATF" ctl "$pid" snapshot >ctl.out 2>&1 || fail "snapshot: $(cat ctl.out)"
"$HATF" ctl "$pid" stop >ctl.out 2>&1 || fail "stop: $(cat ctl.out)"
"$HATF" ctl "$pid" start >ctl.out 2>&1 || fail "start: $(cat ctl.out)"
echo go >gate0
wait "$pid"
check "status" $? 0
check "said" "$(cat err0)" ""
for trace in job/t0.*.hatf.gz; do
	"$HATF" verify "$trace" >verify.out 2>&1 ||
		fail "$trace: $(cat verify.out)"
done
check_ge "segments" "$(find job -name 't0.*.hatf.gz' | wc -l)" 3
check "rings left" "$(find job -name '*.rings' | wc -l)" 0
check "sockets left" "$(find "$XDG_RUNTIME_DIR" -type s | wc -l)" 0
finish

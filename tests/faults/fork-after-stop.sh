#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fork-after-stop.sh - children forked after their parent's trace stopped
#
# If a write error stopped the parent's trace, each child begins a trace of its
# own, or reports that it cannot.  If a user stopped it, the children stay
# dormant.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

export HATFTRACE_RINGS=none

# forks DIR: check the traces in DIR: of a parent whose trace has ended, and of
# three children.
forks()
{
	local child children=() parent=''

	for child in "$1"/*; do
		if [ -n "$(header "$child" parent_pid)" ]; then
			children+=("$child")
		else
			parent=$child
		fi
	done
	check "$1: the parent's end" "$(trailer "$parent" end)" error
	check "$1: children" "${#children[@]}" 3
	for child in "${children[@]}"; do
		clean "$child"
		check "$child: parent" "$(header "$child" parent_pid)" \
			"$(header "$parent" pid)"
		check_ge "$child: events" "$(info "$child" events)" 1000
	done
}

# Standard output and error are pipes: files would meet the limit.
mkdir limited
{
	(
		ulimit -f 32
		OUT=$TMP/limited/t.%p.gz
		recorder
		"${RUN[@]}" "$STRESS" forks 300000 2>&1 >&3 | cat >&2
		exit "${PIPESTATUS[0]}"
	) 3>&1 2>&4 | cat >out
} 4>&1 | cat >err
check "limited: lines said" "$(grep -c '^hatftrace: ' err)" 1
forks limited

is_root || finish
disk=$TMP/disk
mkdir "$disk"
mount -t tmpfs -o size=64k none "$disk" 2>/dev/null || finish
trap 'umount -l "$disk" 2>/dev/null' EXIT

# Not even a header fits: another file took the remaining space.
OUT=$disk/t.%p.gz recorder
: >err # remove the message of the previous program
"${RUN[@]}" "$STRESS" forks 300000 >out 2>err &
pid=$!
for ((i = 0; i < 500; i++)); do
	grep -q '^hatftrace: ' err && break
	sleep 0.02
done
head -c 100000 /dev/zero >"$disk/zeros" 2>/dev/null
wait $pid
check "full: status" $? 0
check "full: lines said" "$(grep -c '^hatftrace: .*no space' err)" 4
check "full: not tracing" "$(grep -c '; not tracing$' err)" 3
check "full: traces" "$(count "$disk"/t.*)" 1
rm -f "$disk"/*

# There is room again.
OUT=$disk/t.%p.gz recorder HATFTRACE_COMPRESS=none
head -c 40000 /dev/zero >"$disk/zeros"
: >err
"${RUN[@]}" "$STRESS" forks 300000 >out 2>err &
pid=$!
for ((i = 0; i < 500; i++)); do
	grep -q '^hatftrace: ' err && break
	sleep 0.02
done
rm "$disk/zeros"
wait $pid
check "room: status" $? 0
check "room: lines said" "$(grep -c '^hatftrace: ' err)" 1
forks "$disk"
finish

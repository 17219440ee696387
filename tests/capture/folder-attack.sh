#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# folder-attack.sh - the recorder removes no files but its own
#
# Another process replaces the recorder's folder by another folder while the
# recorder works.
. "$(dirname "$0")/lib.sh"

mkdir own other victim
ln -s "$TMP/victim" target
"$PROGS/exchange" 1 own other true 2>said
[ $? -ne 98 ] || skip "no program can be watched here: $(cat said)"

# attack WHAT STEP PROGRAM SETTING...: awk runs PROGRAM; exchange the names
# 'own' and 'target' at one of its system calls, in steps of STEP calls.  The
# victim's files must stay.
attack()
{
	# The loader makes the calls before number 60.
	local what=$1 step=$2 program=$3 n=60 status=0 before after
	shift 3
	while [ "$status" -ne 99 ] && [ "$n" -lt 400 ]; do
		n=$((n + step))
		make
		before=$(cd victim && sha256sum t*)
		timeout 60 "$PROGS/exchange" "$n" own target env "$@" \
			HATFTRACE_OUT="$TMP/own/t.gz" LD_PRELOAD="$SO" \
			awk "$program" >said 2>&1
		status=$?
		[ "$status" -eq 0 ] || [ "$status" -eq 99 ] || {
			fail "$what at $n: status $status: $(cat said)"
			break
		}
		after=$(cd victim &&
			sha256sum -c --quiet - <<<"$before" 2>&1) || {
			fail "$what at $n: $after"
			return
		}
	done
	[ "$n" -gt 90 ] || fail "$what: only $n calls"
}

# The recorder removes the ring file when the program ends.
make()
{
	rm -rf own target victim
	mkdir own victim
	ln -s "$TMP/victim" target
	echo precious >victim/t.gz.rings
}
attack rings 2 'BEGIN { print 1 }' HATFTRACE_RINGS=beside

# A file in another file system may have the same inode number.
make()
{
	mountpoint -q one && umount one
	mountpoint -q victim && umount victim
	rm -rf one own target victim
	mkdir one victim
	mount -t tmpfs tmpfs one && mount -t tmpfs tmpfs victim || return 1
	for i in 0 1 2 3; do
		echo precious >victim/t.s000$i.gz
	done
	ln -s "$TMP/one" own
	ln -s "$TMP/victim" target
}
if make 2>/dev/null; then
	echo >one/t
	check "same numbers" "$(stat -c %i one/t)" \
		"$(stat -c %i victim/t.s0000.gz)"
	# The recorder removes the first segments before the program ends.
	attack segments 7 \
		'BEGIN { for (i = 0; i < 70000; i++) a[i % 50] = i "x" }' \
		HATFTRACE_RINGS=none HATFTRACE_COMPRESS=none \
		HATFTRACE_ROTATE=64K HATFTRACE_KEEP=2
	umount one victim
fi
finish

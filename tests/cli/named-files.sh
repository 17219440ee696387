#!/bin/bash
# SPDX-License-Identifier: MIT
#
# named-files.sh - files named by a trace or folder are opened only if safe
#
# If a trace or a folder names a file, hatf does not open links, FIFOs, devices
# or files of the kernel, and in other folders opens only files of the trace's
# owner.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
touched=$BUILD/tests/capture/programs/touched

# child FILE PARENT_TRACE: write a trace that names PARENT_TRACE as its parent's
# trace and as its ring file.
child()
{
	{
		header clock=us unit=us pid=20 start_monotonic=1 parent_pid=10 \
			"parent_trace=$2" parent_event=1 parent_event_exact=1 \
			"rings=$2"
		layout
		free 0x1000 0 0 1
	} >"$1"
}

# parent FILE: write the parent's trace.
parent()
{
	{
		header clock=us unit=us pid=10
		layout
		alloc 100 0x1000 0 0 1
	} >"$1"
	trailer "$1" 1 1
}

# opens WHAT WANT COMMAND...: the command opens only WANT of the files in
# 'bait', and does not hang.
opens()
{
	local what=$1 want=$2
	shift 2
	"$touched" "${bait[@]}" -- timeout 20 "$@" >out 2>said </dev/null
	[ $? -lt 98 ] || fail "$what: $(cat said)"
	check "$what" "$(sed -n 's/^opened: .*\///p' said | sort -u)" "$want"
}

# heritage FILE: print the value of the same name of 'hatf info'.
heritage()
{
	timeout 20 "$HATF" info --json "$1" 2>/dev/null </dev/null |
		sed -n 's/.*"heritage": *"\([^"]*\)".*/\1/p'
}

mkdir bait traces
bait=("$TMP/bait/fifo" "$TMP/bait/regular" "$TMP/bait/trace")
mkfifo bait/fifo
parent bait/trace
echo text >bait/regular
if [ "$(id -u)" = 0 ] && mknod bait/device c 1 5 2>/dev/null; then
	bait+=("$TMP/bait/device")
fi

# A path in a header, to a file outside the child's folder.
for file in "${bait[@]}"; do
	child traces/child.hatf "$file"
	name=${file##*/}
	want=
	# Only regular files of the same owner are opened.  As root, hatf does
	# not follow the name of a ring file.
	[ -f "$file" ] && want=$name
	opens "named: $name: info" "$want" "$HATF" info traces/child.hatf
	[ "$(id -u)" = 0 ] && want=
	opens "rings: $name: recover" "$want" "$HATF" recover traces/child.hatf
done
child traces/child.hatf "$TMP/bait/trace"
check "owner's" "$(heritage traces/child.hatf)" exact
mkdir around && ln -s "$TMP/bait" around/link
child traces/child.hatf "$TMP/around/../around/link//trace"
check "owner's, by a link to a folder" "$(heritage traces/child.hatf)" exact
ln -s loop around/loop
child traces/child.hatf "$TMP/around/loop/trace"
check "a loop" "$(heritage traces/child.hatf)" missing
child traces/child.hatf ../bait/trace
check "not absolute" "$(heritage traces/child.hatf)" missing
child traces/child.hatf "/proc/self/root$TMP/bait/trace"
check "by way of /proc" "$(heritage traces/child.hatf)" missing

# Symbolic links in the folder itself.
for file in "${bait[@]}"; do
	name=${file##*/}
	ln -sf "$file" "traces/$name"
	ln -sf "$file" "traces/$name.rings"
	child traces/child.hatf "/nowhere/$name"
	opens "link: $name: info" '' "$HATF" info traces/child.hatf
	opens "link: $name: recover" '' "$HATF" recover traces/child.hatf
	opens "link: $name: recover DIR" '' "$HATF" recover traces
	opens "link: $name: tree DIR" '' "$HATF" tree --peak traces
	rm "traces/$name" "traces/$name.rings"
done
opens "folder: recover" "$(printf 'regular\ntrace')" "$HATF" recover bait
opens "folder: tree" "$(printf 'regular\ntrace')" "$HATF" tree bait

# A file whose owner is not that of the child's trace.
if [ "$(id -u)" = 0 ]; then
	child traces/child.hatf "$TMP/bait/trace"
	chown 65534 traces/child.hatf
	opens "owner: info" '' "$HATF" info traces/child.hatf
	check "owner" "$(heritage traces/child.hatf)" missing
	cp bait/trace traces/
	check "owner: in its folder" "$(heritage traces/child.hatf)" exact
	rm traces/trace
	chown 65534 bait/trace
	check "owner: the same" "$(heritage traces/child.hatf)" exact
fi

# /proc/kmsg: a reader removes the kernel's messages, and waits for more.
# unread: print the number of bytes of messages that nobody has read.
unread()
{
	python3 -c '
import ctypes
print(ctypes.CDLL(None).klogctl(9, None, 0))'
}
if [ "$(id -u)" = 0 ] && [ -r /proc/kmsg ] && command -v python3 >/dev/null &&
	echo "a message for a test of hatf" 2>/dev/null >/dev/kmsg &&
	[ "$(unread)" -gt 0 ]; then
	before=$(unread)
	mkdir kernel
	ln -s /proc/kmsg kernel/x.hatf
	ln -s /proc/kmsg kernel/x.hatf.rings
	child child.hatf /proc/kmsg
	child kernel/child.hatf /nowhere/x.hatf
	for command in 'info child.hatf' 'recover child.hatf' \
		'info kernel/child.hatf' 'recover kernel' 'tree kernel'; do
		# shellcheck disable=SC2086 # words
		timeout 20 "$HATF" $command >out 2>&1 </dev/null
		[ $? -lt 124 ] || fail "kmsg: $command hangs"
	done
	[ "$(unread)" -ge "$before" ] || fail "kmsg: messages are gone"
fi

# A FIFO that the user names is opened; its writer writes a part of a trace.
mkfifo part
for command in info verify; do
	head -c 100 bait/trace >part &
	timeout 20 "$HATF" $command part >out 2>&1 </dev/null
	[ $? -lt 124 ] || fail "fifo: $command hangs"
	wait
done
finish

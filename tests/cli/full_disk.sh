#!/bin/bash
# SPDX-License-Identifier: MIT
#
# full_disk.sh - no part of a file stays on a full disk
#
# The commands write a new file, and then an existing one, to a tmpfs that is
# too small for it.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

{
	echo '10 HATF ascii thread heap time attributes'
	echo '8 7 0 1 4200'
	for ((i = 1; i < 3000; i++)); do
		printf '0 %d 0x%x %d 0 1\n' "$i" $((4096 * i)) $((i % 2 * 7))
	done
} >trace.ascii

mkdir disk
mount -t tmpfs -o size=16k none disk 2>/dev/null ||
	skip 'cannot mount a file system'
# shellcheck disable=SC2064 # the folder as it is now
trap "umount -l '$PWD/disk'" EXIT

# full WHAT COMMAND...: it writes disk/file, for which there is no space.
full()
{
	local what=$1

	shift
	rm -f disk/file
	run "$@"
	check_status "$what" 1
	grep -q '^hatf [a-z]*: disk/file: No space left' \
		err || fail "$what: $(cat err)"
	[ ! -e disk/file ] || fail "$what: $(wc -c <disk/file) bytes are left"
	echo old >disk/file
	run "$@"
	check_status "$what, an old file" 1
	check "$what, an old file" "$(cat disk/file)" old
}

full 'replay --html' "$HATF" replay -a glibc -r 1 -H disk/file trace.ascii
full 'report --html' "$HATF" report --html disk/file trace.ascii
full 'replay --emit-c' "$HATF" replay --emit-c disk/file trace.ascii

# There is space for a smaller file, which replaces all of a larger one.
rm -f disk/file
head -c 3000 /dev/zero >disk/file
head -n 12 trace.ascii >short.ascii
run "$HATF" replay --emit-c disk/file short.ascii
check_status 'a small file' 0
run "$HATF" replay --emit-c - short.ascii
cmp out disk/file || fail 'a part of the larger file is left'
finish

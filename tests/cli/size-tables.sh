#!/bin/bash
# SPDX-License-Identifier: MIT
#
# size-tables.sh - the size classes of 'hatf stat' are those of real allocators
#
# Each allocator that is installed says how many bytes of a block are usable,
# for each size up to 256 KiB and many up to 256 MiB.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip 'the tables are for x86-64'

source=$CLI/../..
"${CC:-cc}" -std=gnu11 -O1 -I "$source" -o usable \
	"$CLI/usable_sizes.c" "$source/tools/summary/size_tables.c" ||
	fail 'cannot build usable_sizes.c'

# compare NAME [LIBRARY]
compare()
{
	local lib=
	if [ $# -gt 1 ]; then
		lib=$(ldconfig -p | awk -v name="$2" \
			'index($1, name) == 1 && /x86-64/ { print $NF; exit }')
		[ -n "$lib" ] || {
			echo "no $2" >&2
			return
		}
	fi
	LD_PRELOAD=$lib run timeout 120 ./usable "$1"
	[ "$status" -eq 0 ] || fail "$1: $(cat out err)"
}

compare glibc
compare jemalloc libjemalloc.so.2
compare tcmalloc libtcmalloc_minimal.so.4
compare mimalloc libmimalloc.so.2
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# heaps.sh - functions that allocators offer beyond the C standard
#
# Calls of jemalloc's mallocx() and related functions are recorded if there is a
# jemalloc.  Without one, a program that looks for them must not find them.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

build()
{
	${CC:-cc} -O1 -fno-builtin -o "$@" "$CAPTURE/shared/nonstandard.c" \
		-ldl || fail "cannot build $1"
}

# check_program NAME: its events of blocks above 4320 bytes are those that it
# reports.
check_program()
{
	local want
	trace "$TMP/$1.hatf.gz" "./$1" >"$1.out" || fail "$1: exit status"
	clean "$1.hatf.gz"
	want=$(cat "$1.out")
	# The trace has other events, too, so this is a lower bound.
	check_ge "$1: events" "$(info "$1.hatf.gz" events)" "$want"
	check "$1: allocations" "$("$HATF" dump "$1.hatf.gz" | awk '
		$2 == "alloc" { for (i = 3; i <= NF; i++)
			if (split($i, kv, "=") && kv[1] == "size" &&
			    kv[2] >= 4321 && kv[2] <= 5320 &&
			    !(kv[2] in seen)) {
				seen[kv[2]] = 1; n++ } }
		END { print n }')" 1000
	check_le "$1: live at the end" \
		"$(info "$1.hatf.gz" end_live_objects)" 20
}

library=$(ldconfig -p | sed -nE 's|.*libjemalloc\.so\.2 .*=> (/.*)|\1|p' |
	head -n 1)
build absent
trace "$TMP/absent.hatf.gz" ./absent >absent.out || fail 'absent: exit status'
check 'without a jemalloc' "$(cat absent.out)" absent
clean absent.hatf.gz

# Functions with the same names but another meaning; also in a program that has
# a jemalloc as well.
${CC:-cc} -O1 -shared -fPIC -o libnamesake.so "$CAPTURE/shared/namesake.c" ||
	fail 'cannot build libnamesake.so'
namesake()
{
	${CC:-cc} -O1 -DMAIN -o "$1" "$CAPTURE/shared/namesake.c" \
		-Wl,--no-as-needed "${@:2}" || fail "cannot build $1"
	trace "$TMP/$1.hatf.gz" "./$1" >"$1.out" || fail "$1: exit status"
	check "$1" "$(cat "$1.out")" '28 good'
	clean "$1.hatf.gz"
}
for mode in lazy now; do
	namesake namesake-$mode "$PWD/libnamesake.so" -Wl,-z,$mode
	[ -z "$library" ] || namesake namesake-before-$mode \
		"$PWD/libnamesake.so" "$library" -Wl,-z,$mode
done
[ -n "$library" ] || skip 'no libjemalloc.so.2'
build lazy -Wl,--no-as-needed "$library" -Wl,-z,lazy
build now -Wl,--no-as-needed "$library" -Wl,-z,now
build nopie -no-pie -Wl,--no-as-needed "$library"
for program in lazy now nopie; do
	check_program $program
done
PRELOAD=$library
build late
check_program late
finish

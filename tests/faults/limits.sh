#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# limits.sh - what a limit on memory must be larger by under the recorder
#
# The smallest limit with which a program's output is what it is without one,
# bare and recorded.  A recorder that takes what the program will need shows as
# a difference; so does one that gets in the way only at larger limits, which
# the search might not meet, so a program of many threads also runs under a row
# of them.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

# try LIMIT KIB COMMAND...: is the output as it should be?  A program that lacks
# memory may loop for ever instead of giving up, as python3 does while it
# imports, at 12 MiB of address space: 5 seconds of the processor end that, 60
# of the clock any other hang.
try()
{
	local limit=$1 kib=$2
	shift 2
	(ulimit -S -c 0 -t 5 "$limit" "$kib" &&
		exec timeout -s KILL 60 "$@") >got 2>/dev/null
	cmp -s got want
}

# smallest LIMIT COMMAND...: in KiB, to within 64.
smallest()
{
	local least=0 enough=$((512 << 10)) kib
	while [ $((enough - least)) -gt 64 ]; do
		kib=$(((least + enough) / 2))
		if try "$1" "$kib" "${@:2}"; then
			enough=$kib
		else
			least=$kib
		fi
	done
	echo "$enough"
}

# compare NAME COMMAND...: the figures of libhatftrace(7), CAVEATS.
compare()
{
	local name=$1 limit most bare traced
	shift
	"$@" >want 2>/dev/null || fail "$name: status"
	[ -s want ] || fail "$name: no output"
	recorder
	for limit in -v -d; do
		[ "$limit" = -v ] && most=10240 || most=5120
		bare=$(smallest "$limit" "$@")
		traced=$(smallest "$limit" "${RUN[@]}" "$@")
		echo "$name: ulimit $limit $bare, recorded $traced," \
			"$((traced - bare)) more"
		check_le "$name: ulimit $limit: KiB more" \
			"$((traced - bare))" "$most"
		rm -rf traced
		mkdir traced
	done
}

seq 50000 >numbers
compare "sort" sort -S 4M -r numbers
# shellcheck disable=SC2016
compare "perl" perl -e '$x = "x" x 30000000; print length($x), "\n"'
compare "python3" "$PYTHON" -c 'print(len([0] * 100000))'
compare "python3, 80 MB" "$PYTHON" -c 'print(len([0] * 10000000))'
compare "64 threads" "$STRESS" crowd 64

"$STRESS" crowd 64 >want
recorder
for ((mib = 12; mib <= 160; mib += 8)); do
	try -v "$((mib << 10))" "${RUN[@]}" "$STRESS" crowd 64 ||
		fail "64 threads under RLIMIT_AS $mib MiB: $(head -c 100 got)"
	try -d "$((mib << 10))" "${RUN[@]}" "$STRESS" crowd 64 ||
		fail "64 threads under RLIMIT_DATA $mib MiB: $(head -c 100 got)"
done
for file in traced/*; do
	check "violations of $file" "$(violations "$file")" 0
done
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# limits.sh - how much larger a memory limit must be under the recorder
#
# For each program, find the smallest limit under which its output is right,
# bare and recorded.  The difference is the memory that the recorder takes from
# the program.  A recorder that fails only under some larger limits could escape
# this search, so a program with many threads also runs under a series of
# limits.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

# try LIMIT KIB COMMAND...: check the output under this limit.  A program
# without memory may loop for ever instead of failing, as python3 does while it
# imports modules, with 12 MiB of address space: it is killed after 5 seconds of
# CPU time, or after 60 seconds for any other hang.
try()
{
	local limit=$1 kib=$2
	shift 2
	(ulimit -S -c 0 -t 5 "$limit" "$kib" &&
		exec timeout -s KILL 60 "$@") >got 2>/dev/null
	cmp -s got want
}

# smallest LIMIT COMMAND...: print the smallest limit in KiB, within 64.
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

# compare NAME COMMAND...: print the figures in libhatftrace(7), CAVEATS.
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
# The tables of call stacks are large: under a limit, the program comes first.
export HATFTRACE_STACKS=on
for mib in 20 60 100 160; do
	try -v "$((mib << 10))" "${RUN[@]}" "$STRESS" crowd 64 ||
		fail "stacks under RLIMIT_AS $mib MiB: $(head -c 100 got)"
	try -d "$((mib << 10))" "${RUN[@]}" "$STRESS" crowd 64 ||
		fail "stacks under RLIMIT_DATA $mib MiB: $(head -c 100 got)"
done
unset HATFTRACE_STACKS
for file in traced/*; do
	check "violations of $file" "$(violations "$file")" 0
done
finish

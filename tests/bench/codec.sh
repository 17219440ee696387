#!/bin/bash
# SPDX-License-Identifier: MIT
#
# codec.sh - the library's time per record, on made-up and real traces
set -u

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir codec
need codec
print_machine

# record NAME COMMAND...
record()
{
	local name=$1

	shift
	env PYTHONMALLOC=malloc "LD_PRELOAD=$SO" \
		"HATFTRACE_OUT=$OUT/$name.hatf.gz" "$@" >/dev/null ||
		die "$* failed"
}

# table TITLE [TRACE]
table()
{
	echo
	echo "### $1"
	echo
	shift
	"$BUILD/tests/bench/codec" "$OUT/scratch" "$@" || exit 1
}

table 'made-up records'
if [ -e "$SO" ]; then
	record python /usr/bin/python3 "$BENCH/workloads/python.py" 1
	table 'python3' "$OUT/python.hatf.gz"
	record perl /usr/bin/perl "$BENCH/workloads/perl.pl" 4
	table 'perl' "$OUT/perl.hatf.gz"
fi

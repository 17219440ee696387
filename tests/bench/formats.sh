#!/bin/bash
# SPDX-License-Identifier: MIT
#
# formats.sh - events a second of each source and sink, on made-up and real traces
set -u

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir formats
need formats
print_machine
status=0

# table TITLE [TRACE...]
table()
{
	echo
	echo "### $1"
	echo
	shift
	"$BUILD/tests/bench/formats" "$OUT/scratch" "$@" || status=1
}

table 'made-up records'
if [ -e "$SO" ]; then
	env PYTHONMALLOC=malloc "LD_PRELOAD=$SO" \
		"HATFTRACE_OUT=$OUT/python.hatf.gz" HATFTRACE_CLOCK=us \
		/usr/bin/python3 "$BENCH/workloads/python.py" 1 >/dev/null ||
		die 'python3 failed'
	table 'python3' "$OUT/python.hatf.gz"
fi
exit "$status"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# formats.sh - events per second of each source and sink
set -u

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir formats
need formats
print_machine
status=0

# table TITLE [TRACE...]: with made-up records, or with real traces.
table()
{
	echo
	echo "### $1"
	echo
	shift
	"$BUILD/tests/bench/formats" "$OUT/scratch" "$@" || status=1
}

# record NAME COMMAND [ARG...]: record a real program.
record()
{
	local name=$1

	shift
	env PYTHONMALLOC=malloc "LD_PRELOAD=$SO" \
		"HATFTRACE_OUT=$OUT/$name.hatf.gz" HATFTRACE_CLOCK=us \
		"$@" >/dev/null || die "$name failed"
}

# seconds COMMAND [ARG...]: print its CPU time, the median of three runs.
seconds()
{
	local TIMEFORMAT=%U

	for _ in 1 2 3; do
		{ time "$@" >/dev/null 2>&1; } 2>&1
	done | sort -n | sed -n 2p
}

# peer NAME FILE COMMAND...: compare another program's reading of FILE with
# hatf's.
peer()
{
	local name=$1 file=$2

	shift 2
	echo "| $name | $(seconds "$@") |" \
		"$(seconds "$HATF" convert -p -t binary "$file" -) |"
}

peers()
{
	echo
	echo "### Peers: CPU time to read hatf's conversions of $1, in s"
	echo
	echo '| program | its own | hatf |'
	echo '|---|--:|--:|'
	if have heaptrack_print; then
		"$HATF" convert -p -t heaptrack "$1" \
			"$OUT/scratch.heaptrack" 2>/dev/null
		peer heaptrack_print "$OUT/scratch.heaptrack" \
			heaptrack_print -f "$OUT/scratch.heaptrack"
	fi
	if have mtrace; then
		"$HATF" convert -p -t mtrace "$1" "$OUT/scratch.mtrace" \
			2>/dev/null
		peer 'mtrace (perl)' "$OUT/scratch.mtrace" \
			mtrace "$OUT/scratch.mtrace"
	fi
	rm -f "$OUT"/scratch.*
}

# Made-up traces in formats that hatf only reads.
read_only()
{
	echo
	echo '### Formats that hatf only reads'
	echo
	echo '| format | M events/s | bar | |'
	echo '|---|--:|--:|---|'
	local s

	tests/cli/gperftools.py 5000000 >"$OUT/scratch.raw" ||
		die 'gperftools.py failed'
	s=$(seconds "$HATF" convert -p -t binary "$OUT/scratch.raw" -)
	awk -v s="$s" 'BEGIN {
		printf "| gperftools | %.1f | 10 | %s |\n", 5 / s, \
			5 / s >= 10 ? "PASS" : "MISS"
	}'
	rm -f "$OUT/scratch.raw"
}

# The peak memory of conversions: tests/cli/memory.sh has traces of two lengths.
memory()
{
	echo
	echo '### Memory in KiB: a trace, and one ten times longer,' \
		'with as many live blocks'
	echo
	echo '| format | write | read | write, ten times | read, ten times |'
	echo '|---|--:|--:|--:|--:|'
	TMP=$OUT BUILD=$BUILD tests/cli/memory.sh |
		awk -F'[: ]+' '
			NF == 3 { print "| " $1 " | " $2 " | - | " $3 " | - |" }
			NF == 5 {
				print "| " $1 " | " $2 " | " $3 " | " $4 \
					" | " $5 " |"
			}'
	[ "${PIPESTATUS[0]}" -eq 0 ] || status=1
}

table 'made-up records'
if [ -e "$SO" ]; then
	sed 's/:rounds/2/g' "$BENCH/workloads/sqlite.sql" >"$OUT/sqlite.sql"
	record python3 /usr/bin/python3 "$BENCH/workloads/python.py" 1
	record perl /usr/bin/perl "$BENCH/workloads/perl.pl" 3
	record sqlite3 /usr/bin/sqlite3 -init "$OUT/sqlite.sql" :memory: .quit
	for name in python3 perl sqlite3; do
		table "$name" "$OUT/$name.hatf.gz"
	done
	peers "$OUT/perl.hatf.gz"
fi
read_only
[ ! -x "$BUILD/tests/capture/programs/peak" ] || memory
exit "$status"

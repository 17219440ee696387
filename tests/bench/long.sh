#!/bin/bash
# SPDX-License-Identifier: MIT
#
# long.sh - memory does not grow with the number of events in one process
#
#   tests/bench/long.sh [--millions N] [--live N]
#
# Records N million events (default 500) of a program with a bounded live set
# and prints its memory meanwhile.  Then prints the time and memory of 'hatf
# info' and 'hatf verify' on this trace and on one with a tenth of the events.
# Exits 1 if the trace is wrong; prints PASS or MISS for memory and time.
set -u

millions=500
live=100000
while [ $# -gt 1 ]; do
	case $1 in
	--millions | --live) declare "${1#--}=$2" ;;
	*) break ;;
	esac
	shift 2
done
[ $# -eq 0 ] || {
	echo "usage: tests/bench/long.sh [--millions N] [--live N]" >&2
	exit 2
}

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir long
need measure events
if [ ! -e "$SO" ] || [ ! -x "$HATF" ]; then
	die "$SO or $HATF is not built"
fi
samples=10

# measured NAME COMMAND...: stdout into OUT/NAME, figures into OUT/NAME.cost.
measured()
{
	local name=$1

	shift
	"$BUILD/tests/bench/measure" "$OUT/$name.cost" "$@" >"$OUT/$name" || {
		head -n 5 "$OUT/$name" >&2
		die "$* failed"
	}
}

# one_length NAME MILLIONS: record, then read the trace twice.
one_length()
{
	measured "$1.record" env "LD_PRELOAD=$SO" \
		"HATFTRACE_OUT=$OUT/$1.hatf.gz" \
		"$BUILD/tests/bench/events" "$2" "$live" $samples
	measured "$1.info" "$HATF" info --json "$OUT/$1.hatf.gz"
	measured "$1.verify" "$HATF" verify "$OUT/$1.hatf.gz"
	grep -Eq '"complete": *true' "$OUT/$1.info" || die "$1: not complete"
	grep -Eq '"lost": *0\>' "$OUT/$1.info" || die "$1: events were lost"
}

print_samples()
{
	echo
	echo "| million events | seconds | anonymous MiB | shared MiB |" \
		"file MiB | resident MiB | peak MiB |"
	echo "|---:|---:|---:|---:|---:|---:|---:|"
	awk '{
		printf "| %d | %.1f |", $1, $2
		for (i = 3; i <= NF; i++)
			printf " %.1f |", $i / 1024
		print ""
	}' "$1"
}

# cost NAME: print "seconds MiB" of a .cost file.
cost()
{
	awk '{ printf "%.1f s, %.1f MiB", $1 / 1e9, $3 / 1024 }' "$OUT/$1.cost"
}

print_commands()
{
	local what

	echo
	echo "| | $((millions / 10)) million events |" \
		"$millions million events |"
	echo "|---|---:|---:|"
	for what in record info verify; do
		echo "| $what | $(cost "short.$what") | $(cost "long.$what") |"
	done
	echo "| trace | $(stat -c %s "$OUT/short.hatf.gz") bytes |" \
		"$(stat -c %s "$OUT/long.hatf.gz") bytes |"
}

# Ten times the events may not take more memory, except for 4 MiB of noise.
print_verdicts()
{
	local what

	echo
	for what in record info verify; do
		paste "$OUT/short.$what.cost" "$OUT/long.$what.cost" |
			awk -v what="$what" '{
				more = ($7 - $3) / 1024
				printf "- %s: %s: ten times the events take", \
					more <= 4 ? "PASS" : "MISS", what
				printf " %+.1f MiB\n", more
			}'
	done
	rate long.record recorded
	rate long.info "read by info"
	rate long.verify "read by verify"
}

rate()
{
	awk -v millions="$millions" -v what="$2" '{
		printf "- %.1f million events a second %s\n", \
			millions * 1e9 / $1, what
	}' "$OUT/$1.cost"
}

print_machine
echo "- live set: $live objects of 16 to 528 bytes"
one_length short $((millions / 10))
one_length long "$millions"
print_samples "$OUT/long.record"
print_commands
print_verdicts
rm -f "$OUT"/*.hatf.gz

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# report.sh - how fast 'hatf report' reads a long trace, beside heaptrack_print
#
#   tests/bench/report.sh [--scale N] [--rounds N]
#
# Records perl's mixed load with call stacks, N times its length (default 120:
# about 100 million events), and the same run with heaptrack.  Reads both in
# turn.  Prints PASS or MISS for events a second of CPU time (10 million).
# Writes the page of the trace and opens it in headless Chromium, if node,
# Chromium and the packages of 'scripts/build-page.sh --modules' are there: PASS
# within 3 s and 5 MB.  Memory is printed beside the live set, without a bar.
set -u

scale=120
rounds=3
while [ $# -gt 1 ]; do
	case $1 in
	--scale | --rounds) declare "${1#--}=$2" ;;
	*) break ;;
	esac
	shift 2
done
[ $# -eq 0 ] || {
	echo "usage: tests/bench/report.sh [--scale N] [--rounds N]" >&2
	exit 2
}

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir report
need measure
load=(/usr/bin/perl "$BENCH/workloads/perl.pl" "$scale")
trace=$OUT/perl.hatf.gz
page=$OUT/perl.html
modules=$PWD/build/page/node_modules

# measured NAME COMMAND...: stdout into OUT/NAME, figures into OUT/NAME.cost.
measured()
{
	local name=$1

	shift
	"$BUILD/tests/bench/measure" "$OUT/$name.cost" "$@" >"$OUT/$name" \
		2>"$OUT/$name.err" || {
		head -n 5 "$OUT/$name.err" >&2
		die "$* failed"
	}
}

# figure KEY: a number of 'hatf info --json'.
figure()
{
	grep -o "\"$1\":[0-9]*" "$OUT/info" | head -n 1 | cut -d: -f2
}

record()
{
	"$HATF" record -o "$trace" -- "${load[@]}" >"$OUT/record" 2>&1 ||
		die "$(tail -n 1 "$OUT/record")"
	"$HATF" info --json "$trace" >"$OUT/info" || die 'info'
	have heaptrack || return 0
	heaptrack --output "$OUT/heaptrack" "${load[@]}" >/dev/null 2>&1 ||
		die 'heaptrack'
}

# A round of each reader, in turn.
one_round()
{
	measured "report.$1" "$HATF" report --jobs 1 "$trace"
	measured "page.$1" "$HATF" report --jobs 1 --html "$page" "$trace"
	have heaptrack_print || return 0
	measured "heaptrack_print.$1" heaptrack_print "$OUT"/heaptrack.*z*
}

# row NAME EVENTS: medians over the rounds of CPU and wall time, and of memory.
row()
{
	[ -e "$OUT/$1.1.cost" ] || return 0
	cat "$OUT/$1".*.cost | sort -n -k2 | awk -v name="$1" -v n="$2" '
	{ wall[NR] = $1; cpu[NR] = $2; kib[NR] = $3 }
	END {
		m = int((NR + 1) / 2)
		printf "| %s | %.2f | %.2f | %.2f | %.1f | %.0f |\n", name, \
			cpu[m] / 1e9, wall[m] / 1e9, \
			(cpu[NR] - cpu[1]) / 1e9, n * 1e3 / cpu[m], \
			kib[m] / 1024
	}' | tee -a "$OUT/rows"
}

verdict()
{
	awk -v what="$1" -v value="$2" -v bar="$3" -v at_least="$4" 'BEGIN {
		is_fine = at_least ? value >= bar : value <= bar
		printf "- %s: %s: %.2f, bar %s %s\n", \
			is_fine ? "PASS" : "MISS", what, value, \
			at_least ? "at least" : "at most", bar
	}'
}

print_verdicts()
{
	local of_report ratio

	of_report=$(grep '^| report ' "$OUT/rows")
	verdict 'million events a second of CPU time' \
		"$(awk -F'|' '{ print $6 }' <<<"$of_report")" 10 1
	verdict 'megabytes of the page' \
		"$(awk -v n="$(stat -c %s "$page")" \
			'BEGIN { print n / 1e6 }')" 5 0
	ratio=$(awk -F'|' '/^\| report / { ours = $3 }
		/^\| heaptrack_print / { print ours / $3 }' "$OUT/rows")
	[ -z "$ratio" ] || echo "- report/heaptrack_print, CPU time: $ratio"
}

open_page()
{
	if ! have node || ! have chromium || [ ! -d "$modules" ]; then
		echo '- the page was not opened: no node, Chromium or packages'
		return 0
	fi
	if MODULES=$modules CHROMIUM=$(command -v chromium) \
		timeout -s KILL 240 \
		node tests/page/opens.mjs --limit 3 "$page"; then
		echo '- PASS: the page opens in 3 s'
	else
		echo '- MISS: the page opens in 3 s'
	fi
}

print_machine
record
for ((i = 1; i <= rounds; i++)); do
	one_round "$i"
done
events=$(figure events)
echo "- $events events, most live: $(figure peak_live_bytes) bytes"
echo
echo '| command | CPU s | wall s | spread of CPU s | million events a' \
	'second of CPU time | peak MiB |'
echo '|---|---:|---:|---:|---:|---:|'
for name in report page heaptrack_print; do
	row $name "$events"
done
echo
print_verdicts
open_page
rm -f "$trace" "$OUT"/heaptrack.*

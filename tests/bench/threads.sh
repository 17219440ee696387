#!/bin/bash
# SPDX-License-Identifier: MIT
#
# threads.sh - what a thread's birth and death cost: bare, dormant, recorded
#
#   tests/bench/threads.sh [--rounds N] [--quick]
#
# Short threads run one after another, 8 or 64 at a time, with no, 10 or 1000
# pairs of malloc and free each.  The runs are interleaved: each round has every
# variant, in an order that rotates.  SO, if set, is a recorder to compare with:
# its variants 'late' and 'now' are called 'other-late' and 'other-now'.
set -u

rounds=11
quick=0
while [ $# -gt 0 ]; do
	case $1 in
	--rounds)
		rounds=${2:?a number}
		shift
		;;
	--quick) quick=1 ;;
	*)
		echo "usage: tests/bench/threads.sh [--rounds N] [--quick]" >&2
		exit 2
		;;
	esac
	shift
done

other=${SO:-}
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir threads
need threads

variants=(bare dormant late now)
[ -z "$other" ] || variants+=(other-late other-now)

# one ROUND VARIANT THREADS AT-ONCE PAIRS: append a line to 'raw'.
one()
{
	local vars=("LD_PRELOAD=$SO") figures

	case $2 in
	bare) vars=() ;;
	dormant) vars+=(HATFTRACE_START=off) ;;
	now) vars+=(HATFTRACE_BEGIN=now) ;;
	late) ;;
	other-late) vars=("LD_PRELOAD=$other") ;;
	other-now) vars=("LD_PRELOAD=$other" HATFTRACE_BEGIN=now) ;;
	esac
	figures=$(env HATFTRACE_OUT="$OUT/trace" "${vars[@]}" \
		"$BUILD/tests/bench/threads" "$3" "$4" "$5") ||
		die "threads failed"
	echo "$1 $2 $3 $4 $5 $figures" >>"$OUT/raw"
	rm -f "$OUT"/trace*
}

loads=('2000 1 0' '2000 1 10' '2000 1 1000' '2000 8 0' '2000 8 10' '2000 8 1000'
	'20000 1 10' '20000 8 10' '2048 64 10')
[ $quick -eq 0 ] || loads=('2000 1 10' '2000 8 10')

print_machine
echo "- repetitions: $rounds, interleaved, order rotating; medians" \
	"(least to largest)"
for ((round = 0; round < rounds; round++)); do
	for load in "${loads[@]}"; do
		read -ra numbers <<<"$load"
		for ((i = 0; i < ${#variants[@]}; i++)); do
			variant=${variants[(i + round) % ${#variants[@]}]}
			one $round "$variant" "${numbers[@]}"
		done
	done
done
/usr/bin/python3 -B "$BENCH/parts/threads_report.py" "$OUT/raw"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# crowd.sh - what many busy threads keep of their speed: recorder and peers
#
#   tests/bench/crowd.sh [--rounds N] [--quick]
#
# The runs are interleaved: each round has every variant, in an order that
# rotates.  SO, if set, is a recorder to compare with, the variant 'other'.
# LTTng-UST and heaptrack take part if they are installed.
set -u

rounds=5
quick=0
while [ $# -gt 0 ]; do
	case $1 in
	--rounds)
		rounds=${2:?a number}
		shift
		;;
	--quick) quick=1 ;;
	*)
		echo "usage: tests/bench/crowd.sh [--rounds N] [--quick]" >&2
		exit 2
		;;
	esac
	shift
done

other=${SO:-}
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir crowd
need crowd
trap lttng_end EXIT

variants=(bare recorded dormant)
[ -z "$other" ] || variants+=(other)
! lttng_begin || variants+=(lttng)
! have heaptrack || variants+=(heaptrack)

# verify TRACE: the trace is right, and has every event.
verify()
{
	local lost

	"$HATF" verify "$1" >"$OUT/verify" || die "$(tail -n 1 "$OUT/verify")"
	lost=$("$HATF" info "$1" | awk '/lost events/ { print $3 }')
	[ "$lost" = 0 ] || die "$lost events lost"
}

# one ROUND VARIANT KIND THREADS OPERATIONS: append a line to 'raw'.
one()
{
	local run=("$BUILD/tests/bench/crowd" "$3" "$4" "$5") figure

	case $2 in
	bare) figure=$("${run[@]}") ;;
	recorded | other | dormant)
		local so=$SO vars=("HATFTRACE_OUT=$OUT/trace.hatf")
		[ "$2" != other ] || so=$other
		[ "$2" != dormant ] || vars+=(HATFTRACE_START=off)
		figure=$(env "${vars[@]}" LD_PRELOAD="$so" "${run[@]}")
		[ "$1" != 0 ] || [ "$2" != recorded ] ||
			verify "$OUT/trace.hatf"
		;;
	lttng)
		lttng_session_begin crowd "$OUT/lttng"
		figure=$(LTTNG_UST_ALLOW_BLOCKING=1 LD_PRELOAD=$LTTNG_WRAPPER \
			"${run[@]}")
		lttng_session_end crowd
		;;
	heaptrack)
		figure=$(heaptrack --raw -o "$OUT/heaptrack" "${run[@]}" |
			grep -E '^[0-9.]+$')
		;;
	esac
	[ -n "$figure" ] || die "$2: crowd failed"
	echo "$1 $2 $3-$4 $figure" >>"$OUT/raw"
	rm -rf "$OUT"/trace* "$OUT"/lttng "$OUT"/heaptrack*
}

loads=('own 2 2000000' 'own 8 500000' 'own 64 60000' 'larson 2 2000000'
	'passed 2 1000000' 'passed 16 125000')
[ $quick -eq 0 ] || loads=('own 2 500000' 'passed 2 250000')

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
/usr/bin/python3 -B "$BENCH/parts/crowd_report.py" "$OUT/raw"

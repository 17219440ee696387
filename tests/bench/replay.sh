#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay.sh - the cost of 'hatf replay' itself, and how true its figures are
#
#   tests/bench/replay.sh [--calls MILLIONS] [--rounds N] [--realtime]
#
# The driver's own cost; its time with two threads, beside one thread and beside
# two processes, which show what the machine itself allows; the memory for a
# trace and one ten times as long; then three programs under each allocator,
# beside the figures that the replay of their traces predicts, and the orders of
# the allocators by both.
set -u

usage()
{
	cat <<'END'
usage: tests/bench/replay.sh [--calls MILLIONS] [--rounds N] [--realtime]

Defaults: --calls 10 --rounds 5, which takes about 15 minutes on an idle machine.
--calls 1 --rounds 1 takes about 1 minute and says whether everything works.
With --realtime, which needs root, the driver's own cost is measured with
SCHED_FIFO, so that other load of the machine does not show.
END
}

calls=10
rounds=5
realtime=0
fifo=()
while [ $# -gt 0 ]; do
	case $1 in
	--calls)
		calls=${2:?a number of millions}
		shift
		;;
	--rounds)
		rounds=${2:?a number}
		shift
		;;
	--realtime)
		realtime=1
		fifo=(chrt -f 50)
		;;
	--help)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
	shift
done

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir replay
print_machine
PYTHON=$(python3 -c 'import sys; print(sys.executable)') || die 'no python3'

# pairs NAME THREADS MILLIONS BLOCKS: make $OUT/NAME.hatf, see parts/pairs.c.
pairs()
{
	say "make $1.hatf: $3 million calls"
	"$OUT/pairs" "$2" "$3" "$4" |
		"$HATF" convert -f ascii - "$OUT/$1.hatf" || die "$1.hatf"
}

# own TRACE [OPTION...]: wall ns a call of the null allocator, in the fastest
# run, since other programs only slow runs down.
own()
{
	local trace=$1

	shift
	say "replay ${trace##*/} $*"
	"${fifo[@]}" "$HATF" replay --json -a glibc -r $((rounds * 4)) \
		--touch none "$@" "$trace" | jq '.driver.wall.min / .calls'
}

# verdict WHAT VALUE [OPERATOR BAR]: print a line, with PASS or MISS if there is
# a bar.
verdict()
{
	awk -v what="$1" -v value="$2" -v operator="$3" -v bar="$4" 'BEGIN {
		if (operator == "") {
			printf("| %s | %.2f | | |\n", what, value)
			exit
		}
		ok = operator == "<=" ? value <= bar : value >= bar
		printf("| %s | %.2f | %s %s | %s |\n", what, value,
			operator, bar, ok ? "PASS" : "MISS")
	}'
}

# scaling: rows of two threads and of two processes beside one, with the medians
# and the ranges of the rounds.
scaling()
{
	local median low high bar=('>=' 1.7)
	local what=('two threads, times as fast as one')

	what+=('two processes at the same time, times as fast as one')
	what+=('two threads, times as fast as two processes')
	say 'two threads, and two processes'
	"$PYTHON" "$BENCH/parts/replay_scaling.py" "$HATF" "$OUT/two.hatf" \
		"$rounds" "$realtime" >"$OUT/scaling" || return
	while read -r median low high; do
		verdict "$(printf '%s (%.2f to %.2f)' "${what[0]}" "$low" \
			"$high")" "$median" "${bar[@]}"
		what=("${what[@]:1}")
		bar=('' '')
	done <"$OUT/scaling"
}

# memory TRACE: the most KiB that 'hatf replay' itself takes.
memory()
{
	"$PYTHON" -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
		"$HATF" replay -a glibc -r 1 "$1"
}

"$CC" -O2 -o "$OUT/pairs" "$BENCH/parts/pairs.c" || die pairs.c
pairs one 1 "$calls" 1000
pairs many 1 "$calls" 400000
# A processor that was idle needs some milliseconds to become fast.
pairs two 2 $((calls * 3)) 1000
pairs long 1 "$((calls * 10))" 1000
say 'record python3'
PYTHONMALLOC=malloc "$HATF" record --follow none -G -o "$OUT/real.hatf.gz" \
	-- "$PYTHON" "$BENCH/workloads/python.py" 1 >/dev/null 2>&1 || die real
echo
echo "| measure | value | bar | |"
echo "|---|---:|---:|---|"
verdict 'own cost, ns a call, of python3' "$(own "$OUT/real.hatf.gz")" '<=' 5
verdict 'own cost, ns a call, in random order' "$(own "$OUT/one.hatf")" '<=' 5
verdict 'the same with 200 000 live blocks' "$(own "$OUT/many.hatf")" '<=' 5
scaling
say 'memory of a long trace and a short one'
verdict 'memory for ten times the calls' "$(
	echo "$(memory "$OUT/long.hatf") $(memory "$OUT/one.hatf")" |
		awk '{ print $1 / $2 }'
)" '<=' 1.1
rm -f "$OUT"/*.hatf "$OUT"/*.hatf.gz

echo
echo "### Programs under each allocator, and the replays of their traces"
echo
"$PYTHON" "$BENCH/parts/replay_truth.py" "$HATF" "$OUT" "$rounds"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay.sh - the cost of 'hatf replay' itself, and how true its figures are
#
#   tests/bench/replay.sh [--calls MILLIONS] [--rounds N]
#
# The driver's own cost on one thread and on two; the memory for a trace and one
# ten times as long; then three programs under each allocator, beside the
# figures that the replay of their traces predicts, and the orders of the
# allocators by both.
set -u

usage()
{
	cat <<'END'
usage: tests/bench/replay.sh [--calls MILLIONS] [--rounds N]

Defaults: --calls 10 --rounds 5, which takes about 4 minutes on an idle machine.
--calls 1 --rounds 1 takes about 1 minute and says whether everything works.
END
}

calls=10
rounds=5
while [ $# -gt 0 ]; do
	case $1 in
	--calls) calls=${2:?a number of millions} ;;
	--rounds) rounds=${2:?a number} ;;
	--help)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
	shift 2
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

# The command that chooses the processors of a replay.
pin=()

# own TRACE [OPTION...]: wall ns a call of the null allocator, in the fastest
# run, since other programs only slow runs down.
own()
{
	local trace=$1

	shift
	say "replay ${trace##*/} $*"
	"${pin[@]}" "$HATF" replay --json -a glibc -r $((rounds * 4)) \
		--touch none "$@" "$trace" | jq '.driver.wall.min / .calls'
}

# processors: the first two processors that this script may use.
processors()
{
	"$PYTHON" -c 'import os
print(*sorted(os.sched_getaffinity(0))[:2])'
}

# scaling: how many times as fast two threads are as one.  Processors of a
# virtual machine can differ: compare with one thread on the slower one.
scaling()
{
	local processor slowest=0 cost

	for processor in $(processors); do
		pin=(taskset -c "$processor")
		cost=$(own "$OUT/two.hatf" --threads 1)
		slowest=$(echo "$slowest $cost" |
			awk '{ print ($1 > $2 ? $1 : $2) }')
	done
	pin=()
	echo "$slowest $(own "$OUT/two.hatf")" | awk '{ print $1 / $2 }'
}

# verdict WHAT VALUE OPERATOR BAR: print a line with PASS or MISS.
verdict()
{
	awk -v what="$1" -v value="$2" -v operator="$3" -v bar="$4" 'BEGIN {
		ok = operator == "<=" ? value <= bar : value >= bar
		printf("| %s | %.2f | %s %s | %s |\n", what, value,
			operator, bar, ok ? "PASS" : "MISS")
	}'
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
pairs two 2 "$calls" 1000
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
verdict 'two threads, times as fast as one' "$(scaling)" '>=' 1.7
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

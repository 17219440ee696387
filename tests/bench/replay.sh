#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay.sh - the cost of 'hatf replay' itself, and how true its figures are
#
#   tests/bench/replay.sh [--calls MILLIONS] [--rounds N]
#
# The driver's own cost on one thread and on two; the memory for a trace and one
# ten times as long; then three programs under each allocator, beside the
# figures that the replay of their traces predicts.
set -u

calls=10
rounds=5
while [ $# -gt 0 ]; do
	case $1 in
	--calls) calls=${2:?a number of millions} ;;
	--rounds) rounds=${2:?a number} ;;
	*)
		echo "usage: tests/bench/replay.sh [--calls MILLIONS]" \
			"[--rounds N]" >&2
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

# pairs THREADS MILLIONS: print a trace of mallocs and frees of 16 to 527 bytes,
# up to 1000 blocks at a time on each thread, in turns of 64 calls.
pairs()
{
	awk -v threads="$1" -v calls="$2" 'BEGIN {
		print "10 HATF ascii thread heap time attributes"
		for (t = 1; t < threads; t++)
			printf("8 %d 0 0 4200\n", t)
		for (done = 0; done < calls * 1000000; done += 64 * threads)
			for (t = 0; t < threads; t++)
				for (i = 0; i < 64; i++)
					call(t)
	}
	function call(t,    k, address) {
		seed = (seed * 69069 + 1) % 4294967296
		k = int(seed / 65536) % 1000
		address = (t + 1) * 16777216 + k * 1024
		if (live[t, k])
			printf("1 0x%x %d 0 0\n", address, t)
		else
			printf("0 %d 0x%x %d 0 0\n",
				16 + int(seed / 256) % 512, address, t)
		live[t, k] = !live[t, k]
	}'
}

# own TRACE [OPTION...]: wall ns a call of the null allocator, in the fastest
# run, since other programs only slow runs down.
own()
{
	local trace=$1

	shift
	"$HATF" replay --json -a glibc -r "$rounds" --touch none "$@" \
		"$trace" | jq '.driver.wall.min / .calls'
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

pairs 1 "$calls" | "$HATF" convert -f ascii - "$OUT/one.hatf" || die one
pairs 2 "$calls" | "$HATF" convert -f ascii - "$OUT/two.hatf" || die two
pairs 1 "$((calls * 10))" | "$HATF" convert -f ascii - "$OUT/long.hatf" ||
	die long
echo
echo "| measure | value | bar | |"
echo "|---|---:|---:|---|"
PYTHONMALLOC=malloc "$HATF" record --follow none -G -o "$OUT/real.hatf.gz" \
	-- "$PYTHON" "$BENCH/workloads/python.py" 1 >/dev/null 2>&1 || die real
verdict 'own cost, ns a call, of python3' "$(own "$OUT/real.hatf.gz")" '<=' 5
verdict 'own cost, ns a call, in random order' "$(own "$OUT/one.hatf")" '<=' 5
verdict 'two threads, times as fast as one' "$(
	echo "$(own "$OUT/two.hatf" --threads 1) $(own "$OUT/two.hatf")" |
		awk '{ print $1 / $2 }'
)" '>=' 1.7
verdict 'memory for ten times the calls' "$(
	echo "$(memory "$OUT/long.hatf") $(memory "$OUT/one.hatf")" |
		awk '{ print $1 / $2 }'
)" '<=' 1.1
rm -f "$OUT"/*.hatf "$OUT"/*.hatf.gz

echo
echo "### Programs under each allocator, and the replays of their traces"
echo
"$PYTHON" "$BENCH/parts/replay_truth.py" "$HATF" "$OUT" "$rounds"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# micro.sh - what one event costs: bare, forwarded, recorded with each clock
#
#   tests/bench/micro.sh [--rounds N] [--millions N]
#
# Medians in ns an event (half are mallocs, half frees), interleaved.  The time
# is the program's loop, not start and end of the process: what the writer
# thread still has to do then shows in capture.sh.
set -u

rounds=5
millions=20
while [ $# -gt 1 ]; do
	case $1 in
	--rounds | --millions) declare "${1#--}=$2" ;;
	*) break ;;
	esac
	shift 2
done
[ $# -eq 0 ] || {
	echo "usage: tests/bench/micro.sh [--rounds N] [--millions N]" >&2
	exit 2
}

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir micro
variants=(bare forwarded)
if [ -e "$SO" ]; then
	variants+=(dormant off coarse auto us ns plain)
else
	echo "micro.sh: $SO is not built: without it" >&2
fi

# one VARIANT WORK THREADS: ns an event.
one()
{
	local vars=()

	case $1 in
	bare) ;;
	forwarded) vars=("LD_PRELOAD=$OUT/libforward.so") ;;
	dormant) vars=("LD_PRELOAD=$SO" HATFTRACE_START=off) ;;
	plain) # auto, and no compression
		vars=("LD_PRELOAD=$SO" HATFTRACE_COMPRESS=none)
		;;
	*) vars=("LD_PRELOAD=$SO" "HATFTRACE_CLOCK=$1") ;;
	esac
	env HATFTRACE_OUT="$OUT/trace" "${vars[@]}" \
		"$BUILD/tests/bench/micro" "$2" "$3" "$millions" || die "micro failed"
	rm -f "$OUT"/trace*
}

need micro
"$CC" -O2 -fPIC -shared -fno-builtin -fvisibility=hidden \
	-o "$OUT/libforward.so" "$BENCH/parts/forward.c" || die "cannot compile"
print_machine
echo "- repetitions: $rounds, $millions million events a thread"

for ((round = 0; round < rounds; round++)); do
	for ((i = 0; i < ${#variants[@]}; i++)); do
		variant=${variants[(i + round) % ${#variants[@]}]}
		for work in pairs mix; do
			for threads in 1 2; do
				echo "$variant $work$threads" \
					"$(one "$variant" $work $threads)"
			done
		done
	done
done >"$OUT/raw"

awk -v order="${variants[*]}" '
function median(s,    a, n, i, j, t)
{
	n = split(s, a, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && a[j] + 0 < a[j - 1] + 0; j--) {
			t = a[j]
			a[j] = a[j - 1]
			a[j - 1] = t
		}
	low = a[1]
	high = a[n]
	return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}
function cell(key,    m)
{
	m = median(ns[key])
	return sprintf("%.1f (%.1f–%.1f)", m, low, high)
}
{ ns[$1, $2] = ns[$1, $2] " " $3 }
END {
	print ""
	print "| ns an event, median (range) | pairs, 1 thread |" \
		" mix, 1 thread | pairs, 2 threads | mix, 2 threads |"
	print "|---|---:|---:|---:|---:|"
	count = split(order, name, " ")
	for (i = 1; i <= count; i++) {
		v = name[i]
		print "| " v " | " cell(v SUBSEP "pairs1") " | " \
			cell(v SUBSEP "mix1") " | " cell(v SUBSEP "pairs2") \
			" | " cell(v SUBSEP "mix2") " |"
	}
}' "$OUT/raw"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# micro.sh - what one event costs: bare, forwarded, recorded with each clock
#
#   tests/bench/micro.sh [--rounds N] [--millions N]
#
# Prints three tables (micro.c describes the loads): paced, where the writer
# keeps up; at full speed, where it need not; and as many threads as CPUs that
# free each other's objects, where it cannot, beside LTTng-UST and heaptrack.
#
# Figures are medians of interleaved runs.  The time is that of the program's
# loop, without the start and end of the process; capture.sh includes the work
# that the writer thread has left at the end.
set -u

rounds=5
millions=6
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
few=$(((millions + 3) / 4)) # for slow variants

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir micro
cpus=$(nproc)

find_variants()
{
	variants=(bare forwarded)
	if [ -e "$SO" ]; then
		variants+=(dormant off coarse auto us ns plain)
	else
		echo "micro.sh: $SO is not built: without it" >&2
	fi
	if lttng_begin; then
		variants+=(lttng)
	fi
	if have heaptrack; then
		variants+=(heaptrack)
	fi
}

# figures VARIANT: print lines with TABLE WORK THREADS MILLIONS.
figures()
{
	local work

	case $1 in
	lttng | heaptrack)
		echo "saturated shared $cpus $few"
		return
		;;
	esac
	for work in pairs mix; do
		echo "paced $work 1 $few"
		echo "paced $work 2 $few"
		echo "full $work 1 $millions"
		echo "full $work 2 $millions"
		case $1 in
		bare | forwarded | dormant | auto) echo "full $work 8 $few" ;;
		esac
	done
	echo "saturated shared $cpus $millions"
}

# one ROUND VARIANT TABLE WORK THREADS MILLIONS: append a line with its ns to
# 'raw'.
one()
{
	local vars=() command=("$BUILD/tests/bench/micro" "$4" "$5" "$6")

	[ "$3" != paced ] || command+=(paced)
	case $2 in
	bare) ;;
	forwarded) vars=("LD_PRELOAD=$OUT/libforward.so") ;;
	dormant) vars=("LD_PRELOAD=$SO" HATFTRACE_START=off) ;;
	plain) # clock auto, without compression
		vars=("LD_PRELOAD=$SO" HATFTRACE_COMPRESS=none)
		;;
	lttng)
		vars=("LD_PRELOAD=$LTTNG_WRAPPER" LTTNG_UST_ALLOW_BLOCKING=1)
		lttng_session_begin "micro-$1" "$OUT/trace"
		;;
	heaptrack)
		command=(heaptrack --raw --output "$OUT/trace" "${command[@]}")
		;;
	*) vars=("LD_PRELOAD=$SO" "HATFTRACE_CLOCK=$2") ;;
	esac
	env HATFTRACE_OUT="$OUT/trace" "${vars[@]}" "${command[@]}" \
		>"$OUT/stdout" || die "micro failed"
	[ "$2" != lttng ] || end_lttng "micro-$1"
	# heaptrack prints lines of its own: keep only the figure.
	echo "$1 $2 $3 $4 $5 $(grep -xE '[0-9]+\.[0-9]+' "$OUT/stdout")" \
		>>"$OUT/raw"
	rm -rf "$OUT"/trace*
}

end_lttng()
{
	lttng stop "$1" >>"$OUT/lttng.log" 2>&1
	[ "$(lttng_session_lost "$1")" = 0 ] || die "LTTng lost events"
	lttng_session_end "$1"
}

need micro
"$CC" -O2 -fPIC -shared -fno-builtin -fvisibility=hidden \
	-o "$OUT/libforward.so" "$BENCH/parts/forward.c" || die "cannot compile"
print_machine
echo "- repetitions: $rounds; events a thread: $millions million," \
	"$few million paced, with 8 threads and under the peers"
trap lttng_end EXIT
find_variants

for ((round = 0; round < rounds; round++)); do
	for ((i = 0; i < ${#variants[@]}; i++)); do
		variant=${variants[(i + round) % ${#variants[@]}]}
		while read -ra figure; do
			one $round "$variant" "${figure[@]}" </dev/null
		done < <(figures "$variant")
	done
done
/usr/bin/python3 -B "$BENCH/parts/micro_report.py" "$OUT/raw"

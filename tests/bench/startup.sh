#!/bin/bash
# SPDX-License-Identifier: MIT
#
# startup.sh - what a short process costs, and a build of many
#
#   tests/bench/startup.sh [--rounds N] [--build] [--realtime] [--traces DIR]
#
# The loads are /bin/true; a make of 300 jobs with one program each; one of 300
# jobs with a shell and a program; and with --build 'make -j2' of this project.
# Each load runs bare, with an interposer that only forwards, with the recorder
# dormant and recording, with LTTng-UST's libc wrapper and with heaptrack's
# library, if these are installed.  The runs are interleaved (see startup.c).
# At the end, first.c compares the first events of a process with later ones.
#
# With --realtime (needs root) all runs use SCHED_FIFO, so that other load of
# the machine does not show.  Traces go to a new folder in DIR, by default in
# the build's: a folder in memory shows the recorder alone.
#
# Sockets and the file of bells are in memory, as on a system with a /run/user.
set -u

rounds=200
build=0
place=
fifo=()
while [ $# -gt 0 ]; do
	case $1 in
	--rounds)
		rounds=${2:?}
		shift
		;;
	--traces)
		place=${2:?}
		shift
		;;
	--build) build=1 ;;
	--realtime) fifo=(chrt -f 50) ;;
	*)
		echo "usage: tests/bench/startup.sh [--rounds N] [--build]" \
			"[--realtime] [--traces DIR]" >&2
		exit 2
		;;
	esac
	shift
done

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
need startup first
# ext4 avoids inodes that were removed less than 35 s ago; this search takes
# time.
if [ -d build/bench/startup ]; then
	rm -rf build/bench/startup
	sleep 40
fi
out_dir startup
"$CC" -O2 -fPIC -shared -fno-builtin -fvisibility=hidden \
	-o "$OUT/libforward.so" "$BENCH/parts/forward.c" || die "cannot compile"

runtime=$(mktemp -d "${XDG_RUNTIME_DIR:-/dev/shm}/startup.XXXXXX") ||
	die "no folder in memory"
traces=$(mktemp -d "${place:-$OUT}/traces.XXXXXX") || die "no folder for traces"
trap 'lttng_end; rm -rf "$runtime"
	[ -z "$place" ] || rm -rf "$traces"' EXIT
export XDG_RUNTIME_DIR=$runtime

find_variants()
{
	local heaptrack lttng output

	variants=(bare
		"forwarded,LD_PRELOAD=$OUT/libforward.so"
		"dormant,LD_PRELOAD=$SO,HATFTRACE_START=off"
		"recorded,LD_PRELOAD=$SO,HATFTRACE_OUT=$traces/%e.%p.hatf.gz")
	if lttng_begin; then
		lttng_session_begin startup "$OUT/lttng"
		lttng=LD_PRELOAD=$LTTNG_WRAPPER,LTTNG_UST_ALLOW_BLOCKING=1
		variants+=("LTTng,$lttng")
	fi
	heaptrack=$(find /usr/lib /usr/local/lib -name libheaptrack_preload.so \
		2>/dev/null | head -n 1)
	output=DUMP_HEAPTRACK_OUTPUT=$traces/heaptrack.\$\$
	[ -z "$heaptrack" ] ||
		variants+=("heaptrack,LD_PRELOAD=$heaptrack,$output")
}

# table TITLE ROUNDS COMMAND...
table()
{
	local title=$1 n=$2
	shift 2
	echo
	echo "$title, $n rounds; ms"
	echo
	echo "| | wall | 10 % to 90 % | CPU | added wall | added CPU |" \
		"times bare |"
	echo "|---|---:|---:|---:|---:|---:|---:|"
	"${fifo[@]}" "$BUILD/tests/bench/startup" "$n" "${variants[@]}" \
		-- "$@" |
		awk 'NR == 1 { bare = $2 }
		{
			printf "| %s | %.2f | %.2f to %.2f |", $1, $2 / 1e3, \
				$3 / 1e3, $4 / 1e3
			printf " %.2f | %.2f | %.2f | %.2f |\n", $5 / 1e3, \
				$8 / 1e3, $9 / 1e3, $2 / bare
		}'
}

# storm NAME JOB: write a makefile of 300 such jobs.
storm()
{
	# shellcheck disable=SC2016 # they are make's
	{
		printf 'JOBS := %s\nall: $(JOBS)\n' "$(seq -s ' ' 300)"
		printf '$(JOBS): ; @%s\n.PHONY: all $(JOBS)\n' "$2"
	} >"$OUT/$1.mk"
}

# Print the cost of the first 200 000 events, as medians.
first_events()
{
	local i

	for ((i = 0; i < 21; i++)); do
		echo "bare $("${fifo[@]}" "$BUILD/tests/bench/first")"
		echo "recorded $(HATFTRACE_OUT=$traces/first.%p.hatf.gz \
			LD_PRELOAD=$SO "${fifo[@]}" "$BUILD/tests/bench/first")"
	done | sort -k1,1 -k2,2n | awk '
		{ first[$1, ++n[$1]] = $2; more[$1, n[$1]] = $2 - $3 }
		END { for (v in n) {
			m = n[v]
			for (i = 1; i <= m; i++)
				for (j = i + 1; j <= m; j++)
					if (more[v, j] < more[v, i]) {
						t = more[v, i]
						more[v, i] = more[v, j]
						more[v, j] = t
					}
			k = int((m + 1) / 2)
			printf "| %s | %.1f | %.1f |\n", v, first[v, k], \
				more[v, k] } }'
}

find_variants
print_machine
echo "- traces in $traces, $(file_system "$traces")"
table '/bin/true' "$rounds" /bin/true
storm direct /bin/true
storm shell ':; /bin/true'
few=$(((rounds + 19) / 20))
table "make -j2 of 300 jobs '/bin/true'" "$few" \
	/usr/bin/make -s -j2 -f "$OUT/direct.mk"
table "make -j2 of 300 jobs 'sh -c \":; /bin/true\"'" "$few" \
	/usr/bin/make -s -j2 -f "$OUT/shell.mk"
if [ "$build" -eq 1 ]; then
	table 'make -j2 of this project' 3 /bin/sh -c \
		"rm -rf '$OUT/tree' && make -s -j2 B='$OUT/tree' all"
fi
echo
echo "The first 200 000 events, 21 rounds; ns an event"
echo
echo "| | first | more than later ones |"
echo "|---|---:|---:|"
first_events

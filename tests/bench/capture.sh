#!/bin/bash
# SPDX-License-Identifier: MIT
#
# capture.sh - what recording costs, beside two peers, on five real programs
#
# In each round every program runs with each tool, in an order that rotates:
# bare, recorded, with the recorder dormant (loaded, HATFTRACE_START=off),
# recorded with call stacks, with each clock and without compression, with
# interposers that only forward and that call unw_backtrace(), under LTTng-UST's
# libc wrapper (lossless settings) and under heaptrack's raw recording.  Raw
# figures go to build/bench/capture/raw.tsv, a report in Markdown to stdout and
# to report.md.
#
# The HATFTRACE_* variables of the environment reach the recorder, except
# HATFTRACE_OUT.
set -u

usage()
{
	cat <<'USAGE'
usage: tests/bench/capture.sh [option]...
  --rounds N        repetitions of everything (default 3)
  --quick           small inputs and one round, to see that everything works
  --programs LIST   of python3,perl,sqlite3,cc1,redis (default all)
  --tools LIST      of bare,ours,dormant,stacks,clock-off,clock-coarse,
                    clock-us,clock-ns,plain,forward,unwind,lttng,heaptrack
                    (default all there are)
USAGE
}

rounds=
quick=0
programs=python3,perl,sqlite3,cc1,redis
own_tools=ours,dormant,stacks,clock-off,clock-coarse,clock-us,clock-ns,plain
tools=bare,$own_tools,forward,unwind,lttng,heaptrack

while [ $# -gt 0 ]; do
	case $1 in
	--rounds | --programs | --tools)
		[ $# -gt 1 ] || {
			usage >&2
			exit 2
		}
		declare "${1#--}=$2"
		shift
		;;
	--quick) quick=1 ;;
	--help) usage && exit 0 ;;
	*)
		usage >&2
		exit 2
		;;
	esac
	shift
done
: "${rounds:=$((quick ? 1 : 3))}"

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir capture
raw=$OUT/raw.tsv
server=
measure=$BUILD/tests/bench/measure

# ------------------------------------------------------------------ inputs

# Scale sizes to 5 to 15 million events for each program, in a fixed mix.
size()
{
	awk -v n="$1" -v quick="$quick" \
		'BEGIN { n = quick ? n / 10 : n; printf "%d\n", n < 1 ? 1 : n }'
}

make_inputs()
{
	{
		echo ".param set :rounds $(size 13)"
		cat "$BENCH/workloads/sqlite.sql"
	} >"$OUT/sqlite.sql"
	awk -v functions="$(size 200)" -f "$BENCH/workloads/make_c.awk" \
		>"$OUT/unit.c"
	gcc -E -o "$OUT/unit.i" "$OUT/unit.c" || die "gcc -E failed"
}

# set_command PROGRAM: set the arrays 'vars' and 'command', and 'input'.
set_command()
{
	vars=(LC_ALL=C)
	input=/dev/null
	case $1 in
	python3)
		vars+=(PYTHONMALLOC=malloc PYTHONHASHSEED=1)
		command=(/usr/bin/python3 "$BENCH/workloads/python.py"
			"$(size 3)")
		;;
	perl)
		vars+=(PERL_HASH_SEED=1)
		command=(/usr/bin/perl "$BENCH/workloads/perl.pl" "$(size 9)")
		;;
	sqlite3)
		command=(/usr/bin/sqlite3 :memory:)
		input=$OUT/sqlite.sql
		;;
	cc1)
		command=("$(gcc -print-prog-name=cc1)" -fpreprocessed -quiet -O2
			"$OUT/unit.i" -o "$OUT/unit.s")
		;;
	redis)
		command=(/usr/bin/redis-server --port 0 --save ''
			--appendonly no --daemonize no
			--unixsocket "$OUT/redis.sock" --dir "$OUT"
			--loglevel warning)
		;;
	*) die "no such program: $1" ;;
	esac
}

# ------------------------------------------------------------------- tools

# record RUN [VARIABLE=VALUE]: use the recorder, with one setting.
record()
{
	vars+=("HATFTRACE_OUT=$OUT/$1.hatf" "LD_PRELOAD=$SO" "${@:2}")
}

# set_tool TOOL RUN: add variables to 'vars', or a command before 'command'.
set_tool()
{
	case $1 in
	bare) ;;
	ours) record "$2" ;;
	clock-off | clock-coarse | clock-us | clock-ns)
		record "$2" "HATFTRACE_CLOCK=${1#clock-}"
		;;
	plain) record "$2" HATFTRACE_COMPRESS=none ;;
	stacks) record "$2" HATFTRACE_STACKS=on ;;
	forward | unwind) vars+=("LD_PRELOAD=$OUT/lib$1.so") ;;
	dormant)
		vars+=(HATFTRACE_START=off "LD_PRELOAD=$SO")
		;;
	lttng)
		vars+=("LD_PRELOAD=$LTTNG_WRAPPER" LTTNG_UST_ALLOW_BLOCKING=1)
		lttng_session_begin "$2" "$OUT/$2.lttng"
		;;
	heaptrack)
		command=(heaptrack --raw --output "$OUT/$2.heaptrack"
			"${command[@]}")
		;;
	*) die "no such tool: $1" ;;
	esac
}

# collect_tool TOOL RUN: print "key=value" words about a tool's files, and
# remove them.  The report checks that the recorder's traces are complete and
# lost nothing.
collect_tool()
{
	local lost

	case $1 in
	ours | clock-* | plain | stacks)
		"$HATF" info --json "$OUT/$2.hatf" >"$OUT/$2.json" ||
			die "hatf info: $2 failed"
		echo "info=$2.json"
		rm -f "$OUT/$2.hatf"
		;;
	lttng)
		lttng stop "$2" >>"$OUT/lttng.log" 2>&1
		lost=$(lttng_session_lost "$2")
		lttng_session_end "$2"
		echo "bytes=$(du -sb "$OUT/$2.lttng" | cut -f1) lost=$lost"
		rm -rf "$OUT/$2.lttng"
		;;
	heaptrack)
		echo "bytes=$(du -cb "$OUT/$2".heaptrack* | tail -n 1 |
			cut -f1)"
		rm -f "$OUT/$2".heaptrack*
		;;
	esac
}

# -------------------------------------------------------------------- runs

# Run 'command' to its end.
run_plain()
{
	"$measure" "$1" env "${vars[@]}" "${command[@]}" \
		<"$input" >"$OUT/stdout" 2>"$OUT/stderr" || {
		cat "$OUT/stderr" >&2
		die "${command[0]} failed"
	}
}

redis_cli()
{
	redis-cli -s "$OUT/redis.sock" "$@" 2>/dev/null
}

# Print the nanoseconds that a request takes: "SET=820,GET=...".
redis_load()
{
	local test n

	for test in SET:2000000 GET:2000000 LPUSH:2000000 LRANGE_100:120000; do
		n=$(size "${test#*:}")
		redis-benchmark -s "$OUT/redis.sock" -P 16 -n "$n" -r 100000 \
			--csv -t "${test%:*}" | tr -d '"' |
			awk -F, -v t="${test%:*}" 'index($1, t) == 1 {
				printf "%s=%.1f,", t, 1e9 / $2
			}'
	done
}

# Run the server in 'command', load it, stop it.
run_redis()
{
	"$measure" "$1" env "${vars[@]}" "${command[@]}" \
		>"$OUT/stdout" 2>"$OUT/stderr" &
	server=$!
	until [ "$(redis_cli ping)" = PONG ]; do
		kill -0 "$server" 2>/dev/null || {
			cat "$OUT/stderr" >&2
			die "redis-server did not start"
		}
		sleep 0.05
	done
	requests=$(redis_load)
	redis_cli shutdown nosave
	wait "$server" || die "redis-server failed"
	server=
}

# run PROGRAM TOOL ROUND: append a line to raw.tsv.
run()
{
	local id=$1-$2-$3 daemon_ns=0 more

	set_command "$1"
	set_tool "$2" "$id"
	sync
	[ "$2" != lttng ] || daemon_ns=$(lttng_daemon_ns)
	requests=
	if [ "$1" = redis ]; then
		run_redis "$OUT/measured"
	else
		run_plain "$OUT/measured"
	fi
	more=$(collect_tool "$2" "$id") || exit 1
	[ "$2" != lttng ] ||
		more+=" daemon_ns=$(($(lttng_daemon_ns) - daemon_ns))"
	[ -z "$requests" ] || more+=" requests=${requests%,}"
	cut -d' ' -f1-3 "$OUT/measured" | tr ' ' '\t' |
		sed "s|^|$1\t$2\t$3\t|; s|\$|\t$more|" >>"$raw"
	echo "$id: $(cut -d' ' -f1 "$OUT/measured") ns $requests" >&2
}

# Leave no process running, however this script ends.
clean_up()
{
	[ -z "$server" ] || redis_cli shutdown nosave
	lttng_end
}

# drop_tools LIST WHY
drop_tools()
{
	echo "capture.sh: without $1: $2" >&2
	tools=$(tr ',' '\n' <<<"$tools" |
		grep -vxF "$(tr ',' '\n' <<<"$1")" | paste -sd,)
}

check_tools()
{
	if [ ! -e "$SO" ] || [ ! -x "$HATF" ]; then
		drop_tools "$own_tools" "$SO or $HATF is not built"
	fi
	$CC -O2 -shared -fPIC -o "$OUT/libforward.so" "$BENCH/parts/unwind.c" ||
		drop_tools forward,unwind 'unwind.c does not compile'
	$CC -O2 -shared -fPIC -DUNWIND -o "$OUT/libunwind.so" \
		"$BENCH/parts/unwind.c" -lunwind ||
		drop_tools forward,unwind 'libunwind is not installed'
	have heaptrack || drop_tools heaptrack "it is not installed"
	case ,$tools, in
	*,lttng,*)
		lttng_begin || drop_tools lttng "it is not installed or fails"
		;;
	esac
}

check_programs()
{
	local program

	for program in ${programs//,/ }; do
		set_command "$program"
		[ -x "${command[0]}" ] || die "${command[0]} is not installed"
	done
}

# Run every program bare once, untimed, so that its files are in memory.
warm_up()
{
	local program

	for program in ${programs//,/ }; do
		run "$program" bare warm
	done
	rm -f "$raw"
}

main()
{
	trap clean_up EXIT
	need measure
	make_inputs
	check_programs
	check_tools
	print_machine >"$OUT/machine"
	echo "- repetitions: $rounds, interleaved, order rotating;" \
		"medians; spread is (max - min) / median" >>"$OUT/machine"
	warm_up

	local list round i program tool
	read -ra list <<<"${tools//,/ }"
	for ((round = 0; round < rounds; round++)); do
		for program in ${programs//,/ }; do
			for ((i = 0; i < ${#list[@]}; i++)); do
				tool=${list[(i + round) % ${#list[@]}]}
				run "$program" "$tool" $round
			done
		done
	done
	/usr/bin/python3 -B "$BENCH/parts/report.py" "$OUT" |
		tee "$OUT/report.md"
}

main

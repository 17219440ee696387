#!/bin/bash
# SPDX-License-Identifier: MIT
#
# paper-tables.sh - make the paper's tables from traces of eight real programs
#
# Set the machine up, build, record the programs, and write the tables of 'hatf
# tables' to build/bench/paper/report.md, and their figures to tables.csv.  The
# script reuses existing traces, so a second run measures the times again on the
# same traces.  With --quick the folder is build/bench/paper-quick.
set -u

usage()
{
	cat <<'USAGE'
usage: scripts/paper-tables.sh [option]...
  --programs LIST   of python3,perl,sqlite3,cc1,redis,gawk,bash,jq (default all)
  --again           record the programs again
  --quick           small inputs, timed once, to test this script
  --runs N          these are options of 'hatf tables'
  --records N
  --jobs N
USAGE
}

programs=python3,perl,sqlite3,cc1,redis,gawk,bash,jq
again=0
quick=0
options=()

while [ $# -gt 0 ]; do
	case $1 in
	--programs | --runs | --records | --jobs)
		[ $# -gt 1 ] || {
			usage >&2
			exit 2
		}
		if [ "$1" = --programs ]; then
			programs=$2
		else
			options+=("$1" "$2")
		fi
		shift
		;;
	--again) again=1 ;;
	--quick) quick=1 ;;
	--help) usage && exit 0 ;;
	*)
		usage >&2
		exit 2
		;;
	esac
	shift
done

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
OUT=$PWD/build/bench/paper
title='The tables of the paper, on programs of today'
if [ $quick -eq 1 ]; then
	OUT+=-quick
	title+=' (quick: small inputs)'
	options=(--runs 1 --records 100000 "${options[@]}")
fi
server=

# ------------------------------------------------------------------ programs

# size N: print the size of an input, a fiftieth of N with --quick.  The sizes N
# below lead to 2 to 6 million records.
size()
{
	awk -v n="$1" -v quick=$quick \
		'BEGIN { n = quick ? n / 50 : n; printf "%d\n", n < 1 ? 1 : n }'
}

# rounds N: like size, for programs that can do a fraction of a round.
rounds()
{
	LC_ALL=C awk -v n="$1" -v quick=$quick \
		'BEGIN { print quick ? n / 50 : n }'
}

# trace NAME [VARIABLE=VALUE]... COMMAND...: record COMMAND into NAME.hatf.gz.
trace()
{
	local name=$1 vars=(LC_ALL=C)

	shift
	while [[ $1 == *=* ]]; do
		vars+=("$1")
		shift
	done
	env "${vars[@]}" "$HATF" record -o "$OUT/$name.part" -- "$@" \
		>"$OUT/stdout" 2>"$OUT/stderr" || {
		cat "$OUT/stderr" >&2
		die "recording $name failed"
	}
	keep "$name"
}

# keep NAME: rename NAME.part to NAME.hatf.gz if the trace is complete, so that
# a later run does not reuse a truncated trace.
keep()
{
	"$HATF" verify "$OUT/$1.part" >&2 || die "$1: the trace is bad"
	mv "$OUT/$1.part" "$OUT/$1.hatf.gz"
}

trace_cc1()
{
	awk -v functions="$(size 150)" -f "$BENCH/workloads/make_c.awk" \
		>"$OUT/unit.c"
	gcc -E -o "$OUT/unit.i" "$OUT/unit.c" || die 'gcc -E failed'
	trace cc1 "$(gcc -print-prog-name=cc1)" -fpreprocessed -quiet -O2 \
		"$OUT/unit.i" -o "$OUT/unit.s"
}

trace_sqlite3()
{
	{
		echo ".param set :rounds $(rounds 4)"
		cat "$BENCH/workloads/sqlite.sql"
	} >"$OUT/sqlite.sql"
	trace sqlite3 sqlite3 :memory: ".read $OUT/sqlite.sql"
}

redis_cli()
{
	redis-cli -s "$OUT/redis.sock" "$@" 2>/dev/null
}

trace_redis()
{
	local test n

	"$HATF" record -o "$OUT/redis.part" -- redis-server --port 0 \
		--save '' --appendonly no --daemonize no --loglevel warning \
		--unixsocket "$OUT/redis.sock" --dir "$OUT" \
		>"$OUT/stdout" 2>"$OUT/stderr" &
	server=$!
	until [ "$(redis_cli ping)" = PONG ]; do
		kill -0 "$server" 2>/dev/null ||
			die 'redis-server did not start'
		sleep 0.05
	done
	for test in SET:300000 GET:300000 LPUSH:300000 LRANGE_100:20000; do
		n=$(size ${test#*:})
		redis-benchmark -s "$OUT/redis.sock" -P 16 -r 100000 --csv \
			-n "$n" -t "${test%:*}" >/dev/null
	done
	redis_cli shutdown nosave
	wait "$server" || die 'redis-server failed'
	server=
	keep redis
}

# shellcheck disable=SC2016 # the programs expand them
trace_program()
{
	case $1 in
	python3)
		trace python3 PYTHONMALLOC=malloc PYTHONHASHSEED=1 \
			/usr/bin/python3 "$BENCH/workloads/python.py" \
			"$(rounds 1)"
		;;
	perl)
		trace perl PERL_HASH_SEED=1 /usr/bin/perl \
			"$BENCH/workloads/perl.pl" "$(rounds 5)"
		;;
	sqlite3) trace_sqlite3 ;;
	cc1) trace_cc1 ;;
	redis) trace_redis ;;
	gawk)
		trace gawk gawk -v n="$(size 1000000)" 'BEGIN {
			for (i = 0; i < n; i++) {
				k = i % 5000
				a[k] = a[(i * 7) % 5000] "x" i
				if (length(a[k]) > 60) a[k] = substr(a[k], 30)
			}
		}'
		;;
	bash)
		trace bash bash -c 'for ((i = 0; i < $1; i++)); do
			x=$x$i a[i]=$x x=${x: -50}
		done' bash "$(size 30000)"
		;;
	jq)
		trace jq jq -n --argjson n "$(size 300000)" \
			'[range($n) | {a: (. % 97), b: "x\(.)"}]
			| group_by(.a) | map(length) | add'
		;;
	*) die "no such program: $1" ;;
	esac
}

# -------------------------------------------------------------------- report

# print_programs TRACE...: print a table of the traced commands.
print_programs()
{
	# shellcheck disable=SC2016 # jq expands them
	local trace row='(.command | gsub("[|`\n\t ]+"; " ")) as $all |
		(if ($all | length) > 100 then $all[:97] + "..." else $all end)
		as $command | "| \($name) | `\($command)` |"'

	echo "| program | command |"
	echo "|---|---|"
	for trace; do
		"$HATF" info --json "$trace" | jq -r --arg name \
			"$(basename "$trace" .hatf.gz)" "$row"
	done
}

main()
{
	local program traces=()

	scripts/setup.sh test || exit 1
	make -j"$(nproc)" || exit 1
	mkdir -p "$OUT"
	rm -f "$OUT"/*.part*
	[ $again -eq 0 ] || rm -f "$OUT"/*.hatf.gz
	trap '[ -z "$server" ] || redis_cli shutdown nosave' EXIT
	for program in ${programs//,/ }; do
		[ -e "$OUT/$program.hatf.gz" ] || trace_program "$program"
		traces+=("$OUT/$program.hatf.gz")
	done
	{
		echo "# $title"
		echo
		print_machine
		echo "- made by \`scripts/paper-tables.sh\`," \
			"$("$HATF" --version)"
		echo
		print_programs "${traces[@]}"
	} >"$OUT/report.md"
	"$HATF" tables "${options[@]}" --format markdown \
		--csv "$OUT/tables.csv" "${traces[@]}" >"$OUT/tables.md" ||
		die "'hatf tables' failed"
	cat "$OUT/tables.md" >>"$OUT/report.md"
	cat "$OUT/report.md"
	echo "The report is $OUT/report.md, its figures are in tables.csv." >&2
}

main

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay-table.sh - five programs, replayed with four allocators
#
#   tests/bench/replay-table.sh [--rounds N] [--scale N]
#
# Records python3, perl, sqlite3, redis-server with two I/O threads and gcc's
# cc1, replays each trace with glibc, jemalloc, tcmalloc and mimalloc, and
# prints the table of the README.  --scale multiplies the work of the programs.
set -u

usage()
{
	cat <<'END'
usage: tests/bench/replay-table.sh [--rounds N] [--scale N]

Defaults: --rounds 7 --scale 4, which takes about 8 minutes on an idle machine.
--rounds 5 --scale 2 takes about 3 minutes, --rounds 1 --scale 1 about 1 minute.
END
}

rounds=7
scale=4
while [ $# -gt 0 ]; do
	case $1 in
	--rounds) rounds=${2:?a number} ;;
	--scale) scale=${2:?a number} ;;
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
out_dir replay-table
export LC_ALL=C PYTHONMALLOC=malloc PYTHONHASHSEED=1 PERL_HASH_SEED=1
programs=(python3 perl sqlite3 redis cc1)
PYTHON=$(python3 -c 'import sys; print(sys.executable)') || die 'no python3'
for program in perl sqlite3 redis-server redis-benchmark gcc; do
	have "$program" || die "no $program"
done

# record NAME COMMAND...
record()
{
	local name=$1

	shift
	say "record $name"
	"$HATF" record --follow none -G -o "$OUT/$name.hatf.gz" -- "$@" \
		>/dev/null 2>"$OUT/err" || die "$name: $(cat "$OUT/err")"
}

record_redis()
{
	local socket=$OUT/redis.sock server

	record redis redis-server --port 0 --save '' --appendonly no \
		--daemonize no --unixsocket "$socket" --dir "$OUT" \
		--io-threads 2 --io-threads-do-reads yes --loglevel warning &
	server=$!
	until [ "$(redis-cli -s "$socket" ping 2>/dev/null)" = PONG ]; do
		kill -0 "$server" 2>/dev/null ||
			die 'redis-server did not start'
		sleep 0.05
	done
	redis-benchmark -s "$socket" -q -P 16 -r 100000 \
		-n $((500000 * scale)) -t set,get,lpush,hset >/dev/null
	redis-cli -s "$socket" shutdown nosave
	wait "$server" || die 'redis-server failed'
}

record_all()
{
	record python3 "$PYTHON" "$BENCH/workloads/python.py" "$scale"
	record perl perl "$BENCH/workloads/perl.pl" $((3 * scale))
	{
		echo ".param set :rounds $((4 * scale))"
		cat "$BENCH/workloads/sqlite.sql"
	} >"$OUT/sqlite.sql"
	record sqlite3 sqlite3 -init "$OUT/sqlite.sql" :memory: 'select 1' \
		</dev/null
	record_redis
	awk -v functions=$((200 * scale)) -f "$BENCH/workloads/make_c.awk" \
		>"$OUT/unit.c"
	gcc -E -o "$OUT/unit.i" "$OUT/unit.c" || die 'gcc -E failed'
	record cc1 "$(gcc -print-prog-name=cc1)" -fpreprocessed -quiet -O2 \
		"$OUT/unit.i" -o "$OUT/unit.s"
}

print_machine
record_all
for program in "${programs[@]}"; do
	say "replay $program"
	"$HATF" replay --json -r "$rounds" -a glibc -a jemalloc -a tcmalloc \
		-a mimalloc "$OUT/$program.hatf.gz" >"$OUT/$program.json" ||
		die "$program: no replay"
done
rm -f "$OUT"/*.hatf.gz
echo
"$PYTHON" "$BENCH/parts/replay_table.py" "$OUT" "${programs[@]}"

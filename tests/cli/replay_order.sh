#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_order.sh - traces of threaded programs replay without a deadlock
#
# Records larson, redis-server with I/O threads, memcached, xz and PostgreSQL
# with parallel workers, and replays each trace with --check: random pauses, and
# a check that each call has a block that was allocated before and that no other
# call has.  REPLAY_RUNS=100 replays each trace 100 times; the default is 3.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
runs=${REPLAY_RUNS:-3}
server=
trap '[ -z "$server" ] || kill -KILL "$server" 2>/dev/null' EXIT

# record NAME COMMAND...: the trace of one process.
record()
{
	local name=$1

	shift
	"$HATF" record --follow none -G -o "$name.hatf.gz" -- "$@" \
		>/dev/null 2>"$name.err" </dev/null
}

# in_order NAME THREADS HANDOVERS: replay NAME.hatf.gz, which has at least so
# many threads, and calls that wait for another thread.
in_order()
{
	local name=$1 threads=$2 handovers=$3 begin=$SECONDS

	run timeout 3000 "$HATF" replay --check -r "$runs" -a glibc \
		"$name.hatf.gz"
	check_status "$name: $(cat err)" 0
	grep -q "^glibc: $runs runs*; all calls ran in order" out ||
		fail "$name: $(cat out)"
	run "$HATF" replay --json -r 1 -a glibc "$name.hatf.gz"
	[ "$(jq .threads out)" -ge "$threads" ] ||
		fail "$name: $(jq .threads out) threads"
	[ "$(jq .handovers out)" -ge "$handovers" ] ||
		fail "$name: $(jq .handovers out) hand-overs"
	echo "$name: $runs runs in $((SECONDS - begin)) s:" \
		"$(jq -r '"\(.calls) calls, \(.threads) threads, " +
			"\(.handovers) hand-overs"' out)"
}

# wait_until COMMAND...: until it succeeds, 10 s at most.
wait_until()
{
	local i

	for ((i = 0; i < 200; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	fail "not within 10 s: $*"
}

larson()
{
	"${CC:-cc}" -O2 -D_GNU_SOURCE -pthread -o crowd \
		"$CLI/../bench/crowd.c" || fail 'cannot build crowd.c'
	record larson ./crowd larson 4 40000 ||
		fail "larson: $(cat larson.err)"
	in_order larson 8 10000
}

redis_server()
{
	record redis redis-server --port 0 --save '' --appendonly no \
		--unixsocket "$PWD/redis.sock" --io-threads 3 \
		--io-threads-do-reads yes --loglevel warning &
	server=$!
	wait_until redis-cli -s redis.sock ping
	redis-benchmark -s redis.sock -q -P 8 -r 1000 -n 3000 \
		-t set,get,lpush,hset >/dev/null
	redis-cli -s redis.sock shutdown nosave
	wait "$server" || fail "redis: $(cat redis.err)"
	server=
	in_order redis 4 1000
}

memcached_server()
{
	local python

	python=$(python3 -c 'import sys; print(sys.executable)')
	record memcached "$MEMCACHED" -s "$PWD/memcached.sock" -t 4 -m 8 \
		-u "$(id -un)" -P "$PWD/memcached.pid" &
	server=$!
	wait_until test -s memcached.pid
	"$python" "$CLI/../capture/shared/client.py" memcached memcached.sock \
		8 300 >/dev/null || fail 'memcached: its client'
	"$python" - memcached.sock <<'END' || fail 'memcached: no list of keys'
import socket, sys, time

# A worker allocates what it needs to list the keys; the crawler frees it.
for _ in range(20):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(sys.argv[1])
    f = s.makefile("rb")
    line = b"BUSY"
    while line.startswith(b"BUSY"):
        time.sleep(0.02)
        s.sendall(b"lru_crawler metadump all\r\n")
        line = f.readline()
    while not line.startswith(b"END"):
        assert line.startswith(b"key="), line
        line = f.readline()
    s.close()
END
	kill -TERM "$(cat memcached.pid)"
	wait "$server"
	server=
	in_order memcached 5 10
}

# The threads of a compressing xz free what they allocated.  Those of a
# decompressing one free the input of each block, from the main thread.
compress()
{
	seq 1 200000 >numbers
	record xz xz -T 3 --block-size=300KiB -1 -k numbers ||
		fail "xz: $(cat xz.err)"
	in_order xz 4 0
	xz -T 3 --block-size=40KiB -1 -kf numbers
	record unxz xz -d -T 4 -kc numbers.xz || fail "xz -d: $(cat unxz.err)"
	in_order unxz 4 20
}

# The workers of PostgreSQL are processes of one thread, so nothing is handed
# over: each has a trace, with the blocks that it has from its parent.
postgresql()
{
	local bin user=() trace worker workers

	bin=$(dirname "$(realpath "$POSTGRES")")
	[ "$(id -u)" != 0 ] ||
		user=(setpriv --reuid nobody --regid nogroup --clear-groups)
	mkdir -m 777 database
	# That user may not be able to read the folder of the build.
	cp "$BUILD/libhatftrace.so" database
	"${user[@]}" "$bin/initdb" -D "$PWD/database/data" -A trust -N \
		>postgres.err 2>&1 || fail "initdb: $(cat postgres.err)"
	HATFTRACE_FOLLOW=all HATFTRACE_OUT="$PWD/database/%p.hatf.gz" \
		LD_PRELOAD=$PWD/database/libhatftrace.so \
		"${user[@]}" "$POSTGRES" -D "$PWD/database/data" \
		-k "$PWD/database" -c port=5432 \
		-c listen_addresses= -c max_parallel_workers_per_gather=3 \
		-c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 \
		-c parallel_tuple_cost=0 -c log_min_messages=debug3 \
		-c log_line_prefix='%b %p ' >postgres.err 2>&1 &
	server=$!
	wait_until "$bin/psql" -h "$PWD/database" -U nobody -c '' postgres
	"$bin/psql" -h "$PWD/database" -U nobody -q postgres >psql.out 2>&1 \
		<<'END'
create table t as select i a, md5(i::text) b from generate_series(1, 30000) i;
analyze t;
explain (analyze) select count(*), max(upper(b)) from t group by a % 7;
select count(*), max(upper(b)) from t group by a % 7;
END
	kill -INT "$server"
	wait "$server"
	server=
	grep -q 'Workers Launched: [1-9]' psql.out ||
		fail "postgres: no parallel workers: $(cat psql.out)"
	workers=$(sed -nE 's/^parallel worker ([0-9]+) .*/\1/p' postgres.err |
		sort -u)
	[ -n "$workers" ] || fail 'postgres: the log names no workers'
	for worker in $workers; do
		[ -e "database/$worker.hatf.gz" ] ||
			fail "postgres: no trace of worker $worker"
	done
	for trace in database/*.hatf.gz; do
		mv "$trace" "postgres-$(basename "$trace")"
	done
	for trace in postgres-*.hatf.gz; do
		in_order "${trace%.hatf.gz}" 1 0
	done
}

MEMCACHED=$(PATH=$PATH:/usr/sbin command -v memcached)
POSTGRES=$(command -v postgres ||
	find /usr/lib/postgresql -name postgres 2>/dev/null | tail -n 1)
larson
compress
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null
then
	redis_server
fi
[ -z "$MEMCACHED" ] || memcached_server
[ -z "$POSTGRES" ] || postgresql
finish

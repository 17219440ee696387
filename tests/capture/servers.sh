#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# servers.sh - redis, memcached and nginx under load serve as they do bare
#
# Each one runs once bare and once traced; what its clients receive, its exit
# status and the errors in its log are the same.  All traffic is on Unix
# sockets.
# shellcheck disable=SC2317 # 'both' calls the functions by their names
. "$(dirname "$0")/lib.sh"
need python3
server=

cleanup()
{
	[ -z "$server" ] || kill -KILL "$server" 2>/dev/null
}
trap cleanup EXIT

# serve traced|bare COMMAND...: run it in the background; set 'server' to its
# PID.
serve()
{
	local how=$1
	shift
	if [ "$how" = traced ]; then
		env HATFTRACE_OUT="$TMP/traces/t.%p.hatf.gz" \
			LD_PRELOAD="$SO" "$@" >server.log 2>&1 &
	else
		"$@" >server.log 2>&1 &
	fi
	server=$!
}

served()
{
	wait "$server"
	echo "status $?"
	server=
}

wait_for_socket()
{
	local i
	for ((i = 0; i < 200; i++)); do
		[ -S "$1" ] && return
		sleep 0.05
	done
	fail "no socket $1"
}

# both NAME: run NAME bare and traced in directories of their own and compare.
both()
{
	local how
	for how in bare traced; do
		rm -rf "$TMP/run" "$TMP/traces"
		mkdir -p "$TMP/run" "$TMP/traces"
		cd "$TMP/run" || exit 1
		"$1" $how >"$TMP/$1.$how" 2>&1
		cd "$TMP" || exit 1
	done
	check "$1: exit status" "$(grep -c '^status 0' "$1.traced")" 1
	diff "$1.bare" "$1.traced" >difference ||
		fail "$1: differs from the bare run: $(head -n 10 difference)"
	clean traces/*
	grep -h hatftrace: run/server.log && fail "$1: see above"
	for trace in traces/*; do
		printf '%s %s: %s events, %s threads\n' "$1" \
			"$(header "$trace" pid)" "$(info "$trace" events)" \
			"$(info "$trace" threads)"
	done
}

serve_redis()
{
	local ask="redis-cli -s s"
	serve "$1" redis-server --port 0 --unixsocket "$PWD/s" --save '' \
		--appendonly yes --daemonize no --io-threads 2 --dir "$PWD"
	wait_for_socket s
	redis-benchmark -s s -P 16 -n 20000 -c 20 -r 1000 -q \
		-t set,get,incr,lpush,rpop,sadd,hset,zadd,lrange_100,mset \
		>benchmark.log 2>&1
	check "redis-benchmark: status" $? 0
	check "redis-benchmark: errors" "$(grep -ci error benchmark.log)" 0
	$ask set a-key a-value
	$ask append a-key more
	$ask get a-key
	$ask eval 'local s = 0
		for i = 1, 1000 do s = s + #redis.call("get", KEYS[1]) end
		return s' 1 a-key
	# One child writes the data, another rewrites the log.
	$ask bgsave
	while [ "$($ask info persistence | tr -d '\r' |
		sed -n 's/rdb_bgsave_in_progress://p')" != 0 ]; do
		sleep 0.1
	done
	$ask info persistence | grep -a rdb_last_bgsave_status
	$ask bgrewriteaof
	while [ "$($ask info persistence | tr -d '\r' |
		sed -n 's/aof_rewrite_in_progress://p')" != 0 ]; do
		sleep 0.1
	done
	$ask info persistence | grep -a aof_last_bgrewrite_status
	$ask exists a-key
	$ask flushall
	$ask shutdown nosave
	served
	grep -a -c '# .*[Ee]rror' server.log
}

serve_memcached()
{
	serve "$1" "$MEMCACHED" -s "$PWD/s" -t 4 -m 8 -u "$(id -un)"
	wait_for_socket s
	"$PYTHON" "$CAPTURE/shared/client.py" memcached s 8 1500
	kill -TERM "$server"
	served
}

serve_nginx()
{
	mkdir -p www temp
	for i in 1 10 100 1000 10000; do
		seq 1 "$i" >"www/$i.txt"
	done
	cat >nginx.conf <<-EOT
		daemon off;
		worker_processes 3;
		pid $PWD/pid;
		error_log $PWD/error.log notice;
		$([ "$(id -u)" -ne 0 ] || echo "user $(id -un) $(id -gn);")
		events { worker_connections 64; }
		http {
			access_log $PWD/access.log;
			client_body_temp_path $PWD/temp;
			proxy_temp_path $PWD/temp;
			fastcgi_temp_path $PWD/temp;
			uwsgi_temp_path $PWD/temp;
			scgi_temp_path $PWD/temp;
			gzip on; gzip_types text/plain; default_type text/plain;
			server {
				listen unix:$PWD/s;
				root $PWD/www;
				location /again/ { proxy_pass http://unix:$PWD/s:/; }
			}
		}
	EOT
	serve "$1" "$NGINX" -e "$PWD/error.log" -c "$PWD/nginx.conf"
	wait_for_socket s
	get
	# Start new workers while the old ones end.
	kill -HUP "$server"
	get
	kill -QUIT "$server"
	served
	grep -c '\[\(warn\|error\|crit\|alert\|emerg\)\]' error.log
	wc -l <access.log
}

get()
{
	"$PYTHON" "$CAPTURE/shared/client.py" http s 4 40 /1.txt /10.txt \
		/100.txt /1000.txt /10000.txt /again/1000.txt /none.txt
}

most_events()
{
	local trace
	for trace in traces/*; do
		info "$trace" events
	done | sort -n | tail -n 1
}

MEMCACHED=$(PATH=$PATH:/usr/sbin command -v memcached)
NGINX=$(PATH=$PATH:/usr/sbin command -v nginx)
tried=0
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null
then
	both serve_redis
	tried=1
	check_ge "redis: events" "$(most_events)" 300000
	check_ge "redis: processes" "$(find traces -type f | wc -l)" 3
fi
if [ -n "$MEMCACHED" ]; then
	both serve_memcached
	tried=1
	check_ge "memcached: events" "$(most_events)" 200
	check_ge "memcached: threads" "$(info traces/* threads)" 5
fi
if [ -n "$NGINX" ]; then
	both serve_nginx
	tried=1
	check_ge "nginx: events" "$(most_events)" 5000
	check "nginx: processes" "$(find traces -type f | wc -l)" 7
	# The workers free the master's blocks; each trace knows these exactly.
	"$HATF" tree --json traces >tree.json || fail "nginx: tree"
	check "nginx: workers in the tree" "$(grep -c \
		'"depth":1,.*"origin":"fork",.*"parent_event_exact":true' \
		tree.json)" 6
	for trace in traces/*; do
		[ -n "$(header "$trace" parent_pid)" ] || continue
		check "nginx: $trace" "$(info "$trace" heritage)" exact
		check_ge "nginx: live at the fork" \
			"$(info "$trace" start_live_objects)" 50
	done
fi
[ "$tried" = 1 ] || skip "no redis, memcached or nginx"
finish

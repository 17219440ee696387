#!/bin/bash
# SPDX-License-Identifier: MIT
#
# day.sh - a server under load for a long time, recorded with retention
#
#   tests/bench/day.sh [--seconds N] [--bare N] [--rotate WHEN] [--keep WHAT]
#
# Runs redis-server (or a python3 program if it is not installed) bare for a
# while and then recorded for N seconds (default 20; use 1800 for a real test),
# under constant load.  Prints the server's memory, descriptors and mappings and
# the size of the directory with the traces.  At the end every segment that was
# kept must verify alone and continue the previous one.  Exits 1 if the traces
# are wrong, or if memory, descriptors or disk space were not bounded.
set -u

seconds=20
bare=
rotate=4M,1m
keep=64M
while [ $# -gt 1 ]; do
	case $1 in
	--seconds | --bare | --rotate | --keep) declare "${1#--}=$2" ;;
	*) break ;;
	esac
	shift 2
done
[ $# -eq 0 ] || {
	echo "usage: tests/bench/day.sh [--seconds N] [--bare N]" \
		"[--rotate WHEN] [--keep WHAT]" >&2
	exit 2
}
[ -n "$bare" ] || bare=$((seconds < 240 ? seconds / 2 : 120))

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
out_dir day
if [ ! -e "$SO" ] || [ ! -x "$HATF" ]; then
	die "$SO or $HATF is not built"
fi
have python3 || die "python3 is missing"
samples=30
misses=0
server=
load=

cleanup()
{
	[ -z "$load" ] || kill "$load" 2>/dev/null
	[ -z "$server" ] || kill -KILL "$server" 2>/dev/null
}
trap cleanup EXIT

# No network, no files; eviction bounds the live set.
redis_server()
{
	exec redis-server --port 0 --unixsocket "$OUT/sock" --save '' \
		--appendonly no --maxmemory 16mb --loglevel warning \
		--maxmemory-policy allkeys-lru --dir "$OUT"
}

redis_load()
{
	while :; do
		redis-benchmark -s "$OUT/sock" -q -n 200000 -c 8 -P 8 -d 200 \
			-r 300000 -t set,get,incr,lpush,lpop,sadd,hset,spop \
			>/dev/null 2>&1 || sleep 0.2
	done
}

# In place of redis: a cache with a bounded size, which makes its own load.
python_server()
{
	exec python3 -X dev -c '
import random, collections
cache = collections.OrderedDict()
while True:
	key = random.randrange(300000)
	cache[key] = ["x" * random.randrange(300)]
	if len(cache) > 100000:
		cache.popitem(last=False)'
}

# start WRAPPER...: start the server and its load.
start()
{
	if have redis-server; then
		(eval "$1"; redis_server) >"$OUT/log" 2>&1 &
		server=$!
		redis_load &
		load=$!
	else
		(eval "$1"; python_server) >"$OUT/log" 2>&1 &
		server=$!
	fi
}

stop()
{
	[ -z "$load" ] || { kill "$load"; wait "$load" 2>/dev/null; }
	# The last client ends with the server.
	kill -TERM "$server"
	wait "$server" 2>/dev/null
	server='' load=''
}

# status KEY: print a value of the server's status, in KiB.
status()
{
	awk -v key="$1:" '$1 == key { print $2 }' "/proc/$server/status"
}

disk()
{
	find "$OUT/traces" -type f -name '*.hatf.gz*' ! -name '*.rings' \
		-printf '%s\n' 2>/dev/null |
		awk '{ n += $1 } END { print n + 0 }'
}

# The writer thread has a descriptor table of its own.
writer_descriptors()
{
	local task
	for task in "/proc/$server/task"/*; do
		[ "$(cat "$task/comm" 2>/dev/null)" = hatftrace ] &&
			find "$task/fd" -mindepth 1 | wc -l
	done
}

# Print "SECONDS RSS_KiB DISK FDS WRITER_FDS MAPPINGS SEGMENTS".
sample()
{
	echo "$SECONDS $(status VmRSS) $(disk)" \
		"$(find "/proc/$server/fd" -mindepth 1 | wc -l)" \
		"$(writer_descriptors)" "$(wc -l <"/proc/$server/maps")" \
		"$(find "$OUT/traces" -name '*.hatf.gz' | wc -l)"
}

# Watch the directory between samples, so that no peak is missed.
most_disk()
{
	local now most=0
	while kill -0 "$server" 2>/dev/null && [ $SECONDS -lt "$1" ]; do
		now=$(disk)
		[ "$now" -le "$most" ] || most=$now
		echo "$most" >"$OUT/most"
		sleep 0.2
	done
}

verdict()
{
	local word=PASS
	[ "$2" = 1 ] || { word=MISS misses=$((misses + 1)); }
	echo "- $word: $1"
}

print_machine
echo "- rotation $rotate, kept $keep, $seconds s," \
	"$(have redis-server && echo redis-server || echo python3)"

start :
sleep "$bare"
bare_kib=$(status VmRSS)
stop
echo "- bare: $bare_kib KiB after $bare s"

mkdir "$OUT/traces"
start "export LD_PRELOAD='$SO' HATFTRACE_OUT='$OUT/traces/day.hatf.gz' \
	HATFTRACE_ROTATE=$rotate HATFTRACE_KEEP=$keep"
SECONDS=0
echo
echo "| seconds | resident MiB | more than bare | traces MiB | descriptors |" \
	"the writer's | mappings | segments |"
echo "|---:|---:|---:|---:|---:|---:|---:|---:|"
for ((i = 1; i <= samples; i++)); do
	most_disk $((seconds * i / samples))
	kill -0 "$server" 2>/dev/null ||
		die "the server has died: $(cat "$OUT/log")"
	sample >>"$OUT/samples"
	tail -n 1 "$OUT/samples" | awk -v bare="$bare_kib" '{
		printf "| %d | %.1f | %.1f | %.2f | %d | %d | %d | %d |\n", $1,
			$2 / 1024, ($2 - bare) / 1024, $3 / 1048576, $4, $5,
			$6, $7
	}'
done
stop

# The trace has ended: all remaining files must be right.
files=("$OUT/traces"/*.hatf.gz)
"$HATF" verify "${files[@]}" >"$OUT/verify" 2>&1
verified=$?
last=${files[-1]}
number=${last##*.s}
number=$((10#${number%%.*} + 1))
number_of='\([0-9]*\)'
line="\"events\": *$number_of.*\"events_before\": *$number_of"
events=$("$HATF" info --json "$last" | sed -n "s/.*$line.*/\1 \2/p" |
	awk '{ print $1 + $2 }')
goes_on=$(grep -c 'continues the file before it' "$OUT/verify")
keep_nbytes=$(awk -v k="$keep" 'BEGIN {
	n = k + 0
	s = substr(k, length(k))
	print n * (s == "K" ? 1024 : s == "M" ? 1048576 : s == "G" ? 2^30 : 0)
}')
echo
echo "- $events events in $number segments, ${#files[@]} kept"
verdict "every segment kept verifies" "$((verified == 0))"
verdict "$goes_on of ${#files[@]} go on where the one before ended" \
	"$((goes_on == ${#files[@]} - 1))"
[ "$verified" = 0 ] || grep -v ': ok' "$OUT/verify" | head
if [ "$keep_nbytes" != 0 ]; then
	most=$(cat "$OUT/most")
	verdict "at most $most bytes on the disk, of $keep_nbytes and a block" \
		"$((most <= keep_nbytes + 300 * 1024))"
fi
# Caches fill in the first half; in the second half nothing may grow.  The
# number of descriptors may differ by a client that comes or goes.
awk -v n=$samples '
NR == int(n / 2) { own = $5; maps = $6 }
NR > n / 2 && NR <= n * 3 / 4 { early += $2; early_count++ }
NR > n * 3 / 4 { late += $2; late_count++ }
NR <= n / 2 && $4 > fds { fds = $4 }
NR > n / 2 && ($4 > fds + 2 || $5 != own) { changed = 1 }
NR > n / 2 && $6 > maps + 4 { mapped = $6 - maps }
END {
	printf "%.1f %d %d\n", (late / late_count - early / early_count) / 1024,
		changed, mapped
}' "$OUT/samples" >"$OUT/growth"
read -r grown changed mapped <"$OUT/growth"
verdict "memory from the third quarter to the fourth: $grown MiB more" \
	"$(awk -v g="$grown" 'BEGIN { print g <= 4 }')"
verdict "descriptors do not grow" "$((changed == 0))"
verdict "mappings do not grow" "$((mapped == 0))"
rm -rf "$OUT/traces"
[ $misses -eq 0 ]

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# false-alarms.sh - how often 'hatf check' calls noise a change, and misses one
#
# usage: tests/bench/false-alarms.sh [--runs N] [--trials N]
#
# Records N runs (60) of python3 with random hash seeds, of redis-server under
# load, and of a server with threads.  A trial (100 of each) takes five of the
# runs as a baseline.  It checks another run against the baseline, which must
# not exceed 'any'.  Then it checks a run in which one site allocates 5 percent
# more, which must exceed 'any'.  Last, 'hatf diff' compares the five runs with
# five others of the same build, which must not exceed 'any' either.  Prints how
# many trials of each kind went wrong.
set -u
cd "$(dirname "$0")/../.." || exit 2
hatf=$PWD/${BUILD:-build/plain}/hatf
runs=60 trials=100
while [ $# -gt 1 ]; do
	case $1 in
	--runs) runs=$2 ;;
	--trials) trials=$2 ;;
	*) break ;;
	esac
	shift 2
done
[ $# -eq 0 ] && [ -x "$hatf" ] || {
	sed -n '/^# usage/s/^# //p' "$0" >&2
	exit 2
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
PYTHON=$(python3 -c 'import sys; print(sys.executable)') || exit 1

cat >program.py <<'END'
import json
import sys


def grow(n):
    return [bytearray(1000) for _ in range(n)]


words = {f"word{i}": {j: str(j) for j in range(i % 7)} for i in range(400)}
text = json.dumps({k: list(v.items()) for k, v in words.items()})
kept = grow(int(sys.argv[1]))
seen = set(json.loads(text))
END

cat >server.c <<'END'
/* Four threads serve requests of random sizes from one queue. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int left = 4000, sessions;
static void *kept[4000];
__attribute__((noinline)) static void *
make_session(int n)
{
	return malloc((size_t)n);
}
__attribute__((noinline)) static void *
make_reply(int n)
{
	return malloc((size_t)n);
}
static void *
serve(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;

	for (;;) {
		void *reply;

		pthread_mutex_lock(&mutex);
		if (left == 0) {
			pthread_mutex_unlock(&mutex);
			return NULL;
		}
		if (--left % 4 == 0)
			kept[sessions++] = make_session(SESSION);
		pthread_mutex_unlock(&mutex);
		reply = make_reply(100 + rand_r(&seed) % 1000);
		if (rand_r(&seed) % 100 == 0)
			usleep(100);
		free(reply);
	}
}
int
main(void)
{
	struct timespec now;
	pthread_t threads[4];

	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, serve,
			       (void *)((size_t)now.tv_nsec + i));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
for size in 1000 1050; do
	mkdir $size && cp server.c $size/ &&
		gcc -g -O1 -fno-builtin -pthread -DSESSION=$size \
			-o server.$size $size/server.c || exit 1
done

run_python()
{
	"$hatf" record -o "$2" "$PYTHON" program.py \
		"$([ "$1" = old ] && echo 5000 || echo 5250)" 2>/dev/null
}

run_server()
{
	local size=1000

	[ "$1" = old ] || size=1050
	"$hatf" record -o "$2" ./server.$size 2>/dev/null
}

# Redis with 5 percent larger values.
run_redis()
{
	local port=$((20000 + RANDOM % 20000)) size=1000 server

	[ "$1" = old ] || size=1050
	"$hatf" record -o "$2" redis-server --port $port --save '' \
		--appendonly no --daemonize no >/dev/null 2>&1 &
	server=$!
	for _ in $(seq 100); do
		redis-cli -p $port ping >/dev/null 2>&1 && break
		sleep 0.05
	done
	redis-benchmark -p $port -q -n 3000 -c 10 -r 1000 -d $size -t set,get \
		>/dev/null 2>&1
	redis-cli -p $port shutdown nosave >/dev/null 2>&1
	wait $server
}

# record PROGRAM: record all runs.
record()
{
	for ((i = 0; i < runs; i++)); do
		run_"$1" old "$1.old.$i.hatf.gz"
	done
	for ((i = 0; i < runs / 2; i++)); do
		run_"$1" new "$1.new.$i.hatf.gz"
	done
}

# judge PROGRAM: make the trials.
judge()
{
	local alarms=0 misses=0 changes=0 picked

	for ((i = 0; i < trials; i++)); do
		mapfile -t picked < <(printf '%s\n' "$1".old.*.gz | shuf -n 10)
		"$hatf" diff --fail-on any "${picked[@]:0:5}" -- \
			"${picked[@]:5}" >out
		[ $? -eq 0 ] || {
			changes=$((changes + 1))
			grep '^exceeded' out >>"alarms.$1"
		}
		"$hatf" check --baseline base --update "${picked[@]:0:5}" \
			>/dev/null || exit 1
		"$hatf" check --baseline base "${picked[5]}" >out
		[ $? -eq 0 ] || {
			alarms=$((alarms + 1))
			grep -A 3 '^exceeded' out >>"alarms.$1"
		}
		picked=("$(printf '%s\n' "$1".new.*.gz | shuf -n 1)")
		"$hatf" check --baseline base "${picked[0]}" >/dev/null
		[ $? -eq 3 ] || misses=$((misses + 1))
		rm -f base
	done
	printf '%-8s %3d of %d runs of the same build called changed, ' \
		"$1" $alarms "$trials"
	printf '%3d of %d growths of 5 %% missed, ' $misses "$trials"
	printf '%3d of %d pairs of five runs changed\n' $changes "$trials"
	[ ! -e "alarms.$1" ] || sed 's/^/    /' "alarms.$1"
}

for program in ${PROGRAMS:-python server redis}; do
	record $program
	judge $program
done

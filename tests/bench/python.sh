#!/bin/bash
# SPDX-License-Identifier: MIT
#
# python.sh - how long the Python module takes for 10 million events
#
# usage: tests/bench/python.sh [--rounds N]
#
# Records 10 million events, with call stacks and without.  Each round reads
# both traces by 'hatf info' and by the module, which returns all columns, then
# three of them, as numpy arrays.  Prints medians of wall and CPU time, and the
# ratio to 'hatf info' of the same round.  The bar is 3 seconds of CPU time.
# PYTHON is the interpreter, which must have numpy (/usr/bin/python3).
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$PWD/${BUILD:-build/plain}
rounds=5
while [ $# -gt 1 ] && [ "$1" = --rounds ]; do
	rounds=$2
	shift 2
done
python=${PYTHON:-/usr/bin/python3}
if [ $# -ne 0 ] || ! "$python" -c 'import numpy'; then
	sed -n '/^# usage/s/^# //p' "$0" >&2
	exit 2
fi
work=$(mktemp -d "$build/python.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/program.c" <<'END'
#include <stdlib.h>
static void *kept[10000];
__attribute__((noinline)) static void *
make(int depth, size_t n)
{
	void *p = depth > 0 ? make(depth - 1, n) : malloc(n);

	__asm__ volatile("" : "+r"(p));
	return p;
}
int
main(void)
{
	unsigned seed = 1;

	for (int i = 0; i < 5000000; i++) {
		const unsigned n = (unsigned)rand_r(&seed);
		void **const slot = &kept[n % 10000];

		free(*slot);
		*slot = make((int)(n >> 8) % 8, 16 + n % 500);
	}
	return 0;
}
END
gcc -g -O1 -fno-builtin -o "$work/program" "$work/program.c" || exit 1
for how in on off; do
	"$build/hatf" record --stacks $how -o "$work/$how.hatf.gz" \
		"$work/program" 2>"$work/err" || {
		cat "$work/err" >&2
		exit 1
	}
done
cat >"$work/measure.py" <<'END'
import gc
import os
import statistics
import subprocess
import sys
import time

import hatf

command, rounds, *paths = sys.argv[1:]
SOME = ('kind', 'size', 'time')


def cpu():
    return sum(os.times()[:4])


def timed(call):
    gc.collect()
    wall, used = time.perf_counter(), cpu()
    call()
    return time.perf_counter() - wall, cpu() - used


def arrays(path, *names):
    with hatf.open(path) as trace:
        columns = trace.arrays(*names)
    for column in columns.values():
        assert len(column) >= 9990000, len(column)


def info(path):
    subprocess.run([command, 'info', path], check=True,
                   stdout=subprocess.DEVNULL)


for path in paths:
    rows = {'hatf info': lambda: info(path),
            'all columns': lambda: arrays(path),
            'three columns': lambda: arrays(path, *SOME)}
    times = {name: [] for name in rows}
    for _ in range(int(rounds)):
        for name, call in rows.items():
            times[name].append(timed(call))
    print('with call stacks' if 'on.hatf' in path else 'without call stacks')
    for name, each in times.items():
        ratio = statistics.median(
            one[1] / base[1] for one, base in zip(each, times['hatf info']))
        wall, used = (statistics.median(column) for column in zip(*each))
        print(f'  {name:14} {wall:6.2f} s, CPU {used:6.2f} s, '
              f'{ratio:5.2f} times hatf info')
    worst = statistics.median(one[1] for one in times['all columns'])
    print('  bar of 3 s:', 'PASS' if worst < 3 else 'MISS')
END
PYTHONPATH=hatf/python HATF_LIBRARY=$build/libhatf.so.0 "$python" \
	"$work/measure.py" "$build/hatf" "$rounds" "$work/on.hatf.gz" \
	"$work/off.hatf.gz"

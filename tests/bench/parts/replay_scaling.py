# SPDX-License-Identifier: MIT
#
# replay_scaling.py - how many times as fast the driver is with two threads
#
# usage: replay_scaling.py HATF TRACE ROUNDS REALTIME
#
# TRACE has two threads with equal numbers of calls.  REALTIME is 1 for
# SCHED_FIFO.  The null allocator replays the trace
#
# - with one thread, on each of two processors;
# - with two threads;
# - with one thread on each of two processors at the same time: two processes,
#   which share nothing.  They show what the machine itself allows.
#
# Processors of a virtual machine can differ, so one thread means the slower
# processor.  A round has several turns of all this, and a figure of a round is
# that of the fastest run, since other programs only slow runs down, and may do
# so for seconds.  A run of two threads takes as long as the slower thread, so a
# run of two processes, too, is as fast as the slower one.  Each round gives
# ratios.
#
# Prints three lines: the median and the range of the rounds for two threads,
# for two processes, and for two threads as a ratio to two processes.
import json
import os
import statistics
import subprocess
import sys

hatf, trace, rounds, realtime = sys.argv[1:]
TURNS = 4
RUNS = 4  # of each kind in a turn
processors = sorted(os.sched_getaffinity(0))[:2]
if len(processors) < 2:
    sys.exit('replay_scaling.py: this needs two processors')


def start(processor, *options):
    """Start a replay, on one processor or on all."""
    command = [hatf, 'replay', '--json', '-a', 'glibc', '-r', str(RUNS),
               '--touch', 'none', *options, trace]
    if processor is not None:
        command = ['taskset', '-c', str(processor)] + command
    if realtime == '1':
        command = ['chrt', '-f', '50'] + command
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def times(process):
    """Wait for a replay, and return the times of its runs."""
    out, _ = process.communicate()
    if process.returncode != 0:
        sys.exit(f'replay_scaling.py: status {process.returncode}')
    return json.loads(out)['driver']['wall']['measured']


def turn():
    """Return the times of one thread on each processor, of two, and of both."""
    ones = [min(times(start(p, '--threads', '1'))) for p in processors]
    two = min(times(start(None)))
    both = [start(p, '--threads', '1') for p in processors]
    # Each of the processes makes all calls, so both make twice as many.
    processes = min(map(max, *[times(p) for p in both])) / 2
    return *ones, two, processes


def measure():
    """Return the ratios of a round."""
    *ones, two, processes = map(min, zip(*[turn() for _ in range(TURNS)]))
    one = max(ones)
    return one / two, one / processes, processes / two


for ratios in zip(*[measure() for _ in range(int(rounds))]):
    print(statistics.median(ratios), min(ratios), max(ratios))

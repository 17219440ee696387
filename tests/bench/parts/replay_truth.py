# SPDX-License-Identifier: MIT
#
# replay_truth.py - programs under each allocator, beside the replays of these
#
# usage: replay_truth.py HATF FOLDER ROUNDS
#
# Prints two Markdown tables.  The CPU time of a program includes its own work,
# so only the order of the allocators and the differences between them compare
# with those of the replay, and the peaks less what the program takes without
# blocks.  The second table has these orders.
import json
import os
import statistics
import subprocess
import sys
import time

hatf, folder, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
workloads = os.path.join(os.path.dirname(sys.argv[0]), '..', 'workloads')
os.environ['PYTHONMALLOC'] = 'malloc'
programs = {
    'python3': [sys.executable, os.path.join(workloads, 'python.py'), '1'],
    'perl': ['perl', os.path.join(workloads, 'perl.pl'), '3'],
    'sqlite3': ['sqlite3', '-init', os.path.join(folder, 'sqlite.sql'),
                ':memory:', 'select 1'],
}

with open(os.path.join(workloads, 'sqlite.sql')) as text:
    sql = text.read()
with open(os.path.join(folder, 'sqlite.sql'), 'w') as text:
    text.write('.param set :rounds 4\n' + sql)


def run(command, library):
    """Return CPU seconds and peak bytes of one run."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        if library:
            os.environ['LD_PRELOAD'] = library
        os.execvp(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f'{command[0]}: status {status}')
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def middle(figures):
    return statistics.median(figures)


def record(command, trace):
    with open(os.devnull, 'w') as null:
        subprocess.run([hatf, 'record', '--follow', 'none', '-G', '-o', trace,
                        '--'] + command, stdout=null, stderr=null, check=True)


def replay(trace):
    result = json.loads(subprocess.run(
        [hatf, 'replay', '--json', '-r', str(rounds), trace],
        capture_output=True, check=True).stdout)
    return result['allocators']


class Figure:
    """The runs of an allocator by one measure."""

    def __init__(self, label, low, median, high):
        self.label, self.low, self.median, self.high = label, low, median, high

    def equals(self, other):
        """Do the runs not say which one is better?"""
        return (self.low <= other.high and other.low <= self.high
                or abs(self.median - other.median)
                <= 0.01 * min(self.median, other.median))


def order(figures):
    """Return the order as text; '=': equal to the one before."""
    ranked = sorted(figures, key=lambda figure: figure.median)
    text = ranked[0].label
    for before, figure in zip(ranked, ranked[1:]):
        text += (' = ' if figure.equals(before) else ' < ') + figure.label
    return text


def disagreements(own, replayed):
    """Return the number of pairs that differ in the program, and, as texts,
    those of them that the replay does not have in this order."""
    count, texts = 0, []
    for i, first in enumerate(own):
        for j in range(i):
            if first.equals(own[j]):
                continue
            count += 1
            if ((first.median < own[j].median)
                    != (replayed[i].median < replayed[j].median)):
                best, other = sorted((i, j), key=lambda k: own[k].median)
                sign = '=' if replayed[i].equals(replayed[j]) else '>'
                texts.append(f'{own[best].label} {sign} {own[other].label}')
    return count, texts


def say(text):
    print(time.strftime('%T'), text, file=sys.stderr, flush=True)


def measure(name, command):
    """Print the rows of a program; return its figures and the replay's, by
    measure."""
    trace = os.path.join(folder, name + '.hatf.gz')
    say(f'record and replay {name}')
    record(command, trace)
    columns = replay(trace)
    own = [[] for _ in columns]
    for i in range(rounds):
        say(f'run {name} under each allocator, round {i + 1} of {rounds}')
        for column, runs in zip(columns, own):
            library = column['library']
            is_libc = column['allocator'] == 'glibc'
            runs.append(run(command, None if is_libc else library))
    figures = {'CPU': ([], []), 'peak': ([], [])}
    for column, runs in zip(columns, own):
        label = column['allocator']
        cpu = [r[0] * 1000 for r in runs]
        peak = [r[1] for r in runs]
        for key, values, member in (('CPU', cpu, 'cpu'),
                                    ('peak', peak, 'peak_rss')):
            own_figures, replayed = figures[key]
            own_figures.append(Figure(label, min(values), middle(values),
                                      max(values)))
            of = column[member]
            replayed.append(Figure(label, of['min'], of['median'], of['max']))
        print(f"| {name} | {label} | {middle(cpu):.0f} "
              f"| {max(cpu) - min(cpu):.0f} | {middle(peak) / 2 ** 20:.1f} "
              f"| {column['cpu']['median'] / 1e6:.1f} "
              f"| {column['peak_rss']['median'] / 2 ** 20:.1f} |", flush=True)
    return figures


print('| program | allocator | CPU, ms | spread | peak, MiB | replay: CPU, ms '
      '| peak, MiB |')
print('|---|---|---:|---:|---:|---:|---:|')
results = {name: measure(name, command) for name, command in programs.items()}

print()
print('The orders of the allocators, the best one first; = means equal within '
      'the spread.')
print('Differ: pairs of allocators between which the program differs by more '
      'than that.')
print()
print('| program | by | order of the program | order of the replay | differ '
      '| of these, as the replay has them |')
print('|---|---|---|---|---:|---|')
for name, figures in results.items():
    for key, (own, replayed) in figures.items():
        count, texts = disagreements(own, replayed)
        print(f"| {name} | {key} | {order(own)} | {order(replayed)} | {count} "
              f"| {', '.join(texts) or 'same order'} |")

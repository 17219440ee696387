# SPDX-License-Identifier: MIT
#
# replay_truth.py - programs under each allocator, beside the replays of these
#
# usage: replay_truth.py HATF FOLDER ROUNDS
#
# Prints a Markdown table.  The CPU time of a program includes its own work, so
# only the order of the allocators and the differences between them compare with
# those of the replay, and the peaks less what the program takes without blocks.
import json
import os
import statistics
import subprocess
import sys

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


print('| program | allocator | CPU, ms | spread | peak, MiB | replay: CPU, ms '
      '| peak, MiB |')
print('|---|---|---:|---:|---:|---:|---:|')
for name, command in programs.items():
    trace = os.path.join(folder, name + '.hatf.gz')
    record(command, trace)
    columns = replay(trace)
    own = [[] for _ in columns]
    for _ in range(rounds):
        for column, runs in zip(columns, own):
            library = column['library']
            is_libc = column['allocator'] == 'glibc'
            runs.append(run(command, None if is_libc else library))
    for column, runs in zip(columns, own):
        cpu = [r[0] * 1000 for r in runs]
        print(f"| {name} | {column['allocator']} | {middle(cpu):.0f} "
              f"| {max(cpu) - min(cpu):.0f} "
              f"| {middle([r[1] for r in runs]) / 2 ** 20:.1f} "
              f"| {column['cpu']['median'] / 1e6:.1f} "
              f"| {column['peak_rss']['median'] / 2 ** 20:.1f} |")

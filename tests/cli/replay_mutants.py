# SPDX-License-Identifier: MIT
#
# replay_mutants.py - no change of a trace stops 'hatf replay' or breaks it
#
# usage: replay_mutants.py HATF TRACE.ascii COUNT
#
# Leaves out, repeats and changes lines of a trace of several threads, and
# replays what comes out of it with --check.  A replay must end, with status 0
# (or 4: the trace says that it had more events), or 1 and one line.
import random
import subprocess
import sys

hatf, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
numbers = ['0', '1', '2', '3', '7', '0x1000', '4096', '100000', '4200', '4203']
with open(path) as trace:
    first, *lines = trace.read().splitlines()


def change(line):
    words = line.split()
    if len(words) > 2:
        words[random.randrange(1, len(words))] = random.choice(numbers)
    return ' '.join(words)


def mutant():
    yield first
    for line in lines:
        choice = random.random()
        if choice < 0.05:
            continue
        if choice < 0.10:
            yield random.choice(lines)
        yield change(line) if choice > 0.95 else line


for number in range(count):
    random.seed(number)
    with open('mutant.ascii', 'w') as out:
        out.write('\n'.join(mutant()) + '\n')
    result = subprocess.run(
        [hatf, 'replay', '--check', '-a', 'glibc', '-r', '1', 'mutant.ascii'],
        capture_output=True, text=True, timeout=60)
    says = result.stderr
    if result.returncode not in (0, 4) and not (
            result.returncode == 1 and says.count('\n') == 1 and
            'mutant.ascii: ' in says):
        sys.exit(f'mutant {number}: status {result.returncode}: {says}')

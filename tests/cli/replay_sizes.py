# SPDX-License-Identifier: MIT
#
# replay_sizes.py - compare two logs of sized_heap.c
#
# usage: replay_sizes.py OWN AGAIN JSON
#
# OWN is that of a program, AGAIN that of its replay, JSON the replay's result.
# The blocks of the trace are the last ones of both.
import array
import json
import sys


def load(path):
    words = array.array('Q')
    with open(path, 'rb') as log:
        words.frombytes(log.read(24))
        used, peak, _ = words
        words.frombytes(log.read(used - 24))
    return peak, list(zip(words[3::3], words[4::3], words[5::3]))


own_peak, own = load(sys.argv[1])
peak, again = load(sys.argv[2])
with open(sys.argv[3]) as text:
    result = json.load(text)
kinds = ('mallocs', 'callocs', 'memaligns', 'reallocs')
count = sum(result[kind] for kind in kinds)
if count < 1000 or len(own) < count or len(again) < count:
    sys.exit(f'{count} blocks, {len(own)} and {len(again)} logged')
differ = sum(a != b for a, b in zip(own[-count:], again[-count:]))
if differ:
    sys.exit(f'{differ} of {count} blocks differ')
if abs(peak - own_peak) > own_peak / 20:
    sys.exit(f'the peak of the heap is {peak} and was {own_peak}')

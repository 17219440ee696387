#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the events of shared/noted.c in the output of 'hatf dump'.

usage: events.py WORKERS COUNT [cut | lossy] < DUMP

Each worker's events must be there, whole, and between the alloc and the free
of the block that they are about.  With cut, the last ones may be missing; with
lossy, any.  Prints how many of them there are.
"""
import re
import sys

workers, count = int(sys.argv[1]), int(sys.argv[2])
how = sys.argv[3] if len(sys.argv) > 3 else ''
EVENT = re.compile(r'(\d+) event thread=(\d+) time=(\d+) name=(\S+) '
                   r'(text|fields)=(.*)$')
CALL = re.compile(r'\d+ (alloc|free) (?:size=(\d+) )?addr=(\S+) thread=(\d+)')


def letters(worker, i):
    return chr(ord('a') + (i + worker) % 26) * (i * 37 % 700)


def expected(worker, i):
    text = letters(worker, i)
    yield 'step', f'w={worker} i={i} {text}'
    yield ('notes.step', f'worker={worker} index={i} '
           f'text={{length={len(text)} data="{text}"}}')
    if i % 16:
        return
    sizes = ' '.join(str(2 ** 64 - 1 - i - j) for j in range(i % 10))
    part = chr(ord('a') + (i + worker) % 26) * (i % 90)
    parts = ' '.join(f'{{index={j} text={{length={len(part)} data="{part}"}}}}'
                     for j in range(i % 6))
    yield ('notes.batch', f'worker={worker} index={i} sizes={i % 10} '
           f'bytes=[{sizes}] parts={i % 6} parts_items=[{parts}]')


class Thread:
    """What a thread is to record next."""

    def __init__(self):
        self.worker = None
        self.next = 0
        self.queue = []
        self.block = None
        self.seen = 0

    def take(self, name, text):
        if self.worker is None:
            self.worker = int(re.match(r'w(?:orker)?=(\d+)', text)[1])
        if how == 'lossy':
            i = int(re.search(r'i(?:ndex)?=(\d+)', text)[1])
            if (name, text) not in list(expected(self.worker, i)):
                sys.exit(f'wrong: {name} {text}')
            self.seen += 1
            return
        if self.block is None:
            sys.exit(f'worker {self.worker}: {name} outside of its block')
        if not self.queue:
            self.queue = list(expected(self.worker, self.next))
            self.next += 1
        want = self.queue.pop(0)
        if (name, text) != want:
            sys.exit(f'worker {self.worker}: got {name} {text}, want {want}')
        self.seen += 1

    def end_block(self):
        if how != 'lossy' and (self.queue or self.seen == 0):
            sys.exit(f'worker {self.worker}: freed before {self.queue}')
        self.block = None


threads = {}
for line in sys.stdin:
    line = line.rstrip('\n')
    event = EVENT.match(line)
    call = CALL.match(line)
    if event:
        thread = threads.setdefault(int(event[2]), Thread())
        thread.take(event[4], event[6])
    elif call:
        thread = threads.setdefault(int(call[4]), Thread())
        if call[1] == 'alloc' and 100000 <= int(call[2]) < 101000:
            if thread.block is None or how == 'lossy':
                thread.block = call[3]
        elif call[1] == 'free' and call[3] == thread.block:
            thread.end_block()
found = {t.worker: t for t in threads.values() if t.worker is not None}
if sorted(found) != list(range(workers)) and how != 'cut':
    sys.exit(f'workers: {sorted(found)}')
for worker, thread in found.items():
    if how == '' and (thread.next != count or thread.queue):
        sys.exit(f'worker {worker}: {thread.next} of {count}')
print(sum(t.seen for t in found.values()))

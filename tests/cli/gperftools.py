#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gperftools.py - write a raw malloc trace of gperftools to standard output

usage: gperftools.py EVENTS

Three threads take turns, and a barrier ends each round.  At most 5000 blocks
are live; the thread that allocated a block frees it.  See "gperftools" in
hatf/formats/FORMATS.md.
"""
import random
import sys

THREADS = 3
LIVE = 5000 // THREADS
ROUND = 2000  # events of a thread in a round


def number(n):
    nbytes = min(9, max(1, -(-n.bit_length() // 7)))
    if nbytes == 9:
        return b"\0" + n.to_bytes(8, "little")
    return (n << nbytes | 1 << (nbytes - 1)).to_bytes(nbytes, "little")


def zigzag(kind, n):
    return number((2 * n if n >= 0 else -2 * n - 1) << 3 | kind)


class Thread:
    def __init__(self, idx):
        self.idx = idx
        self.next = 1024 * (idx + 1) << 20
        self.size = self.freed = 0
        self.live = []

    def event(self, rng):
        if self.live and rng.random() < len(self.live) / LIVE:
            place = rng.randrange(len(self.live))
            token = self.live[place]
            self.live[place] = self.live[-1]
            self.live.pop()
            difference, self.freed = token - self.freed, token
            return zigzag(1, difference)
        size = rng.randrange(1, 60)
        difference, self.size = size - self.size, size
        self.live.append(self.next)
        self.next += 1
        return zigzag(0, difference)

    def buffer(self, rng, time, count):
        events = number(self.next << 3 | 2) + number(time)
        events += b"".join(self.event(rng) for _ in range(count))
        return (number(self.idx << 3 | 3) + number(time) +
                number(len(events)) + events)


def main(count):
    rng = random.Random(1)
    threads = [Thread(i) for i in range(THREADS)]
    out = sys.stdout.buffer
    time = 1 << 10
    out.write(bytes.fromhex("e463bd6c"))
    while count > 0:
        for thread in threads:
            out.write(thread.buffer(rng, time, min(count, ROUND)))
            count -= min(count, ROUND)
            time += 1 << 10
        out.write(number(0x27) + number(time))
    out.write(number(0x0F))


main(int(sys.argv[1]))

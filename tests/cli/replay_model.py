#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hatf replay --model, held against a slow second implementation.

usage: replay_model.py HATF ROUNDS

The heap is a list of its 16 byte cells; a segregated heap is a list of chunks.
"""
import json
import random
import subprocess
import sys

HATF, ROUNDS = sys.argv[1], int(sys.argv[2])
CELL, PAGE, CHUNK = 16, 4096, 65536


def make_trace(rng):
    """Return (kind, size, old, new) of each call."""
    calls, live = [], []
    top = rng.choice((100, 1000, 5000, 60000))
    for n in range(rng.randrange(5, 300)):
        what, new = rng.random(), f"{16 * (n + 1):#x}"
        size = rng.randrange(rng.choice((40, top)))
        if what < 0.5 or not live:
            live.append(new)
            calls.append(("malloc", size, None, new))
        elif what < 0.8:
            block = live.pop(rng.randrange(len(live)))
            calls.append(("free", 0, block, None))
        else:
            i = rng.randrange(len(live))
            old, live[i] = live[i], new
            calls.append(("realloc", max(size, 1), old, new))
    return calls


class Fit:
    """A list of cells, of which each has its block, or None."""

    def __init__(self, best):
        self.cells, self.best, self.moved = [], best, 0

    def holes(self):
        """(size, start) of each run of free cells."""
        start = None
        for i, cell in enumerate(self.cells + ["end"]):
            if cell is None:
                start = i if start is None else start
            elif start is not None:
                yield i - start, start
                start = None

    def trim(self):
        while self.cells and self.cells[-1] is None:
            self.cells.pop()

    def need(self, size):
        return (max(size, 1) + CELL - 1) // CELL

    def alloc(self, block, size):
        need = self.need(size)
        holes = [hole for hole in self.holes() if hole[0] >= need]
        if holes:
            start = min(holes)[1] if self.best else holes[0][1]
        else:
            start = len(self.cells)
            self.cells += [None] * need
        self.cells[start:start + need] = [block] * need

    def free(self, block):
        self.cells = [None if cell == block else cell for cell in self.cells]
        self.trim()

    def resize(self, old, new, size):
        start, had = self.cells.index(old), self.cells.count(old)
        need = self.need(size)
        end = start + had
        while end < len(self.cells) and self.cells[end] is None:
            end += 1
        if need <= end - start or start + had == len(self.cells):
            self.cells += [None] * (start + need - len(self.cells))
            self.cells[start:start + max(had, need)] = \
                [new] * need + [None] * (had - need)
            self.trim()
            return
        self.moved += 1
        self.alloc(new, size)
        self.free_later = old

    def size(self):
        return len(self.cells) * CELL

    def taken(self):
        return sum(cell is not None for cell in self.cells) * CELL


class Segregated:
    def __init__(self, classes):
        self.classes = [c for c in classes if c <= CHUNK // 2]
        self.free_blocks, self.live, self.chunks, self.moved = [], {}, 0, 0

    def need(self, size):
        for c in self.classes:
            if c >= max(size, 1):
                return c
        return max(size, 1) + -max(size, 1) % PAGE

    def alloc(self, block, size):
        need = self.need(size)
        self.live[block] = need
        if need not in self.classes:
            return
        if need not in self.free_blocks:
            self.chunks += 1
            self.free_blocks += [need] * (CHUNK // need)
        self.free_blocks.remove(need)

    def free(self, block):
        need = self.live.pop(block)
        if need in self.classes:
            self.free_blocks.append(need)

    def resize(self, old, new, size):
        if self.live[old] == self.need(size):
            self.live[new] = self.live.pop(old)
            return
        self.moved += 1
        self.alloc(new, size)
        self.free_later = old

    def size(self):
        return self.chunks * CHUNK + sum(
            need for need in self.live.values() if need not in self.classes)

    def taken(self):
        return sum(self.live.values())


def simulate(heap, calls):
    peak = peak_taken = 0
    for kind, size, old, new in calls:
        heap.free_later = None
        if kind == "malloc":
            heap.alloc(new, size)
        elif kind == "free":
            heap.free(old)
        else:
            heap.resize(old, new, size)
        peak = max(peak, heap.size())
        peak_taken = max(peak_taken, heap.taken())
        if heap.free_later:
            heap.free(heap.free_later)
    return {"peak_heap_bytes": peak, "end_heap_bytes": heap.size(),
            "peak_rounded_bytes": peak_taken, "end_rounded_bytes": heap.taken(),
            "moved_reallocs": heap.moved}


for seed in range(ROUNDS):
    rng = random.Random(seed)
    calls = make_trace(rng)
    with open("model.ascii", "w") as f:
        f.write("10 HATF ascii thread heap time attributes\n")
        for kind, size, old, new in calls:
            thread = rng.randrange(3)
            f.write({"malloc": f"0 {size} {new} {thread} 0 1\n",
                     "free": f"1 {old} {thread} 0 1\n",
                     "realloc": f"2 {size} {old} {new} {thread} 0 1\n"}[kind])
    sizes = sorted(rng.sample(range(1, 40000), rng.randrange(1, 9)))
    models = {
        "first-fit": Fit(False),
        "best-fit": Fit(True),
        "segregated:powers": Segregated([2 ** n for n in range(4, 16)]),
        "segregated:" + ",".join(map(str, sizes)): Segregated(sizes),
        # Four classes from one power of two to the next.
        "segregated:jemalloc": Segregated(
            [8, *range(16, 128, 16),
             *(2 ** n * q // 4 for n in range(7, 16) for q in range(4, 8))]),
    }
    done = subprocess.run(
        [HATF, "replay", "--json", "model.ascii"] +
        [word for model in models for word in ("--model", model)],
        text=True, capture_output=True, timeout=60)
    assert done.returncode in (0, 4), (seed, done.stderr)
    got = json.loads(done.stdout)
    assert [m["model"] for m in got["models"]] == list(models)
    for result, (name, heap) in zip(got["models"], models.items()):
        for key, value in simulate(heap, calls).items():
            assert result[key] == value, (seed, name, key, result[key], value)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hatf replay --what-if, held against a count by hand.

usage: replay_what_if.py HATF ROUNDS

Random traces of one thread with three sites: keep, drop and pool.
"""
import json
import random
import subprocess
import sys

HATF, ROUNDS = sys.argv[1], int(sys.argv[2])
SITES = ("keep", "drop", "pool")
CHUNK, POOL_MAX = 65536, 16384


def make_trace(rng):
    """Return (kind, size, old, new, site) of each call."""
    calls, live = [], []
    for n in range(rng.randrange(5, 400)):
        what, new = rng.random(), f"{16 * (n + 1):#x}"
        size = rng.choice((rng.randrange(100), rng.randrange(4000),
                           rng.randrange(40000)))
        site = rng.randrange(3)
        if what < 0.5 or not live:
            live.append(new)
            calls.append(("malloc", size, None, new, site))
        elif what < 0.75:
            block = live.pop(rng.randrange(len(live)))
            calls.append(("free", 0, block, None, site))
        else:
            i = rng.randrange(len(live))
            old, live[i] = live[i], new
            calls.append(("realloc", max(size, 1), old, new, site))
    return calls


def write_trace(calls):
    with open("what.ascii", "w") as f:
        f.write("10 HATF ascii thread heap time attributes\n"
                "10 HATF 1.0\\x0aproducer=test\\x0a\n")
        for i, name in enumerate(SITES):
            f.write(f"10 HATF frame\\x0aframe={i + 1}\\x0afunction={name}"
                    "\\x0a\n")
            f.write(f"10 HATF stack\\x0astack={i + 1}\\x0aparent=0\\x0a"
                    f"frame={i + 1}\\x0a\n")
        for kind, size, old, new, site in calls:
            if kind == "malloc":
                f.write(f"0 {size} {new} 0 0 1 45{site + 1:02x}\n")
            elif kind == "free":
                f.write(f"1 {old} 0 0 1\n")
            else:
                f.write(f"2 {size} {old} {new} 0 0 1 45{site + 1:02x}\n")


class Pool:
    """Free lists by size; chunks are never freed."""

    def __init__(self):
        self.free, self.room, self.sizes = {}, 0, {}

    def take(self, block, size):
        """Is a new chunk needed?"""
        size = max(size, 1) + -max(size, 1) % 16
        self.sizes[block] = size
        if self.free.get(size, 0) > 0:
            self.free[size] -= 1
            return False
        if self.room >= size:
            self.room -= size
            return False
        self.room = CHUNK - size
        return True

    def give(self, block):
        size = self.sizes.pop(block)
        self.free[size] = self.free.get(size, 0) + 1


def change(calls, drops, pools, step):
    """Return the calls that are left."""
    out, dropped, pool = [], set(), Pool()

    def put(kind, size, old, new):
        out.append((kind, size + -size % step, old, new))

    def put_chunk(needed):
        if needed:
            put("malloc", CHUNK, None, f"chunk{len(out)}")

    for kind, size, old, new, site in calls:
        if old in dropped:
            dropped.remove(old)
            if new:
                dropped.add(new)
        elif old in pool.sizes:
            pool.give(old)
            if new and size <= POOL_MAX:
                put_chunk(pool.take(new, size))
            elif new:
                put("malloc", size, None, new)
        elif kind == "malloc" and drops and SITES[site] == "drop":
            dropped.add(new)
        elif (kind == "malloc" and pools and SITES[site] == "pool" and
              size <= POOL_MAX):
            put_chunk(pool.take(new, size))
        else:
            put(kind, size, old, new)
    return out


def count(calls):
    live, peak = {}, 0
    for kind, size, old, new in calls:
        if old:
            del live[old]
        if new:
            live[new] = size
        peak = max(peak, sum(live.values()))
    kinds = [call[0] for call in calls]
    return {"calls": len(calls), "mallocs": kinds.count("malloc"),
            "frees": kinds.count("free"), "reallocs": kinds.count("realloc"),
            "peak_bytes": peak, "end_bytes": sum(live.values()),
            "end_blocks": len(live)}


for seed in range(ROUNDS):
    rng = random.Random(seed)
    calls = make_trace(rng)
    write_trace(calls)
    drops, pools = rng.random() < 0.5, rng.random() < 0.6
    step = rng.choice((1, 1, 16, 64, 100))
    changes = ["--what-if", "merge:threads"]
    if drops:
        changes += ["--what-if", "drop:site=d*p"]
    if pools:
        changes += ["--what-if", "pool:site=pool"]
    if step > 1:
        changes += ["--what-if", f"sizes:round={step}"]
    done = subprocess.run([HATF, "replay", "--json", "-r", "1", "-a", "glibc",
                           *changes, "what.ascii"], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0 or "incomplete" in done.stderr or \
        done.returncode == 4, (seed, done.stderr)
    got = json.loads(done.stdout)
    for key, value in count(change(calls, drops, pools, step)).items():
        assert got[key] == value, (seed, changes, key, got[key], value)
    plain = [(kind, size, old, new) for kind, size, old, new, _ in calls]
    for key, value in count(plain).items():
        was = got["what_if"]["original"][key]
        assert was == value, (seed, "original", key, was, value)

# SPDX-License-Identifier: MIT
#
# kept.py - check that a trace keeps its calls through a format and back
#
# usage: kept.py KEEPS BEFORE AFTER UNIT
#
# KEEPS is the list of 'hatf formats --json', with commas; BEFORE and AFTER are
# outputs of 'hatf dump --format json'; UNIT is that of the times of AFTER.
# Prints the first difference, with exit status 1.
#
# Both traces become lists of the program's calls, (what, size, address, old
# address, thread, time), as far as the format keeps these.  A format without
# reallocations has a free and an alloc for each one; a format without addresses
# still has the order.  Failed calls, and frees of unallocated addresses, do not
# count.  Threads may have other numbers, as long as each has its own.
import itertools
import json
import sys

# Allow two of the formats' longest ticks, 10 ms; the traces count microseconds.
TICK_US = 20000


def number(record, key):
    value = record.get(key, 0)
    return int(value, 0) if isinstance(value, str) else value


def records(path):
    """Yield records, without those that a preceding realloc announces."""
    wants = []
    with open(path) as file:
        for line in file:
            r = json.loads(line)
            tag = r["tag"]
            if tag not in ("alloc", "free") and not tag.startswith("realloc"):
                continue
            at = number(r, "address")
            if (tag, at, number(r, "thread")) in wants:
                wants.remove((tag, at, number(r, "thread")))
                continue
            wants = []
            thread = number(r, "thread")
            if tag in ("reallocAllocFree", "reallocAlloc"):
                wants.append(("alloc", at, thread))
            if tag in ("reallocAllocFree", "reallocFree"):
                wants.append(("free", number(r, "old_address"), thread))
            yield r


def calls(path, keeps):
    live = set()
    for r in records(path):
        tag = r["tag"]
        size, at = number(r, "size"), number(r, "address")
        rest = (number(r, "thread"), number(r, "time"))
        if tag == "free":
            old, at, size = at, 0, 0
        else:
            old = number(r, "old_address")
        if tag == "reallocFree" or tag == "free":
            if old in live:
                live.remove(old)
                yield ("free", 0, 0, old) + rest
            continue
        if at == 0:
            continue
        known = old in live
        live.discard(old)
        live.add(at)
        if old != 0 and known and "realloc" in keeps:
            yield ("realloc", size, at, old) + rest
            continue
        if old != 0 and known:
            yield ("free", 0, 0, old) + rest
        yield ("alloc", size, at, 0) + rest


def masked(call, keeps, threads):
    what, size, at, old, thread, _ = call
    keeps_old = "old_address" in keeps or (
        "address" in keeps and what == "free")
    return (
        what,
        size if "size" in keeps else 0,
        at if "address" in keeps else 0,
        old if keeps_old else 0,
        threads.setdefault(thread, len(threads)) if "thread" in keeps else 0,
    )


def main():
    keeps = sys.argv[1].split(",")
    both = itertools.zip_longest(*(calls(path, keeps)
                                   for path in sys.argv[2:4]))
    per_us = 1000 if sys.argv[4] == "ns" else 1
    threads = {}, {}
    count = 0
    for before, after in both:
        if before is None or after is None:
            print(f"call {count}: {before} became {after}")
            return 1
        late_us = abs(before[5] - after[5] // per_us)
        if (masked(before, keeps, threads[0]) !=
                masked(after, keeps, threads[1]) or
                "time" in keeps and late_us > TICK_US):
            print(f"call {count}: {before} became {after}")
            return 1
        count += 1
    if count == 0:
        print("no calls")
        return 1
    return 0


sys.exit(main())

# SPDX-License-Identifier: MIT
#
# kept.py - is a trace, after a way through another format, what it was, for what that
# format keeps?
#
# usage: kept.py KEEPS BEFORE AFTER UNIT
#
# KEEPS is the list of 'hatf formats --json', with commas; the next two are what
# 'hatf dump --format json' printed; UNIT is that of the times of AFTER.  Prints
# the first difference, exit status 1.
#
# Both are turned into the calls of the program, as far as such a format can
# have them: (what, size, address, old address, thread, time).  A format without
# reallocations has a free and an alloc for each; one without addresses may
# still tell the order.  Calls that failed, and frees of what nobody allocated,
# are none.  Threads may have other numbers, as long as each has one of its own.
import itertools
import json
import sys

# Formats tell times by ticks, the longest of 10 ms; the traces count
# microseconds.
TICK_US = 20000


def number(record, key):
    value = record.get(key, 0)
    return int(value, 0) if isinstance(value, str) else value


def records(path):
    """Records, without those that a realloc before them announces."""
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
    return (
        what,
        size if "size" in keeps else 0,
        at if "address" in keeps else 0,
        old if "old_address" in keeps or ("address" in keeps and what == "free") else 0,
        threads.setdefault(thread, len(threads)) if "thread" in keeps else 0,
    )


def main():
    keeps = sys.argv[1].split(",")
    both = itertools.zip_longest(calls(sys.argv[2], keeps), calls(sys.argv[3], keeps))
    per_us = 1000 if sys.argv[4] == "ns" else 1
    threads = {}, {}
    count = 0
    for before, after in both:
        if before is None or after is None:
            print(f"call {count}: {before} became {after}")
            return 1
        if masked(before, keeps, threads[0]) != masked(after, keeps, threads[1]) or (
            "time" in keeps and abs(before[5] - after[5] // per_us) > TICK_US
        ):
            print(f"call {count}: {before} became {after}")
            return 1
        count += 1
    if count == 0:
        print("no calls")
        return 1
    return 0


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""witness.py - compare the logs of one process of 'witness' with its trace

        witness.py TRACE.txt LOG...

TRACE.txt is the output of 'hatf dump'.  The trace must have exactly the calls
of each thread's log, in that order; it may have one more at the end, which had
not returned.  Prints how many calls were compared.
"""
import mmap
import os
import struct
import sys

MALLOC, FREE, REALLOC = 1, 2, 3


def fields(words):
    return dict(word.split("=", 1) for word in words if "=" in word)


def is_ours(size):
    return size % 16 == 7


def read_trace(path):
    """Return the calls by kernel thread number, in the form of the log."""
    calls, tids, owned = {}, {}, set()
    skip = 0
    with open(path) as dump:
        for line in dump:
            words = line.split()
            kind, f = words[1], fields(words[2:])
            thread = int(f.get("thread", "0"))
            if kind == "createThread":
                tids[thread] = int(f["tid"])
                continue
            if not kind.startswith(("alloc", "free", "realloc")):
                continue
            if skip > 0:  # announced by the realloc before
                skip -= 1
                continue
            addr, old = int(f["addr"], 16), int(f.get("old", "0x0"), 16)
            size = int(f.get("size", "0"))
            mine = calls.setdefault(thread, [])
            if kind == "alloc":
                owned.discard(addr)
                if is_ours(size):
                    owned.add(addr)
                    mine.append((MALLOC, 0, addr, size))
            elif kind == "free":
                if addr in owned:
                    owned.discard(addr)
                    mine.append((FREE, addr, 0, 0))
            else:
                skip = {"reallocNoAlloc": 0, "reallocAllocFree": 2,
                        "reallocAlloc": 1, "reallocFree": 1}[kind]
                if is_ours(size):
                    owned.discard(old)
                    owned.add(addr)
                    mine.append((REALLOC, old, addr, size))
    return {tids.get(t, t): c for t, c in calls.items()}


def read_log(path):
    # Map the log: most of its 32 MB is a hole, which takes time to read.
    if os.path.getsize(path) == 0:  # the thread was just making it
        return []
    with open(path, "rb") as log:
        data = mmap.mmap(log.fileno(), 0, access=mmap.ACCESS_READ)
    calls = []
    for what, old, new, size in struct.iter_unpack("<4Q", data):
        if what == 0:
            return calls
        calls.append((what, old, new, size))
    return calls


def compare(tid, log, trace):
    """Return the first difference in this thread, or None."""
    for i, call in enumerate(log):
        if i == len(trace):
            return "thread %d: %d calls logged, %d in the trace" % (
                tid, len(log), len(trace))
        got = trace[i]
        # A realloc that took long is recorded as a free and an allocation.
        if call[0] == REALLOC and got[0] == FREE and got[1] == call[1]:
            trace[i:i + 2] = [call]
            continue
        if got != call:
            return "thread %d: call %d is %s in the log, %s in the trace" % (
                tid, i, call, got)
    if len(trace) > len(log) + 1:
        return "thread %d: %d calls logged, %d in the trace" % (
            tid, len(log), len(trace))
    return None


def main():
    trace = read_trace(sys.argv[1])
    count, wrong = 0, 0
    for path in sys.argv[2:]:
        tid = int(path.rsplit(".", 1)[1])
        log = read_log(path)
        count += len(log)
        error = compare(tid, log, trace.pop(tid, []))
        if error is not None:
            print(error, file=sys.stderr)
            wrong += 1
    print(count)
    return wrong != 0


sys.exit(main())

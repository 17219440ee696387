#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""times.py - compare the times of traces with the clock that 'times' read

        times.py LOG TRACE.txt...

TRACE.txt is the output of 'hatf dump -m' for one process, whose logs are
LOG.PID.TID.  The time of each call that had returned, on the clock of the log,
must not be later than the return, nor earlier than the beginning by more than
the trace says (hatf/FORMAT.md, "Times").  All traces are merged by
'start_monotonic'.  Prints for each way of taking times

        WAY CALLS LATE MAX_LATE_NS MEDIAN_NS P99_NS MAX_NS TOO_EARLY

MEDIAN_NS, P99_NS and MAX_NS tell how long before its call an event's time is.
"""
import glob
import re
import struct
import sys

MALLOC, CALLOC, REALLOC, FREE = 1, 2, 3, 4
ANNOUNCED = {"reallocNoAlloc": 0, "reallocAllocFree": 2, "reallocAlloc": 1,
             "reallocFree": 1}
# How much earlier a time may be by default: FORMAT.md, "Times".
ALLOWED_NS = {"us": 2000, "ns": 1000, "coarse": 2000000}


def comment(line):
    """Return the kind, and the keys with values, of a HATF comment."""
    found = re.search(r'text="HATF (.*)"', line)
    if found is None:
        return "", {}
    kind, *lines = found.group(1).split("\\n")
    return kind, dict(l.split("=", 1) for l in lines if "=" in l)


class Trace:
    """The calls of a trace, by kernel thread number: (call, time, way)."""

    def __init__(self, path):
        self.calls, self.header = {}, {}
        self.way, self.allowed = None, 0
        tids, skip = {}, 0
        with open(path, encoding="ascii", errors="replace") as dump:
            for line in dump:
                words = line.split()
                if words[1] == "-":
                    continue
                name = words[2]
                if name == "comment":
                    self.take_comment(*comment(line))
                    continue
                f = dict(w.split("=", 1) for w in words[3:] if "=" in w)
                thread = int(f.get("thread", "0"))
                if name == "createThread":
                    tids[thread] = int(f["tid"])
                if not name.startswith(("alloc", "free", "realloc")):
                    continue
                if skip > 0:
                    skip -= 1
                    continue
                skip = ANNOUNCED.get(name, 0)
                self.calls.setdefault(tids.get(thread, self.pid), []).append(
                    (self.call(name, f), self.moment(f), self.way,
                     self.allowed))

    def take_comment(self, kind, keys):
        if kind == "1.0":
            self.header = keys
            self.pid = int(keys["pid"])
            self.unit = {"ns": 1, "us": 1000, "none": 0}[keys["unit"]]
            self.start = int(keys["start_monotonic"])
        elif kind != "clock":
            return
        self.way = keys["clock"]
        if self.way == "auto":
            self.way = "coarse"
        self.allowed = ALLOWED_NS.get(self.way, 0)
        if "step" in keys:
            self.allowed = int(keys["step"]) * self.unit

    def moment(self, f):
        time = int(f["time"])
        if self.unit == 0 and time != 0:
            sys.exit("the trace has a time, but its unit is none")
        return self.start + time * self.unit

    @staticmethod
    def call(name, f):
        addr, old = int(f["addr"], 16), int(f.get("old", "0x0"), 16)
        if name == "free":
            return (FREE, 0, addr, 0)
        if name == "alloc":
            return (CALLOC if "zeroed" in f else MALLOC, addr, 0,
                    int(f["size"]))
        return (REALLOC, addr, old, int(f["size"]))


def read_log(path):
    """Yield the calls of a thread that have returned."""
    with open(path, "rb") as log:
        data = log.read()
    for kind, before, after, address, old, size in struct.iter_unpack(
            "6Q", data):
        if after == 0:
            return
        yield (kind, address, old, 0 if kind == FREE else size), before, after


class Way:
    """Figures of all calls whose times were taken in one way."""

    def __init__(self):
        self.late, self.early, self.too_early = [], [], []

    def add(self, moment, allowed, before, after):
        self.late += [moment - after] if moment > after else []
        self.early.append(max(0, before - moment))
        if before - moment > allowed:
            self.too_early.append(before - moment - allowed)

    def show(self, name):
        e = sorted(self.early)
        print(name, len(e), len(self.late), max(self.late, default=0),
              e[len(e) // 2], e[len(e) * 99 // 100], e[-1],
              len(self.too_early))
        if self.too_early:
            print("too early by", max(self.too_early), file=sys.stderr)


def compare(trace, log, ways):
    for path in glob.glob("%s.%d.*" % (log, trace.pid)):
        found = iter(trace.calls.get(int(path.rsplit(".", 1)[1]), []))
        for call, before, after in read_log(path):
            for have, moment, way, allowed in found:
                if have == call:
                    break
            else:
                sys.exit("%s: not in the trace: %s" % (path, call))
            if trace.unit != 0:
                ways.setdefault(way, Way()).add(moment, allowed, before, after)


def main():
    ways = {}
    for path in sys.argv[2:]:
        compare(Trace(path), sys.argv[1], ways)
    for name in sorted(ways):
        ways[name].show(name)


main()

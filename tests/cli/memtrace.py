#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""memtrace.py - print a Memtrace trace's events, one a line

usage: memtrace.py dump   <output of Memtrace's dump_trace
       memtrace.py hatf   <output of 'hatf dump --format json'

Both outputs are equal if hatf reads the trace correctly.  They lack the length
of the common part of two stacks, for which HATF has no field.  Each domain has
its own clock; where a time goes back, the output has the largest time so far.
"""
import json
import sys

KINDS = {"alloc": 0, "alloc_major": 1, "alloc_ext": 2}


def of_dump(lines):
    heap = {}
    for line in lines:
        time, number, kind, *rest = line.split(" ")
        if kind not in KINDS:
            yield int(time), kind, int(number), heap.get(number)
            continue
        heap[number] = KINDS[kind]
        rest = [x for x in rest if x]
        stack = rest[4:]
        yield (int(time), "alloc", int(number), heap[number], int(rest[0]),
               int(rest[1][4:]), int(rest[2][4:]), *stack)


def number_of(data, i):
    n = shift = 0
    while True:
        n |= (data[i] & 0x7f) << shift
        shift += 7
        i += 1
        if data[i - 1] < 0x80:
            return n, i


def items(attributes):
    data, i, found = bytes.fromhex(attributes), 0, {}
    while i < len(data):
        key = data[i]
        found[key], i = number_of(data, i + 1)
    return found


def of_hatf(lines):
    frames, stacks = {}, {}
    heap = {}

    def names_of(stack):
        names = []
        while stack:
            stack, frame = stacks[stack]
            names.append(frames[frame])
        return reversed(names)

    for line in lines:
        r = json.loads(line)
        if r["tag"] == "comment":
            kind, *rest = r["text"].split("\n")
            v = dict(x.split("=", 1) for x in rest if x)
            if kind == "HATF frame":
                frames[v["frame"]] = (
                    "%s@%s:%s:%d-%d" % (v["function"], v["file"], v["line"],
                                        int(v["column"]) - 1,
                                        int(v["end_column"]) - 1)
                    if "function" in v else "$%d" % int(v["address"], 16))
            elif kind == "HATF stack":
                stacks[int(v["stack"])] = int(v["parent"]), v["frame"]
            elif kind == "HATF promote":
                number = int(v["address"], 16) - 1
                yield int(v["time"]), "promote", number, heap[number]
            continue
        number = int(r["address"], 16) - 1
        if r["tag"] == "alloc":
            found = items(r.get("attributes", ""))
            heap[number] = r["heap"]
            yield (r["time"], "alloc", number, r["heap"], found.get(0x46, 1),
                   r["size"] // 8, r["thread"], *names_of(found.get(0x45, 0)))
        elif r["tag"] == "free":
            assert r["heap"] == heap[number]
            yield r["time"], "collect", number, r["heap"]


def main():
    events = of_dump if sys.argv[1] == "dump" else of_hatf
    last = 0
    for time, *event in events(line.rstrip("\n") for line in sys.stdin):
        last = max(last, time)
        print(last, *event)


main()

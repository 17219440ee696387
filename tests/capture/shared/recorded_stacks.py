# SPDX-License-Identifier: MIT
#
# recorded_stacks.py - has each call of callers.c in a trace its stack?
#
# usage: recorded_stacks.py PROGRAM DUMP [DEPTH [frees]]
#
# DUMP is what 'hatf dump --meta --format json' printed.  Prints how many calls
# were checked, or the first wrong one, exit status 1.  DEPTH: the frames that a
# stack has at least; 1 is the place of the call alone.  0: a call has its whole
# stack or none at all.
import bisect
import json
import subprocess
import sys

ROUND = ("round_trip", "run")
PATHS = {
    1001: ("inner",) + ROUND, 1002: ("inner", "middle") + ROUND,
    1003: ("inner", "middle", "outer") + ROUND, 1004: ("zeroed",) + ROUND,
    1005: ("inner", "grown") + ROUND, 1006: ("grown",) + ROUND,
    1007: ("repeat",) * 41 + ROUND, 1008: ("repeat",) * 1001 + ROUND,
}
DROP = ("drop",) + ROUND
WAYS_BITS = 15
CUT = "[cut off]"


class Symbols:
    def __init__(self, program):
        said = subprocess.run(["nm", "-n", program], check=True, text=True,
                              capture_output=True).stdout
        rows = [line.split() for line in said.splitlines()]
        rows = [(int(r[0], 16), r[2]) for r in rows
                if len(r) == 3 and r[1] in "tT"]
        self.starts = [r[0] for r in rows]
        self.names = [r[1] for r in rows]

    def at(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.names[i] if i >= 0 else "?"


class Trace:
    def __init__(self, program):
        self.program = program.rsplit("/", 1)[-1]
        self.symbols = Symbols(program)
        self.objects, self.frames, self.stacks = [], {}, {}
        self.right = set()  # pairs of attributes and a call that fit

    def name(self, address):
        for values in reversed(self.objects):
            begin = int(values["address"], 16)
            if begin <= address - 1 < begin + int(values["size"]):
                if values["object"].rsplit("/", 1)[-1] != self.program:
                    return "(library)"
                return self.symbols.at(address - 1 - int(values["base"], 16))
        return "(no object)"

    def define(self, text):
        kind, *rest = text.split("\n")
        values = dict(line.split("=", 1) for line in rest if "=" in line)
        if kind == "HATF object":
            self.objects.append(values)
        elif kind == "HATF frame":
            # Generated code may lie where a library was.
            if values.get("object") == "[generated code]":
                self.objects, objects = [], self.objects
            self.frames[values["frame"]] = values.get("function") or self.name(
                int(values["address"], 16))
            if values.get("object") == "[generated code]":
                self.objects = objects
        elif kind == "HATF stack":
            stack = (self.frames[values["frame"]],
                     int(values.get("parent", "0")))
            if self.stacks.setdefault(int(values["stack"]), stack) != stack:
                self.stacks[int(values["stack"])] = stack
                self.right.clear()

    # Its frames, the innermost first.
    def stack(self, number):
        frames = []
        while number != 0:
            name, number = self.stacks[number]
            frames.append(name)
        return tuple(frames)


def stack_number(attributes):
    octets = bytes.fromhex(attributes)
    i = 0
    while i < len(octets):
        key, n, shift = octets[i], 0, 0
        i += 1
        if not key & 0x40:  # no value (or a longer one: none here)
            continue
        while True:
            n |= (octets[i] & 0x7F) << shift
            shift += 7
            i += 1
            if octets[i - 1] < 0x80:
                break
        if key == 0x45:
            return n
    return 0


def path(size):
    if size is None or size >> WAYS_BITS != 1:
        return PATHS.get(size)
    ways = tuple("right" if size >> bit & 1 else "left"
                 for bit in range(WAYS_BITS))
    return ways + ("left", "run_ways", "main")


def is_right(frames, want, depth):
    if depth == 0:
        return not frames or is_right(frames, want, 256)
    if depth == 1:
        return frames == want[:1]
    if frames[-1:] == (CUT,):
        # Joined to an older stack, one may have more than 'depth'.
        got = frames[:-1]
        common = min(len(got), len(want))
        return depth <= len(got) <= 2 * depth and got[:common] == want[:common]
    return frames[:len(want)] == want and len(frames) >= len(want)


def main(program, dump, depth="256", frees=""):
    trace, checked, sizes = Trace(program), 0, {}
    for line in open(dump, encoding="utf-8"):
        line = line.rstrip()
        record = json.loads(line)
        tag = record["tag"]
        if tag == "comment":
            trace.define(record["text"])
            continue
        address, size = record.get("address"), record.get("size")
        attributes = record.get("attributes", "")
        if tag == "free":
            if sizes.pop(address, 0) not in PATHS:
                continue
            if not frees:
                if stack_number(attributes):
                    sys.exit(f"a stack that nobody asked for: {line}")
                continue
            size = "free"
        else:
            sizes[address] = size
        if (attributes, size) not in trace.right:
            want = DROP if size == "free" else path(size)
            if want is None:
                continue
            frames = trace.stack(stack_number(attributes))
            if not is_right(frames, want, int(depth)):
                sys.exit(f"stack {frames} of {line}")
            trace.right.add((attributes, size))
        checked += 1
    print(checked)


if __name__ == "__main__":
    main(*sys.argv[1:])

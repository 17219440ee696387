# SPDX-License-Identifier: MIT
#
# kept_stacks.py - does each call of a trace come from where it came from, after a way
# through another format?
#
# usage: kept_stacks.py FORMAT BEFORE AFTER
#
# BEFORE and AFTER are what 'hatf dump --format json' printed.  Prints the first
# difference, exit status 1, or how many calls had a stack.
#
# Ids mean nothing beyond a trace, so stacks are compared by what their frames
# say, as far as FORMAT can say it; so are sizes.  A realloc is a free and an
# alloc where FORMAT has none; frees that know no stack there do not count.
import itertools
import json
import sys

FRAME = ("function", "file", "line", "object", "address", "column")

# What is kept of a call's frames, the innermost last, and of its size.
KEEPS = {
    # An object is all that is known where there is no file.
    "memtrace": (lambda stack: tuple((f[0], f[1] or f[3], f[2]) for f in stack),
                 lambda size: (size + 7) // 8),
    "heaptrack": (lambda stack: tuple(f[:5] for f in stack), int),
    "mtrc": (lambda stack: tuple(f[:3] for f in stack[-1:]), int),
}


class Trace:
    def __init__(self, path):
        self.path = path
        self.frames = {}
        self.stacks = {0: ()}

    def define(self, text):
        kind, *rest = text.split("\n")
        values = dict(line.split("=", 1) for line in rest if "=" in line)
        if kind == "HATF frame":
            self.frames[values["frame"]] = tuple(values.get(k, "") for k in FRAME)
        elif kind == "HATF stack":
            parent = self.stacks[int(values.get("parent", "0"))]
            self.stacks[int(values["stack"])] = (
                parent + (self.frames[values["frame"]],))

    def stack_of(self, attributes):
        octets = bytes.fromhex(attributes)
        i = 0
        while i < len(octets):
            key, n, shift = octets[i], 0, 0
            i += 1
            while key & 0xC0:
                n |= (octets[i] & 0x7F) << shift
                shift += 7
                i += 1
                if octets[i - 1] < 0x80:
                    break
            if key == 0x45:
                return self.stacks[n]
        return ()

    def calls(self):
        """(what, size, stack) of each call that changed something."""
        live = set()
        skip = 0
        with open(self.path) as file:
            for line in file:
                r = json.loads(line)
                tag = r["tag"]
                if tag == "comment":
                    self.define(r["text"])
                    continue
                if tag != "alloc" and tag != "free" and not tag.startswith("realloc"):
                    continue
                if skip:
                    skip -= 1
                    continue
                at = int(r.get("address", "0x0"), 16)
                old = at if tag == "free" else int(r.get("old_address", "0x0"), 16)
                stack = self.stack_of(r.get("attributes", ""))
                if tag.startswith("realloc"):
                    skip = {"reallocAllocFree": 2, "reallocNoAlloc": 0}.get(tag, 1)
                    if at == 0 and tag != "reallocFree":
                        continue
                if tag != "alloc" and old in live:
                    live.remove(old)
                    yield "free", 0, ()
                if tag not in ("free", "reallocFree") and at != 0:
                    live.add(at)
                    yield "alloc", r.get("size", 0), stack


def main():
    keeps_stack, keeps_size = KEEPS[sys.argv[1]]
    both = itertools.zip_longest(*(Trace(path).calls() for path in sys.argv[2:4]))
    known = 0
    for count, calls in enumerate(both):
        if None in calls or len({(what, keeps_size(size), keeps_stack(stack))
                                 for what, size, stack in calls}) != 1:
            print("call %d: %s became %s" % (count, *calls))
            return 1
        known += calls[0][2] != ()
    print(known)
    return 0


sys.exit(main())

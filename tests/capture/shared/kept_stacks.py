# SPDX-License-Identifier: MIT
#
# kept_stacks.py - check that calls keep their stacks through a format and back
#
# usage: kept_stacks.py FORMAT BEFORE AFTER
#
# BEFORE and AFTER are outputs of 'hatf dump --format json'.  Prints the number
# of calls with a stack, or, with exit status 1, the first difference.
#
# Ids differ between traces, so stacks are compared by the contents of their
# frames, as far as FORMAT keeps them; so are sizes.  In a FORMAT without
# reallocs, a realloc is a free and an alloc.  A free's stack is not compared.
import itertools
import json
import sys

FRAME = ("function", "file", "line", "object", "address", "column")



def is_stand_in(stack):
    """Is it the thread and size class of a call without a stack?"""
    return (len(stack) == 2 and stack[0][0].startswith("thread ")
            and stack[1][0].endswith(("byte", "bytes")))


# What a format keeps of a call's stack, innermost frame last, and of its size.
KEEPS = {
    # A frame without a file keeps its object in the place of the file.
    "memtrace": (
        lambda stack: tuple((f[0], f[1] or f[3], f[2]) for f in stack),
        lambda size: (size + 7) // 8),
    "heaptrack": (
        lambda stack: () if is_stand_in(stack) else tuple(
            f[:5] for f in stack),
        int),
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
            self.frames[values["frame"]] = tuple(
                values.get(k, "") for k in FRAME)
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
        """Yield (what, size, stack) of each call that changed something."""
        live = set()
        skip = 0
        with open(self.path) as file:
            for line in file:
                r = json.loads(line)
                tag = r["tag"]
                if tag == "comment":
                    self.define(r["text"])
                    continue
                if not tag.startswith(("alloc", "free", "realloc")):
                    continue
                if skip:
                    skip -= 1
                    continue
                at = int(r.get("address", "0x0"), 16)
                old = int(r.get("old_address", "0x0"), 16)
                if tag == "free":
                    old = at
                stack = self.stack_of(r.get("attributes", ""))
                if tag.startswith("realloc"):
                    skip = {"reallocAllocFree": 2,
                            "reallocNoAlloc": 0}.get(tag, 1)
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
    both = itertools.zip_longest(
        *(Trace(path).calls() for path in sys.argv[2:4]))
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

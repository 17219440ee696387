#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""heaptrack.py - print a heaptrack file's events, one a line, with their stacks

usage: heaptrack.py file   <interpreted file of heaptrack
       heaptrack.py hatf   <output of 'hatf dump --format json' for that file
       heaptrack.py raw    <raw file of heaptrack

The outputs of the first two are equal if hatf reads the file correctly: sizes,
names, order, and that a free releases the newest live block of its kind.  The
third prints the place to which the call that allocated each block returns,
OBJECT+0xOFFSET.
"""
import json
import sys


def of_file(lines):
    strings, ips, traces, kinds = [""], [()], [()], []
    live = {}
    for number, line in enumerate(lines):
        if line[:2] == "s ":
            length, text = line[2:].split(" ", 1)
            assert len(text.encode()) == int(length, 16)
            strings.append(text)
        elif line[:2] == "i ":
            f = [int(x, 16) for x in line[2:].split()]
            place = f[2:] + [0] * (-len(f[2:]) % 3)
            places = [place[i:i + 3] for i in range(0, len(place), 3)]
            ips.append(tuple(
                "%s@%s:%d in %s at %x" % (strings[func], strings[file], n,
                                          strings[f[1]], f[0])
                for func, file, n in places or [[0, 0, 0]]))
        elif line[:2] == "t ":
            ip, parent = (int(x, 16) for x in line[2:].split())
            traces.append(ips[ip] + traces[parent])
        elif line[:2] == "a ":
            size, trace = (int(x, 16) for x in line[2:].split())
            kinds.append((size, traces[trace]))
        elif line[:2] == "+ ":
            kind = int(line[2:], 16)
            live.setdefault(kind, []).append(number)
            yield "+", number, *kinds[kind]
        elif line[:2] == "- ":
            kind = int(line[2:], 16)
            yield "-", live[kind].pop(), *kinds[kind]


def stack_id(attributes):
    data = bytes.fromhex(attributes)
    if not data:
        return 0
    assert data[0] == 0x45
    return sum((byte & 0x7f) << 7 * i for i, byte in enumerate(data[1:]))


def of_hatf(lines):
    frames, stacks = {}, {0: ()}
    live = {}
    for number, line in enumerate(lines):
        r = json.loads(line)
        if r["tag"] == "comment":
            kind, *rest = r["text"].split("\n")
            v = dict(x.split("=", 1) for x in rest if x)
            if kind == "HATF frame":
                # heaptrack has the address of the call, hatf that after it.
                after = int(v.get("address", "0"), 16)
                frames[v["frame"]] = "%s@%s:%s in %s at %x" % (
                    v.get("function", ""), v.get("file", ""),
                    v.get("line", 0), v.get("object", ""),
                    after - (after != 0))
            elif kind == "HATF stack":
                stacks[int(v["stack"])] = (
                    (frames[v["frame"]],) + stacks[int(v["parent"])])
        elif r["tag"] == "alloc":
            assert r["address"] not in live
            stack = stacks[stack_id(r.get("attributes", ""))]
            block = (number, r["size"], stack)
            live[r["address"]] = block
            yield "+", *block
        elif r["tag"] == "free":
            yield "-", *live.pop(r["address"])


def of_raw(lines):
    exe, modules, traces = "", [], [()]
    for line in lines:
        if line[:2] == "x ":
            exe = line.split(" ", 2)[2]
        elif line == "m 1 -":
            modules = []
        elif line[:2] == "m ":
            length, rest = line[2:].split(" ", 1)
            path, rest = rest[:int(length, 16)], rest[int(length, 16):]
            base, *pieces = (int(x, 16) for x in rest.split())
            for start, size in zip(pieces[::2], pieces[1::2]):
                modules.append((base + start, base + start + size, base,
                                exe if path == "x" else path))
        elif line[:2] == "t ":
            ip, parent = (int(x, 16) for x in line[2:].split())
            names = ["%s+%#x" % (path, ip + 1 - base)
                     for start, end, base, path in modules if start <= ip < end]
            traces.append((names[0] if names else "%#x" % (ip + 1),) +
                          traces[parent])
        elif line[:2] == "+ ":
            yield from traces[int(line.split()[2], 16)]


def main():
    if sys.argv[1] == "raw":
        for name in of_raw(line.rstrip("\n") for line in sys.stdin):
            print(name)
        return
    events = of_file if sys.argv[1] == "file" else of_hatf
    numbers = {}
    sys.stdin.reconfigure(errors="surrogateescape")
    sys.stdout.reconfigure(errors="surrogateescape")
    for sign, birth, size, stack in events(line.rstrip("\n")
                                           for line in sys.stdin):
        # Number the blocks, since line numbers differ between the inputs.
        block = numbers.setdefault(birth, len(numbers))
        print(sign, block, size, " < ".join(stack))


main()

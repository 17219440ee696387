#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""addr2line.py - has a trace the functions and lines that binutils finds?

usage: addr2line.py PROGRAM <output of 'hatf dump --meta --format json'

Compare each frame of the program in a symbolized trace, and the functions that
were inlined there, with 'addr2line -i' of binutils: functions, names of files,
lines.  Print how many addresses were compared, and those that differ.
"""
import json
import os
import subprocess
import sys

# Ids of the frames and stacks that 'hatf symbolize' adds.
ADDED = 2**48


def read(program):
    """Return the frames at each address of the program, innermost first."""
    frames, stacks, base = {}, {}, []
    for line in sys.stdin:
        record = json.loads(line)
        if record["tag"] != "comment":
            continue
        kind, *rest = record["text"].split("\n")
        value = dict(l.split("=", 1) for l in rest if "=" in l)
        if kind == "HATF frame":
            frames[value["frame"]] = value
        elif kind == "HATF stack":
            stacks[int(value["stack"])] = value
        elif kind == "HATF object" and os.path.basename(
                value["object"]) == os.path.basename(program):
            begin = int(value["address"], 16)
            base.append((begin, begin + int(value["size"]),
                         int(value["base"], 16)))
    found = {}
    for number, value in stacks.items():
        chain = [frames[value["frame"]]]
        address = int(chain[0].get("address", "0x0"), 16)
        where = [b for begin, end, b in base if begin < address <= end]
        if number >= ADDED or not where:
            continue
        parent = int(value.get("parent", 0))
        while parent >= ADDED:
            chain.append(frames[stacks[parent]["frame"]])
            parent = int(stacks[parent].get("parent", 0))
        found[address - where[0] - 1] = [
            (f.get("function", "??"), os.path.basename(f.get("file", "??")),
             f.get("line", "0")) for f in chain]
    return found


def look_up(program, addresses):
    """Return the same, as binutils finds it."""
    out = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", program],
                         input="\n".join(map(hex, addresses)), text=True,
                         capture_output=True, check=True).stdout
    found, name = {}, None
    for line in out.splitlines():
        if line.startswith("0x"):
            address, name = int(line, 16), None
            found[address] = []
        elif name is None:
            name = line
        else:
            path, _, number = line.split(" (")[0].rpartition(":")
            found[address].append((name, os.path.basename(path),
                                   number.replace("?", "0")))
            name = None
    return found


def main():
    program = sys.argv[1]
    got = read(program)
    want = look_up(program, got)
    print(len(got))
    for address, chain in got.items():
        if chain != want[address]:
            print(f"{address:#x}: got {chain}, want {want[address]}")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sites_agree.py - print the largest allocation sites that a profile shows

usage: sites_agree.py KIND <output of a viewer
       sites_agree.py agree WANT GOT [N]

KIND is what the input is:
  folded        folded stacks: of hatf or of heaptrack_print -F
  pprof         'go tool pprof -traces -unit=B'
  dhat-total    the text of valgrind's viewer, by dh_view.js
  dhat-peak     the same, sorted by "At t-gmax (bytes)"
  heaptrack     an interpreted file of heaptrack: all bytes allocated

Print a line for each of the twenty largest sites: the bytes, and the names in
the call stack.  'agree' compares two such outputs: the N (10) largest sites, or
all if there are fewer, must be the same, in the same order, with the same
bytes, where a difference of 2 % is no difference.

A viewer has its own words for a function.  So a name is shortened to its last
identifier, without namespaces, templates, parameters and files.  Code without
a name is left out, and so are operator new and what calls 'main'.
heaptrack_print prints functions that were inlined in the opposite order, so the
names are sorted.
"""
import collections
import re
import sys

# Viewers disagree about where a program begins, and valgrind shows its malloc.
OMITTED = {"_start", "__libc_start_main_impl", "__libc_start_call_main",
           "__libc_start_main", "_dl_start_user", "[unknown caller]",
           "(below main)", "malloc", "calloc", "realloc"}


def shorten(name):
    """Return the last identifier of a function's name, or None."""
    name = re.sub(r" \((inline|[^()]*\.[^()]*)\)$", "", name.strip())
    name = re.sub(r"\[clone [^]]*\]", "", name).strip()
    if name in OMITTED or re.match(r"/|0x[0-9a-f]|\?\?\?|operator new", name):
        return None
    name = name.replace("(anonymous namespace)::", "")
    while re.search(r"<[^<>]*>|\([^()]*\)", name):
        name = re.sub(r"<[^<>]*>|\([^()]*\)", "", name)
    return name.split("::")[-1].split(" ")[-1]


def folded(lines):
    for line in lines:
        frames, cost = line.rstrip("\n").rsplit(" ", 1)
        yield int(cost), frames.rstrip(";").split(";")


def pprof(lines):
    for line in lines:
        if line.startswith("-----"):
            break
    frames = []
    for line in lines:
        if line.startswith("-----"):
            yield cost, frames
            frames = []
        elif frames:
            frames.append(line.strip())
        else:
            cost, name = line.split(None, 1)
            cost = int(cost.rstrip("B"))
            frames.append(name.strip())
    if frames:
        yield cost, frames


def dhat(key):
    def read(lines):
        frames = None
        for line in lines:
            line = line.strip(" │├─└▼▶\n")
            if line.startswith("PP "):
                is_leaf = "children)" not in line and "child)" not in line
            elif line.startswith(key):
                words = line.split()
                cost = int(words[words.index("bytes") - 1].replace(",", ""))
            elif line.startswith("Allocated at"):
                frames = []
            elif frames is not None and re.match(r"[#^]\d+: ", line):
                text = re.sub(r"^[#^]\d+: (0x[0-9A-F]+: )?", "", line)
                frames.append(re.sub(r" \((in )?[^()]*\)$", "", text))
            elif frames is not None and line == "}":
                # A leaf without frames sums up what is insignificant.
                if is_leaf and frames:
                    yield cost, frames
                frames = None
    return read


def heaptrack(lines):
    strings, ips, traces, kinds, sums = [""], [()], [()], [], {}
    for line in lines:
        line = line.rstrip("\n")
        if line[:2] == "s ":
            strings.append(line[2:].split(" ", 1)[1])
        elif line[:2] == "i ":
            f = [int(x, 16) for x in line[2:].split()]
            names = [strings[i] for i in f[2::3]]
            ips.append(tuple(name or "???" for name in names))
        elif line[:2] == "t ":
            ip, parent = (int(x, 16) for x in line[2:].split())
            traces.append(ips[ip] + traces[parent])
        elif line[:2] == "a ":
            kinds.append([int(x, 16) for x in line[2:].split()])
        elif line[:2] == "+ ":
            size, trace = kinds[int(line[2:], 16)]
            sums[trace] = sums.get(trace, 0) + size
    for trace, cost in sums.items():
        yield cost, traces[trace]


KINDS = {"folded": folded, "pprof": pprof, "dhat-total": dhat("Total:"),
         "dhat-peak": dhat("At t-gmax:"), "heaptrack": heaptrack}


def is_more(a, b):
    return a > 1.02 * b


def agree(want, got, top="10"):
    """Return what is different in two outputs, or None."""
    want, got = ([line.rstrip("\n").split(" ", 1) for line in open(path)]
                 for path in (want, got))
    found = {names: int(cost) for cost, names in got}
    last = None
    if len(want) < 5:
        return "fewer than five sites"
    want = want[:int(top)]
    for cost, names in want:
        there = found.pop(names, 0)
        if is_more(there, int(cost)) or is_more(int(cost), there):
            return f"{cost} bytes wanted, {there} found: {names}"
        if last is not None and is_more(there, last):
            return f"too early: {names}"
        last = there
    for names, there in found.items():
        if is_more(there, int(want[-1][0])):
            return f"not wanted: {there} {names}"
    return None


def main():
    if sys.argv[1] == "agree":
        sys.exit(agree(*sys.argv[2:]))
    sums = collections.Counter()
    sys.stdin.reconfigure(errors="replace")
    for cost, frames in KINDS[sys.argv[1]](iter(sys.stdin)):
        names = " ".join(sorted(filter(None, map(shorten, frames))))
        # heaptrack brings libstdc++, which allocates when it is loaded.
        if names != "_dl_init call_init call_init":
            sums[names] += cost
    rows = sorted(((cost, names) for names, cost in sums.items() if cost),
                  key=lambda row: (-row[0], row[1]))
    for cost, names in rows[:20]:
        print(cost, names)


if __name__ == "__main__":
    main()

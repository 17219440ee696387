# SPDX-License-Identifier: MIT
#
# legal_stacks.py - is each stack of a trace one that the program can be on?
#
# usage: legal_stacks.py PROGRAM DUMP ENTRY... [-- VAGUE...]
#
# DUMP is what 'hatf dump --meta --format json' printed.  As the disassembly of
# PROGRAM says, each of its frames must return to behind a call of the function
# further in, or of one that jumps to it, or of an address.  Code outside the
# program may call the functions ENTRY.  A walk may end before the outermost
# frame only in code without rules: that of VAGUE functions, and that of no
# object.  Nothing is asked of the caller of such code.
#
# Prints how many stacks were checked, or wrong ones and exit status 1.
import json
import re
import subprocess
import sys

from recorded_stacks import Trace, stack_number

LOST, CUT = "[unknown caller]", "[cut off]"


class Code:
    def __init__(self, program):
        said = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", program], check=True,
            text=True, capture_output=True).stdout
        self.calls, self.jumps = {}, {}  # by return address; by function
        name, called = "?", None
        for line in said.splitlines():
            head = re.match(r"[0-9a-f]+ <(.*)>:", line)
            if head:
                name, called = head[1], None
                continue
            row = re.match(r" *([0-9a-f]+):\t(\S+) *(.*)", line)
            if not row:
                continue
            if called is not None:
                self.calls[int(row[1], 16)] = called
            called = None
            target = re.search(r"<([^+>]*)(\+.*)?>", row[3])
            if row[2].endswith("call"):
                called = "*"
                if target and "*" not in row[3] and not target[2]:
                    called = target[1]
            elif row[2].startswith("j") and "*" in row[3]:
                self.jumps.setdefault(name, set()).add("*")
            elif row[2].startswith("j") and target and target[1] != name:
                self.jumps.setdefault(name, set()).add(target[1])

    # May a call of 'called' lead to the function 'name'?
    def leads(self, called, name):
        seen, new = set(), {called}
        while new:
            seen |= new
            if name in seen or "*" in seen or any("@plt" in s for s in seen):
                return True
            new = set().union(*(self.jumps.get(s, set()) for s in new)) - seen
        return False


# Frames are (function, address in the file); a function outside is "(library)"
# or "(no object)".
class Frames(Trace):
    def name(self, address):
        for values in reversed(self.objects):
            begin = int(values["address"], 16)
            if begin <= address - 1 < begin + int(values["size"]):
                if values["object"].rsplit("/", 1)[-1] != self.program:
                    return "(library)", address
                address -= int(values["base"], 16)
                return self.symbols.at(address - 1), address
        return "(no object)", address


def fault(code, frames, entries, vague):
    inner, had_vague = "malloc@plt", False
    for frame in frames:
        # The caller of a split stack's function appears to be the caller of
        # this one, which called the function's body.
        if frame[0] == "__morestack":
            continue
        if isinstance(frame, str):
            if frame == LOST and not had_vague:
                return f"lost after {inner}"
            continue
        function, address = frame
        outside = function.startswith("(")
        if not had_vague and outside and not inner.startswith("(") and \
                inner not in entries and inner != "malloc@plt" and \
                function != "(no object)":
            return f"{inner} has no such caller"
        if not had_vague and not outside:
            if address not in code.calls:
                return f"{address:#x} in {function} follows no call"
            called = code.calls[address]
            if not inner.startswith("(") and inner != "malloc@plt" and \
                    not code.leads(called, inner):
                return f"{function} calls {called}, not {inner}"
        had_vague |= function in vague or function == "(no object)"
        inner = function
    return None


def main(program, dump, *names):
    names = list(names) + ["--"]
    entries = set(names[:names.index("--")])
    vague = set(names[names.index("--") + 1:])
    trace, code, legal, wrong = Frames(program), Code(program), {}, 0
    for line in open(dump, encoding="utf-8"):
        record = json.loads(line)
        if record["tag"] == "comment":
            trace.define(record["text"])
            continue
        number = stack_number(record.get("attributes", ""))
        if number == 0 or number in legal:
            continue
        frames = trace.stack(number)
        legal[number] = fault(code, frames, entries, vague)
        if legal[number]:
            wrong += 1
            if wrong <= 5:
                print(legal[number], frames)
    if wrong:
        sys.exit(f"{wrong} of {len(legal)} stacks are wrong")
    print(len(legal))


main(*sys.argv[1:])

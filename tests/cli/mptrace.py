#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mptrace.py - read an MTRC file as mpatrol's mptrace does

usage: mptrace.py stats|table|hatf|places FILE [TRACENAME]

This decoder follows the description of the format and does not use libhatf, so
it can judge libhatf's source and sink.  'stats' prints the statistics of
'mptrace FILE', 'table' the table that 'mptrace --verbose --source' prints
before them, and 'hatf' its '--hatf-file'.  tests/cli/mtrc.sh compares all three
with the output of the real program.  'places' prints each name's index in its
table, plus 128 where the name is defined.  This decoder is stricter than
mptrace: it refuses a name index above 32, a name above 1023 octets, and an
index that is used twice.
"""
import sys


class Broken(Exception):
    """The next octets are no record."""


class File:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        if self.data[:4] != b"MTRC":
            raise Broken("no magic number")
        self.word, order = {
            b"\1\0\0\0\0\0\0\0": (8, "little"),
            b"\0\0\0\0\0\0\0\1": (8, "big"),
        }.get(self.data[4:12]) or {
            b"\1\0\0\0": (4, "little"),
            b"\0\0\0\1": (4, "big"),
        }[self.data[4:8]]
        self.next = 4 + 2 * self.word
        version = self.data[4 + self.word:self.next]
        self.version = int.from_bytes(version, order)
        if self.version // 100 > 105:
            raise Broken("version too new")
        self.names = {"func": {}, "file": {}}
        self.places = []

    def octets(self, n):
        if self.next + n > len(self.data):
            raise Broken("end of file")
        self.next += n
        return self.data[self.next - n:self.next]

    def number(self):
        n = shift = 0
        while True:
            octet = self.octets(1)[0]
            n |= (octet & 0x7F) << shift
            shift += 7
            if octet < 0x80:
                return n

    def name(self, kind):
        index = self.octets(1)[0]
        self.places.append(index)
        if index == 0:
            return None
        if index & 0x80:
            end = self.data.find(b"\0", self.next)
            if end < 0:
                raise Broken("end of file")
            name = self.octets(end - self.next)
            self.octets(1)
            if not 1 <= index & 0x7F <= 32 or not 1 <= len(name) <= 1023:
                raise Broken("mptrace has no room for that name")
            self.names[kind][index & 0x7F] = name.decode("latin-1")
        return self.names[kind][index & 0x7F]

    def source(self):
        if self.version < 10405:
            return 0, None, None, 0
        thread = self.number()
        return thread, self.name("func"), self.name("file"), self.number()

    def records(self):
        """Yield (letter, index, address, size, source) for each record."""
        while True:
            letter = self.data[self.next:self.next + 1].decode("latin-1")
            if not letter or letter not in "IHARF":
                break
            self.next += 1
            if letter in "IH":
                yield letter, None, self.number(), self.number(), None
            elif letter == "F":
                yield letter, self.number(), None, None, self.source()
            else:
                yield (letter, self.number(), self.number(), self.number(),
                       self.source())
        if self.octets(4) != b"MTRC":
            raise Broken("no record")


def nbytes(n):
    return "%d byte%s" % (n, "" if n == 1 else "s")


class Trace:
    def __init__(self, file, what, name):
        self.file = file
        self.what = what
        self.blocks = {}  # index -> [address, size, event, is live]
        self.events = 0
        self.allocated = [0, 0]
        self.freed = [0, 0]
        self.peak = [0, 0]
        self.system = {"H": [0, 0], "I": [0, 0]}
        self.smallest = self.largest = 0
        if what == "hatf":
            print("## Tracename: %s\n## Author: Unknown\n## Date: Unknown\n"
                  "## DTDURL: hatf.dtd\n"
                  "## Description: Converted to HATF by mptrace 1.4.\n" % name)

    def count(self, size, kind):
        kind[0] += 1
        kind[1] += size

    def live(self):
        return [a - f for a, f in zip(self.allocated, self.freed)]

    def born(self, size):
        self.count(size, self.allocated)
        self.peak = [max(p) for p in zip(self.peak, self.live())]
        if self.smallest == 0 or self.smallest > size:
            self.smallest = size
        self.largest = max(self.largest, size)

    def pointer(self, address):
        return "0x%0*X" % (2 * self.file.word, address)

    def row(self, text, source=None):
        if self.what != "table":
            return
        print(text)
        thread, func, file, line = source or (0, None, None, 0)
        where = " thread %d" % thread if thread else ""
        where += " in %s" % func if func else ""
        where += " at %s line %d" % (file, line) if file and line else ""
        if where:
            print(23 * " " + where)

    def hatf(self, text):
        if self.what == "hatf":
            print(text)

    def record(self, letter, index, address, size, source):
        if letter in "HI":
            self.count(size, self.system[letter])
            self.row("        %s        %s  %8d" % (
                {"H": "reserve ", "I": "internal"}[letter],
                self.pointer(address), size))
            return
        self.events += 1
        if letter == "A":
            old = self.blocks.get(index)
            # Early versions wrote a realloc as F and A; mptrace counts the
            # age from the first A.
            if old and (old[3] or self.file.version >= 10405):
                raise Broken("index %d is used twice" % index)
            born = old[2] if old else self.events
            self.blocks[index] = [address, size, born, True]
            self.born(size)
            self.hatf("1 %d 0x%x" % (size, address))
            self.row("%6d  alloc   %6d  %s  %8d          %6d  %8d" % (
                self.events, index, self.pointer(address), size,
                *self.live()), source)
            return
        block = self.blocks[index]
        if letter == "R":
            self.count(block[1], self.freed)
            self.born(size)
            self.hatf("4 %d 0x%x 0x%x" % (size, block[0], address))
            block[:2] = address, size
            self.row("%6d  realloc %6d  %s  %8d          %6d  %8d" % (
                self.events, index, self.pointer(address), size,
                *self.live()), source)
            return
        if not block[3]:
            raise Broken("index %d is freed twice" % index)
        self.count(block[1], self.freed)
        self.hatf("2 0x%x" % block[0])
        self.row("%6d  free    %6d  %s  %8d  %6d  %6d  %8d" % (
            self.events, index, self.pointer(block[0]), block[1],
            self.events - block[2], *self.live()), source)
        block[3] = False

    def average(self):
        count, total = self.allocated
        if count == 0:
            return 0
        low, rest = divmod(total, count)
        return low + (2 * rest > count or (2 * rest == count and low % 2))

    def statistics(self):
        rows = [
            ("allocated", self.allocated), ("freed", self.freed),
            ("unfreed", self.live()), ("peak", self.peak),
            ("reserved", self.system["H"]), ("internal", self.system["I"]),
            ("total", [sum(p) for p in zip(*self.system.values())]),
        ]
        print("memory allocation tracing statistics\n" + 36 * "-")
        for name, (count, total) in rows:
            print("%-10s %d (%s)" % (name + ":", count, nbytes(total)))
        print("\nsmallest size: %s\nlargest size:  %s\naverage size:  %s" % (
            nbytes(self.smallest), nbytes(self.largest),
            nbytes(self.average())))


def main():
    sys.stdout.reconfigure(encoding="latin-1")
    what, path = sys.argv[1:3]
    file = File(path)
    trace = Trace(file, what, sys.argv[3] if len(sys.argv) > 3 else path)
    if what == "table":
        wide = 2 + 2 * file.word
        print(" event  type     index  %s      size    life   count     bytes"
              % "allocation".center(wide))
        print("------  ------  ------  %s  --------  ------  ------  --------"
              % (wide * "-"))
    try:
        for record in file.records():
            trace.record(*record)
    except Broken as why:
        sys.stdout.flush()
        sys.exit("mptrace.py: %s: octet %d: %s" % (path, file.next, why))
    if what == "places":
        print(*file.places)
        return
    if what == "table":
        print()
    if what != "hatf":
        trace.statistics()


if __name__ == '__main__':
    main()

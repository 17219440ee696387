#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
plot.py - compare the pictures of 'hatf plot' with what a trace has

usage: plot.py HATF

Writes a trace, byte by byte, and knows what is live after each event.  Reads
the curves back from the SVG files and compares them.  Prints each difference;
exit status 1 if there is one.
"""
import json
import random
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from bisect import bisect_left, bisect_right

failures = 0
SVG = '{http://www.w3.org/2000/svg}'
SITES = ('f (a.c:1)', 'g (a.c:2)', 'h (b.c:3)', 'i (b.c:4)')


def check(what, ok):
    global failures
    if not ok:
        failures += 1
        if failures <= 20:
            print(f'FAIL: {what}', file=sys.stderr)


class Trace:
    """A trace, and what is live after each of its events, by key."""
    def __init__(self, path, seed, events, gap):
        self.random = random.Random(seed)
        self.data = bytearray()
        self.blocks, self.times = [], []
        self.live = {('total', 0): [0, 0]}
        self.history = []  # of copies of 'live'
        self.records = 0
        self.begin()
        now = 0
        for n in range(events):
            now += self.random.randrange(gap) ** 2 // gap
            self.event(now if n else 0, n)
        self.end()
        with open(path, 'wb') as file:
            file.write(self.data)

    def comment(self, text):
        self.records += 1
        self.data += struct.pack('>BH', 10, len(text)) + text.encode()

    def begin(self):
        self.comment('HATF 1.0\nproducer=test\nunit=us\ncommand=./app\n')
        for field in (2, 3, 4, 5):
            self.data += bytes((11, 2, field, 0))
        for field, width in enumerate((4, 8, 4, 1, 1, 9)):
            self.data += bytes((11, 1, field, width))
        for i, site in enumerate(SITES, 1):
            function, file, line = re.match(r'(.*) \((.*):(.*)\)',
                                            site).groups()
            self.comment(f'HATF frame\nframe={i}\nfunction={function}\n'
                         f'file=/src/{file}\nline={line}\n')
            self.comment(f'HATF stack\nstack={i}\nparent=0\nframe={i}\n')
        for thread in (1, 2):
            self.records += 1
            self.data += struct.pack('>BBIB', 8, thread, 0, 0)

    def end(self):
        self.comment(f'HATF end\nevents={len(self.history)}\n'
                     f'records={self.records + len(self.history)}\n'
                     f'hatf_bytes={len(self.data)}\ncomplete=1\nend=exit\n'
                     'lost=0\nthreads=3\n')

    def add(self, block, sign):
        for key in block[1]:
            amount = self.live.setdefault(key, [0, 0])
            amount[0] += sign * block[2]
            amount[1] += sign

    def event(self, now, n):
        r = self.random
        if self.blocks and r.random() < (0.35 if n % 500 < 300 else 0.62):
            block = self.blocks.pop(r.randrange(len(self.blocks)))
            self.add(block, -1)
            self.data += struct.pack('>BQBBIB', 1, block[0], 0, 0, now, 0)
        else:
            thread, site = r.randrange(3), r.randrange(len(SITES))
            keys = (('total', 0), ('thread', f'thread {thread}'),
                    ('site', SITES[site]))
            block = ((n + 1) << 20, keys,
                     r.randrange(1, 400 * (site + 1) ** 2))
            self.add(block, 1)
            self.blocks.append(block)
            self.data += struct.pack('>BIQBBIB', 0, block[2], block[0],
                                     thread, 0, now, 2)
            self.data += bytes((0x45, site + 1))
        self.times.append(now)
        self.history.append({k: tuple(v) for k, v in self.live.items()})

    def levels(self, keys, unit):
        """What is live under all of these keys after each event."""
        return [sum(h.get(k, (0, 0))[unit] for k in keys)
                for h in self.history]


class Picture:
    """The curves of an SVG file."""
    def __init__(self, data, first, last, peak):
        self.root = ET.fromstring(data)
        self.curves = {}
        mark = self.find('peak-mark')
        self.steps = {e.get('id'): self.parse(e.get('d'))
                      for e in self.root.iter(SVG + 'path')}
        area = self.find('layer-1')
        if area is None:
            area = self.find('area')
        base = float(re.match(r'M\S+ (\S+?)V', area.get('d')).group(1))
        self.scale = peak / (base - float(mark.get('cy')))
        ends = self.steps['most']
        self.units = (last - first) / (ends[-1][1] - ends[0][0])
        for name, steps in self.steps.items():
            self.curves[name] = [
                (first + (x0 - ends[0][0]) * self.units,
                 first + (x1 - ends[0][0]) * self.units,
                 (base - y) * self.scale) for x0, x1, y in steps]

    def find(self, name):
        return next((e for e in self.root.iter() if e.get('id') == name),
                    None)

    @staticmethod
    def parse(path):
        """(from, to, level) of each step."""
        steps, x, y = [], None, None
        for command, text in re.findall(r'([MVHZ])([^MVHZ]*)', path):
            values = [float(v) for v in text.split()]
            if command == 'M':
                x, y = values
            elif command == 'V':
                y = values[0]
            elif command == 'H':
                steps.append((x, values[0], y))
                x = values[0]
        return steps


def between(at, levels, first, last):
    """What is live at some time from 'first' to 'last'."""
    i, j = bisect_left(at, first), bisect_right(at, last)
    return levels[max(i - 1, 0):j] if i else [0] + levels[:j]


def compare(what, trace, picture, at, unit, layers):
    slack = 0.011 * picture.scale + 1  # of a level: rounded coordinates
    edge = 0.02 * picture.units + 1e-6  # of a time
    total = trace.levels([('total', 0)], unit)
    peak = max(total)
    for begin, end, level in picture.curves['most']:
        outer = between(at, total, begin - edge, end + edge)
        inner = between(at, total, begin + edge, end - edge)
        # A step may be too narrow to know what is inside.
        least = max(inner) if end - begin > 2 * edge else min(outer)
        check(f'{what}: most from {begin:.1f} to {end:.1f} is {level:.1f}, '
              f'not {max(outer)}',
              least - slack <= level <= max(outer) + slack)
    for n in range(1, len(layers) + 1):
        keys = layers[:n]
        levels = trace.levels(keys, unit)
        at_peak = levels[total.index(peak)]
        for begin, end, level in picture.curves[f'layer-{n}']:
            # The last unit before the bin's end, and the end of the axis.
            near = between(at, levels, end - 1 - edge, end + edge)
            near += [at_peak] * (begin - edge <= at[total.index(peak)]
                                 <= end + edge)
            check(f'{what}: layer {n} until {end:.1f} is {level:.1f}',
                  min(near) - slack <= level <= max(near) + slack)


def group(nbytes):
    """As figure_nbytes() shows it."""
    value, unit = nbytes, 0
    while value >= 1023.95 and unit < 3:
        value, unit = value / 1024, unit + 1
    if unit == 0:
        return f'{nbytes} B'
    return f'{value:.1f} {("B", "KiB", "MiB", "GiB")[unit]}'


def spaces(n):
    return f'{n:,}'.replace(',', ' ')


def try_picture(hatf, path, trace, by, count, events):
    options = ['--by', by] + ['--count'] * count + ['--events'] * events
    what = f'{path} {" ".join(options)}'
    svg = subprocess.run([hatf, 'plot', '-o', '-', '--format', 'svg', path,
                          *options], stdout=subprocess.PIPE,
                         check=True).stdout
    total = trace.levels([('total', 0)], int(count))
    peak = max(total)
    at = list(range(len(total))) if events else trace.times
    picture = Picture(svg, 0, at[-1] + 1, peak)
    names = [e.text for e in picture.root.iter(SVG + 'text')]
    layers = []
    if by != 'total':
        keys = {k for h in trace.history[-1:] for k in h if k[0] == by}
        layers = sorted(keys, key=lambda k: names.index(k[1]))
        check(f'{what}: layers', len(layers) == len(
            [c for c in picture.curves if c.startswith('layer-')]))
    compare(what, trace, picture, at, int(count), layers)
    check_label(hatf, what, path, picture, total, count, events)


def check_label(hatf, what, path, picture, total, count, events):
    label = picture.find('peak').text
    report = json.loads(subprocess.run([hatf, 'report', '--json', path],
                                       stdout=subprocess.PIPE,
                                       check=True).stdout)
    if not count:
        value = group(report['total']['at_peak']['bytes'])
        at = (f'after {spaces(report["peak"]["event"])} calls' if events else
              f'at {report["peak"]["ns"] / 1e6:.3f} ms')
        check(f'{what}: {label}', label == f'peak {value} {at}')
    else:
        value = spaces(report['peak_blocks'])
        check(f'{what}: {label}', max(total) == report['peak_blocks'] and
              label.startswith(f'peak {value} blocks '))


def main():
    hatf = sys.argv[1]
    for path, seed, events, gap in (('few.hatf', 1, 12, 2000),
                                    ('some.hatf', 2, 600, 300),
                                    ('many.hatf', 3, 9000, 40)):
        trace = Trace(path, seed, events, gap)
        for by in ('total', 'thread', 'site'):
            for count in (False, True):
                for by_events in (False, True):
                    try_picture(hatf, path, trace, by, count, by_events)
    return failures != 0


sys.exit(main())

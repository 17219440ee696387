#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
contrast.py - a slow, obvious comparison of traces, to compare 'hatf diff' with

usage: contrast.py HATF OLD... -- NEW...

Counts each trace with census.py, by portable sites, by size class and in all,
judges each difference by the rules of hatf-diff(1), and compares that with what
'hatf diff --raw-stacks --json' prints.  Prints each difference; exit status 1
if there is one.
"""
import json
import re
import statistics
import sys

import census

MEASURES = ('peak', 'live', 'allocated', 'allocations', 'temporary')


def items(text):
    """The lines of a comment of ours."""
    return dict(line.split('=', 1) for line in text.split('\n')[1:]
                if '=' in line)


def number(text):
    return int(text, 0)


class Sites:
    """The portable site of each stack of a trace."""
    def __init__(self, records):
        self.frames, self.stacks, self.objects = {}, {}, []
        for record in records:
            if record['tag'] != 'comment':
                continue
            text = record['text']
            kind = text.split('\n', 1)[0]
            keys = items(text)
            if kind == 'HATF object':
                start = number(keys['address'])
                self.objects.append((start, start + number(keys['size']),
                                     keys['object']))
            elif kind == 'HATF frame':
                self.frames.setdefault(int(keys['frame']), self.name(keys))
            elif kind == 'HATF stack':
                self.stacks[int(keys['stack'])] = int(keys['frame'])

    def name(self, keys):
        function = re.sub(r' \[clone .*', '', keys.get('function', ''))
        file = keys.get('file', '').rsplit('/', 1)[-1]
        if function and file:
            return f'{function} ({file})'
        if function or file:
            return function or file
        address = number(keys.get('address', '0'))
        for start, end, path in reversed(self.objects):
            if start <= address < end:
                return re.sub(r'\.so\..*', '.so', path.rsplit('/', 1)[-1])
        return '[unknown]'

    def of(self, stack):
        return self.frames[self.stacks[stack]] if stack else '[no stack]'


def measures(account):
    return (account.peak[1], account.live[1], account.allocated[1],
            account.allocated[0], account.temporary[0])


def count(hatf, path, by):
    """The rows of a trace, {name: values}, and None for the total."""
    records = census.read_records(hatf, path)
    sites = Sites(records)
    rows = {}
    for (kind, key), account in census.take_census(records).accounts.items():
        if kind == 'total':
            name = None
        elif kind == 'stack' and by == 'site':
            name = sites.of(key)
        elif kind == 'size' and by == 'size':
            low = key // 2 + 1
            name = ('1 byte' if key == 1 else f'{key} bytes' if key <= 2
                    else f'{low} to {key} bytes')
        else:
            continue
        old = rows.get(name, (0,) * len(MEASURES))
        rows[name] = tuple(a + b for a, b in zip(old, measures(account)))
    return rows


def median(values):
    middle = statistics.median(values)
    return int(middle // 1)


def judge(old, new, total):
    """The verdict on one measure."""
    distance = median(new) - median(old)
    spread = max(max(old) - min(old), max(new) - min(new))
    if distance > 0:
        apart = min(new) > max(old)
    else:
        apart = max(new) < min(old)
    if (distance == 0 or not apart or abs(distance) <= median(old) * 0.01 or
            abs(distance) <= total * 0.001 or abs(distance) <= spread):
        return 'same'
    return 'grew' if distance > 0 else 'shrank'


def compare_row(what, got, old, new, totals):
    for i, measure in enumerate(MEASURES):
        olds, news = [r[i] for r in old], [r[i] for r in new]
        mine = {'verdict': judge(olds, news, totals[i])}
        for side, values in (('old', olds), ('new', news)):
            mine[side] = {'min': min(values), 'median': median(values),
                          'max': max(values)}
        census.check(f'{what}: {measure}', got[measure], mine)


def compare(hatf, olds, news, by):
    got = json.loads(census.run(hatf, 'diff', '--raw-stacks', '--json',
                                '--all', '--top', '0', '--by', by, *olds,
                                '--', *news))
    zero = (0,) * len(MEASURES)
    runs = [count(hatf, path, by) for path in olds + news]
    totals = [max(run[None][i] for run in runs)
              for i in range(len(MEASURES))]
    sides = len(olds)
    names = {name for run in runs for name in run if name is not None and
             run[name] != zero}
    rows = {row['name']: row for row in got['rows']}
    for name in sorted(names):
        values = [run.get(name, zero) for run in runs]
        if name not in rows:
            census.fail(f'{by} {name}', 'nothing', values)
            continue
        row = rows.pop(name)
        compare_row(f'{by} {name}', row, values[:sides], values[sides:],
                    totals)
        census.check(f'{by} {name}: new', row['new'],
                     all(v == zero for v in values[:sides]))
        census.check(f'{by} {name}: gone', row['gone'],
                     all(v == zero for v in values[sides:]))
    for name, row in rows.items():
        if any(row[m][side]['max'] for m in MEASURES
               for side in ('old', 'new')):
            census.fail(f'{by} {name}', row, 'nothing')
    values = [run[None] for run in runs]
    compare_row('total', got['total'], values[:sides], values[sides:], totals)


def main():
    hatf, rest = sys.argv[1], sys.argv[2:]
    divider = rest.index('--')
    for by in ('site', 'size'):
        compare(hatf, rest[:divider], rest[divider + 1:], by)
    sys.exit(census.failures != 0)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
limits.py - hold 'hatf check' against a slow count, just below and just above

usage: limits.py HATF TRACE...

Counts each trace with census.py.  Then gives 'hatf check' each figure as a
limit, which must hold, and the figure less 1, which must be exceeded: for each
process, the sum of all traces, and the sites, functions, files, modules,
threads and heaps with the largest figures.  The traces are of different
processes, none of them forked.  Prints each difference; exit status 1 if there
is one.
"""
import json
import subprocess
import sys

import census
import contrast

MEASURES = ('peak', 'live-at-end', 'allocated', 'allocs')


def figures(account):
    return dict(zip(MEASURES, (account.peak[1], account.live[1],
                               account.allocated[1], account.allocated[0])))


PARTS = {'function': 'function', 'file': 'file', 'module': 'object'}


def module(keys, objects):
    """The module of a frame."""
    address = int(keys.get('address', '0'), 0)
    for start, end, path in reversed(objects):
        if start <= address < end:
            return path
    return '[unknown]'


def frames(records, objects):
    """The keys of the innermost frame of each stack, with its module."""
    lines, stacks = {}, {}
    for record in records:
        if record['tag'] == 'comment':
            kind = record['text'].split('\n', 1)[0]
            keys = contrast.items(record['text'])
            if kind == 'HATF frame':
                keys.setdefault('object', module(keys, objects))
                lines.setdefault(int(keys['frame']), keys)
            elif kind == 'HATF stack':
                stacks[int(keys['stack'])] = int(keys['frame'])
    return {stack: lines[frame] for stack, frame in stacks.items()}


class Process:
    def __init__(self, hatf, path):
        self.path = path
        records = census.read_records(hatf, path)
        sites = contrast.Sites(records)
        accounts = census.take_census(records).accounts
        total = accounts['total', 0]
        self.total = figures(total)
        self.total['single'] = max(
            (int(r['size']) for r in records
             if (r['tag'] == 'alloc' or r['tag'].startswith('realloc') and
                 r['tag'] != 'reallocFree') and
             int(r['address'], 16) != 0), default=0)
        allocs = total.allocated[0]
        self.allocs, self.temporary = total.allocated[0], total.temporary[0]
        tops = frames(records, sites.objects)
        self.rows = {kind: {} for kind in ('site', 'thread', 'heap', *PARTS)}
        for (kind, key), account in accounts.items():
            if kind in ('thread', 'heap'):
                self.add(kind, str(key), account)
            elif kind == 'stack':
                self.add('site', sites.of(key), account)
                for part, line in PARTS.items():
                    self.add(part, tops.get(key, {}).get(line, '[unknown]'),
                             account)

    def add(self, kind, name, account):
        old = self.rows[kind].get(name, dict.fromkeys(MEASURES, 0))
        new = figures(account)
        self.rows[kind][name] = {m: old[m] + new[m] for m in MEASURES}


def parts(temporary, allocs):
    """A ratio in millionths, rounded up."""
    return -(-temporary * 1000000 // allocs)


def quote(name):
    """A glob that matches the name only."""
    for c in '\\*?[':
        name = name.replace(c, '[' + c + ']' if c != '\\' else '\\\\')
    return '"' + name.replace('\\', '\\\\').replace('"', '\\"') + '"'


def hold(hatf, limit, exceeded, paths):
    """Check one limit, which so many findings exceed."""
    done = subprocess.run(
        [hatf, 'check', '--raw-stacks', '--json', '--limit', limit, *paths],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    census.check(f'{limit}: status', done.returncode,
                 3 if exceeded else 0)
    got = json.loads(done.stdout)
    census.check(f'{limit}: findings', got['limits'][0]['exceeded'], exceeded)
    census.check(f'{limit}: exceeded', got['exceeded'], int(exceeded != 0))
    return got['limits'][0]


def both_sides(hatf, limit, values, paths):
    """The largest value as a limit, and 1 less."""
    most = max(values)
    closest = hold(hatf, f'{limit} {most}', 0, paths)['closest']
    census.check(f'{limit}: closest', closest['value'], most)
    if most > 0:
        below = hold(hatf, f'{limit} {most - 1}',
                     sum(v > most - 1 for v in values), paths)
        census.check(f'{limit}: value', below['findings'][0]['value'], most)


def percent(millionths):
    return f'{millionths // 10000}.{millionths % 10000:04}%'


def check_totals(hatf, processes):
    paths = [p.path for p in processes]
    for measure in (*MEASURES, 'single'):
        values = [p.total[measure] for p in processes]
        both_sides(hatf, measure, values, paths)
        whole = max(values) if measure == 'single' else sum(values)
        both_sides(hatf, f'tree {measure}', [whole], paths)
    ratios = [parts(p.temporary, p.allocs) for p in processes]
    check_ratio(hatf, 'temporary-ratio', ratios, paths)
    check_ratio(hatf, 'tree temporary-ratio',
                [parts(sum(p.temporary for p in processes),
                       sum(p.allocs for p in processes))], paths)


def check_ratio(hatf, limit, ratios, paths):
    most = max(ratios)
    hold(hatf, f'{limit} {percent(most)}', 0, paths)
    if most:
        hold(hatf, f'{limit} {percent(most - 1)}', ratios.count(most), paths)


def check_rows(hatf, processes, kind, measure):
    paths = [p.path for p in processes]
    rows = {}
    for process in processes:
        for name, row in process.rows[kind].items():
            rows.setdefault(name, []).append(row[measure])
    largest = sorted(rows, key=lambda name: (-max(rows[name]), name))[:3]
    for name in largest:
        both_sides(hatf, f'{kind} {quote(name)} {measure}', rows[name], paths)
    # All of them by one glob.
    everything = [v for values in rows.values() for v in values]
    both_sides(hatf, f'{kind} * {measure}', everything, paths)


def main():
    hatf, paths = sys.argv[1], sys.argv[2:]
    processes = [Process(hatf, path) for path in paths]
    check_totals(hatf, processes)
    for kind in ('site', 'thread', 'heap', *PARTS):
        for measure in MEASURES:
            check_rows(hatf, processes, kind, measure)
    sys.exit(census.failures != 0)


if __name__ == '__main__':
    main()

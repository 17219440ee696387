#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
verify.py - check the data block of a page

usage: verify.py [--figures FIGURES] PAGE...

Each rule of DATA.md that a program can check: columns are of one length, rows
that are named exist, times ascend, and sums agree with each other and, if
FIGURES is given, with the lines of 'hatf report --json'.  Sums are modulo 2^64,
since a trace may have sizes that exceed the address space.
"""
import json
import re
import sys

MEASURES = ['peak', 'end', 'alloc', 'temp', 'moved']
UNITS = ['Bytes', 'Blocks']
JSON_NAMES = {'peak': 'at_peak', 'end': 'at_end', 'alloc': 'allocated',
              'temp': 'temporary', 'moved': 'moved'}


def same(what, got, wanted):
    if got != wanted:
        raise SystemExit(f'{what}: {got}, not {wanted}')


def check(what, holds):
    same(what, bool(holds), True)


def check_table(name, table):
    lengths = {len(v) for v in table.values() if isinstance(v, list)}
    check(f'{name}: columns of one length', len(lengths) <= 1)
    if 'count' in table and lengths:
        same(f'{name}: count', table['count'], lengths.pop())


def check_rows(what, rows, count, none=False):
    check(what, all((-1 if none else 0) <= r < count for r in rows))


def check_tree(trace):
    frames, nodes = trace['frames'], trace['nodes']
    texts = len(trace['strings'])
    same('string 0', trace['strings'][0], '')
    for column in ('function', 'module', 'file'):
        check_rows(f'frames.{column}', frames[column], texts)
    check_rows('nodes.frame', nodes['frame'][1:], len(frames['line']))
    check('parents come first', all(
        0 <= p < i for i, p in enumerate(nodes['parent']) if i))
    check_rows('sites.node', trace['sites']['node'], len(nodes['parent']))
    check_rows('sites.at', trace['sites']['at'], len(frames['line']))


def check_sums(trace):
    for measure in MEASURES:
        for unit in UNITS:
            total = trace['totals'][measure + unit]
            for table in ('sites', 'threads', 'pairs'):
                if table == 'pairs' and not trace['stacks']:
                    continue
                same(f'{table}: {measure}{unit}',
                     sum(trace[table][measure + unit]) % 2**64, total)


def check_pairs(trace):
    """By thread and by site, the pairs have the sums of these tables."""
    if 'pairs' not in trace:
        return
    pairs, threads = trace['pairs'], len(trace['threads']['id'])
    check_rows('pairs.thread', pairs['thread'], threads)
    check_rows('pairs.site', pairs['site'], len(trace['sites']['node']), True)
    for measure in MEASURES:
        for unit in UNITS:
            sums = [0] * threads
            for row, thread in enumerate(pairs['thread']):
                sums[thread] += pairs[measure + unit][row]
            same(f'pairs: {measure}{unit}', [n % 2**64 for n in sums],
                 trace['threads'][measure + unit])


def check_curves(trace):
    """At the last point, each site has what it has at the end."""
    points = len(trace['points']['time'])
    for i, live in enumerate(trace['sites'].get('live', [])):
        check('live: triples', len(live) % 3 == 0)
        check('live: within the points', sum(live[::3]) + len(live) // 3
              <= points)
        same('live: bytes at the end', sum(live[1::3]) % 2**64,
             trace['sites']['endBytes'][i])
        same('live: blocks at the end', sum(live[2::3]),
             trace['sites']['endBlocks'][i])


def check_times(trace):
    for name in ('points', 'series', 'addresses'):
        times = trace.get(name, {'time': []})['time']
        check(f'{name}: times ascend', times == sorted(times))
        check(f'{name}: times are in the trace',
              all(0 <= t <= trace['meta']['duration'] for t in times))
    same('the series end', trace['series']['bytes'][-1:] or [0],
         [trace['totals']['endBytes']])


def check_matrix(trace):
    matrix, totals = trace['matrix'], trace['totals']
    check_table('matrix', matrix)
    count = len(trace['threads']['id'])
    check_rows('matrix.from', matrix['from'], count)
    check_rows('matrix.to', matrix['to'], count, True)
    same('matrix: live', sum(n for n, to in zip(
        matrix['blocks'], matrix['to']) if to < 0), totals['endBlocks'])
    same('matrix: freed', sum(n for n, to in zip(
        matrix['blocks'], matrix['to']) if to >= 0), totals['freedBlocks'])


def check_map(trace):
    if 'addresses' not in trace:
        return
    columns = len(trace['addresses']['time'])
    check('at most 256 columns', columns <= 256)
    regions = trace['addresses']['regions']
    live = trace['addresses']['live']
    steps = [r['step'] for r in regions for row in r['rows']
             if row[-1] != '0']
    check('addresses.live', (live > 0) == bool(steps))
    check('at most 192 rows', sum(len(r['rows']) for r in regions) <= 192)
    last = -1
    for region in regions:
        start = int(region['start'], 16)
        check('regions ascend', start > last)
        last = start + region['step'] * len(region['rows']) - 1
        for row in region['rows']:
            check('a row of the map', re.fullmatch(r'[0-9a-z]*', row))
            same('columns of a row', len(row), columns)


def check_trace(trace):
    for name in ('frames', 'nodes', 'sites', 'points', 'series', 'threads',
                 'pairs', 'marks'):
        check_table(name, trace.get(name, {}))
    check_rows('marks', trace['marks']['text'], len(trace['strings']))
    check_tree(trace)
    check_sums(trace)
    check_pairs(trace)
    check_curves(trace)
    check_times(trace)
    check_matrix(trace)
    check_map(trace)
    check('health has a line', trace['health'])


def check_figures(trace, figures):
    total = figures['total']
    for measure, name in JSON_NAMES.items():
        got = {u: trace['totals'][measure + u] for u in UNITS}
        same(measure, got, {'Bytes': int(total[name]['bytes']),
                            'Blocks': int(total[name]['blocks'])})
    same('events', trace['meta']['events'], figures['calls']['events'])
    same('spans', len(trace['series']['time']), len(figures['history']))


def check_page(name, lines):
    with open(name, encoding='utf-8') as file:
        page = file.read()
    found = re.findall(r'id="data">([^<]*)</script>', page)
    same('data blocks', len(found), 1)
    data = json.loads(found[0])
    same('version', data['version'], 1)
    for trace in data['traces']:
        check_trace(trace)
    if lines is not None:
        same('traces', len(data['traces']), len(lines))
        for trace, figures in zip(data['traces'], lines):
            check_figures(trace, figures)


def main():
    names, lines = sys.argv[1:], None
    if names[0] == '--figures':
        with open(names[1], encoding='utf-8') as file:
            lines = [json.loads(line) for line in file]
        del names[:2]
    for name in names:
        try:
            check_page(name, lines)
        except SystemExit as fault:
            raise SystemExit(f'{name}: {fault}') from None


if __name__ == '__main__':
    main()

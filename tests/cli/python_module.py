# SPDX-License-Identifier: MIT
"""
python_module.py - the Python module has the figures of the command

usage: python_module.py HATF TRACE...

Compares sites, columns and events with what 'hatf stat', 'info' and 'convert'
print, and uses the module wrongly.  Prints each difference; exit status 1 if
there is one.
"""
import gc
import json
import os
import subprocess
import sys
import threading
import weakref

import hatf

failures = 0


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f'FAIL: {what}: got {got!r}, want {want!r}', file=sys.stderr)


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.DEVNULL).stdout.decode()


def raises(what, error, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except error:
        return
    except Exception as why:  # pylint: disable=broad-except
        check(what, repr(why), error.__name__)
        return
    check(what, 'nothing raised', error.__name__)


def check_sites(command, path):
    stat = json.loads(output(command, 'stat', '--json', '--top', '0',
                             '--no-parent', path))
    with hatf.open(path) as trace:
        sites = {s.name: s for s in trace.sites()}
        rows = {r['name']: r for r in stat['rows']}
        if stat['by'] == 'site':
            check(f'{path}: names', sorted(sites), sorted(rows))
        for name, row in rows.items():
            if stat['by'] == 'site' and name in sites:
                check(f'{path}: {name}', list(map(int, sites[name][2:])), [
                    int(row[a][b]) for a, b in (
                        ('allocated', 'blocks'), ('allocated', 'bytes'),
                        ('at_end', 'blocks'), ('at_end', 'bytes'),
                        ('at_peak', 'bytes'))])
        for field, a, b in (('allocated', 'allocated', 'bytes'),
                            ('live', 'at_end', 'bytes'),
                            ('peak', 'at_peak', 'bytes')):
            check(f'{path}: {field} in all',
                  sum(getattr(s, field) for s in sites.values()),
                  int(stat['total'][a][b]))
        values = [s.live for s in trace.sites(by='live')]
        check(f'{path}: order', values, sorted(values, reverse=True))
        live = trace.live_bytes()[1]
        check(f'{path}: peak', int(max(live)) if len(live) else 0,
              int(stat['total']['at_peak']['bytes']))


def check_events(command, path):
    info = json.loads(output(command, 'info', '--json', path))
    with hatf.open(path) as trace:
        columns = trace.arrays()
        calls = sum(1 for kind, flags in zip(columns['kind'],
                                             columns['flags'])
                    if kind <= hatf.REALLOC and not flags & hatf.CARRIED)
        check(f'{path}: events', calls, info['events'])
        for number, event in enumerate(trace.events()):
            for name, value in zip(hatf.COLUMNS, event):
                if int(columns[name][number]) != value:
                    check(f'{path}: event {number}: {name}', value,
                          int(columns[name][number]))
                    return
        check(f'{path}: rows', number + 1, len(columns['kind']))
        check_unshared(trace, columns)
    # What was returned outlives the trace.
    check('after close', int(columns['kind'][0]) <= 7, True)


def check_unshared(trace, columns):
    """What the caller does with an array changes no later answer."""
    sizes, live = list(columns['size']), list(trace.live_bytes()[1])
    for name in hatf.COLUMNS:
        try:
            columns[name][0] = 5
        except ValueError:  # numpy: read-only
            pass
    again = trace.arrays('size')['size']
    check('a changed array: sizes', list(again) == sizes, True)
    check('a changed array: live bytes',
          list(trace.live_bytes()[1]) == live, True)
    if hatf.numpy is not None:
        check('the same array', again is columns['size'], True)
        kept = weakref.ref(again)
        del again, columns['size']
        check('an array that nobody has', kept(), None)


def check_wrong_use(path):
    raises('no file', hatf.Error, hatf.open, 'none.hatf')
    raises('no trace', hatf.Error, hatf.open, __file__)
    raises('a folder', hatf.Error, hatf.open, '.')
    raises('a number', TypeError, hatf.open, 7)
    raises('no path', TypeError, hatf.open, None)
    raises('jobs', ValueError, hatf.open, path, jobs=65)
    raises('jobs', ValueError, hatf.open, path, jobs='1')
    for name in (path + '\0b', path.encode() + b'\0', 'a\0b'):
        raises('a zero byte', ValueError, hatf.open, name)
    trace = hatf.open(path)
    raises('no column', ValueError, trace.arrays, 'sizes')
    raises('no order', ValueError, trace.sites, by='name')
    raises('a stack', ValueError, trace.stack, -1)
    raises('a stack', ValueError, trace.stack, 1 << 64)
    raises('a stack', TypeError, trace.stack, 'x')
    raises('a stack', TypeError, trace.stack, 1.5)
    raises('a header', TypeError, trace.header, None)
    check('an unknown stack', trace.stack(1 << 60), [])
    check('an unknown line', trace.header('nothing'), None)
    events = trace.events()
    next(events)
    trace.close()
    trace.close()
    for call in (trace.arrays, trace.sites, trace.live_bytes,
                 trace.events, trace.__enter__, lambda: trace.stack(1),
                 lambda: trace.header('pid')):
        raises('closed', ValueError, call)
    raises('closed while read', ValueError, next, events)
    check('repr', repr(trace), f'<closed hatf.Trace {path!r}>')
    # A trace that nobody closes is freed.
    trace = hatf.open(path)
    trace.sites()
    del trace
    gc.collect()


def check_truncation(path):
    with open(path, 'rb') as f:
        data = f.read()
    step = max(1, len(data) // 60)
    for n in range(0, len(data), step):
        with open('cut.hatf', 'wb') as f:
            f.write(data[:n])
        try:
            with hatf.open('cut.hatf') as trace:
                trace.sites()
            check(f'cut at {n}', 'no error', 'an error')
        except hatf.Error:
            pass
        try:
            with hatf.open('cut.hatf', partial=True) as trace:
                rows = len(trace.arrays('kind')['kind'])
                check(f'cut at {n}: fault', trace.fault is not None, True)
                check(f'cut at {n}: rows', rows <= n, True)
        except hatf.Error as why:
            # Too little is left to see that it is a trace.
            check(f'cut at {n}: {why}', n < 200, True)


def check_threads(path):
    """Several threads use one trace."""
    with hatf.open(path) as trace:
        want = [tuple(s) for s in hatf.open(path).sites()]
        got = []
        threads = [threading.Thread(
            target=lambda: got.append([tuple(s) for s in trace.sites()]))
            for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check('four threads', got, [want] * 4)


def resident():
    with open('/proc/self/statm', encoding='ascii') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGESIZE')


def check_memory(path):
    for _ in range(20):
        with hatf.open(path) as trace:
            trace.sites()
    gc.collect()
    before = resident()
    for _ in range(300):
        with hatf.open(path) as trace:
            trace.sites()
    gc.collect()
    check('memory after 300 traces', resident() - before < 4 << 20, True)


def main():
    command, *paths = sys.argv[1:]
    for path in paths:
        check_sites(command, path)
        check_events(command, path)
    check_wrong_use(paths[0])
    check_truncation(paths[0])
    check_threads(paths[0])
    check_memory(paths[0])
    sys.exit(failures != 0)


if __name__ == '__main__':
    main()

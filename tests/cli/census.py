#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
census.py - a slow, obvious census of a trace, to compare hatf with

usage: census.py HATF TRACE [WINDOW...]

Counts what the trace has allocated from the records that 'hatf convert -t json'
prints, with dictionaries and one object for each block.  Compares the counts
with those of 'hatf stat', 'report' and 'leaks'.  A WINDOW, such as
"--from 100 --to 20ms", is compared with 'hatf stat', too.  Prints each
difference; exit status 1 if there is one.

What was live at the peak is found in a second pass, which ends at the peak.
"""
import json
import subprocess
import sys
from collections import defaultdict

failures = 0


def fail(what, got, want):
    global failures
    failures += 1
    if failures <= 20:
        print(f'FAIL: {what}: got {got}, want {want}', file=sys.stderr)


def check(what, got, want):
    if got != want:
        fail(what, got, want)


def run(*command):
    """The output of a command, whose status may be 1 for a damaged trace."""
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout


def attribute(text, key):
    """The number of an item of the attribute bytes, or None."""
    data = bytes.fromhex(text)
    i = 0
    while i < len(data):
        found, kind = data[i], data[i] >> 6
        i += 1
        value = 0
        if kind:
            shift = 0
            while True:
                value |= (data[i] & 127) << shift
                shift += 7
                i += 1
                if data[i - 1] < 128:
                    break
        if kind == 2:
            i += value
        if found == key:
            return value
    return None


STACK, CARRIED = 0x45, 0x02


def up(n, step):
    return (n + step - 1) // step * step


def quarters(size):
    """Classes at 16 bytes, and at quarters of powers of two above 128."""
    step = 16
    while size > 8 * step:
        step *= 2
    return 8 if size <= 8 else up(size, step)


def tcmalloc_classes():
    """gperftools': see "Small Object Allocation" of its documentation."""
    classes, spans, size = [], [], 8
    while size <= 262144:
        batch = min(32, max(2, 65536 // size)) // 4
        pages = next(p for p in range(1, 999) if p * 8192 // size >= batch and
                     p * 8192 % size <= p * 8192 // 8)
        span = (pages, pages * 8192 // size)
        if spans and spans[-1] == span:
            del classes[-1], spans[-1]
        classes.append(size)
        spans.append(span)
        size += (8 if size < 16 else 16 if size < 128 else
                 min(8192, (1 << size.bit_length() - 1) // 8))
    return classes


TCMALLOC = tcmalloc_classes()


def glibc(size):
    chunk = max(32, up(size + 8, 16))
    return chunk if chunk < 131072 else up(chunk + 8, 4096)


def tcmalloc(size):
    return next((c for c in TCMALLOC if c >= size), up(size, 8192))


def mimalloc(size):
    for limit, step in ((512 << 10, 64 << 10), (8 << 20, 512 << 10),
                        (32 << 20, 1 << 20), (1 << 64, 4 << 20)):
        if size <= limit:
            return up(size, step) if size > 131072 else quarters(size)
    return size


# What a block takes in other allocators; size-tables.sh asks these.
ALLOCATORS = {'glibc': glibc, 'jemalloc': quarters, 'tcmalloc': tcmalloc,
              'mimalloc': mimalloc}


class Block:
    """A live block."""
    def __init__(self, call, size):
        self.address, self.heap = call['address'], int(call['heap'])
        self.size = int(size)
        self.thread = int(call['thread'])
        self.stack = attribute(call.get('attributes', ''), STACK) or 0
        self.birth = None  # event and time; None: before the trace

    def keys(self):
        """What the block is counted under."""
        return (('total', 0), ('stack', self.stack), ('thread', self.thread),
                ('size', size_class(self.size)), ('heap', self.heap),
                *(('taken', name) for name in ALLOCATORS))

    def nbytes(self, key):
        """The bytes that it counts under a key."""
        return (self.size if key[0] != 'taken'
                else ALLOCATORS[key[1]](self.size))


def size_class(size):
    """The largest size of the block's size class."""
    return size if size <= 1 else 1 << (size - 1).bit_length()


class Account:
    def __init__(self):
        for name in ('live', 'peak', 'allocated', 'freed', 'temporary',
                     'moved'):
            setattr(self, name, [0, 0])
        self.in_place = 0


def add(amount, size):
    amount[0] += 1
    amount[1] += size


class Census:
    def __init__(self, records, window=(None, None), stop=None):
        """'stop' is the number of events to stop after: at the peak."""
        self.accounts = defaultdict(Account)
        self.blocks = {}  # by heap and address
        self.last = {}  # the block that a thread's last call allocated
        self.lifetimes = defaultdict(lambda: [0, 0])
        self.outlived = {}  # by thread: what lived when it ended
        self.events = 0
        self.peak, self.peak_event = 0, 0
        self.unknown = 0
        self.counting = window[0] is None
        self.start = None
        for call in records:
            if self.start is None and call['tag'] != 'comment':
                self.start = int(call['time'])
            if self.events == stop and (self.is_call(call) or
                                        call['tag'] == 'destroyHeap'):
                break  # carried blocks are no calls
            if self.is_call(call):
                if self.reached(call, window[1]):
                    break
                if not self.counting and self.reached(call, window[0]):
                    self.begin()
            self.take(call)
            live = self.accounts['total', 0].live[1]
            if live > self.peak:
                self.peak, self.peak_event = live, self.events
        if not self.counting:
            self.begin()  # the window lies behind the end

    @staticmethod
    def is_call(call):
        return (call['tag'] in ('alloc', 'free') or 'realloc' in call['tag']
                ) and attribute(call.get('attributes', ''), CARRIED) is None

    def reached(self, call, bound):
        if bound is None:
            return False
        kind, n = bound
        return (self.events if kind == 'event'
                else int(call['time']) - self.start) >= n

    def begin(self):
        """The window begins: forget all but what is live."""
        self.counting = True
        self.lifetimes.clear()
        self.last.clear()  # a temporary block begins in the window, too
        for key, old in list(self.accounts.items()):
            self.accounts[key] = Account()
            self.accounts[key].live = old.live
        self.peak = self.accounts['total', 0].live[1]
        self.peak_event = self.events

    def take(self, call):
        tag = call['tag']
        if tag == 'alloc':
            self.alloc(call)
        elif tag == 'free':
            self.events += 1
            self.end(call, call['address'], True)
            self.last[int(call['thread'])] = None
        elif tag.startswith('realloc'):
            self.realloc(call)
        elif tag == 'destroyThread':
            thread = int(call['thread'])
            sizes = [b.size for b in self.blocks.values()
                     if b.thread == thread]
            self.outlived[thread] = [len(sizes), sum(sizes)]
        elif tag == 'destroyHeap':
            for key in [k for k in self.blocks if k[0] == int(call['heap'])]:
                self.lose(self.blocks.pop(key))

    def alloc(self, call):
        carried = attribute(call.get('attributes', ''), CARRIED) is not None
        self.events += not carried
        if int(call['address'], 16) == 0:
            return
        block = Block(call, call['size'])
        if not carried:
            block.birth = (self.events - 1, int(call['time']))
        self.put(block, carried)
        if not carried:
            self.last[int(call['thread'])] = block

    def put(self, block, carried=False):
        key = block.heap, block.address
        if key in self.blocks:
            self.lose(self.blocks[key])
        self.blocks[key] = block
        for k in block.keys():
            add(self.accounts[k].live, block.nbytes(k))
            if not carried:
                add(self.accounts[k].allocated, block.nbytes(k))

    def lose(self, block):
        for k in block.keys():
            self.accounts[k].live[0] -= 1
            self.accounts[k].live[1] -= block.nbytes(k)

    def end(self, call, address, final):
        """Free the block at an address.  Return it, or None."""
        block = self.blocks.pop((int(call['heap']), address), None)
        if block is None:
            self.unknown += 1
            return None
        self.lose(block)
        temporary = self.last.get(int(call['thread'])) is block
        for k in block.keys():
            add(self.accounts[k].freed, block.size)
            if temporary:
                add(self.accounts[k].temporary, block.size)
        if final and block.birth is not None:
            events = self.events - 1 - block.birth[0]
            add(self.lifetimes[size_class(block.size), 'events',
                               size_class(events)], block.size)
            time = max(0, int(call['time']) - block.birth[1])
            add(self.lifetimes[size_class(block.size), 'time',
                               size_class(time)], block.size)
        return block

    def realloc(self, call):
        self.events += 1
        old_address = call['old_address']
        frees = call['tag'] == 'reallocFree'
        if int(call['address'], 16) == 0 and not frees:
            return  # it failed
        old = None
        if int(old_address, 16) != 0:
            old = self.end(call, old_address, frees)
        self.last[int(call['thread'])] = None
        if frees:
            return
        block = Block(call, call['size'])
        block.birth = (old.birth if old
                       else (self.events - 1, int(call['time'])))
        if old and old.birth is None:
            block.birth = None
        self.put(block)
        self.last[int(call['thread'])] = block
        if not old:
            return
        for k in block.keys():
            if old.address == block.address:
                self.accounts[k].in_place += 1
            else:
                add(self.accounts[k].moved, min(old.size, block.size))


def read_records(hatf, trace):
    """The records without those that a realloc announces."""
    records, awaited = [], []
    for line in run(hatf, 'convert', '-p', '-t', 'json', trace,
                    '-').decode(errors='replace').splitlines():
        record = json.loads(line)
        tag = record['tag']
        if tag == 'comment':
            records.append(record)
            continue
        this = (tag, record.get('thread'), record.get('address'))
        if this in awaited:
            awaited.remove(this)
            continue
        awaited = []
        if tag in ('reallocAllocFree', 'reallocAlloc'):
            awaited.append(('alloc', record['thread'], record['address']))
        if tag in ('reallocAllocFree', 'reallocFree'):
            awaited.append(('free', record['thread'], record['old_address']))
        records.append(record)
    return records


def take_census(records, window=(None, None)):
    """A census with what was live at the peak."""
    census = Census(records, window)
    at_peak = Census(records, (window[0], None), census.peak_event)
    for key, account in at_peak.accounts.items():
        census.accounts[key].peak = account.live
    return census


def amount(a):
    return [int(a['blocks']), int(a['bytes'])]


def compare(what, got, want):
    """Compare the JSON of an account with one of ours."""
    for name, mine in (('at_peak', want.peak), ('at_end', want.live),
                       ('allocated', want.allocated), ('freed', want.freed),
                       ('temporary', want.temporary), ('moved', want.moved)):
        check(f'{what}: {name}', amount(got[name]), mine)
    check(f'{what}: resized_in_place', got['resized_in_place'],
          want.in_place)


def compare_stat(hatf, trace, census, by, options):
    stat = json.loads(run(hatf, 'stat', '--json', '--top', '0', '--by', by,
                          *options, trace))
    what = ' '.join([by, *options])
    compare(f'{what}: total', stat['total'], census.accounts['total', 0])
    if by == 'stack' and stat['by'] == 'lane':
        return
    if by == 'size':
        compare_waste(stat, what, census)
    seen = set()
    for row in stat['rows']:
        key = (by, int(row['to' if by == 'size' else 'id']))
        seen.add(key)
        compare(f'{what}: {key}', row, census.accounts[key])
        if by == 'thread':
            check(f'{what}: {key} outlived', amount(row['outlived']),
                  census.outlived.get(key[1], [0, 0]))
    for key, account in census.accounts.items():
        if key[0] == by and account.allocated[1] and key not in seen:
            fail(f'{what}: {key}', 'nothing', account.allocated)


def compare_waste(stat, what, census):
    total = census.accounts['total', 0]
    for name in ALLOCATORS:
        account = census.accounts['taken', name]
        for key, mine, asked in (
                ('at_peak', account.peak, total.peak),
                ('at_end', account.live, total.live),
                ('allocated', account.allocated, total.allocated)):
            got = stat['waste'][name][key]
            check(f'{what}: {name} {key}', [got['taken'], got['wasted']],
                  [mine[1], mine[1] - asked[1]])


def compare_lifetimes(hatf, trace, census):
    stat = json.loads(run(hatf, 'stat', '--json', '--by', 'lifetime', trace))
    got = {}
    for row in stat['rows']:
        for by in ('events', 'time'):
            if row['by_' + by]['blocks']:
                got[int(row['size_to']), by, int(row['events_to'])] = amount(
                    row['by_' + by])
    check('lifetimes', got, dict(census.lifetimes))


def compare_sites(hatf, trace):
    """The sites have together what the stacks have."""
    for by in ('site', 'function', 'file', 'module'):
        stat = json.loads(run(hatf, 'stat', '--json', '--top', '0', '--by',
                              by, trace))
        for name in ('at_peak', 'at_end', 'allocated', 'freed', 'temporary',
                     'moved'):
            for unit in ('blocks', 'bytes'):
                check(f'sum over {by}: {name} {unit}',
                      sum(int(row[name][unit]) for row in stat['rows']),
                      int(stat['total'][name][unit]))


def compare_leaks(hatf, trace, census):
    leaks = json.loads(run(hatf, 'leaks', '--json', '--top', '0', '--stacks',
                           trace))
    check('leaks: live', amount(leaks['live']),
          census.accounts['total', 0].live)
    check('leaks: sum of sites', [sum(int(s['blocks']) for s in leaks['sites']),
                                  sum(int(s['bytes']) for s in leaks['sites'])],
          census.accounts['total', 0].live)
    ages = sorted(census.events - 1 - b.birth[0] for b in census.blocks.values()
                  if b.birth)
    if ages and len(ages) == len(census.blocks):
        check('leaks: oldest', max(s['oldest']['events']
                                   for s in leaks['sites']), ages[-1])
        check('leaks: newest', min(s['newest']['events']
                                   for s in leaks['sites']), ages[0])
    sizes = [b.size for b in census.blocks.values()]
    if sizes:
        check('leaks: largest', max(int(s['largest']) for s in leaks['sites']),
              max(sizes))
        check('leaks: smallest',
              min(int(s['smallest']) for s in leaks['sites']), min(sizes))
    for site in leaks['sites']:
        if 'stacks' in site:
            check(f'leaks: stacks of {site["name"]}',
                  [sum(int(s['blocks']) for s in site['stacks']),
                   sum(int(s['bytes']) for s in site['stacks'])],
                  amount(site))
        if 'trend' in site:
            check(f'leaks: trend of {site["name"]}',
                  int(site['trend']['bytes'][-1]), int(site['bytes']))


def compare_report(hatf, trace, census):
    report = json.loads(run(hatf, 'report', '--json', trace))
    compare('report: total', report['total'], census.accounts['total', 0])
    compare_waste(report, 'report', census)
    check('report: peak', report['peak']['event'], census.peak_event)
    check('report: events', report['calls']['events'], census.events)
    check('report: unknown frees', report['health']['unknown_frees'],
          census.unknown)
    history = report['history']
    if history:
        check('report: history, most',
              max(int(h['most_bytes']) for h in history), census.peak)
        check('report: history, end', amount(history[-1]['live']),
              census.accounts['total', 0].live)
        check('report: history, allocated',
              [sum(int(h['allocated']['blocks']) for h in history),
               sum(int(h['allocated']['bytes']) for h in history)],
              census.accounts['total', 0].allocated)


def bound_of(text, unit):
    """What --from or --to means, in the time units of the trace."""
    for suffix, ns in (('ms', 10**6), ('us', 10**3), ('ns', 1), ('s', 10**9)):
        if text.endswith(suffix):
            return 'time', int(float(text[:-len(suffix)]) * ns) // unit
    return 'event', int(text)


def main():
    hatf, trace, *windows = sys.argv[1:]
    records = read_records(hatf, trace)
    header = records[0].get('text', '') if records else ''
    unit = 1000 if '\nunit=us\n' in header else 1
    census = take_census(records)
    for by in ('stack', 'thread', 'size', 'heap'):
        compare_stat(hatf, trace, census, by, [])
    compare_lifetimes(hatf, trace, census)
    compare_sites(hatf, trace)
    compare_leaks(hatf, trace, census)
    compare_report(hatf, trace, census)
    for text in windows:
        options = text.split()
        bounds = dict(zip(options[::2], options[1::2]))
        window = tuple(bound_of(bounds[name], unit) if name in bounds
                       else None for name in ('--from', '--to'))
        for by in ('stack', 'size'):
            compare_stat(hatf, trace, take_census(records, window), by,
                         options)
    print(f'{trace}: {census.events} events, peak {census.peak}, '
          f'{len(census.blocks)} live, {failures} differences')
    sys.exit(failures > 0)


if __name__ == '__main__':
    main()

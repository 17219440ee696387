# SPDX-License-Identifier: MIT
"""
What the sample traces of the DTDs in hatf/metatf/dtd must say.

usage: metatf_samples.py want FORMAT SOURCE   JSON of the records, expected
       metatf_samples.py lines SOURCE.mtrc    the lines that samples/mtrc reads
       metatf_samples.py collect DUMP.json    check a trace of a collector

'want' reads what the sample was made from, and no Meta-TF.  'collect' does
again what the program did, and prints its objects, collections and deaths.
"""
import json
import re
import sys

import mptrace


def say(record, section, **fields):
    print(json.dumps({'record': record, 'section': section, 'fields': fields}))


def want_simple_binary(path):
    """From 'hatf dump --format ascii'."""
    reallocs = {'2': 'reallocNoAlloc', '3': 'reallocAllocFree',
                '4': 'reallocAlloc', '5': 'reallocFree'}
    for line in open(path):
        tag, *words = line.split()[:4]
        if int(tag) > 5:
            continue
        n = [int(word, 0) for word in words if not word.startswith('HATF')]
        if tag == '0':
            say('alloc', 'heap', size=n[0], address=n[1], unused=0)
        elif tag == '1':
            say('free', 'heap', unused=0, address=n[0], unused_2=0)
        else:
            say(reallocs[tag], 'heap', size=n[0], address=n[1],
                address_2=n[2])


def want_johnstone(path):
    """From a log of glibc's mtrace."""
    old = None
    for line in open(path):
        call = re.search(r' ([-+<>]) (0x\w+)(?: (0x\w+))?$', line)
        if call is None:
            continue
        kind, block = call[1], int(call[2], 16)
        size = int(call[3], 16) if call[3] else None
        if kind == '+':
            say('mallocCall', 'calls', size=size, address=block)
        elif kind == '-':
            say('freeCall', 'calls', address=block)
        elif kind == '<':
            old = block
        else:
            say('reallocCall', 'calls', address=old, size=size)


def want_hummingbird(path):
    for line in open(path):
        word, address, *size = line.split()
        if word == 'Allocate':
            say('alloc', 'heap', address=int(address, 16), size=int(size[0]))
        else:
            say('free', 'heap', address=int(address, 16))


def want_mtrc(path):
    kinds = {'A': 'allocation', 'R': 'reallocation', 'F': 'deallocation',
             'I': 'internal', 'H': 'heap'}
    offsets, total = {'': 0}, 2

    for letter, index, address, size, source in mptrace.File(path).records():
        fields = {'index': index, 'address': address, 'size': size}
        fields = {k: v for k, v in fields.items() if v is not None}
        if source is not None:
            thread, func, file, line = source
            for name in func or '', file or '':
                if name not in offsets:
                    offsets[name] = total
                    total += 2 + len(name)
            fields['site'] = {'thread': thread,
                              'function': offsets[func or ''],
                              'file': offsets[file or ''], 'line': line}
        say(kinds[letter], 'events', **fields)
    for name in offsets:
        say('name', 'names', length=len(name), data=name)


def lines(path):
    for letter, *rest, source in mptrace.File(path).records():
        thread, func, file, line = source or (0, None, None, 0)
        row = [letter] + [n or 0 for n in rest]
        print(*row, thread, line, func or '', file or '', sep='\t')


def collect(path):
    """
    Do what the program did.  The collector must be right: it takes no object
    that can be reached, promotes none twice, and gives no address again before
    the death of the object there.
    """
    roots, slots, places, live, old = {}, {}, {}, set(), set()
    objects = collections = deaths = 0
    dying, inside = set(), False

    def reachable():
        found, todo = set(), [n for n in roots.values() if n]
        while todo:
            n = todo.pop()
            if n not in found:
                found.add(n)
                todo += [m for m in slots[n].values() if m]
        return found

    for text in open(path):
        record = json.loads(text)
        name, f = record['record'], record['fields']
        assert inside == (name in ('promote', 'die', 'collectionEnd')), text
        for key in 'object', 'value':
            assert name == 'allocate' or not f.get(key) or \
                f[key] in live, (key, text)
        if name == 'allocate':
            objects += 1
            assert f['object'] == objects, text
            assert f['address'] not in places or \
                places[f['address']] not in live, text
            places[f['address']] = objects
            live.add(objects)
            slots[objects] = dict.fromkeys(range(f['slots']), 0)
        elif name == 'root':
            roots[f['slot']] = f['value']
        elif name == 'read':
            assert slots[f['object']][f['slot']] == f['value'], text
        elif name == 'write':
            slots[f['object']][f['slot']] = f['value']
        elif name == 'collectionBegin':
            inside, dying = True, set()
        elif name == 'promote':
            assert f['object'] not in old, text
            old.add(f['object'])
        elif name == 'die':
            dying.add(f['object'])
            live.remove(f['object'])
            deaths += 1
        else:
            assert not dying & reachable(), dying & reachable()
            assert live <= old, live - old
            inside = False
            collections += 1
    print(objects, collections, deaths)
    assert old and deaths


def main():
    action, *args = sys.argv[1:]
    if action == 'want':
        globals()['want_' + args[0]](args[1])
    else:
        {'lines': lines, 'collect': collect}[action](args[0])


main()

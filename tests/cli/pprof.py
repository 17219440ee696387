#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pprof.py - print a profile of pprof, without libhatf

usage: pprof.py FILE

Print a line for each sample type, the period, the start and each mapping: its
file, its addresses and whether it has names.  Then print a line for each
sample: its values and its frames, the innermost first, as
NAME(FILE:LINE)@MAPPING+ADDRESS.
"""
import gzip
import sys


def varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        at += 1
        n |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return n, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            nbytes, at = varint(data, at)
            value, at = data[at:at + nbytes], at + nbytes
            assert len(value) == nbytes
        else:
            sys.exit(f'wire type {key & 7}')
        yield key >> 3, value


def numbers(data):
    at = 0
    while at < len(data):
        n, at = varint(data, at)
        yield n


def main():
    with open(sys.argv[1], 'rb') as f:
        data = f.read()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    profile = list(fields(data))
    strings = [v.decode() for k, v in profile if k == 6]
    table = {3: {}, 4: {}, 5: {}}
    for k, v in profile:
        if k in table:
            row = dict(fields(v))
            assert row[1] not in table[k], 'an id twice'
            table[k][row[1]] = row
    assert strings[0] == ''
    for k, v in profile:
        if k == 1:
            row = dict(fields(v))
            print('type', strings[row[1]], strings[row[2]])
    print('default', strings[dict(profile)[14]])
    print('period', dict(profile)[12])
    if 9 in dict(profile):
        print('start', dict(profile)[9])
    for row in table[3].values():
        named = row.get(7) and row.get(8) and row.get(9)
        print(f'mapping {strings[row[5]]}',
              f'{row.get(2, 0):#x}-{row.get(3, 0):#x}+{row.get(4, 0):#x}',
              strings[row.get(6, 0)] or '-', 'named' if named else 'nameless')
    for k, v in profile:
        if k != 2:
            continue
        row = dict(fields(v))
        frames = []
        for i in numbers(row[1]):
            location = table[4][i]
            line = dict(fields(location[4]))
            function = table[5][line[1]]
            text = strings[function[2]]
            if 4 in function:
                text += f'({strings[function[4]]}:{line.get(2, 0)})'
            if 2 in location:
                text += '@' + strings[table[3][location[2]][5]]
            if 3 in location:
                text += f'+{location[3]:#x}'
            frames.append(text)
        print(*numbers(row[2]), ' '.join(frames))


main()

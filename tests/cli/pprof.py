#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pprof.py - print a profile of pprof, without libhatf

usage: pprof.py FILE

Print a line for each sample type, the period, the start and each mapping: its
file, its addresses and which names it has.  Then print a line for each sample:
its values and its locations, the innermost first, as
NAME(FILE:LINE)@MAPPING+ADDRESS, with NAME(FILE:LINE)< before it for each
function that was inlined there.  Fail if the profile breaks a rule of
profile.proto: ids, strings, addresses outside of their mapping.
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


NAMES = ((7, "functions"), (8, "files"), (9, "lines"), (10, "inlined"))


def read(path):
    """Return the tables of a profile: strings, and rows by field number."""
    with open(path, 'rb') as f:
        data = f.read()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    profile = list(fields(data))
    strings = [v.decode() for k, v in profile if k == 6]
    assert strings[0] == ''
    assert len(set(strings)) == len(strings), 'a string twice'
    table = {3: {}, 4: {}, 5: {}}
    for k, v in profile:
        if k in table:
            row = dict(fields(v))
            assert row[1] != 0, 'an id of 0'
            assert row[1] not in table[k], 'an id twice'
            if k == 4:
                row[4] = [dict(fields(v)) for f, v in fields(v) if f == 4]
            table[k][row[1]] = row
    return profile, strings, table


def place(strings, table, location):
    """Return a location as text; check what it refers to."""
    names = []
    for line in location[4]:
        function = table[5][line[1]]
        text = strings[function[2]]
        assert text, 'a function without a name'
        if 4 in function:
            text += f'({strings[function[4]]}:{line.get(2, 0)})'
        names.append(text)
    text = '<'.join(names)
    if 2 in location:
        mapping = table[3][location[2]]
        text += '@' + strings[mapping[5]]
        if 3 in mapping:
            assert mapping.get(2, 0) <= location[3] < mapping[3], 'outside'
    if 3 in location:
        text += f'+{location[3]:#x}'
    return text


def main():
    profile, strings, table = read(sys.argv[1])
    types = [dict(fields(v)) for k, v in profile if k == 1]
    for row in types:
        print('type', strings[row[1]], strings[row[2]])
    print('default', strings[dict(profile)[14]])
    print('period', dict(profile)[12])
    if 9 in dict(profile):
        print('start', dict(profile)[9])
    for row in table[3].values():
        names = [word for field, word in NAMES if row.get(field)]
        print(f'mapping {strings[row[5]]}',
              f'{row.get(2, 0):#x}-{row.get(3, 0):#x}+{row.get(4, 0):#x}',
              strings[row.get(6, 0)] or '-', ','.join(names) or 'nameless')
    used = set()
    for k, v in profile:
        if k != 2:
            continue
        row = dict(fields(v))
        values = list(numbers(row[2]))
        assert len(values) == len(types)
        stack = list(numbers(row[1]))
        used.update(stack)
        print(*values, *(place(strings, table, table[4][i]) for i in stack))
    assert used == set(table[4]), 'a location that no sample has'


main()

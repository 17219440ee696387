# SPDX-License-Identifier: MIT
"""
Compare the records of two files of JSON lines.

usage: metatf_compare.py WANT GOT

Text and {"hex":...} of the same bytes are equal.
"""
import json
import sys


def plain(value):
    if isinstance(value, dict):
        return value if list(value) == ['hex'] else \
            {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {'hex': value.encode().hex()} if isinstance(value, str) else value


def records(path):
    with open(path) as file:
        for line in file:
            record = json.loads(line)
            yield (record['record'], record['section'],
                   plain(record['fields']))


want, got = list(records(sys.argv[1])), list(records(sys.argv[2]))
for i, (a, b) in enumerate(zip(want, got)):
    if a != b:
        sys.exit('record %d: want %r, got %r' % (i, a, b))
if len(want) != len(got):
    sys.exit('want %d records, got %d' % (len(want), len(got)))

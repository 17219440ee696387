#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
anonymize.py - an anonymized trace has the figures and none of the names

usage: anonymize.py HATF TRACE ANONYMIZED

Collects every text of TRACE that is neither a number nor a word of its format,
from what 'hatf convert -t json' prints of it and from the header, and looks for
them in all that the anonymized trace prints in the same way.  Compares the
figures of 'hatf stat' and 'hatf report' of both.  Prints each difference; exit
status 1 if there is one.
"""
import json
import re
import subprocess
import sys

failures = 0

# Words of the format, and functions that everybody knows.
PUBLIC = set('''
    auto off coarse us ns none wait drop exact uncertain unknown dropped late
    exit _exit quick_exit abort exec last_thread stop sandbox killed raw_exit
    abrupt rotate error heap internal resident raw little big
    x86_64 aarch64 heaptrack memtrace mtrc mptrace mtrace gperftools android
    hummingbird malloc calloc realloc reallocarray free memalign aligned_alloc
    posix_memalign valloc pvalloc cfree'''.split())
# Keys whose values the writer makes itself.
OWN = {'producer', 'crc32c', 'tag'}
# Words that the writer uses itself, and libraries that everybody knows.
PUBLIC |= set('''HATF comment producer source complete incomplete operator time
    object function file line column thread name text unit clock address size
    stack frame parent libhatftrace.so incomplete linux'''.split())
# What stands for missing frames, and the parts of it between blanks.
for mark in '[unknown caller]', '[cut off]':
    PUBLIC |= {mark, *mark.split()}


def fail(what):
    global failures
    failures += 1
    if failures <= 20:
        print(f'FAIL: {what}', file=sys.stderr)


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors='surrogateescape')


def records(hatf, path):
    return [json.loads(line, strict=False)
            for line in output(hatf, 'convert', '-p', '-t', 'json', path,
                               '-').splitlines()]


def is_name(text):
    """Not a number, and not a word of the format."""
    return (len(text) > 1 and text not in PUBLIC and
            not re.fullmatch(r'[-+]?(0x)?[0-9a-f]+(\.[0-9]+)?', text))


def names_of(trace):
    """All texts of a trace that may tell something."""
    found = set()
    for record in trace:
        if record['tag'] == 'comment':
            lines = record['text'].split('\n')
            if not lines[0].startswith('HATF '):
                if len(record['text']) > 3:
                    found.add(record['text'])
            for line in lines[1:]:
                key, _, value = line.partition('=')
                if key not in OWN and is_name(value):
                    found.update([value] if len(value) > 3 and
                                 value != 'source incomplete' else [])
                    found.update(w for w in re.split(r'[/ \\]', value)
                                 if len(w) > 3 and is_name(w))
        else:
            data = bytes.fromhex(record.get('attributes', ''))
            found.update(t.decode() for t in re.findall(rb'[ -~]{4,}', data))
    found.discard('hatftrace')  # a folder's name, but also the producer's
    return found


def figures(value):
    """The numbers of a JSON text, without names and without what has them."""
    if isinstance(value, dict):
        return [(key, figures(value[key])) for key in sorted(value)
                if key not in ('name', 'trace', 'command', 'path', 'pid',
                               'exe', 'health', 'start_time', 'host')]
    if isinstance(value, list):
        # Rows with equal figures are in the order of their names.
        return sorted((figures(v) for v in value), key=repr)
    return value if not isinstance(value, str) else 'text'


def compare_figures(hatf, trace, anonymous):
    commands = [('report', '--json', '--top', '1000000')]
    commands += [('stat', '--json', '--top', '0', '--by', by) for by in
                 ('site', 'function', 'file', 'module', 'thread', 'size',
                  'heap', 'lifetime', 'time')]
    for command in commands:
        # The parent of a forked child is not known any more.
        old, new = (output(hatf, *command, '--no-parent', path)
                    for path in (trace, anonymous))
        if not old or figures(json.loads(old)) != figures(json.loads(new)):
            fail(f'{" ".join(command)}: figures differ')


def main():
    hatf, trace, anonymous = sys.argv[1:]
    names = names_of(records(hatf, trace))
    text = json.dumps(records(hatf, anonymous), ensure_ascii=False)
    # Pseudonyms have words of their own, and numbers.
    text = re.sub(r'\b(function|file|module|thread|heap|mark)_[0-9]+', '',
                  text)
    for name in sorted(names):
        if json.dumps(name, ensure_ascii=False)[1:-1] in text:
            fail(f'{name!r} is in the anonymized trace')
    compare_figures(hatf, trace, anonymous)
    print(len(names))
    sys.exit(failures != 0)


if __name__ == '__main__':
    main()

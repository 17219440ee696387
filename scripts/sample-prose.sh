#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sample-prose.sh - print comments, messages and man page sentences at random
#
# usage: scripts/sample-prose.sh SEED | --help
#
# A reader who knows C, but not the project, judges the sample by the page
# "Plain English" in CONTRIBUTING.md: 60 comments and 30 messages of hatf,
# preload and tools, and 30 sentences of the man pages.  The same seed gives the
# same sample of the same tree.
set -u
cd "$(dirname "$0")/.." || exit 2
usage='usage: scripts/sample-prose.sh SEED'
[[ $# -ne 1 || $1 != --help ]] || { echo "$usage"; exit; }
[[ $# -eq 1 && $1 != -* ]] || { echo "$usage" >&2; exit 2; }
export LC_ALL=C.UTF-8

exec python3 - "$1" <<'END'
import random, re, signal, subprocess, sys

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
                   r"|'(?:\\.|[^'\\\n])*'", re.S)
STRINGS = re.compile(r'"(?:\\.|[^"\\\n])*"'
                     r'(?:\s*(?:PRI\w+\s*)?"(?:\\.|[^"\\\n])*")*')


def tracked(*patterns):
    out = subprocess.run(['git', 'ls-files', '--', *patterns], check=True,
                         capture_output=True, text=True).stdout
    return out.split('\n')[:-1]


def flow(text):
    return ' '.join(text.split())


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def comments(path, text):
    """Yield each comment with the code beside or below it."""
    for m in TOKEN.finditer(text):
        body = m.group()
        if body[0] != '/' or 'SPDX' in body:
            continue
        before = text[text.rfind('\n', 0, m.start()) + 1:m.start()].strip()
        words = flow(re.sub(r'^\s*\*', '', body.strip('/*'), flags=re.M))
        if before.startswith('#e') or not re.search('[a-z]{2}', words) \
                or re.fullmatch(r'\S+ - see \S+', words):
            continue
        after = text[m.end():].lstrip('\n').split('\n', 1)[0].strip()
        yield (f'{path}:{text.count(chr(10), 0, m.start()) + 1}', words,
               before or after)


def messages(path, text):
    """Yield each string of three words or more."""
    code = re.sub(r'/\*.*?\*/', blank, text, flags=re.S)
    for m in STRINGS.finditer(code):
        begin = code.rfind('\n', 0, m.start()) + 1
        words = ''.join(re.findall(r'"((?:\\.|[^"\\\n])*)"', m.group()))
        plain = re.sub(r'%[-+ #0-9.*l]*[a-zA-Z]|\\.', ' ', words)
        before = code[begin:m.start()]
        if before.startswith('#include') or 'asm' in before \
                or re.search(r'\\t|;\\n|[{}]', words):
            continue
        if len(re.findall(r'(?<![\w./])[a-z]{2,}(?![\w/(])', plain)) >= 3:
            yield f'{path}:{code.count(chr(10), 0, m.start()) + 1}', words, ''


def sentences(path, text):
    """Yield each sentence of the text of a page."""
    part, line = '', 0
    for number, row in enumerate(text.split('\n') + ['.Pp'], 1):
        macro = re.match(r"[.'](\S*)\s*(.*)", row)
        if macro and macro[1] not in ('Xr', 'Fl', 'Ar', 'Cm', 'Nm', 'Pa', 'Ev',
                                      'Li', 'Em', 'Dv', 'Dq', 'Sq', 'Fn', 'Va',
                                      'Ql', 'Pq', 'No', 'Sy', 'Er'):
            part = ''
            continue
        line = line if part else number
        if macro:
            row = {'Fl': '-', 'Nm': 'hatf... '}.get(macro[1], '') + macro[2]
        row = re.sub(r'\b(Fl|Ar|Cm|Ev|Pa|Xr) ', '', row)
        part = flow(part + ' ' + row)
        if re.search(r'[.:?]$| \.$', part):
            if len(part.split()) > 3:
                yield f'{path}:{line}', part, ''
            part = ''


def sample(title, count, found):
    print(f'== {title} ({len(found)} in all)')
    for n, (place, words, code) in enumerate(random.sample(found, count), 1):
        print(f'{n}. {place}: {words}')
        if code:
            print(f'       {code}')


def collect(reader, paths):
    return [item for path in paths
            for item in reader(path, open(path, encoding='utf-8').read())]


signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly under '| head'
random.seed(sys.argv[1])
SOURCES = tracked('hatf/*.[ch]', 'preload/*.[ch]', 'tools/*.[ch]')
sample('comments', 60, collect(comments, SOURCES))
sample('messages', 30, collect(messages, SOURCES))
sample('sentences of man pages', 30, collect(sentences, tracked('*/man/*')))
END

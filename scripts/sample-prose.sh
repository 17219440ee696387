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
ESCAPES = {'&': '', '-': '-', 'e': '\\', '(dq': '"', '(mi': '-'}
INLINE = ('Ar Cm Do Dc Dq Dv Em Er Ev Fa Fl Fn Ic In Li Nm No Ns Op Pa Pc Po '
          'Pq Qc Ql Qo Qq Sq Sx Sy Va Vt Xr').split()


def tracked(*patterns):
    out = subprocess.run(['git', 'ls-files', '--', *patterns], check=True,
                         capture_output=True, text=True).stdout
    return out.split('\n')[:-1]


def flow(text):
    return ' '.join(text.split())


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def strip_macros(text):
    text = re.sub(r'\b(Ar|Cm|Dv|Er|Ev|Fa|Fl|Fn|Ic|Li|Pa|Ql|Va|Xr) ', '', text)
    text = re.sub(r' ([.,;:)]+)(?![^\s"])', r'\1', text)
    text = re.sub(r' Ns (?=\S)|(?<=\() ', '', text)
    return re.sub(r'([.,;:]+)\)', r')\1', text)


def comments(path, text):
    """Yield each comment with the code beside or below it."""
    for m in TOKEN.finditer(text):
        body = m.group()
        if body[0] != '/' or 'SPDX' in body:
            continue
        before = text[text.rfind('\n', 0, m.start()) + 1:m.start()].strip()
        words = flow(re.sub(r'^\s*\*', '', body.strip('/*'), flags=re.M))
        if before.startswith('#e') or not re.search('[a-z]{2}', words) \
                or re.fullmatch(r'\S+ - see \S+', words) \
                or words.startswith('---'):
            continue
        after = text[m.end():].lstrip('\n').split('\n', 1)[0].strip()
        yield (f'{path}:{text.count(chr(10), 0, m.start()) + 1}', words,
               before or after)


def messages(path, text):
    """Yield each string of three words or more, with the code before it."""
    code = re.sub(r'/\*.*?\*/', blank, text, flags=re.S)
    for m in STRINGS.finditer(code):
        begin = code.rfind('\n', 0, m.start()) + 1
        words = ''.join(re.findall(r'"((?:\\.|[^"\\\n])*)"', m.group()))
        plain = re.sub(r'%[-+ #0-9.*l]*[a-zA-Z]|\\.', ' ', words)
        before = code[begin:m.start()]
        if before.startswith('#include') or 'asm' in before \
                or re.search(r'\\t|;\\n|[{}]|<\w+ \w+=|^[\[|]', words) \
                or ' ' not in words:
            continue
        if len(re.findall(r'(?<![\w./])[a-z]{2,}(?![\w/(])', plain)) >= 3:
            begin = begin if before.strip() \
                else code.rfind('\n', 0, begin - 1) + 1
            yield (f'{path}:{code.count(chr(10), 0, m.start()) + 1}', words,
                   flow(code[begin:m.start()]))


def sentences(path, text):
    """Yield each sentence of the text of a page, with its item or section."""
    part, held, line, heads = '', '', 0, ['']
    name = re.sub('-', ' ', re.search(r'([^/]+)\.\d$', path)[1], count=1)
    for number, row in enumerate(text.split('\n') + ['.Pp'], 1):
        row = held + row
        held = row[:-1] if row.endswith(' \\') else ''
        if held:
            continue
        macro = re.match(r"[.'](\S*)\s*(.*)", row)
        ends = macro and macro[1] not in INLINE
        if ends or re.search(r'[.?]\)?$', part):
            if re.search(r'[.?:;]\)?$', part) and len(part.split()) > 3 \
                    and heads[0] != 'SYNOPSIS':
                words = re.sub(r'\\(&|-|e|\(dq|\(mi)',
                               lambda m: ESCAPES[m[1]], part)
                yield f'{path}:{line}', words, f'(in: {heads[-1]})'
            part = ''
        if ends:
            if macro[1] in ('Sh', 'Ss', 'It'):
                heads[-1] = strip_macros(macro[2]) or heads[-1]
            elif macro[1] == 'Bl':
                heads.append(heads[-1])
            elif macro[1] == 'El':
                heads.pop()
            continue
        line = line if part else number
        if macro and macro[1] in ('Dq', 'Ql', 'Qq', 'Sq'):
            row = re.sub('^(.*?)((?: [.,;:)])*)$', r'"\1"\2', macro[2])
        elif macro:
            own = '' if re.match('[a-z]', macro[2]) else name + ' '
            row = {'Fl': '-', 'Pq': '(', 'Po': '(', 'Pc': ')', 'Do': '"',
                   'Nm': own}.get(macro[1], '') \
                + macro[2].replace(' Dc', '"') + ')' * (macro[1] == 'Pq')
        part = flow(strip_macros(part + ' ' + row))


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

# SPDX-License-Identifier: MIT
#
# replay_table.py - a Markdown table of several replays
#
# usage: replay_table.py FOLDER PROGRAM...
#
# FOLDER has the object of 'hatf replay --json' for each program.  The first
# allocator has absolute figures, the others have ratios to it, with half of the
# range of the runs.
import json
import os
import sys

folder, programs = sys.argv[1], sys.argv[2:]
replays = []
for program in programs:
    with open(os.path.join(folder, program + '.json')) as text:
        replays.append(json.load(text))


def row(title, cells):
    print('| ' + ' | '.join([title, *cells]) + ' |')


def spread(figures):
    middle = figures['median'] or 1
    return f"± {(figures['max'] - figures['min']) * 50 / middle:.0f} %"


def milliseconds(n):
    return f'{n / 1e6:.0f} ms'


def mebibytes(n):
    return f'{n / 2**20:.1f} MiB'


def cell(replay, idx, member, figure):
    own = replay['allocators'][idx][member]
    if idx == 0:
        return f"{figure(own['median'])} {spread(own)}"
    base = replay['allocators'][0][member]['median'] or 1
    return f"{own['median'] / base:.2f} {spread(own)}"


row('', programs)
print('|---|' + '---:|' * len(programs))
row('calls', [f"{r['calls'] / 1e6:.1f} M" for r in replays])
row('threads', [str(r['threads']) for r in replays])
row('most live bytes', [mebibytes(r['peak_bytes']) for r in replays])
for member, title, figure in (('wall', 'time', milliseconds),
                              ('peak_rss', 'peak RSS', mebibytes)):
    for idx, allocator in enumerate(replays[0]['allocators']):
        row(f"{title}, {allocator['allocator']}",
            [cell(r, idx, member, figure) for r in replays])
    row(f'**least {title}**', [' = '.join(r['best'][member]) for r in replays])

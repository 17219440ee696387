# SPDX-License-Identifier: MIT
#
# replay_tally.py - a trace of random calls, and how many these are
#
# usage: replay_tally.py SEED CALLS BLOCKS THREADS PART >TRACE 2>TALLY
#
# At most BLOCKS live at a time, about.  PART of the calls with a block are of
# any thread, the others of the block's last one.
import random
import sys

calls, blocks, threads = (int(text) for text in sys.argv[2:5])
part = float(sys.argv[5])
chance = random.Random(int(sys.argv[1]))
# Around the limits of what fits into a word, and of a page.
edges = [1, 16, 2047, 2048, 4095, 4096, 4097, 70000, 20 << 20, 0]
live, holes, owners, end = [], [], {}, 0x10000
allocs = frees = reallocs = nbytes = 0


def size():
    if chance.random() < 0.9:
        return chance.randrange(1, 600)
    return chance.choices(edges, [50] * 8 + [1, 50])[0]


def thread_of(address):
    if chance.random() < part:
        return chance.randrange(threads)
    return owners[address]


print('10 HATF ascii thread heap time attributes')
for thread in range(1, threads):
    print('8', thread, '0 0 4200')
for _ in range(calls):
    kind = chance.random()
    if len(live) < blocks and (len(live) < blocks * 0.9 or kind < 0.5):
        n, thread = size(), chance.randrange(threads)
        if holes and chance.random() < 0.7:
            address = holes.pop()
        else:
            address, end = end, end + (32 << 20)
        print('0', n, hex(address + 16), thread, '0 0')
        live.append(address)
        owners[address] = thread
        allocs += 1
        nbytes += n
        continue
    idx = chance.randrange(len(live))
    address = live[idx]
    thread = thread_of(address)
    if kind < 0.6:
        n = size() or 1
        print('2', n, hex(address + 16), hex(address + 16), thread, '0 0')
        owners[address] = thread
        reallocs += 1
        nbytes += n
    else:
        print('1', hex(address + 16), thread, '0 0')
        live[idx] = live[-1]
        live.pop()
        holes.append(address)
        frees += 1
print(allocs, frees, reallocs, nbytes, file=sys.stderr)

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# guard-page.sh - a page without access rights is below the writer's stack
#
# Without it, a stack that outgrew its mapping would overwrite the memory below,
# which may be the program's.
. "$(dirname "$0")/lib.sh"

need "$PYTHON"
cat >look.py <<'EOF'
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

def stack_pointer(tid):
    'of a thread that waits; proc(5), "syscall"'
    try:
        words = open(f'/proc/self/task/{tid}/syscall').read().split()
    except OSError: # the thread has ended
        return None
    return int(words[-2], 16) if len(words) >= 3 else None

def maps():
    for line in open('/proc/self/maps'):
        addresses, rights = line.split()[:2]
        yield *(int(a, 16) for a in addresses.split('-')), rights

def below(address):
    'the rights of the mapping that ends where the one of this address begins'
    all = list(maps())
    begins = [begin for begin, end, _ in all if begin <= address < end]
    return [rights for _, end, rights in all if begins == [end]]

for _ in range(10000):
    for _ in range(1000): # give the writer work
        libc.free(libc.malloc(100))
    for tid in os.listdir('/proc/self/task'):
        pointer = None if int(tid) == os.getpid() else stack_pointer(tid)
        if pointer is not None:
            print(*below(pointer))
            sys.exit()
EOF
trace t.gz env HATFTRACE_BEGIN=now "$PYTHON" -S -I look.py >out 2>err ||
	fail "status $?: $(cat err)"
check 'rights below the stack' "$(cat out)" '---p'
finish

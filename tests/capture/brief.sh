#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# brief.sh - a process that ends soon pays for its trace and for nothing else
#
# strace shows what the recorder does in it: no thread, no file of rings, no
# socket, no library, and few system calls beside those of the program.
. "$(dirname "$0")/lib.sh"

need strace python3 dash
strace -o /dev/null true 2>/dev/null || skip 'strace may not be used here'

# watch LOG COMMAND...: traced, with all system calls in LOG.
watch()
{
	local log=$1
	shift
	strace -f -o "$log" -E HATFTRACE_OUT="$TMP/traces/%e.%p.hatf.gz" \
		-E LD_PRELOAD="$SO" "$@" || fail "$*: $?"
}

calls()
{
	grep -c '(' "$1"
}

# lacks LOG WHAT...: none of these words is in it.
lacks()
{
	local log=$1 word
	shift
	for word; do
		grep -F -e "$word" "$log" && fail "$log: has $word"
	done
}

mkdir traces
strace -f -o bare /bin/true
watch recorded /bin/true
watch dormant -E HATFTRACE_START=off /bin/true
# About 65 and 50; a thread and its files are 80 more.
check_le 'calls, recorded' $(($(calls recorded) - $(calls bare))) 100
check_le 'calls, dormant' $(($(calls dormant) - $(calls bare))) 80
lacks recorded CLONE_ .rings socket libisal
lacks dormant CLONE_ .rings socket libisal traces/
check 'files' "$(find traces -type f | wc -l)" 1
check 'mode' "$(stat -c %a traces/*)" 600
check 'end' "$(trailer "$(echo traces/*)" end)" exit
clean traces/*

# A shell that has others run by vfork(), and then becomes another program.
rm traces/*
watch shell dash -c '/bin/true; /bin/true; exec /bin/true'
lacks shell CLONE_THREAD .rings
check 'files of a shell' "$(find traces -type f | wc -l)" 4
clean traces/*

# What is exec'ed has none of our descriptors, and knows of no signal or
# privilege less.
cat >state.py <<'EOF2'
import os
print(os.listdir('/proc/self/fd'))
for line in open('/proc/self/status'):
    if line.startswith(('SigP', 'SigB', 'SigI', 'Shd', 'Cap', 'NoNew')):
        print(line, end='')
EOF2
dash -c "exec $PYTHON -S -I state.py" >want
env HATFTRACE_OUT="$TMP/traces/e.%p.gz" LD_PRELOAD="$SO" HATFTRACE_FOLLOW='all:dash' \
	dash -c "exec $PYTHON -S -I state.py" >got
check 'state after an exec' "$(cat got)" "$(cat want)"

# Standard descriptors that are closed stay the program's; so does a small stack.
rm -rf traces
trace "$TMP/traces.gz" /bin/true <&- >&- 2>&-
check 'no descriptors' "$?" 0
clean traces.gz
(
	ulimit -s 64
	trace "$TMP/small.gz" /bin/true
)
check 'small stack' "$?" 0
clean small.gz
# A name that is taken.
trace "$TMP/small.gz" /bin/true
clean small.gz.1

# A block that takes more than a page of the disk is compressed.
cat >churn.py <<'EOF2'
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
for _ in range(1000):
    libc.free(libc.malloc(100))
EOF2
trace "$TMP/more.gz" env PYTHONMALLOC=pymalloc "$PYTHON" -S -I churn.py
clean more.gz*
packed=0
for file in more.gz*; do
	nbytes=$(gzip -dc "$file" | wc -c)
	[ "$nbytes" -gt 8000 ] || continue
	packed=$((packed + 1))
	check_le "$file: packed" "$(stat -c %s "$file")" "$((nbytes - 1))"
done
check_ge 'large traces' "$packed" 1
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# brief.sh - a short process pays for its trace and for nothing else
#
# strace shows what the recorder does in such a process: it creates no thread,
# ring file or socket, loads no library and makes few system calls.
. "$(dirname "$0")/lib.sh"

need strace python3 dash
strace -o /dev/null true 2>/dev/null || skip 'strace may not be used here'

# watch LOG COMMAND...: run it recorded, with all its system calls in LOG.
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

# lacks LOG WORD...: fail if LOG contains one of these words.
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
# The recorder makes about 65 calls, and 50 if dormant.  A thread and its files
# would take 80 more.
check_le 'calls, recorded' $(($(calls recorded) - $(calls bare))) 100
check_le 'calls, dormant' $(($(calls dormant) - $(calls bare))) 80
lacks recorded CLONE_ .rings socket libisal
lacks dormant CLONE_ .rings socket libisal traces/
check 'files' "$(find traces -type f | wc -l)" 1
check 'mode' "$(stat -c %a traces/*)" 600
check 'end' "$(trailer "$(echo traces/*)" end)" exit
clean traces/*

# A shell runs other programs by vfork(), and then executes another one.
rm traces/*
watch shell dash -c '/bin/true; /bin/true; exec /bin/true'
lacks shell CLONE_THREAD .rings
check 'files of a shell' "$(find traces -type f | wc -l)" 4
clean traces/*

# A shell looks for a program by an exec in each folder of PATH.
rm traces/*
mkdir empty
script='no-such; echo $?; PATH=/dev/null; no-such; echo $?'
places=$TMP/empty:/nonexistent:/dev/null:$PATH
want=$(PATH=$places dash -c "$script" 2>&1)
PATH=$places watch search dash -c "$script" >got 2>&1
check 'missing programs' "$(cat got)" "$want"
lacks search CLONE_THREAD .rings
rm traces/*
PATH=$places watch search dash -c 'env true; exec env true'
lacks search CLONE_THREAD .rings
clean traces/*

# If an exec fails, the writer thread takes the trace over.  The trailer has the
# processor time of both writers, without that of the program.
rm traces/*
HATFTRACE_OUT=$TMP/traces/failed.hatf LD_PRELOAD=$SO perl -X -e '
	for (my $i = 0; $i < 1_000_000; $i++) { $sum += $i }
	exec "/nonexistent";
	@texts = map { "x" x ($_ % 700) } 1 .. 2_000' || fail 'failed exec'
cpu_ns=$(trailer traces/failed.hatf cpu_ns)
check_ge 'processor time of the writers' "$cpu_ns" 1
check_le 'processor time of the writers' "$cpu_ns" 10000000000
clean traces/*

# An executed program inherits no descriptor of the recorder, and has the same
# signals and privileges as without it.
cat >state.py <<'EOF2'
import os
print(os.listdir('/proc/self/fd'))
for line in open('/proc/self/status'):
    if line.startswith(('SigP', 'SigB', 'SigI', 'Shd', 'Cap', 'NoNew')):
        print(line, end='')
EOF2
dash -c "exec $PYTHON -S -I state.py" >want
env HATFTRACE_OUT="$TMP/traces/e.%p.gz" LD_PRELOAD="$SO" \
	HATFTRACE_FOLLOW='all:dash' \
	dash -c "exec $PYTHON -S -I state.py" >got
check 'state after an exec' "$(cat got)" "$(cat want)"

# Closed standard descriptors stay closed, and a small stack is large enough.
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
# The name of the trace is taken.
trace "$TMP/small.gz" /bin/true
clean small.gz.1

# A block that takes more than one page on the disk is compressed.
cat >churn.py <<'EOF2'
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
for _ in range(1000):
    libc.free(libc.malloc(100))
EOF2
# Eight thousand events need no thread, and their times are exact although the
# process sleeps before it writes them.  A process that takes 0.2 s, as on a
# busy machine, gets a thread: try again then.
sed 's/1000/4000/' churn.py >busy.py
echo 'import time; time.sleep(0.05)' >>busy.py
mkdir traces
for _ in {1..8}; do
	rm -f traces/*
	watch busy -E PYTHONMALLOC=pymalloc "$PYTHON" -S -I busy.py
	clean traces/*
	check_ge 'events of a busy process' "$(info traces/* events)" 8000
	[ "$(trailer "$(echo traces/*)" time)" -ge 150000 ] || break
done
if [ "$(trailer "$(echo traces/*)" time)" -lt 150000 ]; then
	lacks busy CLONE_THREAD .rings
	"$HATF" dump --meta "$(echo traces/*)" >ticks
	grep 'step=' ticks && fail 'busy: ticks last longer than 2 ms'
else
	echo 'the machine is too busy for a process without a thread'
fi
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

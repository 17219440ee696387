#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# begin.sh - the writer thread and the file exist only once needed
#
# runs alone: beside another test a program may run until its writer begins
#
# The program reports how many threads it has and how many files are in the
# folder of its trace.
. "$(dirname "$0")/lib.sh"

need python3
cat >look.py <<'EOF'
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

def churn(n):
    for _ in range(n):
        libc.free(libc.malloc(100))

def look():
    # The recorder ends its thread before a look into /proc/self/task, but
    # not before a look into this file.
    with open("/proc/self/status") as f:
        threads = [line.split()[1] for line in f if line.startswith("Threads")]
    return f'{threads[0]} {len(os.listdir("traces"))}'

# Up to here Python has caused fewer events than the ring can hold.
before = look()
for what in sys.argv[1:]:
    if what == 'events':
        churn(20000)
    elif what == 'pause':
        churn(1)
        time.sleep(0.5)
        churn(2)
    elif what == 'fork':
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    elif what == 'kill':
        os.kill(os.getpid(), 9)
print(before, look())
EOF

# see WHAT WANT [VARIABLE...]: WANT has the numbers of threads and files before
# and after.
see()
{
	local what=$1 want=$2
	shift 2
	rm -rf traces
	mkdir traces
	# shellcheck disable=SC2086 # words
	env "$@" HATFTRACE_OUT="$TMP/traces/t.%p.hatf.gz" LD_PRELOAD="$SO" \
		PYTHONMALLOC=pymalloc "$PYTHON" -S -I look.py $what >out 2>err
	status=$?
	[ -s err ] && fail "$what: $(cat err)"
	check "$what $*: threads, files" "$(cat out)" "$want"
}

# The trace and the ring file make two; the recorder creates them together with
# the thread.
see 'nothing' '1 0 1 0'
clean traces/*
see 'events' '1 0 2 2'
clean traces/*
see 'pause' '1 0 2 2'
clean traces/*
see 'fork' '1 0 2 3' # the third file is the child's trace
clean traces/*
see 'nothing' '2 2 2 2' HATFTRACE_BEGIN=now
clean traces/*
see 'nothing' '1 0 1 0' HATFTRACE_START=off
check 'traces of a dormant process' "$(ls traces)" ''
see 'events' '1 0 1 0' HATFTRACE_START=off
# The trace survives a kill from the moment when the file exists.
see 'kill' ''
check 'killed before: status' "$status" 137
check 'killed before: files' "$(ls traces)" ''
see 'kill' '' HATFTRACE_BEGIN=now
check 'killed after: files' "$(find traces -type f | wc -l)" 2
"$HATF" recover traces/*.gz >/dev/null || fail 'recover'
clean traces/*.gz
see 'events kill' ''
"$HATF" recover traces/*.gz >/dev/null || fail 'recover'
clean traces/*.gz
check_ge 'events' "$(info traces/*.gz events)" 40000

# A child that shares its parent's memory cannot start the thread; the parent
# can.
trace_tallied tally "$PROGS/lifecycle" vfork >out 2>err || fail "vfork: $?"
clean tally.traces/*
compare_tallies tally
finish

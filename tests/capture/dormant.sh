#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dormant.sh - HATFTRACE_START=off, and recording that starts and stops
#
# A dormant recorder leaves nothing on the disk and sleeps.  Each trace between
# a start and a stop is complete and consistent, however many threads the
# program has.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

need jq
control_folder

# dormant NAME COMMAND...: run it in the background, with a writer thread from
# the start; set 'pid', wait for its socket.
dormant()
{
	local name=$1
	shift
	(exec env HATFTRACE_START=off HATFTRACE_BEGIN=now \
		HATFTRACE_OUT="$TMP/$name" \
		LD_PRELOAD="$SO" "$@") >"out.${name%%.*}" &
	pid=$!
	await_socket "$pid"
}

state()
{
	ctl --json "$1" status | jq -r .state
}

test_leaves_nothing()
{
	mkdir never
	HATFTRACE_START=off trace "$TMP/never/t.%p.hatf.gz" "$PYTHON" -c '
import subprocess, threading
t = threading.Thread(target=lambda: [str(i) for i in range(1000)])
t.start(); t.join()
subprocess.run(["sh", "-c", "ls | wc -l; exec true"], stdout=subprocess.DEVNULL)
' || fail 'exit status of a dormant program'
	check 'files of dormant processes' "$(ls never)" ''
	check 'sockets afterwards' "$(left)" ''
}

# The writer thread's voluntary context switches count how often it wakes up.
test_sleeps()
{
	local task before after
	dormant sleeps.hatf.gz sleep 6
	check 'state' "$(state "$pid")" dormant
	for task in /proc/"$pid"/task/*; do
		[ "$(cat "$task/comm")" = hatftrace ] && break
	done
	sleep 0.3
	before=$(awk '/^voluntary/ { print $2 }' "$task/status")
	sleep 3
	after=$(awk '/^voluntary/ { print $2 }' "$task/status")
	check_le 'wake-ups in 3 s' "$((after - before))" 4
	kill "$pid"
	wait "$pid" 2>/dev/null
	rm -f "$sockets/$pid.sock" # left by the killed process
}

test_start_and_stop()
{
	local i
	dormant steered.hatf.gz "$PROGS/steer" 4 12 500
	for i in 1 2 3; do
		ctl "$pid" start >/dev/null || fail "start $i"
		check "state $i" "$(state "$pid")" recording
		ctl "$pid" start >/dev/null 2>&1 && fail 'started twice'
		sleep 0.2
		[ "$i" = 2 ] && { ctl "$pid" rotate >/dev/null || fail rotate; }
		ctl "$pid" stop >/dev/null || fail "stop $i"
		check "state after $i" "$(state "$pid")" dormant
		ctl "$pid" flush >/dev/null 2>&1 && fail 'flush without a trace'
	done
	ctl "$pid" start >/dev/null || fail 'the last start'
	wait "$pid"
	check 'exit status' "$?" 0
	check 'traces' "$(count steered*)" 5
	for i in steered*; do
		clean "$i"
		check_ge "events of $i" "$(info "$i" events)" 100
		check "start of $i" "$(header "$i" start)" late
		[ -n "$(header "$i" pid_start)" ] || fail "pid_start of $i"
		check "parent of $i" \
			"$(header "$i" ancestors | cut -d @ -f 1)" "$$"
	done
	check 'how they ended' "$(for i in steered*; do trailer "$i" end; done |
		sort | tr '\n' ' ')" 'exit rotate stop stop stop '
}

# Start and stop as fast as possible, with more threads than processors.
test_storm()
{
	local rounds=0 file
	dormant storm.hatf.gz "$PROGS/steer" 8 6
	while kill -0 "$pid" 2>/dev/null; do
		ctl "$pid" start >/dev/null 2>&1
		sleep "0.0$((RANDOM % 4))"
		ctl "$pid" stop >/dev/null 2>&1
		rounds=$((rounds + 1))
	done
	wait "$pid"
	check 'exit status in a storm' "$?" 0
	check_ge 'starts' "$rounds" 5
	for file in storm*; do
		clean "$file"
	done
}

# A process with one thread keeps the coarse clock.
test_one_thread()
{
	dormant single.hatf.gz "$PYTHON" -c '
import time
end = time.time() + 2
while time.time() < end:
    [bytearray(600 + i) for i in range(100)]'
	ctl "$pid" start >/dev/null || fail 'start of one thread'
	sleep 0.5
	ctl "$pid" stop >/dev/null
	wait "$pid"
	clean single.hatf.gz
	check_ge 'events of one thread' "$(info single.hatf.gz events)" 1000
	plain single.hatf.gz | grep -a -A1 'HATF clock' | grep -q '^clock=us' &&
		fail 'one thread has stamps'
}

# A child is dormant or recording, as its parent is at the fork.
test_children()
{
	local i p early
	cat >family.py <<-'EOF'
	import os, sys, time
	def family(n):
	    for i in range(n):
	        if os.fork() == 0:
	            keep = [bytearray(600 + j) for j in range(100)]
	            while not os.path.exists('end'):
	                time.sleep(0.02)
	            os._exit(0)
	family(2)
	while not os.path.exists('go'):
	    time.sleep(0.02)
	family(2)
	for i in range(4):
	    os.wait()
	EOF
	dormant kin.%p.hatf.gz "$PYTHON" family.py
	for ((i = 0; i < 100; i++)); do
		[ "$(left | wc -l)" = 3 ] && break
		sleep 0.05
	done
	check 'dormant processes' "$(for p in "$sockets"/*.sock; do p=${p##*/}
		state "${p%.sock}"; done | grep -c dormant)" 3
	check 'no traces' "$(ls kin.*.hatf.gz 2>/dev/null)" ''
	for p in "$sockets"/*.sock; do
		p=${p##*/} p=${p%.sock}
		[ "$p" = "$pid" ] || early=$p
	done
	ctl "$early" start >/dev/null || fail 'start of an early child'
	ctl "$pid" start >/dev/null || fail 'start of a parent'
	touch go
	sleep 1
	touch end
	wait "$pid"
	check 'traces of parent, late children and an early one' \
		"$(count kin.[0-9]*.hatf.gz)" 4
	clean kin.[0-9]*.hatf.gz
	"$HATF" tree --json kin.[0-9]*.hatf.gz >tree.json || fail 'tree'
	check 'children in the tree' \
		"$(jq -r "select(.origin == \"fork\") | .parent" tree.json |
			sort | uniq -c | tr -s ' ')" " 3 kin.$pid.hatf.gz"
	check 'the early child' "$(jq -r "select(.pid == $early) |
		\"\(.origin) \(.parent_pid) \(.parent_event)\"" tree.json)" \
		"fork $pid null"
}

# A process with a dormant recorder ends.
test_ends()
{
	local how
	for how in 'import os; os._exit(3)' 'import sys; sys.exit(3)' \
		'import os; os.execlp("sh", "sh", "-c", "exit 3")'; do
		HATFTRACE_START=off trace "$TMP/ends.hatf.gz" timeout 20 \
			"$PYTHON" -c "$how"
		check "status of $how" "$?" 3
	done
	HATFTRACE_START=off trace "$TMP/ends.hatf.gz" timeout 20 \
		"$PROGS/lifecycle" main-thread >/dev/null 2>&1
	check 'the last thread left' "$(($? < 124))" 1
	HATFTRACE_START=off HATFTRACE_CONTROL=off trace "$TMP/ends.hatf.gz" \
		timeout 20 "$PYTHON" -c pass || fail 'dormant, without a socket'
	[ -e ends.hatf.gz ] && fail 'a trace of a dormant process'
	check 'sockets of ended processes' "$(left)" ''
}

# After a failed exec the process can still be reached.
test_failed_exec()
{
	dormant exec.hatf.gz "$PYTHON" -c '
import os, time
time.sleep(0.3)
try:
    os.execv("/", ["x"])
except OSError:
    pass
time.sleep(2)'
	sleep 1
	check 'state after an exec that failed' "$(state "$pid")" dormant
	wait "$pid"
}

# A stop ends with the program image: forked children inherit it, executed
# programs do not.
test_stop_and_exec()
{
	mkdir over
	cat >over.py <<-'EOF'
	import ctypes, os, sys
	tracer = ctypes.CDLL(sys.argv[1])
	tracer.hatftrace_client_stop()
	if os.fork() == 0:
	    keep = [bytearray(600 + i) for i in range(1000)]
	    os._exit(0)
	os.wait()
	os.execv('/bin/true', ['true'])
	EOF
	trace "$TMP/over/%e.%p.hatf.gz" "$PYTHON" -S over.py "$SO" ||
		fail 'stop and exec: status'
	check 'traces of a stop and an exec' "$(count over/*)" 2
	check 'the program after it' "$(count over/true.*)" 1
	check 'how the one before ended' \
		"$(trailer "$(echo over/py*)" end)" stop
	clean over/*
}

# A process without a writer thread sees an order at its next allocation.
test_bell()
{
	local i
	cat >bell.py <<-'EOF'
	import ctypes, sys, time
	libc = ctypes.CDLL(None)
	libc.malloc.restype = ctypes.c_void_p
	libc.free.argtypes = [ctypes.c_void_p]
	pause = float(sys.argv[1])
	end = time.monotonic() + float(sys.argv[2])
	while time.monotonic() < end:
	    time.sleep(pause)
	    libc.free(libc.malloc(4711))
	EOF
	(exec env HATFTRACE_START=off HATFTRACE_OUT="$TMP/bell.hatf.gz" \
		LD_PRELOAD="$SO" "$PYTHON" -S bell.py 0.01 9) &
	pid=$!
	sleep 1
	check 'threads of a dormant process' "$(count /proc/$pid/task/*)" 1
	check 'files of a dormant process' "$(left)" ''
	check 'all' "$(ctl --all status 2>/dev/null | grep -c "^$pid:")" 1
	check 'state' "$(state "$pid")" dormant
	check 'its executable' "$(ctl --json "$pid" status | jq -r .exe)" \
		"$(readlink "/proc/$pid/exe")"
	ctl "$pid" flush 2>/dev/null && fail 'flush of a dormant process'
	check 'threads after orders that need none' \
		"$(count /proc/$pid/task/*)" 1
	ctl "$pid" start >/dev/null || fail 'start by the bell'
	check 'threads of a recording process' "$(count /proc/$pid/task/*)" 2
	sleep 0.5
	ctl "$pid" stop >/dev/null || fail 'stop'
	for ((i = 0; i < 200; i++)); do
		[ "$(count /proc/$pid/task/*)" = 1 ] && break
		sleep 0.05
	done
	check 'threads, later' "$(count /proc/$pid/task/*)" 1
	check 'state, later' "$(state "$pid")" dormant
	clean bell.hatf.gz
	check_ge 'allocations' \
		"$(events bell.hatf.gz | grep -c '^alloc 4711 ')" 10
	wait "$pid"
	check 'what is left' "$(left)" ''
	# A process that rarely allocates starts with its next allocation.
	(exec env HATFTRACE_START=off HATFTRACE_OUT="$TMP/quiet.hatf.gz" \
		LD_PRELOAD="$SO" "$PYTHON" -S bell.py 6 7) &
	pid=$!
	sleep 1
	check 'state of a quiet one' "$(state "$pid")" dormant
	ctl "$pid" start 2>quiet.err && fail 'a quiet process answers'
	grep -q 'will start recording at its next allocation' quiet.err ||
		fail "quiet: $(cat quiet.err)"
	check 'pending start' "$(ctl --json "$pid" status | jq -r .pending)" \
		start
	wait "$pid"
	clean quiet.hatf.gz
	check 'it has recorded' \
		"$(events quiet.hatf.gz | grep -c '^alloc 4711 ')" 1
	# A killed process leaves no file if it never had a thread; else its
	# status file stays until the next 'hatf ctl'.
	(exec env HATFTRACE_START=off HATFTRACE_OUT="$TMP/bell.hatf.gz" \
		LD_PRELOAD="$SO" sleep 20) &
	pid=$!
	sleep 0.5
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	check 'what a killed one leaves' "$(left)" ''
	(exec env HATFTRACE_START=off HATFTRACE_OUT="$TMP/bell.hatf.gz" \
		LD_PRELOAD="$SO" "$PYTHON" -S bell.py 0.01 20) &
	pid=$!
	sleep 1
	ctl "$pid" start >/dev/null || fail 'start of one to be killed'
	ctl "$pid" stop >/dev/null || fail 'stop of one to be killed'
	# The writer thread removes its socket after it has written the status.
	for ((i = 0; i < 200; i++)); do
		[ "$(left)" = "$pid.status" ] && break
		sleep 0.05
	done
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	check 'the status of a killed one' "$(left)" "$pid.status"
	ctl --all status >/dev/null 2>&1
	check 'swept' "$(left)" ''
	# A process may be killed between creating the file and writing it.
	: >"$sockets/4194303.status"
	: >"$sockets/4194304.status"
	touch -d '-1 minute' "$sockets/4194304.status"
	ctl --all status >/dev/null 2>&1
	check 'swept without a status' "$(left)" '4194303.status'
	rm -f "$sockets/4194303.status"
}

# A relative file name refers to the folder in which the program began.
test_moved()
{
	(exec env HATFTRACE_START=off HATFTRACE_OUT=moved.hatf.gz \
		LD_PRELOAD="$SO" "$PYTHON" -S -c '
import os, time
os.chdir("/")
end = time.monotonic() + 4
while time.monotonic() < end:
    bytearray(4711)
    time.sleep(0.01)') &
	pid=$!
	sleep 1
	ctl "$pid" start >/dev/null || fail 'start of one that has moved'
	wait "$pid"
	clean "$TMP/moved.hatf.gz"
	check 'working directory' "$(header "$TMP/moved.hatf.gz" cwd)" /
}

# Under another root directory, no /proc gives the recorder the program's name.
test_rooted()
{
	[ "$(id -u)" = 0 ] || return 0
	mkdir -p "jail$TMP"
	(exec env HATFTRACE_START=off HATFTRACE_OUT="$TMP/%e.hatf.gz" \
		LD_PRELOAD="$SO" "$PYTHON" -S -c '
import os, sys, time
os.chroot(sys.argv[1])
end = time.monotonic() + 4
while time.monotonic() < end:
    bytearray(4711)
    time.sleep(0.01)' "$TMP/jail") &
	pid=$!
	sleep 1
	# Write the order as 'hatf ctl PID start' does.  The command would then
	# look for a socket, and find none.
	write_order "$pid" "$((1 << 2 | 2))"
	wait "$pid"
	check 'its name behind another root' "$(ls "jail$TMP")" \
		"$(basename "$(readlink -f "$PYTHON")").hatf.gz"
	check 'its executable' "$(header "jail$TMP"/*.hatf.gz exe)" \
		"$(readlink -f "$PYTHON")"
}

# An order to start replaces another order before the writer thread takes it.
# If the process still listens after the second order, it obeys that order.
test_replaced_order()
{
	local i trace listens
	for i in 1 2 3 4 5 6; do
		trace=two.$i.hatf.gz
		(exec env HATFTRACE_START=off HATFTRACE_OUT="$TMP/$trace" \
			LD_PRELOAD="$SO" "$PYTHON" -S -c '
import time
end = time.monotonic() + 1
while time.monotonic() < end:
    bytearray(4711)') &
		pid=$!
		sleep 0.2
		"$PYTHON" -S -c '
import os, struct, sys
fd = os.open(sys.argv[1], os.O_WRONLY)
pid = int(sys.argv[2])
for order in (1 << 2 | 1, 2 << 2 | 2): # to make the writer, to start
    os.pwrite(fd, struct.pack("=Q", order | pid // 65536 << 58),
              pid % 65536 * 8)
sys.exit("/bells-1" not in open("/proc/%d/maps" % pid).read())
' "$sockets/bells-1" "$pid"
		listens=$?
		wait "$pid"
		[ $listens != 0 ] || clean "$trace"
	done
}

# wiped_on_fork PID: print how many KiB the process maps with MADV_WIPEONFORK.
wiped_on_fork()
{
	awk '/^Size:/ { size = $2 }
		/^VmFlags:.* wf/ { sum += size }
		END { print sum }' "/proc/$1/smaps"
}

# If there are threads when recording starts, the table of page owners begins
# (2 MiB, wiped on fork), so that most events need no stamp.
test_owners()
{
	local before
	dormant owners.hatf.gz "$PROGS/steer" 4 3 500
	before=$(wiped_on_fork "$pid")
	ctl "$pid" start >/dev/null || fail 'start with threads'
	check_ge 'KiB of the table' "$(wiped_on_fork "$pid")" \
		$((before + 2048))
	wait "$pid"
	clean owners.hatf.gz
}

test_leaves_nothing
test_bell
test_owners
test_replaced_order
test_moved
test_rooted
test_sleeps
test_start_and_stop
test_storm
test_one_thread
test_children
test_ends
test_failed_exec
test_stop_and_exec
finish

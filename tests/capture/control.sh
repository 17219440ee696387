#!/bin/bash
# SPDX-License-Identifier: MIT
#
# control.sh - 'hatf ctl', and other clients of the control socket
#
# A traced process carries out orders and reports its state correctly.  No
# client delays the recording or the program, however it behaves.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

need jq
control_folder

# spawn NAME COMMAND...: run it in the background, traced to NAME; set 'pid'.
spawn()
{
	local name=$1
	shift
	# HATFTRACE_BEGIN=now: processes with few events have a socket, too.
	(exec env HATFTRACE_OUT="$TMP/$name" HATFTRACE_BEGIN=now \
		LD_PRELOAD="$SO" "$@") &
	pid=$!
}

# ours: filter lines about processes; keep those of this test.  An order to all
# may reach other processes of the machine.
ours()
{
	local line
	while read -r line; do
		[ -S "$sockets/${line%%:*}.sock" ] && echo "$line"
	done
}

# start NAME COMMAND...: as 'spawn', then wait until there is a socket.
start()
{
	local name=$1
	shift
	spawn "$name" "$@" >"$name.out"
	await_socket "$pid"
}

# value PID KEY: print one value of the process's status.
value()
{
	ctl --json "$1" status | jq -r ".$2"
}

# refused WHAT TEXT COMMAND...: exit status 1, and TEXT on standard error.
refused()
{
	local what=$1 text=$2 status
	shift 2
	"$@" >/dev/null 2>refused.err
	status=$?
	check "$what: exit status" "$status" 1
	grep -q -- "$text" refused.err ||
		fail "$what: '$(cat refused.err)', want '$text'"
}

test_status_and_flush()
{
	start status.hatf.gz "$PROGS/steer" 2 8 2000
	check 'state' "$(value $pid state)" recording
	check 'exe' "$(value $pid exe)" "$(realpath "$PROGS/steer")"
	check 'pid' "$(value $pid pid)" "$pid"
	check 'trace' "$(value $pid trace)" "$TMP/status.hatf.gz"
	check 'lost' "$(value $pid lost)" 0
	check 'mode of the socket' "$(stat -c %a "$sockets/$pid.sock")" 600
	check 'mode of its folder' "$(stat -c %a "$sockets")" 700
	# The file has every event that was published before the flush.
	ctl "$pid" flush >flush.txt || fail 'flush'
	cp status.hatf.gz flushed.hatf.gz
	clean_but_cut flushed.hatf.gz
	local told text
	told=$(sed -nE 's/.* ([0-9 ]+) events.*/\1/p' flush.txt | tr -d ' ')
	check_ge 'events in the file after a flush' \
		"$(info flushed.hatf.gz events 2>/dev/null)" "${told:-1}"
	ctl "$pid" snapshot -o snap.hatf.gz >snap.txt || fail 'snapshot'
	text="^$pid: snap.hatf.gz: [0-9 ]+ live blocks, [0-9.]+ [KMG]?i?B$"
	grep -qE "$text" snap.txt || fail "snapshot: $(cat snap.txt)"
	clean snap.hatf.gz
	check 'events of a snapshot' "$(info snap.hatf.gz events)" 0
	check_ge 'blocks of a snapshot' \
		"$(info snap.hatf.gz end_live_objects)" 300
	wait "$pid"
	check 'the program' "$(cat status.hatf.gz.out)" 'done'
	clean status.hatf.gz
	[ -e "$sockets/$pid.sock" ] && fail 'its socket is left'
}

# Take several snapshots beside the trace, with all live blocks known.
test_snapshots()
{
	local i
	mkdir beside
	HATFTRACE_BEGIN=now "$HATF" record \
		-o "$TMP/beside/kept.%p.hatf.gz" -- "$PYTHON" -c '
import os, time
keep = [bytearray(1000 + i) for i in range(500)]
if os.fork() == 0:
    time.sleep(1.5)
    os._exit(0)
time.sleep(2)
os.wait()' 2>record.err &
	local recorder=$!
	for ((i = 0; i < 200; i++)); do
		[ "$(count "$sockets"/*.sock)" = 2 ] && break
		sleep 0.02
	done
	pid=$(left | head -n 1)
	pid=${pid%.sock}
	cd beside || exit 1
	# Take one of each process, and another one of the first.
	for i in "$sockets"/*.sock; do
		i=${i##*/}
		ctl "${i%.sock}" snapshot || fail 'a snapshot of each'
	done >../first.txt
	(umask 0; ctl --json "$pid" snapshot >../second.json) ||
		fail 'the second snapshot'
	cp "snapshot.$pid.hatf.gz" ../kept.hatf.gz
	ctl "$pid" snapshot -o "snapshot.$pid.hatf.gz" 2>../third.err &&
		fail 'a snapshot over another'
	check 'the first is unchanged' "$(cksum <"snapshot.$pid.hatf.gz")" \
		"$(cksum <../kept.hatf.gz)"
	ctl "$pid" snapshot -o - >../out.hatf.gz || fail 'snapshot to a pipe'
	cd .. || exit 1
	check 'an existing file' "$(cat third.err)" \
		"hatf ctl: snapshot.$pid.hatf.gz: File exists"
	check 'name of the second' "$(jq -r .snapshot second.json)" \
		"snapshot.$pid.1.hatf.gz"
	check 'live set of the snapshot' "$(jq -r .live second.json)" exact
	check 'mode' "$(stat -c %a "beside/snapshot.$pid.1.hatf.gz")" 600
	grep -q 'unknown' first.txt && fail 'something is not known'
	wait "$recorder"
	check 'exit status of the recorder' "$?" 0
	grep -q snapshot record.err && fail "summary: $(cat record.err)"
	check 'snapshots' "$(count beside/snapshot.*)" 3
	"$HATF" tree beside >tree.txt 2>tree.err || fail 'tree'
	check 'said of snapshots' "$(cat tree.err)" ''
	check 'processes' "$(wc -l <tree.txt)" 2
	grep -q snapshot tree.txt && fail 'a snapshot in the tree'
	clean out.hatf.gz beside/*.hatf.gz
	"$HATF" verify beside/kept.*.hatf.gz beside/snapshot.* >/dev/null ||
		fail 'verify of all'
	for i in out.hatf.gz beside/snapshot.*; do
		check "name of the trace in $i" \
			"$(header "$i" snapshot_of | cut -c 1-5)" kept.
		check_ge "blocks of $i" "$(info "$i" end_live_objects)" 500
	done
}

# After a late start, or a rotation without the live set, older blocks are
# unknown.
test_snapshots_of_a_part()
{
	local order
	start part.hatf.gz "$PYTHON" -c '
import time
keep = [bytearray(1000 + i) for i in range(500)]
for i in range(60):
    keep.append(bytearray(600 + i))
    time.sleep(0.05)'
	refused 'a snapshot without a table' 'with HATFTRACE_ROTATE' \
		ctl --rotate "$pid" snapshot -o none.hatf.gz
	check 'no rotation' "$(value "$pid" segment)" 0
	check 'no table' "$(value "$pid" keeps_live)" 0
	[ -e none.hatf.gz ] && fail 'a snapshot in spite of that'
	ctl "$pid" rotate >rotate.txt || fail rotate
	grep -q 'without the blocks live at its start' rotate.txt ||
		fail "rotate: $(cat rotate.txt)"
	ctl "$pid" snapshot -o rotated.hatf.gz >snap.txt || fail snapshot
	text='without blocks allocated before .*part.s0001.* began$'
	grep -q "$text" snap.txt ||
		fail "snapshot: $(cat snap.txt)"
	check 'live set in the header' "$(header rotated.hatf.gz live)" unknown
	check 'no segment' "$(header rotated.hatf.gz segment)" ''
	for order in stop start; do
		ctl "$pid" $order >/dev/null || fail $order
	done
	ctl --json "$pid" snapshot -o late.hatf.gz >snap.json || fail snapshot
	check 'after a late start' "$(jq -r .live snap.json)" unknown
	check 'its header' "$(header late.hatf.gz live)" unknown
	wait "$pid"
	clean part*.hatf.gz rotated.hatf.gz late.hatf.gz
	check 'live at the start' "$(info part.s0001.hatf.gz carried_objects)" \
		null
	"$HATF" info part.s0001.hatf.gz |
		grep -q '^  live at the start *not known$' ||
		fail "info: $("$HATF" info part.s0001.hatf.gz)"
	# The recorder keeps the live set, but does not know older blocks.
	HATFTRACE_START=off HATFTRACE_ROTATE=1G start older.hatf.gz "$PYTHON" \
		-c '
import time
for i in range(300):
    bytearray(600 + i)
    time.sleep(0.01)'
	ctl "$pid" start >/dev/null || fail 'older: start'
	ctl "$pid" rotate >rotate.txt || fail 'older: rotate'
	grep -q ', without blocks allocated before recording began$' \
		rotate.txt || fail "older: rotate: $(cat rotate.txt)"
	kill "$pid"
	wait "$pid"
	# With the live set, no block is unknown.
	HATFTRACE_ROTATE=1G start whole.hatf.gz "$PYTHON" -c '
import time
keep = [bytearray(1000 + i) for i in range(500)]
open("kept", "w").close()
for i in range(200):
    keep.append(bytearray(600 + i))
    time.sleep(0.01)'
	for ((order = 0; order < 500; order++)); do
		[ -e kept ] && break
		sleep 0.02
	done
	check 'rotate' "$(ctl --json "$pid" rotate | jq -r .live)" exact
	ctl "$pid" snapshot -o whole.snap.hatf.gz >snap.txt || fail snapshot
	grep -q 'unknown' snap.txt && fail "snapshot: $(cat snap.txt)"
	check_ge 'blocks' "$(info whole.snap.hatf.gz end_live_objects)" 500
	# A snapshot of the next file has what this file begins with.
	ctl --json --rotate "$pid" snapshot -o fresh.hatf.gz >fresh.json ||
		fail 'snapshot --rotate'
	wait "$pid"
	clean whole.s*.hatf.gz
	check_ge 'carried' "$(info whole.s0001.hatf.gz carried_objects)" 500
	check 'fresh' "$(jq -r '.live, .live_objects' fresh.json | xargs)" \
		"exact $(info whole.s0002.hatf.gz carried_objects)"
	check 'fresh: of' "$(header fresh.hatf.gz snapshot_of)" \
		whole.s0002.hatf.gz
	clean fresh.hatf.gz
}

# If the process must record for an order, the refusal says how to make it
# record.
test_dormant()
{
	local hint order
	HATFTRACE_START=off spawn dormant.hatf.gz "$PYTHON" -c '
import time
while True:
	bytearray(4711)
	time.sleep(.01)'
	hint="^hatf ctl: $pid: not recording: 'hatf ctl $pid start' begins a"
	hint+=' trace$'
	# First without a writer thread, then with one.
	for order in flush rotate snapshot 'snapshot --rotate'; do
		# shellcheck disable=SC2086
		refused "dormant: $order" "$hint" ctl "$pid" $order
	done
	refused 'dormant: top' "${hint/ctl/top}" "$HATF" top "$pid"
	refused 'dormant: stop' ": $pid: not recording$" ctl "$pid" stop
	ctl "$pid" start >/dev/null || fail 'start a dormant process'
	ctl "$pid" stop >/dev/null || fail 'stop it'
	for order in flush rotate snapshot 'snapshot --rotate'; do
		# shellcheck disable=SC2086
		refused "stopped: $order" "$hint" ctl "$pid" $order
	done
	refused 'stopped: stop' ": $pid: not recording$" ctl "$pid" stop
	kill "$pid"
	wait "$pid" 2>/dev/null
	clean dormant.hatf.gz
}

# After an order, the socket stays for two seconds, also in a process that
# allocates nothing meanwhile.
test_quiet_process()
{
	LD_PRELOAD=$SO HATFTRACE_OUT=$TMP/quiet.hatf.gz PYTHONMALLOC=malloc \
		"$PYTHON" -c '
import time
kept = [object() for i in range(60000)]
time.sleep(60)' &
	pid=$!
	await_socket "$pid"
	ctl "$pid" stop >/dev/null || fail 'stop a quiet process'
	sleep 0.2
	ctl "$pid" start >/dev/null || fail 'start a quiet process'
	ctl "$pid" stop >/dev/null || fail 'stop a quiet process again'
	kill "$pid"
	wait "$pid" 2>/dev/null
	clean quiet.hatf.gz
}

test_wrong_processes()
{
	refused 'not there' 'no such process' ctl 4194303 status
	refused 'not traced' \
		"$$: not traced: start the program with 'hatf record', .*" \
		ctl $$ status
	HATFTRACE_CONTROL=off spawn deaf.hatf.gz sleep 3
	sleep 0.8
	refused 'no socket' \
		"$pid: traced, but takes no orders: HATFTRACE_CONTROL is off$" \
		ctl "$pid" status
	kill "$pid"
	wait "$pid" 2>/dev/null
	HATFTRACE_OUT=$TMP/few.hatf.gz LD_PRELOAD=$SO sleep 9 &
	pid=$!
	sleep 1.2
	refused 'too few events' "$pid: recording, but with too few heap" \
		ctl "$pid" snapshot --rotate
	kill "$pid"
	wait "$pid" 2>/dev/null
	ctl 1 nonsense 2>/dev/null
	check 'unknown order' "$?" 2
	ctl bogus status 2>bogus.err
	check 'no number' "$?" 2
	check 'lines about it' "$(wc -l <bogus.err)" 1
	ctl status 2>/dev/null
	check 'no process' "$?" 2
	trace "$TMP/short.hatf.gz" true
	check 'sockets' "$(left)" ''
}

test_all()
{
	local killed p
	spawn a.hatf.gz "$PROGS/steer" 1 6 2000 >a.hatf.gz.out
	p=$pid
	spawn b.hatf.gz "$PROGS/steer" 1 6 2000 >b.hatf.gz.out
	start c.hatf.gz sleep 30
	killed=$pid
	await_socket "$p"
	check 'processes' "$(ctl --all status 2>/dev/null | ours | wc -l)" 3
	ctl "$p" status | grep -q ', [0-9]* threads, [0-9]* s: ' ||
		fail "threads: $(ctl "$p" status)"
	ctl "$killed" status | grep -q ', 1 thread, [0-9]* s: ' ||
		fail "one thread: $(ctl "$killed" status)"
	kill -KILL "$killed"
	wait "$killed" 2>/dev/null
	[ -S "$sockets/$killed.sock" ] ||
		fail 'the killed process left no socket'
	check 'flush of all' "$(ctl --all flush 2>/dev/null | ours | wc -l)" 2
	[ -e "$sockets/$killed.sock" ] && fail 'a stale socket stays'
	# Two sockets that were bound but not yet renamed.  The process of the
	# first one is dead; the second one may still be in use.
	"$PYTHON" -c '
import os, socket, sys
for name in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
os.utime(sys.argv[1], (1, 1))' "$sockets/$killed.soc-" "$sockets/$$.soc-"
	ctl --all status >/dev/null 2>&1
	[ -e "$sockets/$killed.soc-" ] && fail 'a half-made socket stays'
	[ -e "$sockets/$$.soc-" ] ||
		fail 'a new socket of a live process was removed'
	rm -f "$sockets/$$.soc-"
	check 'processes left' \
		"$(ctl --all status 2>/dev/null | ours | wc -l)" 2
	wait "$p"
	wait
	clean a.hatf.gz b.hatf.gz
	# 'hatf record' removes the socket of a program that was killed.
	timeout 60 "$HATF" record -o killed.hatf.gz -- "$PYTHON" -c '
import os, sys, time
for i in range(1000):
    if os.path.exists("%s/%d.sock" % (sys.argv[1], os.getpid())):
        break
    time.sleep(0.02)
os.kill(os.getpid(), 9)' "$sockets" 2>/dev/null
	check 'exit status of a killed program' "$?" 137
	check 'sockets after a kill' "$(left)" ''
}

# A server forks processes: each one has a socket of its own.
test_forks()
{
	local i
	cat >server.py <<-'EOF'
	import os, time
	children = []
	for i in range(3):
	    pid = os.fork()
	    if pid == 0:
	        keep = []
	        for j in range(1000):
	            keep.append(bytearray(1000 + j))
	            time.sleep(0.1)
	            if os.path.exists('over'):
	                break
	        os._exit(0)
	    children.append(pid)
	for pid in children:
	    os.waitpid(pid, 0)
	EOF
	spawn fork.%p.hatf.gz "$PYTHON" server.py
	await_socket "$pid"
	for ((i = 0; i < 100; i++)); do
		[ "$(left | wc -l)" = 4 ] && break
		sleep 0.05
	done
	check 'processes' "$(ctl --all status 2>/dev/null | ours |
		grep -c recording)" 4
	check 'flush of a family' \
		"$(ctl --all flush 2>/dev/null | ours | wc -l)" 4
	touch over
	wait "$pid"
	check 'traces' "$(count fork.*.hatf.gz)" 4
	clean fork.*.hatf.gz
	check 'sockets after a family' "$(left)" ''
}

# A thousand clients send garbage, send nothing or do not read, all at once.
# Orders of another client still get through.
test_hostile_clients()
{
	cat >hostile.py <<-'EOF'
	import os, socket, sys
	path = sys.argv[1]
	def connect():
	    s = socket.socket(socket.AF_UNIX)
	    s.settimeout(5)
	    s.connect(path)
	    return s
	kept = []
	for i in range(1000):
	    try:
	        s = connect()
	        kind = i % 5
	        if kind == 0:
	            s.send(os.urandom(4096))
	        elif kind == 1:
	            s.send(b'status\n' * 50)
	        elif kind == 2:
	            s.send(b'status')
	            s.close()
	        elif kind == 3:
	            s.send(b'\n\0\xff stop\n')
	        if i % 100 == 4:
	            kept.append(s)
	    except (ConnectionError, BlockingIOError, socket.timeout):
	        pass
	EOF
	start hostile.hatf.gz "$PROGS/steer" 4 8 1000
	timeout 60 "$PYTHON" hostile.py "$sockets/$pid.sock" &
	local attacker=$!
	check 'state under attack' "$(value $pid state)" recording
	ctl "$pid" flush >/dev/null || fail 'flush under attack'
	wait "$attacker"
	check 'exit status of the attacker' "$?" 0
	check 'state after the attack' "$(value $pid state)" recording
	wait "$pid"
	check 'the program' "$(cat hostile.hatf.gz.out)" 'done'
	clean hostile.hatf.gz
	check 'lost' "$(info hostile.hatf.gz lost)" 0
}

# Whoever holds many connections open, and sends nothing on them, keeps no other
# client from its answer.
test_held_connections()
{
	local attacker i
	cat >holder.py <<-'EOF'
	import socket, sys, time
	held = []
	for i in range(400):
	    s = socket.socket(socket.AF_UNIX)
	    s.connect(sys.argv[1])
	    held.append(s)
	    if i == 70:
	        open('holding', 'w').close()
	open('held', 'w').close()
	time.sleep(60)
	EOF
	start held.hatf.gz sleep 60
	"$PYTHON" holder.py "$sockets/$pid.sock" &
	attacker=$!
	for ((i = 0; i < 500; i++)); do
		[ -e holding ] && break
		sleep 0.02
	done
	[ -e holding ] || fail 'the attacker could not connect 70 times'
	check 'state while connections are made' "$(value "$pid" state)" \
		recording
	for ((i = 0; i < 500; i++)); do
		[ -e held ] && break
		sleep 0.02
	done
	[ -e held ] || fail 'the attacker could not connect 400 times'
	check 'state while connections are held' "$(value "$pid" state)" \
		recording
	ctl "$pid" flush >/dev/null || fail 'flush while connections are held'
	kill -KILL "$attacker" "$pid"
	wait "$attacker" "$pid" 2>/dev/null
	rm -f "$sockets/$pid.sock"
}

# Other users get no answer, even if they can reach the socket.
test_other_user()
{
	local hatf
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	hatf=$(reachable "$HATF")
	start other.hatf.gz sleep 4
	refused 'another user' 'permission denied' setpriv --reuid 65534 \
		--regid 65534 --clear-groups "$hatf" ctl "$pid" stop
	chmod 711 "$XDG_RUNTIME_DIR" "$sockets"
	chmod 666 "$sockets/$pid.sock"
	refused 'another user at an open door' 'permission denied' setpriv \
		--reuid 65534 --regid 65534 --clear-groups \
		env "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" "$hatf" ctl "$pid" stop
	chmod 700 "$XDG_RUNTIME_DIR" "$sockets"
	check 'state' "$(value $pid state)" recording
	wait "$pid"
	clean other.hatf.gz
}

# 'hatf ctl' can reach a process as soon as it exists, and does not wait for a
# process that is not traced.
test_young()
{
	local i start
	for i in 1 2 3; do
		HATFTRACE_START=off spawn "young$i.hatf.gz" sleep 1
		ctl "$pid" start >/dev/null || fail "start at once, $i"
		ctl "$pid" stop >/dev/null || fail "stop at once, $i"
	done
	wait
	clean young*.hatf.gz
	start=${EPOCHREALTIME/./}
	refused 'not traced' 'not traced' ctl $$ status
	check_le 'time until the refusal' \
		"$((${EPOCHREALTIME/./} - start))" 900000
}

# A process drops root's privileges after its start; root finds the processes of
# all users.
test_dropped_privileges()
{
	local user=64999 other
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	unset XDG_RUNTIME_DIR
	mkdir -m 777 dropped
	spawn dropped/root.hatf.gz "$PYTHON" -c "
import os, time
os.setgid($user)
os.setuid($user)
time.sleep(4)"
	sleep 0.5
	check 'state after a setuid' "$(value "$pid" state)" recording
	other=$pid
	(exec env HATFTRACE_OUT="$TMP/dropped/user.hatf.gz" \
		HATFTRACE_BEGIN=now \
		LD_PRELOAD="$(reachable "$SO")" setpriv --reuid $user \
		--regid $user --clear-groups \
		"$PYTHON" -c 'import time; time.sleep(4)') &
	pid=$!
	for ((i = 0; i < 100; i++)); do
		[ -S "/tmp/hatftrace-$user/$pid.sock" ] && break
		sleep 0.02
	done
	check 'state of another' "$(value "$pid" state)" recording
	check 'both of all' "$(ctl --all status 2>/dev/null |
		grep -cE "^($pid|$other): recording")" 2
	# 'hatf ctl' ignores a socket that another user made for a process.
	"$PYTHON" -c "
import os, socket, time
os.setgid($user)
os.setuid($user)
s = socket.socket(socket.AF_UNIX)
s.bind('/tmp/hatftrace-$user/$$.sock')
s.listen(9)
time.sleep(2)" &
	sleep 0.5
	refused 'a false socket' 'not traced' ctl $$ status
	ctl --all status 2>/dev/null | grep -q "^$$:" &&
		fail 'a forged socket is listed'
	wait
	rm -rf "/tmp/hatftrace-$user"
	clean dropped/*.hatf.gz
	export XDG_RUNTIME_DIR=$TMP/run
}

# unsafe_above WHAT: the recorder makes no socket, because the folder
# $XDG_RUNTIME_DIR is one WHAT.
unsafe_above()
{
	mkdir -m 700 "$TMP/above/hatftrace"
	touch -d @1 "$TMP/above/hatftrace"
	spawn above.hatf.gz sleep 1
	wait "$pid"
	# A file that was created and removed again would have changed the time.
	check "in a folder $1" "$(stat -c %Y "$TMP/above/hatftrace")" 1
	clean above.hatf.gz
	rm -rf above.hatf.gz "$TMP/above/hatftrace"
}

# The recorder does not use a socket folder that others can write to.
test_unsafe_folder()
{
	local XDG_RUNTIME_DIR=$TMP/unsafe
	mkdir -p "$TMP/unsafe/hatftrace"
	chmod 777 "$TMP/unsafe/hatftrace"
	spawn unsafe.hatf.gz sleep 1
	sleep 0.8
	check 'sockets in an open folder' "$(ls "$TMP/unsafe/hatftrace")" ''
	wait "$pid"
	clean unsafe.hatf.gz
	# Whoever may write to the parent folder could exchange the socket
	# folder.
	XDG_RUNTIME_DIR=$TMP/above
	mkdir "$TMP/above"
	chmod 777 "$TMP/above"
	unsafe_above 'that all write to'
	[ "$(id -u)" = 0 ] || return 0
	chmod 755 "$TMP/above"
	chown 65534 "$TMP/above"
	unsafe_above 'of another user'
}

test_status_and_flush
test_snapshots
test_snapshots_of_a_part
test_quiet_process
test_dormant
test_wrong_processes
test_all
test_forks
test_hostile_clients
test_held_connections
test_other_user
test_young
test_dropped_privileges
test_unsafe_folder
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# control.sh - orders from outside: 'hatf ctl' and what else may connect
#
# A traced process does as it is told, tells the truth about itself, and nobody
# who connects, however badly behaved, holds up its recording or the program.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

need jq
export XDG_RUNTIME_DIR=$TMP/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
sockets=$XDG_RUNTIME_DIR/hatftrace

ctl()
{
	"$HATF" ctl "$@"
}

# spawn NAME COMMAND...: in the background, traced to NAME; sets 'pid'.
spawn()
{
	local name=$1
	shift
	(exec env HATFTRACE_OUT="$TMP/$name" LD_PRELOAD="$SO" "$@") &
	pid=$!
}

# ours: of lines about processes, those about ours; there may be others that an
# order to all reaches.
ours()
{
	local line
	while read -r line; do
		[ -S "$sockets/${line%%:*}.sock" ] && echo "$line"
	done
}

# start NAME COMMAND...: likewise, and there is a socket.
start()
{
	local name=$1
	shift
	spawn "$name" "$@" >"$name.out"
	await "$pid"
}

# await PID: until it has a socket.
await()
{
	local i
	for ((i = 0; i < 200; i++)); do
		[ -S "$sockets/$1.sock" ] && return
		sleep 0.02
	done
	fail "no socket of $1"
}

# count FILE...: those that are there.
count()
{
	local n=0
	for file; do
		[ -e "$file" ] && n=$((n + 1))
	done
	echo $n
}

# value PID KEY: of its status.
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
	# All of what was published by then is in the file.
	ctl "$pid" flush >flush.txt || fail 'flush'
	cp status.hatf.gz flushed.hatf.gz
	clean_but_cut flushed.hatf.gz
	local told
	told=$(sed -nE 's/.* ([0-9 ]+) events.*/\1/p' flush.txt | tr -d ' ')
	check_ge 'events in the file after a flush' \
		"$(info flushed.hatf.gz events 2>/dev/null)" "${told:-1}"
	ctl "$pid" snapshot -o snap.hatf.gz >/dev/null || fail 'snapshot'
	clean snap.hatf.gz
	check 'events of a snapshot' "$(info snap.hatf.gz events)" 0
	check_ge 'blocks of a snapshot' \
		"$(info snap.hatf.gz end_live_objects)" 300
	wait "$pid"
	check 'the program' "$(cat status.hatf.gz.out)" 'done'
	clean status.hatf.gz
	[ -e "$sockets/$pid.sock" ] && fail 'its socket is left'
}

test_wrong_processes()
{
	refused 'not there' 'no such process' ctl 4194303 status
	refused 'not traced' 'not traced' ctl $$ status
	HATFTRACE_CONTROL=off spawn deaf.hatf.gz sleep 3
	sleep 0.5
	refused 'no socket' 'takes no orders' ctl "$pid" status
	kill "$pid"
	wait "$pid" 2>/dev/null
	ctl 1 nonsense 2>/dev/null
	check 'unknown order' "$?" 2
	ctl status 2>/dev/null
	check 'no process' "$?" 2
	trace "$TMP/short.hatf.gz" true
	check 'sockets' "$(ls "$sockets")" ''
}

test_all()
{
	local killed p
	start a.hatf.gz "$PROGS/steer" 1 4 2000
	p=$pid
	start b.hatf.gz "$PROGS/steer" 1 4 2000
	start c.hatf.gz sleep 30
	killed=$pid
	check 'processes' "$(ctl --all status 2>/dev/null | ours | wc -l)" 3
	kill -KILL "$killed"
	wait "$killed" 2>/dev/null
	[ -S "$sockets/$killed.sock" ] || fail 'no socket is left to be stale'
	check 'flush of all' "$(ctl --all flush 2>/dev/null | ours | wc -l)" 2
	[ -e "$sockets/$killed.sock" ] && fail 'a stale socket stays'
	check 'processes left' "$(ctl --all status 2>/dev/null | ours | wc -l)" 2
	wait "$p"
	wait
	clean a.hatf.gz b.hatf.gz
}

# A server of processes: each has a socket of its own.
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
	        for j in range(25):
	            keep.append(bytearray(1000 + j))
	            time.sleep(0.1)
	        os._exit(0)
	    children.append(pid)
	for pid in children:
	    os.waitpid(pid, 0)
	EOF
	spawn fork.%p.hatf.gz "$PYTHON" server.py
	await "$pid"
	for ((i = 0; i < 100; i++)); do
		[ "$(count "$sockets"/*)" = 4 ] && break
		sleep 0.05
	done
	check 'processes' "$(ctl --all status 2>/dev/null | ours |
		grep -c recording)" 4
	check 'flush of a family' "$(ctl --all flush 2>/dev/null | ours | wc -l)" 4
	wait "$pid"
	check 'traces' "$(count fork.*.hatf.gz)" 4
	clean fork.*.hatf.gz
	check 'sockets after a family' "$(ls "$sockets")" ''
}

# Garbage, silence, no reading, a thousand connections, all at once; and an
# order by somebody else gets through all the while.
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

# Nobody else is answered, even where he could reach the socket.
test_other_user()
{
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	start other.hatf.gz sleep 4
	refused 'another user' 'permission denied' setpriv --reuid 65534 \
		--regid 65534 --clear-groups "$HATF" ctl "$pid" stop
	chmod 711 "$XDG_RUNTIME_DIR" "$sockets"
	chmod 666 "$sockets/$pid.sock"
	refused 'another user at an open door' 'permission denied' setpriv \
		--reuid 65534 --regid 65534 --clear-groups \
		env "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" "$HATF" ctl "$pid" stop
	chmod 700 "$XDG_RUNTIME_DIR" "$sockets"
	check 'state' "$(value $pid state)" recording
	wait "$pid"
	clean other.hatf.gz
}

# A folder that is not ours alone is not used.
test_unsafe_folder()
{
	local XDG_RUNTIME_DIR=$TMP/unsafe
	mkdir -p "$TMP/unsafe/hatftrace"
	chmod 777 "$TMP/unsafe/hatftrace"
	spawn unsafe.hatf.gz sleep 1
	sleep 0.5
	check 'sockets in an open folder' "$(ls "$TMP/unsafe/hatftrace")" ''
	wait "$pid"
	clean unsafe.hatf.gz
}

test_status_and_flush
test_wrong_processes
test_all
test_forks
test_hostile_clients
test_other_user
test_unsafe_folder
finish

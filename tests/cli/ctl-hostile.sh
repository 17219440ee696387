#!/bin/bash
# SPDX-License-Identifier: MIT
#
# ctl-hostile.sh - 'hatf ctl' trusts neither sockets nor answers
#
# This test's server answers instead of a recorder: with escape sequences, with
# names of files that are no traces, without end, for another process, or in a
# folder of another user.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Python itself: a version manager's python3 is a script that runs another
# program.
python=$(realpath /usr/bin/python3 2>/dev/null) || skip 'no python3'
# Other users run 'hatf', too, and may have no access to the build's folder.
cp "$HATF" hatf && chmod 755 hatf || exit 1
HATF=$TMP/hatf
export XDG_RUNTIME_DIR=$TMP/run
sockets=$XDG_RUNTIME_DIR/hatftrace
mkdir -p "$sockets"
chmod 700 "$XDG_RUNTIME_DIR" "$sockets"

# fake.py FOLDER NUMBER ANSWER LOG [drip|crowd|drop]: listen as process NUMBER
# ("self": this process), answer each order with the content of the file ANSWER,
# and write the order to LOG.  drip: answer with a byte now and then, for ever.
# crowd: never accept a connection, and fill the queue.  drop: close the first
# three connections without reading them.
cat >fake.py <<'EOT'
import os, socket, sys, time
folder, number, answer, log = sys.argv[1:5]
how = sys.argv[5] if len(sys.argv) > 5 else ''
number = str(os.getpid()) if number == 'self' else number
s = socket.socket(socket.AF_UNIX)
os.umask(0o177)
s.bind(folder + '/' + number + '.sock')
s.listen(0 if how == 'crowd' else 64)
others = []
if how == 'crowd': # until nobody else can connect
    try:
        while True:
            c = socket.socket(socket.AF_UNIX)
            c.setblocking(False)
            c.connect(folder + '/' + number + '.sock')
            others.append(c)
    except BlockingIOError:
        pass
open(log, 'a').write('listens\n')
if how == 'crowd':
    time.sleep(600)
for i in range(3 if how == 'drop' else 0):
    s.accept()[0].close()
while True:
    c = s.accept()[0]
    order = b''
    while not order.endswith(b'\n'):
        part = c.recv(100)
        if not part: # somebody looks whether there is one
            break
        order += part
    if not part:
        continue
    open(log, 'a').write(order.decode())
    answered = open(answer, 'rb').read()
    try:
        while how == 'drip':
            c.send(b'o')
            time.sleep(0.2)
        c.sendall(answered)
    except OSError:
        pass
    c.close()
EOT

# fake COMMAND...: start a server and wait until it listens; set 'pid' and
# 'log'.
servers=()
fake()
{
	local i
	log=$TMP/log.${#servers[@]}
	: >"$log"
	chmod 666 "$log"
	"$@" "$log" "${how[@]}" &
	pid=$!
	servers+=("$pid")
	for ((i = 0; i < 1000; i++)); do
		[ -s "$log" ] && return
		sleep 0.02
	done
	fail 'the server does not listen'
}
how=()
trap 'kill "${servers[@]}" 2>/dev/null' EXIT

ctl()
{
	run timeout 60 "$HATF" ctl "$@"
}

# refused WHAT PATTERN: the last run failed with one line that matches PATTERN.
refused()
{
	check_status "$1" 1
	check_one_line "$1" "$2"
}

# plain WHAT: the last run wrote no control characters to stdout and stderr.
plain()
{
	"$python" - "$1" <<-'EOT' || fail "$1: control characters"
	import re, sys
	text = open('out', 'rb').read() + open('err', 'rb').read()
	sys.exit(bool(re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ufffd]',
	                        text.decode(errors='replace'))))
	EOT
}

test_terminal()
{
	local evil=$'\x1b]0;x\x07\xc2\x9b2J\xe2\x80\xae\xff\r' key
	fake "$python" fake.py "$sockets" self "$TMP/answer"
	for key in state exe trace error events pid; do
		printf 'ok\nstate=dormant\npid=%d\n%s=%s\n' "$pid" "$key" \
			"$evil" | awk -v key="$key" \
			'!(key == "state" && /^state=dormant/)' >answer
		ctl "$pid" status
		check_status "$key" 0
		plain "$key"
		ctl --json "$pid" status
		check_status "$key, JSON" 0
		plain "$key, JSON"
		"$python" -c 'import json, sys; json.load(sys.stdin)' <out ||
			fail "$key: no JSON"
	done
	printf 'error\nreason=%s\n' "$evil" >answer
	ctl "$pid" status
	check_status 'reason' 1
	plain 'reason'
	printf 'ok\npid=%d\nstate=dormant\n%s=1\n' "$pid" "$evil" >answer
	ctl --json "$pid" status
	check_status 'a key' 0
	plain 'a key'
	head -c 100000 /dev/zero >answer
	ctl "$pid" status
	refused 'zeros' "*$pid: its recorder sent an invalid answer"
	yes 'a=b' | head -c 1000000 | sed '1s/.*/ok/' >answer
	ctl --json "$pid" status
	plain 'a long answer'
}

# The answer names a file that is no trace.
test_trace()
{
	local order file
	fake "$python" fake.py "$sockets" self "$TMP/answer"
	mkfifo pipe
	ln -s pipe link
	: >empty
	for file in "$TMP/pipe" "$TMP/link" "$TMP" /dev/zero \
		/proc/self/environ /proc/uptime \
		/sys/kernel/mm/transparent_hugepage/enabled; do
		[ -e "$file" ] || continue
		for order in rotate snapshot; do
			printf 'ok\nstate=recording\ntrace=%s\nevents=9\n' \
				"$file" >answer
			ctl "$pid" "$order"
			refused "$order, $file" "*trace $file: not a trace file"
		done
	done
	# The file may exist in the process's own mount namespace, so the
	# process counts as traced.
	for file in nowhere empty; do
		printf 'ok\nstate=recording\ntrace=%s\n' "$TMP/$file" >answer
		ctl --json "$pid" rotate
		check_status "rotate, $file" 0
		grep -q live out && fail "rotate, $file: $(cat out)"
		ctl "$pid" snapshot
		refused "snapshot, $file" "*: trace $TMP/$file: No *"
	done
	check 'snapshots' "$(echo snapshot.*)" 'snapshot.*'
}

test_time()
{
	how=(drip)
	: >answer
	fake "$python" fake.py "$sockets" self "$TMP/answer"
	ctl "$pid" status
	refused 'a byte now and then' "*$pid: no answer in 10 seconds"
	how=(crowd)
	fake "$python" fake.py "$sockets" self "$TMP/answer"
	ctl "$pid" status
	refused 'nobody accepts' "*$pid: no answer in 10 seconds"
	# A recorder with many clients closes connections before orders come.
	how=(drop)
	printf 'ok\nstate=dormant\n' >answer
	fake "$python" fake.py "$sockets" self "$TMP/answer"
	ctl "$pid" status
	check_status 'connections that were closed' 0
	how=()
	kill "${servers[@]: -3}"
}

# The recorder refuses to rotate because of a fork, and later does not or always
# does.
test_forks()
{
	fake "$python" fake.py "$sockets" self "$TMP/answer"
	printf 'error\nreason=a fork is under way; try again\n' >answer
	(
		while [ "$(wc -l <"$log")" -lt 3 ]; do sleep 0.02; done
		printf 'ok\nstate=recording\n' >later
		mv later answer
	) &
	servers+=($!)
	ctl "$pid" rotate
	check_status 'a fork, then none' 0
	check_silent 'a fork, then none'
	printf 'error\nreason=a fork is under way; try again\n' >answer
	ctl "$pid" rotate
	refused 'forks for ever' "*: $pid: a fork is under way; try again"
	check 'orders' "$(sort -u "$log" | xargs)" 'listens rotate'
	# Other refusals are final.
	printf 'error\nreason=not now\n' >answer
	: >"$log"
	ctl "$pid" rotate
	refused 'another reason' "*: $pid: not now"
	check 'orders, another reason' "$(cat "$log")" rotate
}

# In place of a process's socket there is a link, a file, or the socket of
# another process.
test_place()
{
	printf 'ok\nstate=recording\n' >answer
	sleep 600 &
	local sleeper=$!
	servers+=("$sleeper")
	mkdir elsewhere
	fake "$python" fake.py "$TMP/elsewhere" "$sleeper" "$TMP/answer"
	ln -s "$TMP/elsewhere/$sleeper.sock" "$sockets/$sleeper.sock"
	ctl "$sleeper" stop
	refused 'a link' "*$sleeper: not traced: *"
	rm "$sockets/$sleeper.sock"
	fake "$python" fake.py "$sockets" "$sleeper" "$TMP/answer"
	ctl "$sleeper" stop
	refused 'in the name of another' "*$sleeper: not traced: *"
	check 'orders' "$(cat "$log")" listens
	ctl "$pid" stop
	refused 'under another name' "*$pid: not traced: *"
	rm "$sockets/$sleeper.sock"
	: >"$sockets/$sleeper.sock"
	ctl "$sleeper" stop
	refused 'a file' "*$sleeper: not traced: *"
	rm "$sockets/$sleeper.sock"
}

# be USER: set 'as', the words before a command that runs it as USER.
be()
{
	as=(setpriv --reuid "$1" --regid "$1" --clear-groups)
}

# If root asks, sockets in a user's folder answer only for the user's processes,
# and only about the user's files.
test_other_user()
{
	local user=64997 his=$TMP/his root
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	be $user
	mkdir -p "$his/hatftrace"
	chown -R $user "$his"
	chmod 755 "$his" "$his/hatftrace"
	printf 'ok\nstate=recording\ntrace=%s\nevents=9\n' "$TMP/secret" >answer
	echo text >secret
	chmod 600 secret
	# A process of the user, in the folder that its environment names.
	fake "${as[@]}" env XDG_RUNTIME_DIR="$his" "$python" \
		fake.py "$his/hatftrace" self "$TMP/answer"
	ctl "$pid" status
	check_status 'his process' 0
	# The file belongs to a third user.
	chown 64996 secret
	ctl "$pid" snapshot
	refused 'the file of a third user' \
		"*trace $TMP/secret: owned by another user"
	# A process of root whose environment names the user's folder.
	XDG_RUNTIME_DIR=$his sleep 600 &
	root=$!
	servers+=("$root")
	fake "${as[@]}" "$python" fake.py "$his/hatftrace" "$root" "$TMP/answer"
	ctl "$root" stop
	refused "the user's folder" "*$root: not traced: *"
	XDG_RUNTIME_DIR=$his ctl "$root" stop
	refused "the user's folder in root's environment" \
		"*$root: not traced: *"
	check 'orders' "$(cat "$log")" listens
}

# --all, as a user with no other processes.
test_all()
{
	local user=64996 his=$TMP/all i orders
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	be $user
	mkdir -p "$his/hatftrace"
	chown -R $user "$his"
	chmod -R 700 "$his"
	printf 'ok\nstate=recording\n' >answer
	fake "${as[@]}" env XDG_RUNTIME_DIR="$his" "$python" fake.py \
		"$his/hatftrace" self "$TMP/answer"
	# terminal.py ANSWER COMMAND...: run it on a terminal, and type ANSWER
	# at its question.
	cat >terminal.py <<-'EOT'
	import os, pty, sys
	child, terminal = pty.fork()
	if child == 0:
	    os.execvp(sys.argv[2], sys.argv[2:])
	said = b''
	try:
	    while True:
	        part = os.read(terminal, 1000)
	        if not part:
	            break
	        said += part
	        if said.endswith(b'[y/N] '):
	            os.write(terminal, sys.argv[1].encode() + b'\n')
	            said += b'\n'
	except OSError:
	    pass
	print(said.decode().replace('\r', ''), end='')
	sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
	EOT
	for i in n '' y --yes pipe; do
		orders=$(grep -c stop "$log")
		set -- "${as[@]}" env XDG_RUNTIME_DIR="$his" timeout 120
		case $i in
		pipe) run "$@" "$HATF" ctl --all stop ;;
		--yes)
			run "$@" "$python" terminal.py n "$HATF" \
				ctl --all --yes stop
			;;
		*)
			run "$@" "$python" terminal.py "$i" "$HATF" \
				ctl --all stop
			;;
		esac
		cat out err >both
		text="$pid: recording will stop; the process runs $python"
		grep -q "$text\$" both ||
			fail "answer '$i': names nothing: $(cat both)"
		case $i in
		n | '')
			check_status "answer '$i'" 1
			check "answer '$i': orders" "$(grep -c stop "$log")" \
				"$orders"
			grep -q 'no recording was stopped' both ||
				fail "$(cat both)"
			continue
			;;
		y) grep -q 'Stop recording them?' both || fail 'no question' ;;
		*) grep -q 'Stop recording' both && fail "$i: a question" ;;
		esac
		check_status "answer '$i'" 0
		check "answer '$i': orders" "$(grep -c stop "$log")" \
			$((orders + 1))
		grep -q "^$pid: recording" both ||
			fail "answer '$i': $(cat both)"
	done
	printf 'ok\nstate=dormant\n' >answer
	orders=$(grep -c stop "$log")
	run "$@" "$HATF" ctl --all stop
	check_status 'a dormant process' 0
	check 'a dormant process: orders' "$(grep -c stop "$log")" "$orders"
	check_silent 'a dormant process'
	# A process with too few heap events has no socket yet: 'hatf ctl' names
	# it, but cannot stop it.
	if [ -e "$BUILD/libhatftrace.so" ]; then
		cp "$BUILD/libhatftrace.so" . && chmod 755 libhatftrace.so
		"${as[@]}" env XDG_RUNTIME_DIR="$his" \
			HATFTRACE_OUT="$his/young.gz" \
			LD_PRELOAD="$TMP/libhatftrace.so" sleep 60 &
		servers+=("$!")
		sleep 1.5
		run "$@" "$HATF" ctl --all stop
		check_status 'a process with few events' 1
		check_one_line 'a process with few events' "hatf ctl: $!:" \
			'recording, but with too few heap events *'
		kill "$!"
	fi
	run "$HATF" ctl --yes "$pid" stop
	check_status '--yes without --all' 2
}

# Several processes that do not answer take no longer than one.
test_all_hung()
{
	local user=64995 his=$TMP/hung i took first
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	be $user
	mkdir -p "$his/hatftrace"
	chown -R $user "$his"
	chmod -R 700 "$his"
	: >answer
	how=(drip)
	for i in 1 2 3 4 5 6; do
		[ $i = 6 ] && how=(crowd)
		fake "${as[@]}" env XDG_RUNTIME_DIR="$his" "$python" fake.py \
			"$his/hatftrace" self "$TMP/answer"
		[ $i = 1 ] && first=$pid
	done
	how=()
	printf 'ok\nstate=dormant\n' >answer
	fake "${as[@]}" env XDG_RUNTIME_DIR="$his" "$python" fake.py \
		"$his/hatftrace" self "$TMP/answer"
	set -- "${as[@]}" env XDG_RUNTIME_DIR="$his" timeout 120
	SECONDS=0
	run "$@" "$HATF" ctl "$first" status
	took=$SECONDS
	SECONDS=0
	run "$@" "$HATF" ctl --all status
	[ "$SECONDS" -lt $((2 * took)) ] ||
		fail "six hung processes: $SECONDS s, one: $took s"
	check_status 'six hung processes' 1
	check 'six hung processes' "$(grep -c 'no answer in 10 seconds' err)" 6
	check 'the process that answers' "$(cat out)" "$pid: dormant"
	kill "${servers[@]: -7}"
}

# 'hatf ctl' removes sockets of ended processes, but no other files and no
# sockets that may be in use.
test_dead()
{
	local gone=4194303 i
	kill -0 $gone 2>/dev/null && return
	printf 'ok\nstate=dormant\n' >answer
	fake "$python" fake.py "$sockets" $((gone - 1)) "$TMP/answer"
	"$python" -c '
import os, socket, sys
for name in sys.argv[1:]:
    socket.socket(socket.AF_UNIX).bind(name)
os.utime(sys.argv[1], (1, 1))' "$sockets/$gone.soc-" "$sockets/$gone.sock" \
		"$sockets/$$.sock" "$sockets/1$gone.soc-" "$sockets/x.sock"
	: >"$sockets/$((gone - 2)).sock"
	ctl $$ status
	check 'dead sockets' "$(cd "$sockets" && echo *$gone.so*)" "1$gone.soc-"
	for i in $((gone - 1)) $((gone - 2)) $$ x; do
		[ -e "$sockets/$i.sock" ] || fail "$i.sock was removed"
	done
	rm -f "$sockets"/*
}

# The socket of a process in a container has the process's number there.
test_container()
{
	local outer
	[ "$(id -u)" = 0 ] && unshare --pid --fork true 2>/dev/null || return 0
	printf 'ok\nstate=recording\npid=1\n' >answer
	fake unshare --pid --fork "$python" fake.py "$sockets" self \
		"$TMP/answer"
	outer=$(pgrep -P "$pid")
	[ -S "$sockets/1.sock" ] || fail 'no socket of process 1'
	servers+=("$outer")
	ctl "$outer" status
	check_status 'by its outer number' 0
	grep -q "^$outer: recording" out ||
		fail "by its outer number: $(cat out)"
	ctl 1 status
	check_status 'by its inner number' 1
}

# A socket of another user, with a full queue, and with the number of a process
# of somebody else.
test_elsewhere()
{
	local user=64995
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	be $user
	"${as[@]}" mkdir -m 700 "/tmp/hatftrace-$user"
	how=(crowd)
	fake "${as[@]}" "$python" fake.py "/tmp/hatftrace-$user" $$ \
		"$TMP/answer"
	how=()
	ctl $$ status
	refused 'crowded elsewhere' "*$$: not traced: *"
	kill "$pid"
	rm -rf "/tmp/hatftrace-$user"
}

# A process ends and leaves its socket to a child.  The next process with its
# number is not the one that answers.
test_number_again()
{
	local user=64995
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	# This fails in a chroot whose root is not a mount point.
	unshare --pid --fork --mount-proc true 2>/dev/null || return 0
	be $user
	printf 'ok\nstate=recording\n' >answer
	cat >heir.py <<-'EOT'
	import os, socket
	os.umask(0o077)
	folder = '/tmp/hatftrace-%d' % os.getuid()
	os.mkdir(folder)
	s = socket.socket(socket.AF_UNIX)
	s.bind('%s/%d.sock' % (folder, os.getpid()))
	s.listen(64)
	print(os.getpid(), flush=True)
	if os.fork() == 0:
	    os.close(1)
	    while True:
	        c = s.accept()[0]
	        if c.recv(100):
	            c.send(open('answer', 'rb').read())
	        c.close()
	EOT
	cat >again.sh <<-'EOT'
	number=$("${@:2}" heir.py)
	echo $((number - 1)) >/proc/sys/kernel/ns_last_pid || exit 77
	sleep 60 &
	[ $! = "$number" ] || exit 77
	timeout 60 "$1" ctl "$number" status
	EOT
	run unshare --pid --fork --mount-proc --kill-child bash again.sh \
		"$HATF" "${as[@]}" "$python"
	rm -rf "/tmp/hatftrace-$user"
	[ $status = 77 ] && return # the number could not be chosen
	refused 'a number again' '*: not traced: *'
}

test_terminal
test_trace
test_time
test_forks
test_place
test_other_user
test_all
test_all_hung
test_dead
test_container
test_elsewhere
test_number_again
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bells.sh - an order in the file of bells reaches exactly its process
#
# Processes without a writer thread map bells-1, one file for all processes of a
# user, and look at one slot each (hatf/recorder/bells.h).  A process carries
# out only orders that were written for it: not one for an earlier process with
# its number, and not one for another process with the same slot.  Neither side
# uses a file of the wrong kind, size, mode or owner.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

need jq
control_folder
bells=$sockets/bells-1

# Allocate for some seconds, then sleep.
cat >busy.py <<'E_BUSY'
import sys, time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    bytearray(4711)
    time.sleep(0.01)
time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
E_BUSY

# dormant NAME COMMAND...: run it in the background; set 'pid'.
dormant()
{
	local name=$1
	shift
	(exec env HATFTRACE_START=off HATFTRACE_OUT="$TMP/$name" \
		LD_PRELOAD="$SO" "$@") &
	pid=$!
}

state()
{
	ctl --json "$1" status 2>/dev/null | jq -r .state
}

pending()
{
	ctl --json "$1" status 2>/dev/null | jq -r .pending
}

# mapping PID: print the access rights with which it maps the file.
mapping()
{
	sed -n 's|^[^ ]* \([^ ]*\) .*/bells-1$|\1|p' "/proc/$1/maps"
}

# end PID
end()
{
	kill "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# All processes share one file, which they can only read.
test_one_file()
{
	local first inode
	dormant one.hatf.gz sleep 5
	first=$pid
	sleep 0.5
	check 'mode of the file' "$(stat -c '%a %s' "$bells")" '600 524288'
	inode=$(stat -c %i "$bells")
	dormant two.hatf.gz sleep 5
	sleep 0.5
	check 'the file of a second one' "$(stat -c %i "$bells")" "$inode"
	check 'access rights of the mappings' \
		"$(mapping "$first") $(mapping "$pid")" 'r--s r--s'
	check 'both of all' "$(ctl --all status 2>/dev/null |
		grep -cE "^($first|$pid): dormant")" 2
	check 'files of single processes' "$(left)" ''
	end "$pid"
	end "$first"
	check 'the file when they are gone' "$(stat -c %i "$bells")" "$inode"
	# Several processes find no file at the same time, and one creates it.
	rm "$bells"
	for first in 1 2 3 4 5 6 7 8; do
		dormant "many$first.hatf.gz" sleep 2
	done
	sleep 1
	inode=$(stat -c %i "$bells")
	check 'the same file' "$(grep -h bells-1 /proc/[0-9]*/maps 2>/dev/null |
		grep "$bells\$" | awk '{ print $5 }' | sort -u)" "$inode"
	check 'nothing half-made' "$(left)" ''
	wait
}

# A new process ignores an order in its slot, unless the order names this
# process, and no earlier one.
test_stale()
{
	local order
	cat >before.py <<-'EOF'
	import os, struct, sys
	pid, order = os.getpid(), int(sys.argv[2])
	if sys.argv[3] == 'own':
	    stat = open('/proc/self/stat').read().rpartition(')')[2].split()
	    order |= (int(stat[19]) & 8191) << 32
	    order |= (os.stat('/proc/self/ns/pid').st_ino & 8191) << 45
	if sys.argv[3] == 'other':
	    stat = open('/proc/self/stat').read().rpartition(')')[2].split()
	    order |= (int(stat[19]) - 1 & 8191) << 32
	order |= pid // 65536 << 58
	fd = os.open(sys.argv[1], os.O_WRONLY)
	os.pwrite(fd, struct.pack('=Q', order), pid % 65536 * 8)
	os.environ['LD_PRELOAD'] = sys.argv[4]
	os.execv(sys.argv[5], sys.argv[5:])
	EOF
	# The call 2 is a start.
	for order in unknown other own; do
		(exec env HATFTRACE_START=off \
			HATFTRACE_OUT="$TMP/$order.hatf.gz" \
			"$PYTHON" -S before.py "$bells" 6 "$order" "$SO" \
			"$PYTHON" -S busy.py 2 1) &
		pid=$!
		sleep 1
		if [ $order = own ]; then
			check "state, order of $order" \
				"$(state "$pid")" recording
		else
			check "state, order of $order" "$(state "$pid")" dormant
			check "pending, order of $order" \
				"$(pending "$pid")" null
		fi
		wait "$pid"
	done
	check 'traces of stale orders' "$(ls unknown* other* 2>/dev/null)" ''
	clean own.hatf.gz
}

# A child has a slot of its own, even before its first event.
test_child()
{
	local child
	cat >family.py <<-'EOF'
	import ctypes, os, time
	libc = ctypes.CDLL(None)
	libc.malloc.restype = ctypes.c_void_p
	libc.free.argtypes = [ctypes.c_void_p]
	go = b'go'
	pid = libc.fork()
	if pid == 0:
	    while libc.access(go, 0) != 0:
	        libc.usleep(20000)
	    end = time.monotonic() + 2
	    while time.monotonic() < end:
	        libc.free(libc.malloc(4711))
	        libc.usleep(10000)
	    os._exit(0)
	open('child', 'w').write(str(pid))
	while os.waitpid(pid, os.WNOHANG)[0] == 0:
	    libc.free(libc.malloc(4712))
	    libc.usleep(10000)
	EOF
	rm -f go child
	dormant family.%p.hatf.gz "$PYTHON" -S family.py
	sleep 1
	child=$(cat child)
	check 'state of a child' "$(state "$child")" dormant
	ctl "$child" start 2>err && fail 'a child without events answers'
	grep -q 'will start recording at its next allocation' err ||
		fail "child: $(cat err)"
	check 'pending for the child' "$(pending "$child")" start
	check 'pending for the parent' "$(pending "$pid")" null
	touch go
	wait "$pid"
	check 'traces of the family' "$(ls family.*.hatf.gz)" \
		"family.$child.hatf.gz"
	clean family.*.hatf.gz
	check_ge 'events of the child' \
		"$(events "family.$child.hatf.gz" | grep -c '^alloc 4711 ')" 50
	# If forks are not followed, the child takes no orders.
	rm -f go child
	(exec env HATFTRACE_START=off HATFTRACE_FOLLOW=none \
		HATFTRACE_OUT="$TMP/none.%p.hatf.gz" LD_PRELOAD="$SO" \
		"$PYTHON" -S family.py) &
	pid=$!
	sleep 1
	child=$(cat child)
	check 'a child that is not followed' "$(mapping "$child")" ''
	ctl "$child" start 2>err && fail 'it takes orders'
	grep -q 'takes no orders' err || fail "not followed: $(cat err)"
	touch go
	wait "$pid"
}

# The processes with number 1 of two PID namespaces share a slot.
test_namesakes()
{
	local i pids=() other
	[ "$(id -u)" = 0 ] && unshare --pid true 2>/dev/null || return 0
	for i in 0 1; do
		# shellcheck disable=SC2016 # the inner shell's
		(exec unshare --pid --fork --kill-child \
			env HATFTRACE_START=off \
			HATFTRACE_OUT="$TMP/namesake$i.hatf.gz" \
			LD_PRELOAD="$SO" "$PYTHON" -S busy.py 8) &
		pids+=("$!")
	done
	sleep 1
	pid=$(cat "/proc/${pids[0]}/task/${pids[0]}/children")
	other=$(cat "/proc/${pids[1]}/task/${pids[1]}/children")
	pid=${pid% } other=${other% }
	check 'states of namesakes' "$(state "$pid") $(state "$other")" \
		'dormant dormant'
	ctl "$pid" start >/dev/null || fail 'start of a namesake'
	check 'state of the one' "$(state "$pid")" recording
	check 'state of the other' "$(state "$other")" dormant
	check 'pending for the other' "$(pending "$other")" null
	ctl "$pid" stop >/dev/null || fail 'stop of a namesake'
	wait
	clean namesake0.hatf.gz
	check 'traces of namesakes' "$(ls namesake*)" namesake0.hatf.gz
}

# plant WHAT: put something under the name of the file.
plant()
{
	rm -rf "$bells"
	case $1 in
	symlink) ln -s "$TMP/victim" "$bells" ;;
	hardlink) ln "$TMP/victim" "$bells" ;;
	fifo) mkfifo -m 600 "$bells" ;;
	folder) mkdir "$bells" ;;
	short) head -c 524287 /dev/zero >"$bells" && chmod 600 "$bells" ;;
	long) head -c 524289 /dev/zero >"$bells" && chmod 600 "$bells" ;;
	open) head -c 524288 /dev/zero >"$bells" && chmod 660 "$bells" ;;
	owner)
		head -c 524288 /dev/zero >"$bells" && chmod 600 "$bells"
		chown 64999 "$bells"
		;;
	esac
}

# A process creates a new file, or works without one; then it has a socket.
test_planted_before()
{
	local what whats=(symlink hardlink fifo folder short long open)
	[ "$(id -u)" = 0 ] && whats+=(owner)
	for what in "${whats[@]}"; do
		head -c 524288 /dev/zero >victim
		chmod 600 victim
		plant "$what"
		dormant "before-$what.hatf.gz" "$PYTHON" -S busy.py 1.5
		sleep 0.5
		ctl "$pid" start >/dev/null || fail "$what: start"
		wait "$pid"
		check "$what: status" "$?" 0
		clean "before-$what.hatf.gz"
		check "$what: the victim" "$(tr -d '\0' <victim | wc -c)" 0
		[ "$what" = folder ] ||
			check "$what: what is there now" \
				"$(stat -c '%F %a %s %h %u' "$bells")" \
				"regular file 600 524288 1 $(id -u)"
	done
	rm -rf "$bells"
}

# 'hatf ctl' writes only to the file that the process maps.
test_planted_after()
{
	local what whats=(symlink hardlink fifo folder short long open other)
	[ "$(id -u)" = 0 ] && whats+=(owner)
	dormant after.hatf.gz "$PYTHON" -S busy.py 60
	sleep 0.5
	mv "$bells" kept
	for what in "${whats[@]}"; do
		head -c 524288 /dev/zero >victim
		chmod 600 victim
		plant "$what"
		[ "$what" != other ] || cp -p victim "$bells"
		timeout 20 "$HATF" ctl "$pid" start 2>err &&
			fail "$what: start"
		grep -q 'takes no orders' err || fail "$what: $(cat err)"
		check "$what: the victim" "$(tr -d '\0' <victim | wc -c)" 0
		[ ! -f "$bells" ] || check "$what: written" \
			"$(tr -d '\0' <"$bells" | wc -c)" 0
	done
	rm -rf "$bells"
	mv kept "$bells"
	ctl "$pid" start >/dev/null || fail 'start with the right file'
	end "$pid"
}

# Other users cannot give orders to the process, and cannot write to the file.
test_strangers()
{
	local user=64999
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	chmod 711 "$XDG_RUNTIME_DIR" "$sockets" "$TMP"
	dormant strange.hatf.gz "$PYTHON" -S busy.py 3
	sleep 0.5
	setpriv --reuid $user --regid $user --clear-groups \
		"$(reachable "$HATF")" ctl "$pid" start 2>err &&
		fail 'another user starts it'
	setpriv --reuid $user --regid $user --clear-groups \
		dd if=/dev/zero of="$bells" bs=8 count=1 conv=notrunc \
			2>/dev/null &&
		fail 'another user writes'
	check 'state' "$(state "$pid")" dormant
	wait "$pid"
	chmod 700 "$XDG_RUNTIME_DIR" "$sockets"
	check 'traces after that' "$(ls strange* 2>/dev/null)" ''
}

# Processes with other rights, under another root directory and without /proc,
# and processes whose maps nobody may read.
test_sandboxes()
{
	cat >hidden.py <<-'EOF'
	import ctypes, os, sys, time
	if sys.argv[1] == 'undumpable':
	    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
	else:
	    os.chroot(sys.argv[1])
	end = time.monotonic() + 6
	while time.monotonic() < end:
	    bytearray(4711)
	    time.sleep(0.01)
	EOF
	dormant undumpable.hatf.gz "$PYTHON" -S hidden.py undumpable
	sleep 1
	ctl "$pid" start >/dev/null || fail 'start of an undumpable one'
	wait "$pid"
	clean undumpable.hatf.gz
	if unshare --user --map-root-user true 2>/dev/null; then
		dormant userns.hatf.gz unshare --user --map-root-user \
			"$PYTHON" -S busy.py 2
		sleep 1
		ctl "$pid" start >/dev/null || fail 'start in a user namespace'
		wait "$pid"
		clean userns.hatf.gz
	fi
}

# A user without root's rights cannot see the maps of their own process if it is
# undumpable; orders reach the process nevertheless.
test_undumpable_as_user()
{
	local user=64999 run=$TMP/user-run
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	local as=(setpriv --reuid "$user" --regid "$user" --clear-groups
		env "XDG_RUNTIME_DIR=$run")
	mkdir -m 700 "$run"
	mkdir -m 777 user-traces
	chown $user "$run"
	chmod 711 "$TMP"
	("${as[@]}" HATFTRACE_START=off \
		HATFTRACE_OUT="$TMP/user-traces/t.hatf.gz" \
		LD_PRELOAD="$(reachable "$SO")" \
		"$PYTHON" -S "$TMP/hidden.py" undumpable) &
	sleep 1
	pid=$(pgrep -u $user -f hidden.py | head -n 1)
	"${as[@]}" "$(reachable "$HATF")" ctl "$pid" start >/dev/null ||
		fail 'start of an undumpable one by its user'
	# 'hatf ctl' must not claim that it reached a process that is not
	# traced.
	"${as[@]}" "$PYTHON" -S "$TMP/hidden.py" undumpable &
	sleep 0.5
	pid=$(pgrep -n -u $user -f hidden.py)
	"${as[@]}" "$(reachable "$HATF")" ctl "$pid" start 2>err &&
		fail 'start of one that is not traced'
	grep -q 'not traced, or has allocated nothing .*; try as root)' err ||
		fail "untraced: $(cat err)"
	wait
	clean user-traces/t.hatf.gz
}

# Root without all rights may lack the permission, too.  No hint says to try as
# root.
test_root_without_rights()
{
	local asleep
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
	dormant for_bells.hatf.gz sleep 9
	for ((i = 0; i < 100; i++)); do
		[ -e "$bells" ] && break
		sleep 0.02
	done
	sleep 9 &
	asleep=$!
	setpriv --bounding-set -sys_ptrace,-sys_admin,-perfmon \
		--inh-caps -sys_ptrace,-sys_admin,-perfmon \
		"$HATF" ctl $asleep status 2>err && fail 'status of no one'
	grep -q "not traced, or has allocated nothing .*/$asleep/maps)$" err ||
		fail "root without rights: $(cat err)"
	end $asleep
	end "$pid"
}

# Files of a process that was killed while it created the file of bells.
test_half_made()
{
	local gone
	(exec true) &
	gone=$!
	wait $gone
	mkdir -p "$sockets"
	touch -d @1 "$sockets/$gone.bel-" "$sockets/$$.bel-"
	ctl --all status >/dev/null 2>&1
	check 'half-made files' "$(left)" "$$.bel-"
	rm -f "$sockets/$$.bel-"
}

# The disk has no page for the file when the process reads it.
test_full()
{
	local place=$TMP/full
	[ "$(id -u)" = 0 ] && mkdir "$place" &&
		mount -t tmpfs -o size=64k,mode=700 tmpfs "$place" \
			2>/dev/null ||
		return 0
	XDG_RUNTIME_DIR=$place dormant full.hatf.gz "$PYTHON" -S busy.py 1.5
	sleep 0.7
	XDG_RUNTIME_DIR=$place ctl "$pid" start >/dev/null ||
		fail 'start with a full folder'
	wait "$pid"
	check 'status with a full folder' "$?" 0
	clean full.hatf.gz
	umount "$place"
}

test_one_file
test_stale
test_child
test_namesakes
test_planted_before
test_planted_after
test_strangers
test_sandboxes
test_undumpable_as_user
test_root_without_rights
test_half_made
test_full
finish

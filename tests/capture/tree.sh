#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# tree.sh - 'hatf tree' shows the process tree that the program reports
. "$(dirname "$0")/lib.sh"
need "$PYTHON"
# The trace and its ring file exist from the first event on.
export HATFTRACE_BEGIN=now

cat >family.py <<'END'
import os, signal, subprocess, sys

def say(*words):
    os.write(3, (" ".join(map(str, words)) + "\n").encode())

def forked(body):
    pid = os.fork()
    if pid == 0:
        body()
        os._exit(0)
    say("fork", os.getpid(), pid)
    os.waitpid(pid, 0)

def work():
    list(map(str, range(1000)))

def two():
    work()
    forked(work)

def run():
    work()
    say("exec", os.getpid(), os.getpid())
    os.execv("/bin/true", ["true"])

def die():
    work()
    os.kill(os.getpid(), signal.SIGKILL)

say("root", 0, os.getpid())
forked(work)
forked(two)
forked(run)
forked(die)
p = subprocess.Popen(["/bin/true"])
say("start", os.getpid(), p.pid)
p.wait()
# The parent is a shell without a trace.
p = subprocess.Popen(["/bin/sh", "-c", "/bin/true; true"])
p.wait()
END
mkdir traces
HATFTRACE_FOLLOW='all:!*sh' trace "$TMP/traces/%e.%p.gz" env \
	PYTHONMALLOC=malloc "$PYTHON" family.py 3>said
"$HATF" tree --json traces >tree.json || fail "tree: status"
"$HATF" tree traces >tree.txt

# of PID ORIGIN KEY: print KEY from the line of the process with this origin.
of()
{
	grep "\"origin\":\"$2\".*\"pid\":$1," tree.json |
		sed -n "s/.*\"$3\": *\"\\{0,1\\}\\([^,\"}]*\\).*/\\1/p"
}

while read -r how parent pid; do
	case $how in
	root) # the first image of this process is 'env'
		check "root" "$(of "$pid" root pid)" "$pid"
		check "root's image" "$(of "$pid" exec pid)" "$pid"
		;;
	*)
		check "$how $pid" "$(of "$pid" "$how" pid)" "$pid"
		check "$how $pid: parent" \
			"$(header "$(of "$pid" "$how" parent)" pid)" "$parent"
		;;
	esac
done <said
check "forks" "$(grep -c '"origin":"fork"' tree.json)" \
	"$(grep -c ^fork said)"
check "killed" "$(grep -c 'fork at event.*no trailer' tree.txt)" 1
check "over the shell" \
	"$(grep -c 'started through 1 untraced process, exit' tree.txt)" 1
check "lines" "$(wc -l <tree.txt)" "$(($(wc -l <said) + 2))"

# A running process is shown as running.
trace "$TMP/traces/sleep.gz" sleep 30 &
sleep_pid=$!
for _ in $(seq 100); do
	[ -s traces/sleep.gz ] && break
	sleep 0.05
done
check "running" "$("$HATF" tree traces/sleep.gz | grep -c 'running')" 1
kill "$(header traces/sleep.gz pid)"
wait "$sleep_pid" 2>/dev/null
check "killed then" "$("$HATF" tree traces/sleep.gz | grep -c 'no trailer')" 1

# If the parent's trace is in segments, the fork's event number counts from the
# first segment.
cat >forks.py <<'END'
import os

kept = []
for child in range(3):
    for i in range(20000):
        kept.append(bytearray(600 + i % 100))
        if i % 3:
            del kept[i % len(kept)]
    pid = os.fork()
    if pid == 0:
        kept.append(bytearray(700))
        os._exit(0)
    os.waitpid(pid, 0)
END
mkdir rows
HATFTRACE_ROTATE=64K trace "$TMP/rows/f.%p.hatf.gz" "$PYTHON" forks.py ||
	fail "rows: status"

# keys ORIGIN KEY...: print a line for each process of that origin in 'rows'.
keys()
{
	"$HATF" tree --json rows >rows.json || fail "rows: status of tree"
	"$PYTHON" -c '
import json, sys
for line in open("rows.json"):
    process = json.loads(line)
    if process["origin"] == sys.argv[1]:
        print(*[process[key] for key in sys.argv[2:]])' "$@"
}

children=0 last=0 gone=
keys fork file parent_event parent_event_exact parent_segment >forks
while read -r file at exact segment; do
	parent=$(header "$file" parent_trace)
	number=$(header "$parent" segment)
	want=$(header "$file" parent_event)
	for other in "${parent%.s*}".s*.hatf.gz; do
		[[ $other < $parent ]] &&
			want=$((want + $(trailer "$other" events)))
	done
	check "rows: fork of $file" "$at $segment" "$want None"
	[ "$exact" = False ] ||
		check_ge "rows: fork after the one before" "$at" \
			"$((last + 20000))"
	"$HATF" tree rows | grep -q "fork a[tbou]* event $at, .*(${file})" ||
		fail "rows: no fork at $at: $("$HATF" tree rows)"
	children=$((children + 1)) last=$at
	# Remember a later segment, in which a child was forked after its first
	# event.
	if [ -z "$gone" ] && [ "$number" != 0 ] &&
		[ "$(header "$file" parent_event)" != 0 ]; then
		gone=$parent child=$file
	fi
done <forks
check "rows: children" "$children" 3

# Without this segment, the number of events before it is unknown; those in it
# are known.
[ -n "$gone" ] || fail "rows: no fork in a later segment"
number=$(header "$gone" segment)
rm "$gone"
keys fork file parent_event parent_segment | grep "^$child " >row
check "rows: fork in a segment that is gone" "$(cat row)" \
	"$child $(header "$child" parent_event) $number"
"$HATF" tree rows >row
grep -q "event $(header "$child" parent_event) in segment $number, .*($child)" \
	row || fail "rows: fork in a segment that is gone: $(cat row)"

# If segments are removed, their events and losses still count.
rm -r rows
mkdir rows
HATFTRACE_BUFFER=4K HATFTRACE_FULL=drop HATFTRACE_ROTATE=64K trace \
	"$TMP/rows/f.hatf.gz" "$PROGS/longrun" 2000000 >/dev/null ||
	fail "drop: status"
counts=$(keys root events lost complete)
lost=0
for file in rows/*; do
	lost=$((lost + $(trailer "$file" lost)))
done
check_ge "drop: segments" "$(find rows -type f | wc -l)" 3
check_ge "drop: lost" "$lost" 1
check "drop: all" "${counts#* }" "$lost False"
rm rows/f.s0000.hatf.gz
check "drop: without the first" "$(keys root events lost complete)" "$counts"
rm rows/f.s0001.hatf.gz
check "drop: without two" "$(keys root events lost complete)" "$counts"
finish

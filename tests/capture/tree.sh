#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# tree.sh - the tree of a program that tells itself what it does
. "$(dirname "$0")/lib.sh"
need "$PYTHON"

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
# Over a shell that has no trace.
p = subprocess.Popen(["/bin/sh", "-c", "/bin/true; true"])
p.wait()
END
mkdir traces
HATFTRACE_FOLLOW='all:!*sh' trace "$TMP/traces/%e.%p.gz" env \
	PYTHONMALLOC=malloc "$PYTHON" family.py 3>said
"$HATF" tree --json traces >tree.json || fail "tree: status"
"$HATF" tree traces >tree.txt

# of PID ORIGIN KEY: from the line about the process that came about that way
of()
{
	grep "\"origin\":\"$2\".*\"pid\":$1," tree.json |
		sed -n "s/.*\"$3\": *\"\\{0,1\\}\\([^,\"}]*\\).*/\\1/p"
}

while read -r how parent pid; do
	case $how in
	root) # 'env' before it
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
check "over the shell" "$(grep -c 'started over 1 untraced, exit' tree.txt)" 1
check "lines" "$(wc -l <tree.txt)" "$(($(wc -l <said) + 2))"

# What is running says so.
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
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# rings.sh - the file of the rings is there while a process runs, and then not,
# and a process for which there can be none is traced as well
. "$(dirname "$0")/lib.sh"

# What a process sees of its own ring file in DIR: mode and bytes in use.
look='import glob, os, sys, threading
def work():
    for i in range(20000): bytearray(600 + i % 500)
threads = [threading.Thread(target=work) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
for name in glob.glob(sys.argv[1] + "/*.rings"):
    st = os.stat(name)
    print("%o" % (st.st_mode & 0o7777), st.st_blocks * 512)'

# leftovers WHAT: no ring file is left anywhere.
leftovers()
{
	check "$1: ring files left" "$(find . -name '*.rings*')" ''
}

trace beside.gz "$PYTHON" -c "$look" . >out 2>err
check "beside: status" $? 0
check "beside: stderr" "$(cat err)" ''
if [ -s out ]; then
	read -r mode nbytes <out
	check "beside: mode" "$mode" 600
	# Rings are reserved as far as they are needed, not whole.
	check_le "beside: bytes" "$nbytes" 9000000
else
	echo "no ring file: $(stat -f -c %T .) is not safe for one"
fi
clean beside.gz
leftovers beside

mkdir elsewhere
HATFTRACE_RINGS=$PWD/elsewhere trace dir.gz "$PYTHON" -c "$look" elsewhere >out
check "directory: lines" "$(wc -l <out)" 1
check "directory: header" "$(header dir.gz rings)" "$PWD/elsewhere/dir.gz.rings"
clean dir.gz
leftovers directory

HATFTRACE_RINGS=none trace none.gz "$PYTHON" -c "$look" . >out
check "none: lines" "$(wc -l <out)" 0
check "none: header" "$(header none.gz rings)" ''
clean none.gz

# Where there can be no file: one line if it was asked for, and a whole trace.
HATFTRACE_RINGS=$PWD/nowhere trace nowhere.gz "$PYTHON" -c "$look" . >out 2>err
check "no directory: stderr" "$(cat err)" \
	"hatftrace: $PWD/nowhere/nowhere.gz.rings: no such file or directory; if the process is killed, its last events are lost"
clean nowhere.gz
(
	ulimit -f 80
	trace limited.gz "$PYTHON" -c 'pass' >out 2>err
)
check "file size limit: status" $? 0
clean limited.gz
leftovers "file size limit"

# The disk is full while rings are growing.
if mkdir full && mount -t tmpfs -o size=300k tmpfs full 2>/dev/null; then
	HATFTRACE_RINGS=$PWD/full trace full.gz "$PYTHON" -c "$look" full >out 2>err
	check "full disk: status" $? 0
	check "full disk: lines" "$(wc -l <out)" 1
	clean full.gz
	umount full
	leftovers "full disk"
fi

# Every end removes it, and a failed exec makes another.
for way in exec exec-in-thread exec-fail exec-variants vfork spawn system; do
	trace "way-$way.gz" "$PROGS/lifecycle" "$way" >out 2>err
	leftovers "$way"
done
HATFTRACE_OUT=%e.%p.again.gz LD_PRELOAD=$SO "$PYTHON" -c '
import glob, os
try: os.execv("/nonexistent", ["x"])
except OSError: pass
b = [bytearray(1000 + i) for i in range(20000)]
print(len(glob.glob("*.rings")))' >out
[ -s out ] && check "after a failed exec: files" "$(cat out)" 1
clean ./*.again.gz
leftovers "failed exec"
finish

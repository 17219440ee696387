#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# rings.sh - the ring file exists only during a process; tracing works without
#
# The ring file exists while a process runs, and no longer.  If it cannot be
# created, the process is traced as well.
. "$(dirname "$0")/lib.sh"

# A program that prints mode and size on the disk of its own ring file in DIR.
look='import glob, os, sys, threading
def work():
    for i in range(20000): bytearray(600 + i % 500)
threads = [threading.Thread(target=work) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
for name in glob.glob(sys.argv[1] + "/*.rings"):
    st = os.stat(name)
    print("%o" % (st.st_mode & 0o7777), st.st_blocks * 512)'

# leftovers WHAT: fail if any ring file is left.
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
	# The file takes disk space only for the used parts of its rings.
	check_le "beside: bytes" "$nbytes" 9000000
else
	echo "no ring file: $(stat -f -c %T .) is not safe for one"
fi
clean beside.gz
leftovers beside

# The first access to a page maps only that page, without readahead.
# shellcheck disable=SC2016
trace ahead.gz awk '
$NF ~ /ahead.gz.rings$/ { ours = 1 }
ours && /^VmFlags/ { print / rr / ? "random" : $0; ours = 0 }' \
	/proc/self/smaps | sort -u >out
[ ! -s out ] || check "mappings" "$(cat out)" random

mkdir elsewhere
HATFTRACE_RINGS=$PWD/elsewhere trace dir.gz "$PYTHON" -c "$look" elsewhere >out
check "directory: lines" "$(wc -l <out)" 1
check "directory: header" "$(header dir.gz rings)" \
	"$PWD/elsewhere/dir.gz.rings"
clean dir.gz
leftovers directory

# A failed exec begins the trace; its header names the ring file, too.
cat >exec-fails.py <<'END'
import os
try:
    os.execv("/", ["none"])
except OSError:
    pass
END
HATFTRACE_RINGS=$PWD/elsewhere trace failed.gz "$PYTHON" -S -E exec-fails.py
check "exec fails: header" "$(header failed.gz rings)" \
	"$PWD/elsewhere/failed.gz.rings"
clean failed.gz

HATFTRACE_RINGS=none trace none.gz "$PYTHON" -c "$look" . >out
check "none: lines" "$(wc -l <out)" 0
check "none: header" "$(header none.gz rings)" ''
clean none.gz

# The file cannot be created: one line if it was requested, and a whole trace.
HATFTRACE_RINGS=$PWD/nowhere \
	trace nowhere.gz "$PYTHON" -c "$look" . >out 2>err
text='no such file or directory; if the process is killed, its last events'
check "no directory: stderr" "$(cat err)" \
	"hatftrace: no ring file $PWD/nowhere/nowhere.gz.rings: $text are lost"
clean nowhere.gz
(
	ulimit -f 80
	trace limited.gz "$PYTHON" -c 'pass' >out 2>err
)
check "file size limit: status" $? 0
clean limited.gz
leftovers "file size limit"

# The disk gets full while rings grow.
if mkdir full && mount -t tmpfs -o size=300k tmpfs full 2>/dev/null; then
	HATFTRACE_RINGS=$PWD/full \
		trace full.gz "$PYTHON" -c "$look" full >out 2>err
	check "full disk: status" $? 0
	check "full disk: lines" "$(wc -l <out)" 1
	clean full.gz
	umount full
	leftovers "full disk"
fi

# Every end removes the file, and after a failed exec there is another one.
for way in exec exec-in-thread exec-fail exec-variants vfork spawn system; do
	trace "way-$way.gz" "$PROGS/lifecycle" "$way" >out 2>err
	leftovers "$way"
done
HATFTRACE_OUT=%e.%p.again.gz LD_PRELOAD=$SO "$PYTHON" -c '
import glob, os
try: os.execv("/", ["x"])
except OSError: pass
b = [bytearray(1000 + i) for i in range(20000)]
print(len(glob.glob("*.rings")))' >out
[ -s out ] && check "after a failed exec: files" "$(cat out)" 1
clean ./*.again.gz
leftovers "failed exec"

# ---------------------------------------------------- what is left of a kill
# die DIR [SETTING...]: a process writes DIR/t*.hatf.gz, and is killed.
die()
{
	local dir=$1
	shift
	mkdir "$dir"
	env "$@" HATFTRACE_OUT="$TMP/$dir/t.hatf.gz" LD_PRELOAD="$SO" \
		PYTHONMALLOC=malloc "$PYTHON" -c '
import os, signal
kept = [bytearray(i % 500) for i in range(200000)]
os.write(1, b"x")
os.read(0, 1)
os.kill(os.getpid(), signal.SIGKILL)' <"$TMP/go" >"$dir.out" &
	victim=$!
	exec 8>"$TMP/go"
	until [ -s "$dir.out" ]; do sleep 0.02; done
	[ -z "$(type -t meanwhile)" ] || meanwhile
	echo >&8
	exec 8>&-
	wait $victim 2>/dev/null
}
mkfifo go

# The commands, while the process runs.
meanwhile()
{
	local file=alive/t.hatf.gz text
	sleep 1
	"$HATF" verify $file >out 2>err && fail "alive: verify succeeds"
	text="$file: is still being written by process $victim"
	check "alive: verify" "$(cat err)" "hatf verify: $text"
	for command in convert optimize; do
		"$HATF" $command $file alive/$command.hatf >out 2>err &&
			fail "alive: $command succeeds"
		check "alive: $command" "$(head -n 1 err)" \
			"hatf $command: $text"
		rm -f alive/$command.hatf # 'hatf recover' would report it
	done
	"$HATF" dump $file >out 2>err && fail 'alive: dump succeeds'
	check 'alive: dump' "$(cat err)" "hatf dump: $text"
	check "alive: verify --json" "$("$HATF" verify --json $file 2>err |
		grep -c "\"written_by\": *$victim")" 1
	check "alive: info --json" "$("$HATF" info --json $file 2>err |
		grep -c "\"written_by\": *$victim")" 1
	"$HATF" info $file 2>err | grep -q 'NOT COMPLETE YET' ||
		fail "alive: info"
	"$HATF" info $file.rings >out 2>err
	text="not a trace, but a ring file, of process $victim, which is"
	check "alive: ring file" "$(cat err)" \
		"hatf info: $file.rings: $text running"
	"$HATF" recover $file >out 2>err && fail "alive: recover succeeds"
}
die alive
if [ ! -e alive/t.hatf.gz.rings ]; then
	echo "no ring file: the rest is not tested"
	finish
fi
unset -f meanwhile
check "killed: written_by" "$("$HATF" verify --json alive/t.hatf.gz 2>err |
	grep -c '"written_by": *null')" 1
grep -q "'hatf recover'" err || fail "killed: $(cat err)"
"$HATF" verify alive/t.hatf.gz.rings >out 2>err
text="not a trace, but a ring file, of process $victim (see 'hatf recover')"
grep -q "alive/t.hatf.gz.rings: $text" err ||
	fail "killed: ring file: $(cat err)"

# Both files are renamed, and found by the new name; then the trace is removed;
# then the ring file.
cp -r alive renamed
(cd renamed && mv t.hatf.gz u.hatf.gz && mv t.hatf.gz.rings u.hatf.gz.rings)
mv alive aside
cp -r renamed one && cp -r renamed gone && cp -r renamed lone
"$HATF" recover renamed >out 2>&1 || fail "renamed: $(cat out)"
clean renamed/u.hatf.gz
"$HATF" recover one/u.hatf.gz >out 2>&1 || fail "renamed, a file: $(cat out)"
clean one/u.hatf.gz
rm gone/u.hatf.gz
"$HATF" recover gone >out 2>&1 && fail "no trace: succeeds"
text='No such file or directory; if the trace is gone, gone/u.hatf.gz.rings'
check "no trace" "$(cat out)" \
	"hatf recover: gone/t.hatf.gz: $text is useless and can be removed"
rm lone/u.hatf.gz.rings
cp aside/t.hatf.gz lone/v.hatf.gz
echo text >lone/readme
"$HATF" recover lone renamed >out 2>&1 && fail "no ring file: succeeds"
text='has no trailer, and its ring file was not found (see --rings)'
check "no ring file" "$(cat out)" "hatf recover: lone/u.hatf.gz: $text
hatf recover: lone/v.hatf.gz: $text"

# Committed bytes of the trace are missing, or replaced by zeros: recovery keeps
# what comes before them and loses everything after them.
# Flush first, because a kill while the writer writes a block would leave bytes
# that are not committed, and whose loss does no harm.
meanwhile()
{
	"$HATF" ctl "$victim" flush >out 2>&1 || fail "plain: $(cat out)"
}
die plain HATFTRACE_COMPRESS=none
unset -f meanwhile

# short DIR WHAT NBYTES: remove NBYTES from the end of a trace in DIR, or
# replace them by zeros.
short()
{
	local name="$1, $2 $3" file=short/t.hatf.gz text arg
	rm -rf short && cp -r "$1" short
	truncate -s "-$3" $file
	[ "$2" = cut ] || truncate -s "+$3" $file
	cp $file.rings kept
	"$HATF" recover --dry-run short >dry 2>&1
	"$HATF" recover short >out 2>&1 && fail "$name: succeeds"
	text='recovered, [0-9]* in all; the trace had lost its last'
	text+=' [0-9]* bytes (power loss?), [0-9]* lost, not complete$'
	grep -q ": 0 events $text" out || fail "$name: $(cat out)"
	check "$name: dry" "$(sed 's/to recover/recovered/' dry)" "$(cat out)"
	[ ! -e $file.rings ] || fail "$name: ring file"
	clean_but_cut $file
	check "$name: end" "$(trailer $file end)" abrupt
	check_ge "$name: lost" "$(info $file lost)" 1
	check "$name: events" "$(($(info $file events) + $(info $file lost)))" \
		"$whole"
	# An interrupted recovery has not yet removed the ring file.
	cp $file once && cp kept $file.rings
	"$HATF" recover short >out 2>&1 && fail "$name: succeeds again"
	text='not complete, but nothing can be recovered: the trace has its'
	text+=' trailer'
	check "$name: again" "$(cat out)" "$file: $text"
	cmp once $file || fail "$name: changed"
	[ ! -e $file.rings ] || fail "$name: ring file again"
	# The status is the same without the ring file.
	for arg in $file short; do
		"$HATF" recover "$arg" >out 2>&1 && fail "$name: $arg: succeeds"
		check "$name: $arg" "$(cat out)" "$file: $text"
	done
}
# A block that the writer had only begun is replaced.
cp -r plain begun
printf '%0120d' 0 >>begun/t.hatf.gz
for how in 'to replace' replaced; do
	option=()
	[ "$how" = replaced ] || option=(--dry-run)
	"$HATF" recover "${option[@]}" begun >out 2>&1 ||
		fail "$how: $(cat out)"
	grep -q ", 120 bytes of a half-written block $how, complete$" out ||
		fail "$how: $(cat out)"
done
clean begun/t.hatf.gz

for dir in aside plain; do
	cp -r $dir "whole-$dir"
	"$HATF" recover "whole-$dir" >out 2>&1 || fail "$dir: $(cat out)"
	whole=$(info "whole-$dir/t.hatf.gz" events)
	check "$dir: lost" "$(info "whole-$dir/t.hatf.gz" lost)" 0
	size=$(stat -c %s $dir/t.hatf.gz)
	for n in 5 5000 $((size / 2)); do
		short $dir cut "$n"
		[ $dir = plain ] || short $dir zeros "$n"
	done
done
# Not even the first block is there.
cp -r aside short-head
truncate -s 300 short-head/t.hatf.gz
cp short-head/t.hatf.gz short.gz
"$HATF" recover short-head >out 2>&1 && fail "no block: succeeds"
text='not the trace to which short-head/t.hatf.gz.rings belongs'
check "no block" "$(cat out)" "hatf recover: short-head/t.hatf.gz: $text"
cmp short.gz short-head/t.hatf.gz || fail "no block: changed"

# A pipe is refused at once.
mkfifo pipe.hatf.gz pipe.hatf.gz.rings
for file in pipe.hatf.gz pipe.hatf.gz.rings; do
	timeout 10 "$HATF" recover $file >out 2>&1
	check "$file: status" $? 1
	check "$file" "$(cat out)" "hatf recover: $file: not a regular file"
done
rm pipe.hatf.gz pipe.hatf.gz.rings

# The ring file has the name of the first segment, and belongs to the last.
die row HATFTRACE_ROTATE=64K HATFTRACE_COMPRESS=none
"$HATF" recover row/t.s0000.hatf.gz >out 2>&1 || fail "row: $(cat out)"
text='was complete; row/t.s0000.hatf.gz.rings belongs'
grep -qx "row/t.s0000.hatf.gz: $text to t.s00[0-9]*.hatf.gz" out ||
	fail "row: first: $(cat out)"
# The last of these files may be empty, because it was only just created.
"$HATF" recover row >out 2>&1 || fail "row: all: $(cat out)"
clean row/*.gz
check "row: ring files" "$(find row -name '*.rings')" ''
# However many threads wait for room, their buffers together stay small.
cat >crowd.c <<'END'
#include <pthread.h>
#include <stdlib.h>

static void *
run(void *argument)
{
	void *blocks[256] = { 0 };
	unsigned random = 1;

	for (int i = 0; i < 200000; i++) {
		const unsigned k = (random = random * 1103515245 + 12345) >> 24;

		free(blocks[k]);
		blocks[k] = malloc(16 + (random >> 16) % 200);
	}
	for (int k = 0; k < 256; k++)
		free(blocks[k]);
	return argument;
}

int
main(void)
{
	pthread_t threads[64];

	for (int i = 0; i < 64; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 64; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
"${CC:-cc}" -O2 -pthread -o crowd crowd.c || fail 'cannot build crowd.c'

# peak_kb COMMAND...: print its peak of resident memory.
peak_kb()
{
	"$PYTHON" -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}

peak=$(peak_kb env HATFTRACE_OUT=crowd.gz LD_PRELOAD="$SO" ./crowd)
check_le '64 threads: added memory (kB)' "$((peak - $(peak_kb ./crowd)))" \
	"$((24 * 1024))"
clean crowd.gz

# A program may read its whole memory, as the leak checker of gperftools does.
# The buffers that can still grow end beyond the end of the file.
cat >look.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned
look(void)
{
	static char line[4096];
	FILE *const maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	unsigned sum = 0;
	char rights[5];

	while (fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3 ||
		    rights[0] != 'r' || rights[1] != 'w')
			continue;
		for (; start < end; start += 4096)
			sum += *(volatile unsigned char *)start;
	}
	fclose(maps);
	return sum;
}

static void *
run(void *rounds)
{
	for (long i = 0; i < (long)rounds; i++)
		free(malloc((size_t)i % 300));
	return NULL;
}

int
main(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++) {
		pthread_create(&thread, NULL, run, (void *)100000L);
		(void)look();
		run((void *)200000L);
		(void)look();
		pthread_join(thread, NULL);
	}
	usleep(100000);
	(void)look();
	return 7;
}
END
"${CC:-cc}" -O2 -fno-builtin -pthread -o look look.c ||
	fail 'cannot build look.c'
for begin in now late; do
	rm -f look.gz*
	HATFTRACE_BEGIN=$begin trace look.gz ./look
	check "look, $begin: status" $? 7
	clean look.gz
done
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record-status.sh - 'hatf record' ends with the status of its command
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
[ -e "$BUILD/libhatftrace.so" ] || skip 'no libhatftrace.so'

# The exit status and the output of the command are passed on.
for want in 0 1 2 3 126 127 255; do
	run "$HATF" record -o "s$want.hatf.gz" -- \
		sh -c "echo out; echo err >&2; exit $want"
	check_status "exit $want" "$want"
	check "exit $want: stdout" "$(cat out)" out
	check "exit $want: stderr" "$(head -1 err)" err
	text="s$want.hatf.gz: [0-9 ]* events.*, no events lost"
	grep -q "^hatf record: $text" err ||
		fail "exit $want: no summary: $(cat err)"
done
check 'options end at the command' \
	"$("$HATF" record -o e.hatf.gz echo -o x --help 2>/dev/null)" \
	'-o x --help'
check 'standard input is passed on' \
	"$(echo text | "$HATF" record -o c.hatf.gz -- cat 2>/dev/null)" text

# If a signal kills the command, the same signal kills 'hatf record', which
# leaves no second core file.
ulimit -c 0
for signal in TERM KILL INT ABRT SEGV; do
	bash -c '"$@"; echo "$? $(kill -l "$?")"' bash "$HATF" record \
		-o "k$signal.hatf.gz" -- sh -c "kill -$signal \$\$; sleep 9" \
		>out 2>err
	check "death by $signal" "$(tail -1 out | cut -d ' ' -f 2)" "$signal"
done
# $? is 128 + n for death by signal n and for exit(128 + n): the wait status
# tells them apart.
if command -v perl >/dev/null; then
	got=$(perl -e 'system(@ARGV); print $? & 127, " ", $? & 128' \
		"$HATF" record -o p.hatf.gz -- \
		sh -c 'kill -TERM $$' 2>/dev/null)
	check 'wait status' "$got" '15 0'
fi

# said PATTERN...: 'hatf record' wrote a line that matches PATTERN in the last
# 'run'.  Several words are one pattern.
said()
{
	grep -q "^hatf record: $*" err || fail "'$*': $(cat err)"
}

# Killed children: 'hatf record' completes their traces from the ring files, on
# file systems that can have these.
rings=$(stat -f -c %T . | grep -cE 'ext|xfs|tmpfs|overlay|btrfs|f2fs')
if [ "$rings" -ne 0 ]; then
	mkdir killed
	HATFTRACE_BEGIN=now run "$HATF" record -o 'killed/%p.hatf.gz' -- \
		perl -e 'for (1 .. 3) {
				if (!fork) { my @a = (1) x 999; kill 9, $$ }
			}
			1 while wait > 0; exit 5'
	check_status 'killed children' 5
	said '.*, no events lost (+ .*3 traces of child processes,' \
		"3 of these completed by 'hatf record' after an abrupt end," \
		'no events lost in these)'
	run "$HATF" verify killed/*.gz
	check_status 'killed children: verify' 0
	check 'killed children: rings' "$(find killed -name '*.rings')" ''
fi
HATFTRACE_BEGIN=now HATFTRACE_RINGS=none run "$HATF" record \
	-o 'pipe.hatf.gz' -- bash -c 'yes | head -1'
check_status 'yes | head' 0
grep -q ', 1 of these NOT COMPLETE: ' err || fail "yes | head: $(cat err)"

# A process that is killed in its first moments has no file yet.
mkdir early
run "$HATF" record -o 'early/%e.%p.hatf.gz' -- \
	perl -e 'for (1 .. 4) { if (!fork) { my @a = (1) x 999;
		if ($_ == 4) { exec "perl", "-e", "exit 0" } kill 9, $$ } }
		1 while wait > 0; exit 5'
check_status 'killed early' 5
said '3 processes left no trace: perl (3):' \
	'ended abruptly .*HATFTRACE_BEGIN=now'
said 'early/perl.*, no events lost (+ 2 traces of child processes,' \
	'no events lost in these)$'
check 'killed early: lines' "$(grep -c ^hatf err)" 2
run "$HATF" record -o 'early/crash.hatf.gz' -- sh -c 'kill -SEGV $$'
check_status 'crash' 139
check_one_line 'crash' 'hatf record: sh left no trace: it was ended by a' \
	'signal while the trace was only in memory (HATFTRACE_BEGIN=now *)'
# A program that is killed after an exec leaves no trace.
run "$HATF" record -o 'early/x.hatf.gz' -- \
	perl -e 'exec "sh", "-c", "kill -9 \$\$"'
check_status 'killed after exec' 137
said '1 process left no trace: '
said 'early/x.hatf.gz: .* no events lost;' \
	'the program that it executed then left no trace$'
# A process with a trace elsewhere, or that still runs, is not reported as
# missing.  'sleep' may only end after the check, so it is killed then.
run "$HATF" record -o 'early/y.%p.hatf.gz' -- sh -c \
	'HATFTRACE_OUT=$PWD/early/z.hatf.gz ls
	(exec sleep 100 >/dev/null 2>&1) & echo $! >sleep.pid; exit 0'
kill "$(cat sleep.pid)"
check_status 'elsewhere' 0
check_one_line 'elsewhere' 'hatf record: early/y.*, no events lost*'
grep -Eq 'NOT COMPLETE|no trace' err && fail "elsewhere: $(cat err)"
# The trace of a process that still runs is not complete, and not cut off by a
# signal either.  'hatf record' recognizes the trace by its header, so the
# command ends when the file has one.
HATFTRACE_RINGS=none HATFTRACE_BEGIN=now run "$HATF" record \
	-o 'early/f.%p.hatf.gz' -p 'all:sleep' -- sh -c \
	'sleep 100 >/dev/null 2>&1 & echo $! >sleep.pid
	until [ -s early/f.* ]; do :; done'
kill "$(cat sleep.pid)"
check_status 'a daemon alone' 1
said 'early/f.*: NOT COMPLETE: its process is still running$'
# A program that is not followed and that a traced process executed: 'hatf
# record' knows only that it left no trace.
HATFTRACE_FOLLOW=all:'!rm' run "$HATF" record -o 'early/c.%p.hatf.gz' -- \
	sh -c '(exec rm -f none); exit 0'
check_status 'a child that executes' 0
check_one_line 'a child that executes' \
	'*, no events lost (+ 1 trace of child processes,' \
	'1 of these processes then executed a program that left no trace,' \
	'no events lost in these)'
# A stop of the recording is no loss, but the summary mentions it.
cat >pause.c <<'END'
#include <hatftrace.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		free(malloc(100));
		if (strcmp(argv[i], "stop") == 0)
			hatftrace_stop();
		else
			hatftrace_start();
		free(malloc(100));
	}
	return 0;
}
END
"${CC:-cc}" -I"$CLI/../../preload" -o pause pause.c || fail 'cannot build pause'
for steps in 'on stop:; its recording was stopped before the process ended' \
	'on stop start:; its recording was stopped for a while' \
	'off start:; its recording began late'; do
	words=${steps%%:*}
	# shellcheck disable=SC2086 # words
	run "$HATF" record -s "${words%% *}" -o 'early/p.%p.hatf.gz' -- \
		./pause ${words#* }
	check_status "$steps" 0
	check_one_line "$steps" "*, no events lost${steps#*:}"
done
if "${CC:-cc}" -static -x c -o static - 2>/dev/null \
	<<<'int main(void) { return 0; }'; then
	run "$HATF" record -o 'early/s.hatf.gz' -- perl -e 'exec "./static"'
	check_status 'exec of a static program' 0
	check_one_line 'exec of a static program' \
		'*no events lost;' \
		'the program that it executed then left no trace'
fi
# The notes of the processes are removed, however the command ends.
mkdir tmp
for how in 0 '$(kill -9 $$)'; do
	TMPDIR=$TMP/tmp run "$HATF" record -o 'early/t.%p.hatf.gz' -- \
		sh -c "exit $how"
	check "notes of exit $how" "$(ls tmp)" ''
done
TMPDIR=$TMP/tmp run "$HATF" record -- ./nothing
check 'notes of no command' "$(ls tmp)" ''
# The recorder ignores a file of notes that it cannot use.
for file in /dev/full "$TMP/none" "$TMP" "$TMP/linked"; do
	ln -sf err linked
	HATFTRACE_NOTES=$file HATFTRACE_OUT=$TMP/early/n.hatf.gz \
		LD_PRELOAD=$BUILD/libhatftrace.so run sh -c 'exit 6'
	check_status "notes in $file" 6
	check_silent "notes in $file"
done

# The command cannot be run.
run "$HATF" record -- ./nothing
check_status 'not found' 127
check_one_line 'not found' 'hatf record: ./nothing: No such file or directory'
PATH=/usr/bin:/bin run "$HATF" record -- no-such-command-anywhere
check_status 'not in PATH' 127
check_one_line 'not in PATH' 'hatf record: no-such-command-anywhere: No such*'
mkdir directory
run "$HATF" record -- ./directory
check_status 'a directory' 126
printf 'x' >plain
run "$HATF" record -- ./plain
check_status 'not executable' 126
check_one_line 'not executable' 'hatf record: ./plain: Permission denied'
check 'no trace of a command that did not run' \
	"$(find . -name '*plain*hatf*')" ''

# 'hatf record' forwards signals to the command, which may survive them.
cat >trap.sh <<'END'
trap 'echo got TERM; n=1' TERM
trap 'echo got USR1' USR1
echo ready
n=0
while [ $n = 0 ]; do sleep 0.05; done
exit 7
END
"$HATF" record -o t.hatf.gz -- bash trap.sh >out 2>err &
pid=$!
for ((i = 0; i < 200; i++)); do
	grep -q ready out && break
	sleep 0.05
done
kill -USR1 $pid
for ((i = 0; i < 200; i++)); do
	grep -q USR1 out && break
	sleep 0.05
done
kill -TERM $pid
wait $pid
check 'forwarded: status' $? 7
check 'forwarded' "$(cat out)" $'ready\ngot USR1\ngot TERM'
grep -q '^hatf record: t.hatf.gz: .* no events lost' err ||
	fail "forwarded: no summary: $(cat err)"

# The command inherits the signal mask and the ignored signals with which 'hatf
# record' was started.
plain=$(env --ignore-signal=HUP,CHLD --block-signal=USR1 \
	grep -E '^Sig(Blk|Ign)' /proc/self/status 2>/dev/null) &&
	check 'signal masks' "$(env --ignore-signal=HUP,CHLD \
		--block-signal=USR1 "$HATF" record -o m.hatf.gz -- \
		grep -E '^Sig(Blk|Ign)' /proc/self/status 2>/dev/null)" "$plain"

finish

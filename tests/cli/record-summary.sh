#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record-summary.sh - 'hatf record' sums up on a terminal, or if it is asked to
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'

cat >program.c <<'END'
#include <stdlib.h>
void *kept[100];
__attribute__((noinline)) void
keep_some(void)
{
	for (int i = 0; i < 100; i++)
		kept[i] = malloc(1024);
	__asm__ volatile("");
}
__attribute__((noinline)) void
use_much(void)
{
	void *volatile p = malloc(10 << 20);
	free(p);
	__asm__ volatile("");
}
int
main(void)
{
	use_much();
	keep_some();
	return 7;
}
END
gcc -g -O1 -fno-builtin -o program program.c || fail 'gcc failed'

# The lines after that about the trace.
summary_of()
{
	grep -v '^hatf record: ' err
}

run "$HATF" record -m always -o a.hatf.gz ./program
check_status 'always' 7
summary_of | sed -E 's/after [^;]*;/after SOME TIME;/; s/ \(.*\)$//' >got
check_text 'always' got <<'END'
  peak       10.0 MiB after SOME TIME; 100 % by use_much
  at the end 100.0 KiB in 100 blocks; 100 % by keep_some
  allocated  10.1 MiB in 101 blocks, 1.0 % temporary; 99 % by use_much
  next: hatf report a.hatf.gz
END
check 'always: nothing is missing' "$(grep -c 'debug information' err)" 0

# A line says that the program lacks debug information, and which build it is.
gcc -O1 -fno-builtin -o plain program.c || fail 'gcc failed'
run "$HATF" record -m always -o p.hatf.gz ./plain
build=$(readelf -n plain | awk '/Build ID/ { print $3 }')
check 'no debug information' "$(grep 'debug information' err)" "hatf record: \
$PWD/plain: no debug information (build id in the trace: $build)"
run "$HATF" record -m never -o p2.hatf.gz ./plain
check 'no debug information, no summary' "$(grep -c 'debug information' err)" 0

# The command that it names shows the same.
run "$HATF" report a.hatf.gz
grep -q ' 10.0 MiB in 1 block, ' out || fail "report: $(cat out)"

# The caller of a wrapper is the site, also in the result of --check.
run "$HATF" record -m always --wrapper 'use_*' -o w.hatf.gz ./program
grep -q '^  peak .* by main (.*program.c:' err || fail "wrapper: $(cat err)"
grep -q '^  at the end .* by keep_some (' err || fail "wrapper: $(cat err)"
echo 'site main peak 1M' >main.limits
sed 's/return 7/return 0/' program.c >ok.c && gcc -g -O1 -fno-builtin -o ok ok.c
run "$HATF" record --check main.limits --wrapper 'use_*' -o w2.hatf.gz ./ok
check_status 'record --check --wrapper' 3
run "$HATF" record --check main.limits -o w3.hatf.gz ./ok
check_status 'record --check without --wrapper' 0
run "$HATF" record --wrapper '' -o w.hatf.gz ./program
check_status 'an empty wrapper' 2

# Without the option, only a terminal gets the summary.
run "$HATF" record -o b.hatf.gz ./program
check 'no terminal' "$(summary_of)" ''
for option in '' '-m never'; do
	"$PYTHON" - "$HATF" record $option -o t.hatf.gz ./program >typed <<'END'
import os, pty, sys
pty.spawn(sys.argv[1:])
END
	check "a terminal, '$option'" "$(grep -c 'next: hatf report' typed)" \
		"$((${#option} == 0))"
done

# Without stacks, and without functions.
run "$HATF" record -m always -G -o c.hatf.gz ./program
summary_of | grep -q '; 100 % by thread 0, ' || fail "no stacks: $(cat err)"
summary_of | grep -q 'note: no call stacks' || fail "no stacks: $(cat err)"

# A process without a trace, an incomplete trace and segments have no figures.
run "$HATF" record -m always -o d.hatf.gz -p 'none:!program' ./program
check 'excluded' "$(summary_of)" ''
PYTHONMALLOC=malloc run "$HATF" record -m always -r 64K -z none -o s.%s.hatf \
	"$PYTHON" -c 'x = [str(i) for i in range(30000)]'
check 'segments: lines' "$(summary_of | wc -l)" 1
summary_of | grep -q '^  next: hatf report s.00' || fail "segments: $(cat err)"
run "$HATF" record -m always -o e.hatf.gz true
summary_of | grep -qx '  next: hatf report e.hatf.gz' ||
	fail "no allocation: $(cat err)"

# The segments of a child process are one trace.
PYTHONMALLOC=malloc HATFTRACE_KEEP=2 run "$HATF" record -r 64K -z none \
	-o child.%p.%s.hatf sh -c \
	"$PYTHON -c 'x = [str(i) for i in range(30000)]'; true"
of_child='(+ 1 trace of child processes in [12] of [1-9][0-9]* segments, '
of_child+='no events lost in these)'
grep -q " $of_child\$" err || fail "segments of a child: $(cat err)"
PYTHONMALLOC=malloc run "$HATF" record -r 64K -z none -o only.%p.%s.hatf \
	-p 'all:python*' sh -c \
	"$PYTHON -c 'x = [str(i) for i in range(30000)]'; true"
of_child='; 1 trace of child processes in \([1-9][0-9]*\) of \1 segments'
grep -q "$of_child\$" err || fail "segments of a child alone: $(cat err)"

# A child process that has a larger trace than the command.
run "$HATF" record -m always -o g.hatf.gz sh -c "$PYTHON -S -c ''; true"
larger='  larger trace: hatf report g.hatf.gz.1 (.*, a child process)'
summary_of | grep -qx "$larger" || fail "a larger child: $(cat err)"
run "$HATF" record -m always -o h.hatf.gz "$PYTHON" -S -c 'import os
os.system("true")'
! grep 'larger trace:' err || fail 'a smaller child'

run "$HATF" record -m often -o f.hatf.gz true
check_status 'often' 2
check_one_line 'often' "hatf record: --summary: unknown value 'often' *"
finish

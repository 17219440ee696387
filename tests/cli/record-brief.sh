#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record-brief.sh - the short form of 'hatf report' that 'hatf record' prints
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
[ -e "$BUILD/libhatftrace.so" ] || skip 'no libhatftrace.so'
command -v jq >/dev/null || skip 'no jq'
command -v perl >/dev/null || skip 'no perl'

# line WHAT N PATTERN...: line N of stderr matches PATTERN.
line()
{
	local what=$1 n=$2 pattern

	shift 2
	pattern="hatf record: $*"
	# shellcheck disable=SC2254 # the text is a pattern
	case $(sed -n "${n}p" err) in
	$pattern) ;;
	*) fail "$what: '$(sed -n "${n}p" err)', want '$pattern'" ;;
	esac
}

# lines WHAT COUNT: stderr has so many lines.
lines()
{
	check "$1: lines" "$(wc -l <err)" "$2"
}

# Elsewhere than on a terminal, only --summary prints it.
run "$HATF" record -o plain.hatf.gz -- ls
lines 'no terminal' 1
run "$HATF" record --summary -o one.hatf.gz -- ls
check_status summary 0
lines summary 5
line summary 1 'one.hatf.gz: * events*'
line summary 2 'peak: * in * blocks after *s, * of the bytes by *'
line summary 3 'live at the end: * in * blocks, * of the bytes by *'
line summary 4 'allocated: * in * blocks, * of them temporary,' \
	'* of the blocks by *'
line summary 5 'next: hatf report one.hatf.gz, or hatf leaks one.hatf.gz'

# The figures are those of 'hatf report', and the sites its first ones.
"$HATF" report --json one.hatf.gz >report
count()
{
	sed -nE "s/.*$1: .* in ([0-9 ]+) blocks.*/\1/p" err | tr -d ' '
}
check 'blocks at the peak' "$(count peak)" "$(jq .total.at_peak.blocks report)"
check 'blocks at the end' "$(count 'live at the end')" \
	"$(jq .total.at_end.blocks report)"
check 'allocated blocks' "$(count allocated)" \
	"$(jq .total.allocated.blocks report)"
name()
{
	sed -nE "s/.*: $1: .* of the (bytes|blocks) by //p" err
}
check 'site of the peak' "$(name peak)" "$(jq -r '.at_peak[0].name' report)"
check 'site at the end' "$(name 'live at the end')" \
	"$(jq -r '.at_end[0].name' report)"
check 'site of allocations' "$(name allocated)" \
	"$(jq -r '.by_count[0].name' report)"

# The status and the output of the program are passed on.
run "$HATF" record --summary -o s.hatf.gz -- sh -c 'echo text; exit 7'
check_status 'exit 7' 7
check 'exit 7: stdout' "$(cat out)" text

# Without stacks, threads and sizes stand for sites, and a line says so.
run "$HATF" record -G --summary -o 'no stacks.hatf' -- ls
lines 'no stacks' 6
line 'no stacks' 2 'peak: * by thread 0, * bytes'
line 'no stacks' 5 "no call stacks: 'hatf record' without -G takes them*"
line 'no stacks' 6 "next: hatf report 'no stacks.hatf', or" \
	"hatf leaks 'no stacks.hatf'"

# Other processes: only the command's own trace is read.
mkdir many
run "$HATF" record --summary -o many/%e.%p.hatf.gz -- \
	sh -c 'ls; ls; ls; exit 0'
lines 'other traces' 6
line 'other traces' 1 '*(+ 3 traces of child processes,' \
	'nothing lost in these)'
line 'other traces' 5 'next: hatf report many/*sh.*.hatf.gz, or *'
line 'other traces' 6 'the other traces: hatf tree many/'

# A terminal.  -q wins over it, and over --summary.
cat >terminal.py <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
text = b''
try:
    while part := os.read(fd, 4096):
        text += part
except OSError:
    pass
os.waitpid(pid, 0)
sys.stderr.write(text.decode().replace('\r', ''))
END
if python=$(python3 -c 'import sys; print(sys.executable)'); then
	run "$python" terminal.py "$HATF" record -o t.hatf.gz -- true
	lines terminal 5
	line terminal 5 'next: hatf report t.hatf.gz, *'
	run "$python" terminal.py "$HATF" record -q -o q.hatf.gz -- true
	lines 'quiet terminal' 0
fi
run "$HATF" record -q --summary -o q1.hatf.gz -- sh -c 'ls; exit 3'
check_status quiet 3
check_silent quiet

# -q does not hide that a trace is incomplete, or missing.
HATFTRACE_BEGIN=now run "$HATF" record -q -o gone.hatf.gz -- rm gone.hatf.gz
check_status 'quiet, no trace' 1
check_one_line 'quiet, no trace' 'hatf record: rm left no trace: *'
HATFTRACE_BEGIN=now HATFTRACE_RINGS=none run "$HATF" record -q -z none \
	-o k.hatf -- sh -c 'perl -e "kill 9, \$\$"; exit 0'
check_status 'quiet, a killed child' 0
grep -q '^hatf record: k.hatf: .* NOT COMPLETE' err ||
	fail "quiet, a killed child: $(cat err)"

# A large trace is not read for it.
run "$HATF" record -G --clock off --summary -o large.hatf.gz -- \
	perl -e 'for (1 .. 5_000_001) { my $x = "a" x 300; undef $x }'
lines large 3
line large 2 'no figures of more than 10 000 000 events here'
line large 3 'next: hatf report large.hatf.gz, *'
run "$HATF" record -G --rotate 64K -z none --summary -o seg.%s.hatf -- \
	perl -e 'my @a = map { "a" x 300 } 1 .. 50_000'
lines segments 4
line segments 2 'no figures of a trace in segments here'
line segments 4 'the other trace*: hatf tree .'
finish

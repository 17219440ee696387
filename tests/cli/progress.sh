#!/bin/bash
# SPDX-License-Identifier: MIT
#
# progress.sh - long commands show their progress on a terminal, and only there
#
# 'hatf tables' and 'hatf optimize' rewrite one line on standard error: what is
# done never decreases, and at the end the line is erased.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

python=$(realpath /usr/bin/python3 2>/dev/null) || skip 'no python3'
[ -x "$python" ] || skip 'no python3'

# Run a command whose standard error is a terminal.  Write what the command
# writes there to the file 'shown', and exit with the command's status.
cat >terminal.py <<'E_TERMINAL'
import os, pty, subprocess, sys, tty

terminal, end = pty.openpty()
tty.setraw(end)
command = subprocess.Popen(sys.argv[1:], stderr=end, stdin=subprocess.DEVNULL)
os.close(end)
with open('shown', 'wb') as shown:
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # no process has the other end
            break
        if not data:
            break
        shown.write(data)
sys.exit(command.wait())
E_TERMINAL

# Read 'shown', the progress of 'long.hatf'.  Print how many lines match
# PATTERN, whose first group is the share or number done.  Complain about
# anything but such lines and those of reading the trace.
cat >judge.py <<'E_JUDGE'
import re, sys

START = '\r\x1b[K'
shown = open('shown', encoding='utf-8', newline='').read()
if shown == '':
    print(0)
    sys.exit()
lines = shown.split(START)
if lines[0] != '' or lines[-1] != '':
    print('the line is not erased')
reading = r'long\.hatf: +(\d+) %, \d+\.\d M events, \d+\.\d M/s(?:, \d+ s left)?'
seen = {pattern: [] for pattern in (sys.argv[1], reading)}
for line in filter(None, lines):
    for pattern, done in seen.items():
        match = re.fullmatch(pattern, line)
        if match:
            done.append(int(match[1]))
            break
    else:
        print('another line:', repr(line))
for done in seen.values():
    if done != sorted(done):
        print('does not count up:', done)
done = seen[sys.argv[1]]
print(len(done) if len(done) < 3 or done[0] < done[-1] else 'stands still')
E_JUDGE

# long_trace COUNT: write 'long.hatf', with so many allocations.
long_trace()
{
	awk -v count="$1" 'BEGIN {
		print "10 HATF ascii thread heap time attributes"
		for (i = 0; i < count; i++) {
			page = i * 7919 % 1000
			address = sprintf("0x%x", 65536 + page * 4096)
			print 0, 16 + i * 7919 % 5000, address, 0, 0, i
			print 1, address, 0, 0, i
		}
	}' | "$HATF" convert --from ascii - long.hatf 2>/dev/null ||
		fail 'convert'
}

# check_progress WHAT PATTERN COMMAND...: it shows progress, which changes
# nothing else; run it with traces of more and more events until it takes some
# seconds.
check_progress()
{
	local what=$1 pattern=$2 count=$3 judgement=
	shift 3
	while :; do
		long_trace "$count"
		"$python" -S terminal.py "$@" >seen
		check "$what: exit status on a terminal" "$?" 0
		judgement=$("$python" -S judge.py "$pattern")
		case $judgement in
		[012]) ;;
		*) break ;;
		esac
		[ "$count" -lt 4000000 ] || break
		count=$((4 * count))
	done
	case $judgement in
	'' | *[!0-9]* | [012]) fail "$what: lines of progress: $judgement" ;;
	esac
	run "$@"
	check_status "$what: not on a terminal" 0
	check_silent "$what: not on a terminal"
	cmp seen out || fail "$what: other results on a terminal"
}

# A command that takes less than a second shows nothing.
check_nothing()
{
	local what=$1
	shift
	"$python" -S terminal.py "$@" >seen
	check "$what: exit status of a short one" "$?" 0
	check "$what: shown by a short one" "$(cat -v shown)" ''
}

# Without times, which differ from run to run.
check_progress tables 'long\.hatf: encodings measured: (\d+) of \d+' 50000 \
	"$HATF" tables --runs 0 long.hatf
left='(?:, \d+ s left)?'
check_progress optimize \
	'long\.hatf: +(\d+) %, \d+\.\d M events, \d+\.\d M/s'"$left" \
	400000 "$HATF" optimize long.hatf small.hatf.gz

long_trace 10
check_nothing tables "$HATF" tables --runs 0 long.hatf
check_nothing optimize "$HATF" optimize long.hatf small.hatf.gz
finish

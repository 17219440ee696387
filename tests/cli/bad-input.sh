#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bad-input.sh - commands report input that is not a trace in one line, exit 1
#
# Each command that reads a trace does so, and prints only what it has read.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

: >empty
head -c 65536 /dev/urandom >random
# Random bytes may begin like a legal record; fix the first byte.
printf '\xc3' | dd of=random conv=notrunc status=none
printf 'Hello, this is some text.\n' >text
cp "$HATF" program
gzip -c text >text.gz
mkdir directory
{
	header unit=us
	layout
	alloc 1 0x1000 0 0 1
} >good.hatf
trailer good.hatf 1 2
gzip -c good.hatf >good.hatf.gz
head -c -9 good.hatf.gz >cut.hatf.gz

# bad FILE PATTERN
bad()
{
	local command
	for command in info 'info --json' verify 'verify --json' dump; do
		# shellcheck disable=SC2086 # a command and its option
		run "$HATF" $command "$1"
		check_status "$command $1" 1
		check_one_line "$command $1" "hatf ${command% *}: $1: $2"
		[ -s out ] && fail "$command $1: '$(head -1 out)' on stdout"
	done
}

bad empty 'not a trace: the file is empty or has no records'
bad random "not a format that hatf knows; see 'hatf formats'"
bad text "not a format that hatf knows; see 'hatf formats'"
bad program "not a format that hatf knows; see 'hatf formats'"
bad text.gz "not a format that hatf knows; see 'hatf formats'"
# 'hatf verify' looks for traces in a directory.
shopt -s extglob
bad directory '@(Is a directory; name the traces *|contains no trace *)'
bad missing 'No such file or directory'
bad good.hatf/x 'Not a directory'
name=$'\x1b[2J'
run "$HATF" info "$name"
check 'a name with a terminal escape sequence' "$(cat err)" \
	'hatf info: \x1b[2J: No such file or directory'
if [ "$(id -u)" -ne 0 ]; then
	cp good.hatf unreadable
	chmod 0 unreadable
	bad unreadable 'Permission denied'
fi

# With good and bad files as arguments, a command reads the good ones.
run "$HATF" verify empty good.hatf missing
check_status mixed 1
check mixed "$(cat out)" 'good.hatf: ok, 1 event'
check 'mixed: lines on stderr' "$(wc -l <err)" 2

# The records before the damage are printed.
run "$HATF" dump cut.hatf.gz
check_status cut 1
check_one_line cut 'hatf dump: cut.hatf.gz: offset 0x*'
check cut "$(cat out)" '1 alloc size=1 addr=0x1000 thread=0 heap=0 time=1'

# Standard input is closed, or empty.
"$HATF" info - <&- >out 2>err
status=$?
check_status 'closed stdin' 1
check_one_line 'closed stdin' 'hatf info: standard input: *'
run "$HATF" info -
check_status 'empty stdin' 1
check_one_line 'empty stdin' \
	'hatf info: standard input: not a trace:' \
	'the file is empty or has no records'

finish

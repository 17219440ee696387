#!/bin/bash
# SPDX-License-Identifier: MIT
#
# modes.sh - what is written from a trace is for its owner alone
#
# A trace holds command lines and addresses.  Whatever the umask, and whatever
# the mode of a file that was there before, the file that 'hatf' leaves has mode
# 0600.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

{
	header clock=us unit=us pid=4242 'command=app --password=secret'
	layout
	alloc 24 0x5581c0 0 0 17
} >in.hatf
trailer in.hatf 1 2
chmod 644 in.hatf

check_mode()
{
	check "$1: mode" "$(stat -L -c %a "$2")" 600
}

# Whoever wants to share a file says so: the mode of the input is not taken
# over.
formats=$("$HATF" formats --json |
	sed -nE 's/^\{"name":"([a-z]+)".*"writes":true.*/\1/p')
check 'formats' "$(grep -cxE 'hatf|csv|json|dhat|heaptrack' <<<"$formats")" 5
umask 0
for format in $formats; do
	run "$HATF" convert --to "$format" in.hatf new
	check_mode "convert to $format" new
	rm -f new
	: >old
	chmod 666 old
	run "$HATF" convert --to "$format" in.hatf old
	check_mode "convert to $format over a file" old
	rm -f old
done

# What was there is gone.
seq 100000 >long.csv
run "$HATF" convert in.hatf long.csv
check_status 'over a longer file' 0
run "$HATF" convert in.hatf short.csv
cmp long.csv short.csv || fail 'the end of an older file is left'
for way in new old; do
	run "$HATF" optimize in.hatf opt.hatf.gz
	check_status "optimize, $way" 0
	check_mode "optimize, $way" opt.hatf.gz
	run "$HATF" tables --runs 0 --csv tables.csv in.hatf
	check_status "tables, $way" 0
	check_mode "tables, $way" tables.csv
	chmod 644 opt.hatf.gz tables.csv
done

# A link is followed, and one that leads nowhere makes a file.
echo before >target.json
for link in target.json nowhere.json; do
	ln -s "$link" link.json
	run "$HATF" convert in.hatf link.json
	check_status "link to $link" 0
	[ -L link.json ] || fail "link to $link: replaced"
	check_mode "link to $link" "$link"
	rm link.json
done

# What is no regular file stays what it is.
mkfifo pipe
mode=$(stat -c %a pipe)
timeout 60 cat pipe >piped.json &
run timeout 60 "$HATF" convert --to json in.hatf pipe
check_status 'to a pipe' 0
wait
cmp piped.json target.json || fail 'to a pipe: another trace'
check 'mode of a pipe' "$(stat -c %a pipe)" "$mode"
run "$HATF" convert --to csv in.hatf /dev/null
check_status 'to /dev/null' 0
check 'mode of /dev/null' "$(stat -c %a /dev/null)" 666
run "$HATF" convert --to csv in.hatf /dev/full
check_one_line 'to /dev/full' '*No space left on device'
mkdir folder
run "$HATF" convert --to csv in.hatf folder
check_one_line 'to a folder' '*folder: Is a directory'

# Another user's file, which its owner could read.
if [ "$(id -u)" = 0 ]; then
	echo before >his.csv
	chown 65534 his.csv
	chmod 666 his.csv
	run "$HATF" convert in.hatf his.csv
	check_status 'another user' 1
	check_one_line 'another user' '*his.csv: Operation not permitted'
	check 'his file' "$(cat his.csv)" before
fi
finish

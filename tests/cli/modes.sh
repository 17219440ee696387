#!/bin/bash
# SPDX-License-Identifier: MIT
#
# modes.sh - only the owner can read the files that hatf writes
#
# A trace has command lines and addresses.  A file that 'hatf' writes has mode
# 0600, whatever the umask, and whatever the mode of an existing file.
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

# The output does not get the mode of the input.
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

# A longer file is truncated.
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

# A symbolic link is followed.  If its target does not exist, it is created.
echo before >target.json
for link in target.json nowhere.json; do
	ln -s "$link" link.json
	run "$HATF" convert in.hatf link.json
	check_status "link to $link" 0
	[ -L link.json ] || fail "link to $link: replaced"
	check_mode "link to $link" "$link"
	rm link.json
done

# FIFOs and devices keep their type and mode.
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

# A file of another user is refused, since its owner could read the output.
if [ "$(id -u)" = 0 ]; then
	echo before >his.csv
	chown 65534 his.csv
	chmod 666 his.csv
	run "$HATF" convert in.hatf his.csv
	check_status 'another user' 1
	check_one_line 'another user' '*his.csv: Operation not permitted'
	check "another user's file" "$(cat his.csv)" before
fi
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record-follow.sh - which processes 'hatf record --follow' records and counts
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
[ -e "$BUILD/libhatftrace.so" ] || skip 'no libhatftrace.so'

# counted NAME COUNT OPTION... -- COMMAND...: the summary counts COUNT traces of
# child processes.
counted()
{
	local name=$1 want=$2
	shift 2
	run "$HATF" record -o "$name.%p.gz" "$@"
	check_status "$name" 0
	check "$name" \
		"$(sed -n 's/.* \([0-9]*\) traces* of child.*/\1/p' err)" \
		"$want"
}

pair='/bin/true; /bin/true; :'
counted all 2 -- sh -c "$pair"
counted none '' --follow none -- sh -c "$pair"
counted exec 2 -p exec -- sh -c "$pair"
counted names 2 -p all:true -- sh -c "$pair"
check_one_line names 'hatf record: sh is excluded from tracing;' \
	'2 traces of child processes'
counted not '' -p 'all:!true' -- sh -c "$pair"
# A descendant of a process that is not traced, and of one that has ended.
counted middle 1 -p 'all:!dash,!sh,!bash' -- \
	env sh -c 'sh -c "sh -c \"/bin/true; :\"; :"; :'

# A 'hatf record' in a recorded process starts a tree of its own.
run env HATFTRACE_FOLLOW=None "$HATF" record -o own.%p.gz -- true
check_status 'own tree' 0
check 'own tree' "$(find . -name 'own.*.gz' | wc -l)" 1

run "$HATF" record -o none.%p.gz -p all:nobody -- sh -c true
check_status 'nobody' 1
check_one_line nobody 'hatf record: sh is excluded from tracing,' \
	'and nothing else left a trace'
# The pattern matches the name of the executable file, not of a link to it or of
# a script.
ln -s "$(command -v perl)" link
printf '#!%s\nexit\n' "$PWD/link" >script
chmod +x script
run "$HATF" record -o link.%p.gz -p 'all:!perl*' -- ./script
check_status link 1
check_one_line link 'hatf record: ./script is excluded from tracing, and *'
run "$HATF" record -o wanted.gz -p 'all:p?rl*,nothing' -- rm -f none
check_status wanted 1
check_one_line wanted 'hatf record: rm is excluded from tracing, and *'
HATFTRACE_BEGIN=now run "$HATF" record -o removed.gz -p 'all:*rm' -- \
	rm removed.gz
check_status removed 1
check_one_line removed 'hatf record: rm left no trace: *'
# Matching a glob of many stars does not take exponential time.
long=$(printf 'a%.0s' $(seq 200))
cp /bin/true "$long"
(ulimit -t 10 && run "$HATF" record -o stars.gz \
	-p "all:$(printf '*a%.0s' $(seq 50))*b" -- "./$long"
	echo "$status" >status)
check 'many stars' "$(cat status)" 1
check_one_line 'many stars' \
	"hatf record: ./$long is excluded from tracing, and *"
for value in '' nothing all: alles None all,x all:a,,b 'all:a,' 'all:!' \
	"all:$(printf 'a%.0s' $(seq 1024))"; do
	run "$HATF" record -o bad.gz --follow "$value" -- true
	check_status "'$value'" 2
	check_one_line "'$value'" 'hatf record: --follow: wrong value *'
done
finish

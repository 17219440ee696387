#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# execs.sh - a new image has a new trace, and the old one is whole
. "$(dirname "$0")/lib.sh"

# start WAY STATUS: run it and check every trace.
start()
{
	rm -rf tally tally.traces
	trace_tallied tally "$PROGS/lifecycle" "$1" >out 2>err
	check "$1: status" $? "$2"
	[ -s err ] && fail "$1: stderr: $(cat err)"
	clean tally.traces/*
	compare_tallies tally
	check "$1: traces" "$(find tally.traces -type f | wc -l)" \
		"$(find tally -type f | wc -l)"
}

# Both images have the same process number, so the name of the second trace is
# taken.
for way in exec exec-in-thread; do
	start $way 0
	first=$(find tally.traces -name '*.gz')
	check "$way: end" "$(trailer "$first" end)" exec
	check "$way: end of the second image" "$(trailer "$first.1" end)" exit
	check "$way: same process" "$(info "$first" pid)" \
		"$(info "$first.1" pid)"
	check "$way: command" "$(header "$first.1" command | sed 's/.* //')" \
		image
done

start exec-fail 12
check "exec-fail: AFTER" "$(events tally.traces/* | grep -c '^alloc 30002 ')" 1
check "exec-fail: end" "$(trailer tally.traces/* end)" exit
waited=$(trailer tally.traces/* wait_ns)
check_le 'exec-fail: time that producers wait' "${waited:-0}" 500000000

# A handler leaves an abort() by a jump: no thread waits long after it.
start abort-jump 12
check "abort-jump: end" "$(trailer tally.traces/* end)" exit
waited=$(trailer tally.traces/* wait_ns)
check_le 'abort-jump: time that producers wait' "${waited:-0}" 500000000

# Each of nine children has one trace before the exec and one after it.
start exec-variants 0
check "exec-variants: processes" "$(find tally.traces -name '*.gz' | wc -l)" 10
for trace in tally.traces/*.gz; do
	[ -z "$(header "$trace" parent_pid)" ] ||
		check "exec-variants: end of $trace" "$(trailer "$trace" end)" \
			exec
done

for way in vfork spawn; do
	start $way 0
	for trace in tally.traces/*; do
		case $(header "$trace" command) in
		*lifecycle*)
			check "$way: AFTER" "$(events "$trace" |
				grep -c '^alloc 30002 ')" 1
			check "$way: end" "$(trailer "$trace" end)" exit
			;;
		esac
	done
done

start system 0

# An image that is not traced leaves no file.
start exec-clean 0
check "exec-clean: traces" "$(find tally.traces -type f | wc -l)" 1
check "exec-clean: end" "$(trailer tally.traces/* end)" exec
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# misuse.sh - a program that breaks libc's rules runs as it does bare
. "$(dirname "$0")/lib.sh"

# A former bug: the children used a ring that they do not have.  In a call stack
# that was being taken, they also used the thread's last stack, which they do
# not have either.
for stacks in off on; do
	for way in fork-handler fork-async-handler; do
		rm -f trace.gz*
		HATFTRACE_STACKS=$stacks trace trace.gz "$PROGS/misuse" $way \
			>out
		check "$way, stacks $stacks: status" $? 0
		check "$way, stacks $stacks: children that ended badly" \
			"$(cat out)" 0
		clean trace.gz
	done
done

# Former bugs: a child returned into a capture that it had no memory for; or it
# waited for ever for room in a ring of its parent.
if [ "$(uname -m)" = x86_64 ]; then
	mkdir steps
	for what in malloc 'malloc allocate' 'free allocate'; do
		# shellcheck disable=SC2086
		HATFTRACE_BEGIN=now HATFTRACE_STACKS=on:frees \
			trace steps/%p.gz "$PROGS/fork_steps" $what >out
		check "fork after each step of $what: status" $? 0
		read -r children bad <out
		check_ge "fork after each step of $what: children" \
			"$children" 100
		check "fork after each step of $what: bad" "$bad" 0
	done
fi

# A former bug: the writer kept the process from ending.
rm -f trace.gz*
trace trace.gz timeout -s KILL 20 "$PROGS/misuse" last-thread
check "last-thread: status" $? 7
clean trace.gz.1
check "last-thread: end" "$(trailer trace.gz.1 end)" last_thread

# A former bug: the recorder took the child for the initial thread.
rm -f trace.gz*
trace trace.gz "$PROGS/misuse" vfork-first
check "vfork-first: status" $? 0
clean trace.gz
check "vfork-first: events" "$("$HATF" dump trace.gz |
	grep -c 'alloc size=2000[01] .*thread=0 ')" 2
finish

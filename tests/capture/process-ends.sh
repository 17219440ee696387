#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# process-ends.sh - however a process ends, its trace is whole
. "$(dirname "$0")/lib.sh"

# end WAY STATUS TRAILER MARKS: TRAILER is the trailer's 'end', and MARKS is how
# often the size AFTER (30002) is in the trace.
end()
{
	local pid trace
	rm -rf tally tally.traces
	trace_tallied tally "$PROGS/lifecycle" "$1" >out 2>err
	check "$1: status" $? "$2"
	# The shell writes a line of its own on an abort.
	grep hatftrace: err && fail "$1: stderr"
	pid=$(ls tally)
	trace=tally.traces/t.$pid.hatf.gz
	check "$1: traces" "$(find tally.traces -type f | wc -l)" 1
	clean "$trace"
	compare_tallies tally
	check "$1: end" "$(trailer "$trace" end)" "$3"
	check "$1: complete" "$(info "$trace" complete)" true
	check "$1: pid" "$(info "$trace" pid)" "$pid"
	check "$1: AFTER" "$(events "$trace" | grep -c '^alloc 30002 ')" "$4"
}

end return 0 exit 1
end exit 3 exit 1
end exit-in-thread 4 exit 0
end _exit 6 _exit 0
end _Exit 7 _exit 0
end quick_exit 8 quick_exit 1
end abort 134 abort 0
end abort-caught 10 exit 1
end main-thread 0 exit 1

# The other threads run until the kernel stops them.  So 'tally' and the trace
# may differ by the calls that were under way: one for each thread.
rm -rf tally tally.traces
trace_tallied tally "$PROGS/lifecycle" busy
check "busy: status" $? 11
trace=tally.traces/t.$(ls tally).hatf.gz
clean "$trace"
check "busy: end" "$(trailer "$trace" end)" exit

# The process is killed, so nothing could write a trailer.  The trace is in
# order up to its end, and the program died as it does bare.
for way in "segv 139" "term 143" "kill 137" "raw-exit 9"; do
	rm -f trace.gz*
	# shellcheck disable=SC2086 # two words
	set -- $way
	trace trace.gz "$PROGS/lifecycle" "$1" 2>err
	check "$1: status" $? "$2"
	grep hatftrace: err && fail "$1: stderr"
	check "$1: verify" "$("$HATF" verify trace.gz >/dev/null 2>&1
		echo $?)" 1
done
finish

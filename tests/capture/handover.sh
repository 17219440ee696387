#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# handover.sh - events are in order if threads alternate in running alone
#
# While one thread runs alone, the recorder takes no stamps, and few otherwise;
# the clock comments must say so.
. "$(dirname "$0")/lib.sh"

# clocks TRACE: print the different values of its clock comments.
clocks()
{
	gzip -dc "$1" | grep -a -A1 'HATF clock$' | sed -n 's/^clock=//p' |
		sort -u | paste -sd,
}

# round CLOCK: run once and check the trace.
round()
{
	rm -f trace.gz
	HATFTRACE_CLOCK=$1 trace trace.gz "$PROGS/handover" 3 >out
	check "$1: status" $? 0
	read -r _ taken _ given <out
	cat out
	clean trace.gz
	check_ge "$1: blocks handed out" "$(info trace.gz alloc)" "$taken"
	check_ge "$1: blocks given back" "$(info trace.gz free)" "$given"
	check "$1: lost" "$(info trace.gz lost)" 0
}

round us
check "us: what the trace says" "$(clocks trace.gz)" ""
round coarse
# In a coarse trace, a clock comment gives the length of a tick that was longer
# than usual.
[ "$(clocks trace.gz)" = coarse ] ||
	check "coarse: what the trace says" "$(clocks trace.gz)" ""
round auto
[ "$(clocks trace.gz)" = coarse ] ||
	check "auto: what the trace says" "$(clocks trace.gz)" ""
finish

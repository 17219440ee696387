#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# storm.sh - what signal handlers allocate is recorded, whatever they interrupt
. "$(dirname "$0")/lib.sh"
build_shared reentrant
PRELOAD=$TMP/reentrant.so

for setting in CLOCK=auto CLOCK=off CLOCK=ns BUFFER=4K; do
	rm -f trace.gz
	export "HATFTRACE_$setting"
	trace trace.gz "$PROGS/storm" 300000 >out
	check "$setting: status" $? 0
	unset "HATFTRACE_${setting%%=*}"
	cat out
	check_ge "$setting: signals" "$(sed 's/.*handled //' out)" 100
	clean trace.gz
	check "$setting: events" "$(info trace.gz events)" \
		"$(sed 's/calls \([0-9]*\).*/\1/' out)"
	check "$setting: lost" "$(info trace.gz lost)" 0
done
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# storm.sh - what signal handlers allocate is recorded, whatever they interrupt
. "$(dirname "$0")/lib.sh"
build_shared reentrant
PRELOAD=$TMP/reentrant.so

for setting in CLOCK=auto CLOCK=off CLOCK=ns BUFFER=4K; do
	rm -f trace.gz
	steps=300000
	[ $setting != BUFFER=4K ] || steps=50000
	export "HATFTRACE_$setting"
	trace trace.gz "$PROGS/storm" $steps >out
	check "$setting: status" $? 0
	unset "HATFTRACE_${setting%%=*}"
	cat out
	read -r _ calls _ taken _ given _ handled <out
	check_ge "$setting: signals" "$handled" 100
	clean trace.gz
	check "$setting: blocks handed out" "$(info trace.gz alloc)" "$taken"
	check "$setting: blocks given back" "$(info trace.gz free)" "$given"
	# A realloc that lasts too long, because a handler in it waits for room,
	# becomes a free and an allocation: hatf/rings/order.h.
	if [ $setting = BUFFER=4K ]; then
		check_ge "$setting: events" "$(info trace.gz events)" "$calls"
	else
		check "$setting: events" "$(info trace.gz events)" "$calls"
	fi
	check "$setting: lost" "$(info trace.gz lost)" 0
done
finish

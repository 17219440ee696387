#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# late-signals.sh - while exit() flushes, signals act as without the recorder
#
# The trace is finished before the flush.  A signal that arrives in the first
# 20 ms after that acts when they are over, if the process still exists; so a
# child that is stuck in the flush ends by it (late_signals.c).
. "$(dirname "$0")/lib.sh"

export HATFTRACE_OUT=$TMP/%e.%p.hatf.gz

# compare ARG...: the program prints the same with and without the recorder
compare()
{
	local bare recorded

	bare=$(timeout 20 "$PROGS/late_signals" "$@" 2>&1)
	recorded=$(LD_PRELOAD=$SO timeout 20 "$PROGS/late_signals" "$@" 2>&1)
	[ -n "$bare" ] || fail "$*: nothing printed"
	check "$*" "$recorded" "$bare"
	[ -z "${SHOW-}" ] || echo "$*: $bare"
}

for case in masks raise handle threads wait sleep; do
	compare inside "$case"
done
for delays in 10 30 200; do
	compare inside late "$delays"
	compare inside late-handle "$delays"
	compare blocked default "$delays"
	compare blocked handle "$delays"
	compare blocked interrupt "$delays"
	compare blocked ignore "$delays"
done
compare inside late 1
# Signals that the gate keeps, and signals that it does not.
compare blocked handle 1 100
compare inside late-handle 5 5
for case in closed closed-threads closed-handle; do
	compare blocked "$case"
done
# A thread that is not ending keeps the signal until a timer sends it again; if
# there can be no timer, the signal acts at once.
for words in -aside -aside-timerless -exits -rt -aside-rt \
	-aside-rt-timerless; do
	for case in default handle; do
		compare blocked "$case$words" 10
	done
done
# Of real-time signals, each one acts, in order, with its number.
compare blocked handle-rt 10 0 0 5
# Each child has a trace that is complete.
for trace in "$TMP"/late_signals.*.hatf.gz; do
	"$HATF" verify "$trace" >"$TMP/error" 2>&1 ||
		fail "$trace: $(cat "$TMP/error")"
done

compare inside fork
# The first signal arrives before, during or just after the finish; the second
# ends a child that is stuck.
for _ in 1 2 3 4 5 6 7 8; do
	got=$(LD_PRELOAD=$SO timeout 20 "$PROGS/late_signals" blocked early 100)
	check "blocked early 100" "${got##* bytes }" "signal 15"
done
finish

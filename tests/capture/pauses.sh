#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# pauses.sh - after a pause, when the writer sleeps, order and time are right
#
# In the first version, a thread that started together with the second one took
# an idle clock for "the same tick as before" and recorded without a stamp.
. "$(dirname "$0")/lib.sh"

for clock in auto us ns coarse; do
	rm -f trace.gz
	HATFTRACE_CLOCK=$clock trace trace.gz "$PROGS/pauses" >out
	check "$clock: status" $? 0
	clean trace.gz
	# Each pause is between two events.
	check_ge "$clock: duration" "$(info trace.gz duration_ns)" \
		$((4 * 150000 * 1000))
	check_le "$clock: duration" "$(info trace.gz duration_ns)" \
		$(($(cat out) * 1000 + 100000000))
done
finish

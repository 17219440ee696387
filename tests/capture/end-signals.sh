#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# end-signals.sh - signals do not change how a process ends once it is ending
#
# ROUNDS is the number of children for each way to end and each action (default
# 16).  Use 2000 or more for a thorough run.
#
# runs alone: another test would delay a child between announcement and end
#
# After the trace is finished, exit() flushes streams.  The gate then keeps the
# signals (late-signals.sh has the rest).
. "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-16}
export HATFTRACE_OUT=$TMP/%e.%p.hatf.gz

children=0 again=0
# run WAY ACTION: check that all children ended as they should.  If the host is
# busy, it may suspend the whole machine before a child has called anything;
# this also happens bare, and the test cannot detect it.  So try five times, and
# count all tries.
run()
{
	local got

	for _ in 1 2 3 4 5; do
		got=$(LD_PRELOAD=$SO timeout 120 "$PROGS/end_signals" \
			"$1" "$2" "$rounds")
		children=$((children + rounds))
		rm -f "$TMP"/*.hatf.gz*
		[ "$got" = "0 other, 0 handled" ] && return
		echo "$1, $2, of $rounds: $got"
		again=$((again + 1))
	done
	fail "$1, $2, of $rounds: $got"
}

for way in return exit _exit quick_exit pthread_exit raw abort exec; do
	for action in default ignore block handle threads silent; do
		# The thread that stays would keep the process running.
		case $way.$action in
		pthread_exit.threads | pthread_exit.silent) continue ;;
		esac
		run "$way" "$action"
	done
done
echo "$children children, $again runs repeated"
finish

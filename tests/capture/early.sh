#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# early.sh - fork, kill or exit while the first writer thread starts
. "$(dirname "$0")/lib.sh"

# A signal handler forks during a call.  The fork starts the writer and moves
# the ring into its file while the call is only half recorded.
for ((i = 0; i < 60; i++)); do
	trace handler.gz "$PROGS/early" handler $((60 + i))
	check "handler $i: status" $? 5
	clean handler.gz
	check "handler $i: made up" \
		"$(events handler.gz | grep -c '^alloc 0 ')" 0
	rm -f handler.gz*
done

# If recovery says that a trace is complete, the trace has every call that had
# returned.
found=0
# On a busy machine, the writer may start later.
for ((n = 2000; n < 4000 || (found == 0 && n < 20000); n += 50)); do
	rm -f kill.gz*
	returned=$(HATFTRACE_OUT=$TMP/kill.gz "$PROGS/early" kill "$n" "$SO")
	[ -s kill.gz ] && "$HATF" recover kill.gz >/dev/null 2>&1 || continue
	[ "$(info kill.gz complete)" = true ] || continue
	[ "$(info kill.gz lost)" = 0 ] || continue
	found=$((found + 1))
	check_ge "killed at $n: events" "$(info kill.gz events)" \
		$((2 * returned))
done
check_ge 'kills with a trace' "$found" 1

# Another thread starts a child at the same time; the child must ignore no
# signal.
for ((i = 0; i < 20; i++)); do
	trace spawn.gz "$PROGS/early" spawn || fail "spawn: $?"
	rm -f spawn.gz*
done
found=0
for pid in $(pgrep -x sleep); do
	[ "$(readlink "/proc/$pid/cwd")" = "$PWD" ] || continue
	found=$((found + 1))
	# posix_spawn() makes the child ignore two signals of libc's own.
	ignored=0x$(sed -n 's/^SigIgn:[ \t]*//p' "/proc/$pid/status")
	check 'signals that a child ignores' $((ignored & ~0x180000000)) 0
	kill -KILL "$pid"
done
check_ge 'children' "$found" 1
# A child that has no valid thread-local storage.
if [ "$(id -u)" -eq 0 ]; then
	HATFTRACE_START=off trace bare.gz "$PROGS/early" bare
	check 'bare: status, dormant' $? 66
	trace bare.gz "$PROGS/early" bare 2>/dev/null
	check 'bare: status' $? 66
fi
finish

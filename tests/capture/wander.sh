#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# wander.sh - the trace is right when blocks wander between threads
#
# Blocks of all sizes change hands between threads, which also work alone for a
# while.  In the trace no block may lie over a live one, and none may be freed
# that is not live; 'hatf verify' checks this.  The trace has the program's
# calls, under several allocators, with stacks, with each clock, with rings that
# are always full, and after a kill.
#
#	ROUNDS=N	kills (default 5)
#	SEED=N		seed of the program
. "$(dirname "$0")/lib.sh"
ROUNDS=${ROUNDS:-5}
SEED=${SEED:-$$}

# sum FILE KIND...: add up the records of these kinds.
sum()
{
	local file=$1
	shift
	"$HATF" info --json "$file" | "$PYTHON" -c '
import json, sys
kinds = json.load(sys.stdin)["records"]
print(sum(kinds.get(kind, 0) for kind in sys.argv[1:]))' "$@"
}

# wander WHAT THREADS [NAME=VALUE...]: the trace is right, and has all calls.
wander()
{
	local what="$1, $2 threads, seed $SEED" threads=$2 allocs frees reallocs
	local released
	shift 2
	rm -f t.hatf*
	HATFTRACE_OUT=$TMP/t.hatf env "$@" \
		LD_PRELOAD="$SO${PRELOAD:+:$PRELOAD}" \
		"$PROGS/wander" "$threads" 2 4000 "$SEED" >said ||
		fail "$what: exit status"
	# 'env' has no trace: it runs before the library is preloaded.
	clean t.hatf
	check "$what: traces" "$(count t.hatf*)" 1
	IFS=' =' read -r _ allocs _ frees _ reallocs <said
	# A realloc that moves its block announces an alloc and a free; one that
	# is split is these two alone.  The C library has some calls, too.
	check_ge "$what: allocs" "$(sum t.hatf alloc reallocNoAlloc)" \
		"$((allocs + reallocs))"
	released=$(sum t.hatf free reallocNoAlloc)
	check_ge "$what: frees" "$released" "$((frees + reallocs))"
	check_le "$what: frees" "$released" "$((frees + reallocs + 300))"
}

# library NAME: print the path at which the loader finds this library.
library()
{
	ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'
}

for threads in 3 8 32; do
	wander glibc "$threads"
done
for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
	PRELOAD=$(library "$name")
	[ -n "$PRELOAD" ] || continue
	wander "$name" 8
done
PRELOAD=
wander stacks 8 HATFTRACE_STACKS=8
wander us 8 HATFTRACE_CLOCK=us
wander 'small rings' 8 HATFTRACE_BUFFER=4K
wander 'small rings, stacks' 3 HATFTRACE_BUFFER=4K HATFTRACE_STACKS=8

for ((round = 1; round <= ROUNDS; round++)); do
	rm -f t.hatf*
	HATFTRACE_OUT=$TMP/t.hatf LD_PRELOAD="$SO" \
		"$PROGS/wander" 8 0 4000 "$((SEED + round))" &
	pid=$!
	sleep "0.$((3 + round))"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	"$HATF" recover t.hatf >recovered.out 2>&1 ||
		fail "kill $round: recover: $(cat recovered.out)"
	clean t.hatf
	check_ge "kill $round: events" "$(info t.hatf events)" 1000
done
finish

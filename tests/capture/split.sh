#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# split.sh - a realloc comes before the allocations in its old block
#
# Other threads get memory from the middle of the old block before the realloc
# returns.  'hatf verify' tolerates such blocks in a live block, because some
# allocators tell no sizes, so this script looks at the events itself.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

# parts_in_live TRACE: print how many blocks of 104 bytes are allocated, and
# how many of them begin inside a live block of 600 bytes.
parts_in_live()
{
	"$HATF" dump "$1" | "$PYTHON" -c '
import sys
live, parts, wrong = set(), 0, 0
for line in sys.stdin:
    row = line.split()
    kind, values = row[1], dict(x.split("=", 1) for x in row[2:] if "=" in x)
    address = int(values.get("addr", "0"), 16)
    if kind == "free":
        live.discard(address)
    elif values.get("size") == "600":
        live.add(address)
    elif values.get("size") == "104":
        parts += 1
        wrong += any(b < address < b + 600 for b in live)
print(parts, wrong)
'
}

build_shared splitheap
PRELOAD=$TMP/splitheap.so
# Short times alone: the thread has stamps.  Long times: the writer grants it
# the tick, so the realloc begins without a stamp.  libc's own pthread_create():
# the recorder knows the thread from its first event on.
while read -r clock rounds ms library; do
	rm -f t.hatf.gz
	# shellcheck disable=SC2086 # no library is no word
	HATFTRACE_CLOCK=$clock trace t.hatf.gz "$PROGS/split" "$rounds" "$ms" \
		$library
	check "$clock $ms: status" $? 0
	clean t.hatf.gz
	read -r parts wrong < <(parts_in_live t.hatf.gz)
	check_ge "$clock $ms: parts" "$parts" $((3 * rounds))
	check "$clock $ms: parts in live blocks" "$wrong" 0
done <<'RUNS'
auto 12 1
auto 8 50
us 8 1
auto 12 1 libc.so.6
us 8 1 libc.so.6
RUNS

# A dormant process that already has its threads when recording begins.
control_folder
(exec env HATFTRACE_START=off HATFTRACE_BEGIN=now \
	HATFTRACE_OUT="$TMP/late.hatf.gz" LD_PRELOAD="$SO:$PRELOAD" \
	"$PROGS/split" 60 20) &
pid=$!
await_socket "$pid"
sleep 0.3
ctl "$pid" start >/dev/null || fail 'start'
wait "$pid"
check 'late: status' $? 0
clean late.hatf.gz
read -r parts wrong < <(parts_in_live late.hatf.gz)
check_ge 'late: parts' "$parts" 60
check 'late: parts in live blocks' "$wrong" 0
PRELOAD=
finish

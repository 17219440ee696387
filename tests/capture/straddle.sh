#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# straddle.sh - the events of a block on two pages are in order
#
# A thread needs no stamp for a block on its own pages.  Here one of the block's
# two pages belongs to another thread, which has blocks at the same place before
# and after.  This script looks at the blocks itself, because 'hatf verify'
# tolerates a block inside a live one.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

# overlaps TRACE: print how many blocks of 64 bytes are allocated, and how many
# of them overlap a live one.
overlaps()
{
	"$HATF" dump "$1" | "$PYTHON" -c '
import sys
live, blocks, wrong = set(), 0, 0
for line in sys.stdin:
    row = line.split()
    kind, values = row[1], dict(x.split("=", 1) for x in row[2:] if "=" in x)
    address = int(values.get("addr", "0"), 16)
    if kind == "free":
        live.discard(address)
    elif kind == "alloc" and values["size"] == "64":
        blocks += 1
        wrong += any(abs(b - address) < 64 for b in live)
        live.add(address)
print(blocks, wrong)
'
}

build_shared placedheap
PRELOAD=$TMP/placedheap.so
# With PLACEDHEAP_LIES, the word before a block does not have the size that
# malloc_usable_size() returns.
for setting in HATFTRACE_CLOCK=auto HATFTRACE_CLOCK=us PLACEDHEAP_LIES=1; do
	rm -f t.hatf
	(
		export "${setting?}"
		trace t.hatf "$PROGS/straddle"
	)
	check "$setting: status" $? 0
	clean t.hatf
	read -r blocks wrong < <(overlaps t.hatf)
	check_ge "$setting: blocks" "$blocks" 1800
	check "$setting: blocks that overlap" "$wrong" 0
done
PRELOAD=
finish

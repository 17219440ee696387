#!/bin/bash
# SPDX-License-Identifier: MIT
#
# edges.sh - figures at the edges of a trace, of a window and of the time axis
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v jq >/dev/null || skip 'no jq'

# ------------------------------------------------------ the edges of a window
# The next call of the thread frees the block of the second event.  A window
# that begins between the two calls does not count the allocation, so it counts
# no temporary block.
{
	header unit=us
	layout
	alloc 8 0x1000 0 0 0
	alloc 8 0x2000 0 0 1
	free 0x2000 0 0 2
	alloc 50 0x3000 0 0 3
} >window.hatf
trailer window.hatf 4 5
# temporary WANT OPTION...: this many blocks are temporary.
temporary()
{
	local want=$1

	shift
	run "$HATF" stat --json "$@" window.hatf
	check_status "temporary $*" 0
	check "temporary $*" "$(jq -c '[.total.temporary.blocks,
		.total.freed.blocks]' out)" "[$want,1]"
}
temporary 1
temporary 1 --from 1
temporary 0 --from 2

finish

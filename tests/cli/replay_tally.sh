#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_tally.sh - each call of a trace is replayed once, with its own block
#
# tally_heap.c counts the calls of random traces, and aborts if a block is freed
# or resized that is not live.  Blocks go from thread to thread; sizes are
# around the limits of what the replay treats alike.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

"${CC:-cc}" -O1 -D_GNU_SOURCE -fno-builtin -shared -fPIC -o tally.so \
	"$CLI/tally_heap.c" || fail 'cannot build tally_heap.c'

# tally WHAT SEED CALLS BLOCKS THREADS PART: see replay_tally.py
tally()
{
	local what=$1 got want

	shift
	python3 "$CLI/replay_tally.py" "$@" >trace.ascii 2>want ||
		fail "$what: $(cat want)"
	rm -f tally
	run "$HATF" replay --json -r 1 --touch first \
		-a "./tally.so:TALLY=$PWD/tally" trace.ascii
	check_status "$what: $(cat err)" 0
	# A library of one's own first has a run without measures.
	got=$(od -An -w32 -t u8 tally | xargs)
	want=$(awk '{ print 2 * $1, 2 * $2, 2 * $3, 2 * $4 }' want)
	# pthread_create() allocates, too, and its blocks live on.
	[ "$4" = 1 ] || got=$(drop_threads "$got" "$want")
	check "$what" "$got" "$want"
}

# drop_threads GOT WANT: GOT, with the allocations and bytes of WANT if it has
# more of both, but at most a few.
drop_threads()
{
	echo "$1 $2" | awk '{
		extra = $1 - $5
		if (extra >= 0 && extra <= 32 && $4 - $8 <= extra * 4096) {
			$1 = $5
			$4 = $8
		}
		print $1, $2, $3, $4
	}'
}

tally 'one thread' 1 30000 500 1 0
tally 'half handed over' 2 60000 300 4 0.5
tally 'few handed over' 3 100000 3000 8 0.05
tally 'all handed over' 4 50000 20 2 1
# More than 131072 live blocks: from then on, a word has one call.
tally 'many blocks' 5 250000 150000 3 0.02
finish

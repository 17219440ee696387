#!/bin/bash
# SPDX-License-Identifier: MIT
#
# flips.sh - no flipped bit of a recorded trace changes an event unseen
#
# test_flips.c flips each bit of a file in turn.  For traces of the recorder,
# plain and compressed, 'hatf verify' must refuse every result in which an event
# has changed.  It may accept flips that change none: those in the name of a
# block's sum, and in fields of the gzip header that no reader needs.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

FLIPS=$BUILD/tests/unit/tools/commands/test_flips
[ -x "$FLIPS" ] || skip 'test_flips is not built'

# number TEXT: print the number that follows TEXT in 'got'.
number()
{
	sed -n "s/.*$1 \([0-9]*\).*/\1/p" got
}

# flip FILE ACCEPTED: flip all its bits; 'hatf verify' may accept at most
# ACCEPTED of the results.
flip()
{
	local bits=$((8 * $(stat -c %s "$1"))) changed same
	"$FLIPS" "$1" >got || fail "$1: $(cat got)"
	changed=$(number 'an event changes with')
	same=$(number 'none changes with')
	check "$1: flips" "$((changed + same))" "$bits"
	check_ge "$1: flips that change an event" "$changed" 1000
	check "$1: of these pass" "$(number 'of these pass')" 0
	check_le "$1: flips that are accepted" \
		"$((same - $(number 'verify refuses')))" "$2"
}

# A block's sum has 17 bytes of names, a gzip header some 15 without meaning;
# such a trace has one sum, or a header for each of two or three members.
trace packed.hatf.gz sort /dev/null
export HATFTRACE_COMPRESS=none
trace plain.hatf sort /dev/null
HATFTRACE_CLOCK=ns trace threads.hatf "$PROGS/threads" >/dev/null
unset HATFTRACE_COMPRESS
HATFTRACE_STACKS=on trace stacks.hatf.gz sort /dev/null
for trace in packed.hatf.gz plain.hatf threads.hatf stacks.hatf.gz; do
	flip "$trace" 400
done
finish

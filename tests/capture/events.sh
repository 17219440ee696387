#!/bin/bash
# SPDX-License-Identifier: MIT
#
# events.sh - a program's own events are in its trace, whole and in order
#
# As text (hatftrace_event()) and as records of a DTD ('hatf metatf gen
# --events'): with threads, in each segment, after a kill, in the child of a
# fork, with call stacks, with small rings, with a ring that drops.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"
need python3

check_events()
{
	"$HATF" dump "$1" >dump.out || fail "$1: dump"
	"$PYTHON" "$CAPTURE/shared/events.py" "${@:2}" <dump.out >seen.out ||
		fail "$1: events"
}

# dtd_of FILE: print the DTD that the trace contains.
dtd_of()
{
	plain "$1" | grep -a -A3 '^dtd=' | grep -a '^text=' | head -n 1
}

build()
{
	"$HATF" metatf gen --events "$CAPTURE/shared/notes.dtd" >gen.out ||
		fail 'cannot generate'
	check 'files' "$(tr '\n' ' ' <gen.out)" \
		'./notes.h ./notes.c ./notes_events.h '
	for how in '-std=c99 -Wall -Wextra' \
		'-std=c11 -Wall -Wextra -Wconversion'; do
		# shellcheck disable=SC2086 # options
		${CC:-cc} $how -Werror -D_GNU_SOURCE -O2 \
			-I"$CAPTURE/../../preload" -I. -o noted \
			"$CAPTURE/shared/noted.c" -pthread ||
			fail "cannot compile with $how"
	done
}

test_bare()
{
	./noted 2 100 || fail 'without the recorder'
}

test_threads()
{
	local trace
	trace "$TMP/one.hatf.gz" ./noted 1 500 || fail 'one thread'
	trace "$TMP/eight.hatf" ./noted 8 2000 || fail 'eight threads'
	HATFTRACE_BUFFER=4K trace "$TMP/small.hatf" ./noted 8 1000 ||
		fail 'small rings'
	HATFTRACE_STACKS=16 trace "$TMP/stacks.hatf" ./noted 4 1000 ||
		fail 'stacks'
	HATFTRACE_CLOCK=us trace "$TMP/us.hatf" ./noted 4 1000 || fail 'us'
	clean one.hatf.gz eight.hatf small.hatf stacks.hatf us.hatf
	check_events one.hatf.gz 1 500
	check_events eight.hatf 8 2000
	check_events small.hatf 8 1000
	check_events stacks.hatf 4 1000
	check_events us.hatf 4 1000
	for trace in one.hatf.gz eight.hatf; do
		dtd_of $trace | grep -q 'sizes\*bytes' || fail "$trace: no DTD"
	done
	check 'of one thread' "$("$HATF" dump --thread 3 eight.hatf |
		grep -c ' event thread=3 ')" 4125
	check 'of others' "$("$HATF" dump --thread 3 eight.hatf |
		grep -c ' event thread=[^3]')" 0
}

# Each segment has the DTD; together they have all events.
test_segments()
{
	local segment
	HATFTRACE_ROTATE=128K HATFTRACE_COMPRESS=none \
		trace "$TMP/parts.hatf" ./noted 4 2000 || fail segments
	clean parts*.hatf
	check_ge 'segments' "$(count parts.s*.hatf)" 5
	for segment in parts*.hatf; do
		dtd_of "$segment" | grep -q 'sizes\*bytes' ||
			fail "$segment: no DTD"
		"$HATF" dump "$segment" | grep -v carried=1
	done >dump.out
	"$PYTHON" "$CAPTURE/shared/events.py" 4 2000 <dump.out >seen.out ||
		fail 'events of all segments'
}

# A kill leaves a trace with each event whole or not at all.
test_kill()
{
	local round pid examined=0
	for round in $(seq "${ROUNDS:-6}"); do
		rm -f killed.hatf*
		HATFTRACE_OUT=$TMP/killed.hatf HATFTRACE_COMPRESS=none \
			LD_PRELOAD=$SO ./noted 3 10000000 &
		pid=$!
		sleep "0.$((RANDOM % 4))$((RANDOM % 10))5"
		kill -9 $pid
		wait $pid 2>/dev/null
		[ -e killed.hatf.rings ] || continue
		"$HATF" recover killed.hatf >/dev/null || fail "kill $round"
		[ -s killed.hatf ] || continue
		check_events killed.hatf 3 10000000 cut
		grep -q ' name=notes' dump.out || continue
		dtd_of killed.hatf | grep -q 'sizes\*bytes' ||
			fail "kill $round: no DTD"
		examined=$((examined + 1))
	done
	check_ge 'kills whose traces have events' "$examined" 2
}

test_fork()
{
	trace "$TMP/family.%p.hatf" ./noted 2 300 fork || fail fork
	clean family.*.hatf
	check 'processes' "$(count family.*.hatf)" 2
	for file in family.*.hatf; do
		dtd_of "$file" | grep -q 'sizes\*bytes' || fail "$file: no DTD"
		if [ "$(header "$file" parent_pid)" = '' ]; then
			check_events "$file" 2 300
		else
			check_events "$file" 1 300
		fi
	done
}

# Events that a full ring drops are counted as lost.
test_drop()
{
	HATFTRACE_FULL=drop HATFTRACE_BUFFER=4K \
		trace "$TMP/drop.hatf" ./noted 4 5000 || fail drop
	"$HATF" dump drop.hatf >dump.out 2>/dev/null
	"$PYTHON" "$CAPTURE/shared/events.py" 4 5000 lossy <dump.out \
		>seen.out || fail 'drop: events'
	trace "$TMP/idle.hatf" ./noted 4 0 || fail 'no work'
	check_ge 'lost' "$(trailer drop.hatf lost)" 1
	check 'what is there or lost' \
		"$(($(cat seen.out) + $(trailer drop.hatf lost) +
			$(trailer drop.hatf events)))" \
		"$((4 * (5000 * 4 + 313) + $(trailer idle.hatf events)))"
}

# While nothing is recorded, nothing is formatted; later traces have the DTD.
test_stop()
{
	cat >paused.c <<-'EOF'
	#include "notes_events.h"
	#include <stdlib.h>
	static unsigned evaluated;
	static uint64_t next(void) { return evaluated++; }
	int main(void)
	{
		const struct notes_step long_one = { 0, 0, { 900,
			{ (const uint8_t *)calloc(1, 900), 900 } } };
		if (notes_event_step(next(), 1, { 0, { NULL, 0 } }) != -1 || evaluated != 0)
			return 1;
		if (hatftrace_event("none", "%d", 1) != -1)
			return 2;
		if (hatftrace_start() != 0)
			return evaluated != 0;
		if (notes_event_step(next(), 2, { 0, { NULL, 0 } }) != 0)
			return 3;
		if (notes_event_step(1, 2, { 5, { NULL, 0 } }) != -1)
			return 4;
		if (notes_event_put_step(&long_one) != -1)
			return 5;
		if (hatftrace_event(NULL, "%d", 1) != -1)
			return 6;
		hatftrace_stop();
		hatftrace_start();
		if (notes_event_step(next(), 3, { 0, { NULL, 0 } }) != 0)
			return 7;
		return evaluated == 2 ? 0 : 8;
	}
	EOF
	${CC:-cc} -Wall -Wextra -Werror -I"$CAPTURE/../../preload" -I. \
		-o paused paused.c || fail 'cannot compile paused'
	./paused || fail 'paused: without the recorder'
	HATFTRACE_START=off trace "$TMP/paused.hatf" ./paused ||
		fail "paused: $?"
	clean paused.hatf paused.s0001.hatf
	for file in paused.hatf paused.s0001.hatf; do
		dtd_of "$file" | grep -q 'sizes\*bytes' || fail "$file: no DTD"
		check "$file" "$("$HATF" dump "$file" | grep -c ' event ')" 1
	done
}

build
test_bare
test_threads
test_segments
test_kill
test_fork
test_drop
test_stop
finish

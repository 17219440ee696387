#!/bin/bash
# SPDX-License-Identifier: MIT
#
# client.sh - hatftrace.h: what a program tells the recorder itself
#
# A program that uses this interface runs the same without the recorder.  With
# the recorder, the trace has exactly the events between a start and a stop, and
# the program's pools are heaps.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

client=$PROGS/client

# tags FILE TAG [PATTERN]: count the records of a tag whose lines match.
tags()
{
	"$HATF" dump "$1" | awk -v tag="$2" '$2 == tag' | grep -c -- "${3:-}"
}

test_without_tracer()
{
	local how
	for how in order heaps threads fork; do
		"$client" $how >"$how.bare" || fail "$how without a tracer"
	done
	check 'orders without a tracer' "$(cat order.bare)" '0 -1 -1 0 -1 -1 '
}

test_header_alone()
{
	cat >one.c <<-'EOF'
	#include <hatftrace.h>
	int main(void) { hatftrace_mark("x"); return hatftrace_is_recording(); }
	EOF
	cp one.c one.cc
	${CC:-cc} -Wall -Wextra -Werror -std=c99 -I"$CAPTURE/../../preload" \
		-o one one.c && ./one || fail 'C99'
	${CXX:-c++} -Wall -Wextra -Werror -std=c++98 \
		-I"$CAPTURE/../../preload" -o onecc one.cc && ./onecc ||
		fail 'C++98'
	${CC:-cc} -static -I"$CAPTURE/../../preload" -o static one.c &&
		./static || fail 'a static program'
	trace "$TMP/one.hatf.gz" ./onecc
	check 'is it recording?' "$?" 1
	check 'mark' "$(plain one.hatf.gz | grep -ac '^text=x$')" 1
}

# Pass NULL wherever a pointer may be, through the header and around it.
test_nulls()
{
	cat >nulls.c <<-'EOF'
	#include <hatftrace.h>
	int main(void)
	{
		uint64_t heap;
		hatftrace_mark(NULL);
		hatftrace_mark("");
		heap = hatftrace_heap_create(NULL);
		hatftrace_heap_alloc(heap, NULL, 5);
		hatftrace_heap_free(heap, NULL);
		hatftrace_heap_realloc(heap, NULL, NULL, 5);
		hatftrace_heap_realloc(heap, NULL, NULL, 0);
		hatftrace_heap_alloc(0, &heap, 5);
		hatftrace_heap_destroy(0);
		if (heap == 0)
			return 0;
		hatftrace_client_mark(NULL);
		hatftrace_client_heap_alloc(heap, NULL, 5);
		hatftrace_client_heap_free(heap, NULL);
		hatftrace_client_heap_realloc(heap, NULL, NULL, 0);
		{
			struct hatftrace_dtd dtd = { 0 };
			if (hatftrace_client_fields(&dtd, "x", "y", 1) != -1)
				return 1;
		}
		hatftrace_heap_destroy(heap);
		return 0;
	}
	EOF
	${CC:-cc} -Wall -Wextra -Werror -std=c99 -I"$CAPTURE/../../preload" \
		-o nulls nulls.c && ./nulls || fail 'NULL without a tracer'
	trace "$TMP/nulls.hatf.gz" ./nulls
	check 'exit status with NULL' "$?" 0
	clean nulls.hatf.gz
	check 'marks without a text' \
		"$(plain nulls.hatf.gz | grep -ac 'HATF mark')" 1
	check 'blocks at NULL' "$(tags nulls.hatf.gz alloc heap=1)" 0
	check 'frees of NULL' "$(tags nulls.hatf.gz free heap=1)" 0
}

# The program makes 1000 allocations, then 1000 frees, and nothing else.
test_order()
{
	local first=order.hatf.gz second=order.s0001.hatf.gz text
	HATFTRACE_START=off trace "$TMP/order.hatf.gz" "$client" order \
		>order.out || fail 'order'
	check 'orders' "$(cat order.out)" '0 0 0 1 0 0 '
	clean "$first" "$second"
	check 'events of the first' "$(info $first events)" 1000
	check 'its sizes' \
		"$(events $first | awk '{ s += $2 } END { print s }')" \
		$((100 * 1000 + 999 * 1000 / 2))
	check 'its end' "$(trailer $first end)" stop
	text='text=the first "part" is over, and this text is long enough for'
	check 'mark' "$(plain $first | grep -a '^text=the')" \
		"$text several pieces of it\x0a"
	check 'events of the second' "$(info $second events)" 1000
	check 'its frees' "$(tags $second free)" 1000
}

test_heaps()
{
	trace "$TMP/heaps.hatf.gz" "$client" heaps || fail heaps
	clean heaps.hatf.gz
	check 'heaps created' "$(tags heaps.hatf.gz createHeap)" 2
	check 'heaps destroyed' "$(tags heaps.hatf.gz destroyHeap)" 1
	check 'named' "$(tags heaps.hatf.gz createHeap 'name="first"')" 1
	check 'cut' "$(tags heaps.hatf.gz createHeap 'a name that is t')" 1
	check 'allocations' "$(tags heaps.hatf.gz alloc 'heap=1 ')" 1002
	check 'frees' "$(tags heaps.hatf.gz free 'heap=2 ')" 502
	# These are the blocks of the second pool: the first one was destroyed.
	check_ge 'live at the end' "$(info heaps.hatf.gz end_live_objects)" 500
	check_le 'live at the end' "$(info heaps.hatf.gz end_live_objects)" 510
}

# Each segment can be read alone, with its heaps.
test_segments()
{
	HATFTRACE_ROTATE=64K trace "$TMP/pools.hatf.gz" "$client" threads ||
		fail threads
	clean pools.s*.hatf.gz
	"$HATF" verify pools.s*.hatf.gz >verify.out || fail 'all segments'
	check 'marks' "$(for f in pools.s*; do plain "$f"; done |
		grep -ac '^text=a thread is done')" 4
}

# A trace notes at most 4096 heaps for later segments.  Beyond that limit, their
# headers do not claim that the carried blocks are exact.
test_many_heaps()
{
	local file

	cat >many.c <<-'EOF'
	#include <hatftrace.h>
	#include <stdlib.h>
	static char memory[5000];
	int main(int argc, char **argv)
	{
		const int count = argc > 1 ? atoi(argv[1]) : 0;
		for (int i = 0; i < count; i++)
			hatftrace_heap_alloc(hatftrace_heap_create("h"),
					     memory + i, 1);
		for (int i = 0; i < 600000; i++)
			free(malloc((size_t)(1 + i * 7 % 4000)));
		return 0;
	}
	EOF
	${CC:-cc} -std=c99 -fno-builtin -I"$CAPTURE/../../preload" -o many \
		many.c || fail 'cannot build many'
	HATFTRACE_ROTATE=64K trace "$TMP/few.hatf.gz" ./many 4000 || fail few
	HATFTRACE_ROTATE=64K trace "$TMP/many.hatf.gz" ./many 4200 || fail many
	check_ge 'segments of few heaps' "$(echo few.s*.gz | wc -w)" 2
	check_ge 'segments of many heaps' "$(echo many.s*.gz | wc -w)" 2
	for file in few.s*.gz; do
		check "$file" "$(header "$file" live)" exact
	done
	for file in many.s*.gz; do
		[ "$(header "$file" segment)" -eq 0 ] ||
			check "$file" "$(header "$file" live)" uncertain
	done
	clean few.s*.hatf.gz
	clean many.s*.hatf.gz
}

test_fork()
{
	trace "$TMP/fork.%p.hatf.gz" "$client" fork || fail fork
	clean fork.*.hatf.gz
}

test_without_tracer
test_header_alone
test_nulls
test_order
test_heaps
test_segments
test_many_heaps
test_fork
finish

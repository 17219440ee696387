/* SPDX-License-Identifier: MIT */
/*
 * two_ways.c - allocate through all ways down a tree of calls
 *
 * One function calls itself from two places.  So the stacks have their frames
 * at the same addresses, and differ only in the order of two return addresses.
 *
 * usage: two_ways ROUNDS
 */
#include <stdlib.h>

#define DEPTH 10u

static void *volatile kept;

static __attribute__((noinline)) void
descend(unsigned depth, unsigned way)
{
	if (depth == 0) {
		kept = malloc(16);
		free(kept);
	} else if ((way >> depth & 1) != 0) {
		descend(depth - 1, way);
		__asm__("nop"); /* no tail call, and no common code */
	} else {
		descend(depth - 1, way);
		__asm__("nop; nop");
	}
}

int
main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	unsigned random = 1;

	/* All ways in order, and then as many at random. */
	for (long i = 0; i < rounds; i++)
		for (unsigned way = 0; way < 1u << DEPTH; way++) {
			random = random * 1103515245u + 12345u;
			descend(DEPTH, (i & 1) == 0 ? way << 1 : random >> 8);
		}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* paths.c - allocates on more call paths than a page shows by themselves */
#include <stdlib.h>

#define DEPTH 13

static void *live[1 << DEPTH];

/* Each bit of 'path' is a call from one of two lines. */
static void __attribute__((noinline)) descend(unsigned path, int depth)
{
	if (depth == DEPTH) {
		live[path % (1 << DEPTH)] = malloc(16 + path % 7);
	} else if (path >> depth & 1) {
		descend(path, depth + 1);
		__asm__ volatile("");
	} else {
		descend(path, depth + 1);
		__asm__ volatile("nop");
	}
}

int
main(void)
{
	for (unsigned i = 0; i < 1 << DEPTH; i++)
		descend(i, 0);
	for (unsigned i = 0; i < 1 << DEPTH; i += 3)
		free(live[i]);
	return 0;
}

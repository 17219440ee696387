/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - print a trace of mallocs and frees in random order
 *
 * usage: pairs THREADS MILLIONS BLOCKS
 *
 * Each thread allocates and frees blocks of 16 to 527 bytes, in turns of 64
 * calls.  On average half of its BLOCKS blocks are live.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t
next_random(void)
{
	static uint64_t seed = UINT64_C(88172645463325252);

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Print a call of a thread. */
static void
print_call(char *live, uint64_t blocks, unsigned thread)
{
	const uint64_t random = next_random();
	const uint64_t block = thread * blocks + (random >> 16) % blocks;
	const uint64_t address = 16777216 + block * 1024;

	if (live[block])
		printf("1 0x%" PRIx64 " %u 0 0\n", address, thread);
	else
		printf("0 %u 0x%" PRIx64 " %u 0 0\n",
		       16 + (unsigned)(random % 512), address, thread);
	live[block] = !live[block];
}

int
main(int argc, char **argv)
{
	const unsigned threads = argc == 4 ? (unsigned)atoi(argv[1]) : 0;
	const uint64_t calls =
		argc == 4 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	const uint64_t blocks = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	char *const live = calloc(threads + 1, blocks);

	if (threads == 0 || blocks == 0 || live == NULL) {
		fputs("usage: pairs THREADS MILLIONS BLOCKS\n", stderr);
		return 2;
	}
	puts("10 HATF ascii thread heap time attributes");
	for (unsigned t = 1; t < threads; t++)
		printf("8 %u 0 0 4200\n", t);
	for (uint64_t i = 0; i < calls; i++)
		print_call(live, blocks, (unsigned)(i / 64 % threads));
	free(live);
	return fflush(stdout) == 0 ? 0 : 1;
}

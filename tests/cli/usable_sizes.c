/* SPDX-License-Identifier: MIT */
/*
 * usable_sizes.c - compare tools/summary/size_tables.c with this allocator
 *
 * usage: usable_sizes NAME
 *
 * Runs under the allocator NAME, and asks malloc_usable_size() for each size
 * from 0 to 256 KiB, and up to 256 MiB for the sizes around multiples of powers
 * of two and for others between these.  Prints each difference; exit status 1
 * if there is one.
 *
 * Keeps the blocks, so that none has the remainder of another one.  glibc maps
 * at most 65536 blocks: it gets these back, with settings which keep the
 * threshold for such blocks where it is, and the top of the heap small.
 */
#include "tools/summary/size_tables.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EACH_UP_TO ((size_t)256 << 10)
#define UP_TO	   ((size_t)256 << 20)
#define SHOWN	   20

static struct size_tables tables;
static enum size_table table;
static unsigned long compared, differences;

static void
compare(size_t size)
{
	/* The compiler must not leave out what is not used. */
	const volatile size_t asked = size;
	void *volatile const block = malloc(asked);
	uint64_t want, got;

	if (block == NULL) {
		perror("malloc");
		exit(2);
	}
	got = malloc_usable_size(block);
	want = size_table_usable(&tables, table, size);
	compared++;
	if (table == SIZE_GLIBC && size > EACH_UP_TO / 2)
		free(block);
	if (got == want)
		return;
	if (differences++ < SHOWN)
		printf("%s: size %zu: usable %llu, and not %llu\n",
		       size_table_name(table), size, (unsigned long long)got,
		       (unsigned long long)want);
}

int
main(int argc, char **argv)
{
	unsigned found = 0;

	while (found < SIZE_TABLE_COUNT && argc == 2 &&
	       strcmp(argv[1], size_table_name(found)) != 0)
		found++;
	if (argc != 2 || found == SIZE_TABLE_COUNT)
		return 2;
	table = found;
	size_tables_init(&tables);
	if (table == SIZE_GLIBC) {
		mallopt(M_MMAP_THRESHOLD, 128 << 10);
		mallopt(M_TOP_PAD, 0);
	}
	for (size_t size = 0; size <= EACH_UP_TO; size++)
		compare(size);
	for (size_t power = EACH_UP_TO; power < UP_TO; power *= 2)
		for (size_t part = 0; part < 16; part++)
			for (size_t off = 0; off < 5; off++)
				compare(power + part * power / 16 + off - 2);
	for (size_t size = EACH_UP_TO; size < UP_TO; size += size / 29 + 1)
		compare(size);
	printf("%s: %lu sizes, %lu differences\n", argv[1], compared,
	       differences);
	return differences != 0;
}

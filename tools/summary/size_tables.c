/* SPDX-License-Identifier: MIT */
/* size_tables.c - see size_tables.h */
#include "tools/summary/size_tables.h"

#include <stdbool.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/*
 * Round up to a multiple of 'step'; return 'n' itself if the result exceeds 64
 * bits.
 */
static uint64_t
round_up(uint64_t n, uint64_t step)
{
	const uint64_t over = n % step;

	return over == 0 || n > UINT64_MAX - (step - over) ? n
							   : n + (step - over);
}

/* Return the largest power of two that is at most n, which is not 0. */
static uint64_t
floor_power(uint64_t n)
{
	return (uint64_t)1 << (63 - __builtin_clzll(n));
}

/* -------------------------------------------------------------------- glibc */

#define GLIBC_HEADER 8 /* bytes of the header of a block in the heap */
/* bytes of the header of a block with its own mapping */
#define GLIBC_MAPPED_HEADER  16
#define GLIBC_CHUNK_MIN	     32
#define GLIBC_MMAP_THRESHOLD (128 * KIB)

static bool
glibc_maps(uint64_t size)
{
	return round_up(size + GLIBC_HEADER, 16) >= GLIBC_MMAP_THRESHOLD;
}

/*
 * Return the bytes that a block takes in glibc.  The size of a chunk is a
 * multiple of 16 bytes.  If the size of a block reaches a threshold, glibc
 * gives the block a mapping of its own, in whole pages.  In glibc, each free of
 * a mapped block raises the threshold to the size of that block, up to 32 MiB;
 * this function uses the initial threshold.
 */
static uint64_t
glibc_taken(uint64_t size)
{
	uint64_t chunk;

	if (size > UINT64_MAX - 64)
		return size;
	chunk = round_up(size + GLIBC_HEADER, 16);
	if (chunk < GLIBC_CHUNK_MIN)
		return GLIBC_CHUNK_MIN;
	/*
	 * A normal chunk shares its last 8 bytes with the next chunk.  A mapped
	 * chunk has no next one, so it takes 8 bytes more.
	 */
	return glibc_maps(size) ? round_up(chunk + 8, 4 * KIB) : chunk;
}

/* ---------------------------------------------------- jemalloc and mimalloc */

/*
 * Return the smallest size class that holds 'size' bytes.  The classes are 8,
 * the multiples of 16 up to 128, and above that four classes per power of two.
 */
static uint64_t
quarter_class(uint64_t size)
{
	if (size <= 8)
		return 8;
	return round_up(size, size <= 128 ? 16 : floor_power(size - 1) / 4);
}

/*
 * Return the bytes that a block takes in mimalloc.  A block of more than 128
 * KiB has a page or a segment of its own.
 */
static uint64_t
mimalloc_taken(uint64_t size)
{
	if (size <= 128 * KIB)
		return quarter_class(size);
	if (size <= 512 * KIB)
		return round_up(size, 64 * KIB);
	if (size <= 8 * MIB)
		return round_up(size, 512 * KIB);
	return round_up(size, size <= 32 * MIB ? MIB : 4 * MIB);
}

/* ----------------------------------------------------------------- tcmalloc */

#define TC_PAGE ((uint32_t)8 << 10)
#define TC_MAX	((uint32_t)256 << 10) /* larger blocks are whole pages */
/* upper bound of the bytes of a batch of more than two blocks */
#define TC_BATCH ((uint32_t)64 << 10)
/* upper bound of the blocks of a batch */
#define TC_OBJECTS 32

/*
 * Return the distance from 'size', a candidate for a size class, to the next
 * candidate.
 */
static uint32_t
tc_step(uint32_t size)
{
	uint32_t step;

	if (size < 16)
		return 8;
	if (size < 128)
		return 16;
	step = (uint32_t)floor_power(size) / 8;
	return step < TC_PAGE ? step : TC_PAGE;
}

/*
 * tcmalloc moves blocks between its caches in batches.  Return a quarter of the
 * number of blocks in a batch, rounded down.
 */
static uint32_t
tc_quarter_batch(uint32_t size)
{
	uint32_t count = TC_BATCH / size;

	if (count < 2)
		count = 2;
	return (count < TC_OBJECTS ? count : TC_OBJECTS) / 4;
}

/*
 * Return the bytes of a span from which tcmalloc cuts blocks of this size.  A
 * span has just enough pages that blocks take at least seven eighths of the
 * span, and that it holds a quarter of a batch.
 */
static uint32_t
tc_span(uint32_t size)
{
	uint32_t span = TC_PAGE;

	while (span % size > span / 8 || span / size < tc_quarter_batch(size))
		span += TC_PAGE;
	return span;
}

/*
 * Make the table of size classes.  If the spans of two successive candidates
 * have the same number of pages and of blocks, only the larger candidate
 * becomes a class.
 */
static void
tc_make_classes(struct size_tables *t)
{
	uint32_t last_span = 0, last_count = 0;

	t->tcmalloc_count = 0;
	for (uint32_t size = 8; size <= TC_MAX; size += tc_step(size)) {
		const uint32_t span = tc_span(size);
		const uint32_t count = span / size;

		if (span == last_span && count == last_count)
			t->tcmalloc_count--;
		if (t->tcmalloc_count == SIZE_CLASSES_MAX)
			return;
		t->tcmalloc[t->tcmalloc_count++] = size;
		last_span = span;
		last_count = count;
	}
}

static uint64_t
tcmalloc_taken(const struct size_tables *t, uint64_t size)
{
	unsigned low = 0, high = t->tcmalloc_count - 1;

	if (size > TC_MAX)
		return round_up(size, TC_PAGE);
	/* Find the first class that is large enough. */
	while (low < high) {
		const unsigned middle = (low + high) / 2;

		if (t->tcmalloc[middle] < size)
			low = middle + 1;
		else
			high = middle;
	}
	return t->tcmalloc[low];
}

/* ---------------------------------------------------------------- interface */

void
size_tables_init(struct size_tables *t)
{
	tc_make_classes(t);
}

const char *
size_table_name(enum size_table table)
{
	static const char *const names[SIZE_TABLE_COUNT] = {
		[SIZE_GLIBC] = "glibc",
		[SIZE_JEMALLOC] = "jemalloc",
		[SIZE_TCMALLOC] = "tcmalloc",
		[SIZE_MIMALLOC] = "mimalloc",
	};

	return names[table];
}

uint64_t
size_table_taken(const struct size_tables *t, enum size_table table,
		 uint64_t size)
{
	switch (table) {
	case SIZE_GLIBC:
		return glibc_taken(size);
	case SIZE_JEMALLOC:
		return quarter_class(size);
	case SIZE_TCMALLOC:
		return tcmalloc_taken(t, size);
	default:
		return mimalloc_taken(size);
	}
}

uint64_t
size_table_usable(const struct size_tables *t, enum size_table table,
		  uint64_t size)
{
	const uint64_t taken = size_table_taken(t, table, size);

	if (table != SIZE_GLIBC)
		return taken;
	return taken - (glibc_maps(size) ? GLIBC_MAPPED_HEADER : GLIBC_HEADER);
}

/* SPDX-License-Identifier: MIT */
/*
 * size_tables.h - the bytes that a block would take in other allocators
 *
 * An allocator rounds the size of a block up to the next size class, or to
 * whole pages.  The functions here follow the documented rules of four
 * allocators on 64-bit machines with pages of 4 KiB, with default settings:
 *
 *   glibc; jemalloc 5; gperftools' tcmalloc 2.10 with pages of 8 KiB;
 *   mimalloc 2.0
 *
 * tests/cli/size-tables.sh compares these functions with the real allocators.
 * The functions ignore requested alignments, free blocks, and metadata that is
 * not beside a block.
 */
#ifndef SIZE_TABLES_H
#define SIZE_TABLES_H

#include <stdint.h>

enum size_table {
	SIZE_GLIBC,
	SIZE_JEMALLOC,
	SIZE_TCMALLOC,
	SIZE_MIMALLOC,
	SIZE_TABLE_COUNT,
};

/*
 * Upper bound of the number of tcmalloc's size classes.  With pages of 8 KiB
 * there are 85.
 */
#define SIZE_CLASSES_MAX 128

/* What size_tables_init() computes. */
struct size_tables {
	/* Sizes of the classes, ascending. */
	uint32_t tcmalloc[SIZE_CLASSES_MAX];
	unsigned tcmalloc_count;
};

void size_tables_init(struct size_tables *t);

/* Return the name of an allocator: "glibc", "jemalloc", ... */
const char *size_table_name(enum size_table table);

/*
 * Return the bytes that a block of 'size' bytes takes, including glibc's
 * header; at least 'size'.
 */
uint64_t size_table_taken(const struct size_tables *t, enum size_table table,
			  uint64_t size);

/*
 * Return the number that malloc_usable_size() would return for a block of
 * 'size' bytes.
 */
uint64_t size_table_usable(const struct size_tables *t, enum size_table table,
			   uint64_t size);

#endif /* SIZE_TABLES_H */

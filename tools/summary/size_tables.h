/* SPDX-License-Identifier: MIT */
/*
 * size_tables.h - what a block would take in other allocators
 *
 * An allocator rounds the size of a block up, to a class of sizes or to pages.
 * The functions here follow the documented rules of four allocators on 64-bit
 * machines with pages of 4 KiB, as they are without settings:
 *
 *   glibc; jemalloc 5; gperftools' tcmalloc 2.10 with pages of 8 KiB;
 *   mimalloc 2.0
 *
 * tests/cli/size-tables.sh compares them with the real ones.  They know nothing
 * of alignments that a program asks for, of free blocks, or of metadata that is
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

/* Upper bound of tcmalloc's classes, which number 86 with pages of 8 KiB. */
#define SIZE_CLASSES_MAX 128

/* What size_tables_init() computes. */
struct size_tables {
	uint32_t tcmalloc[SIZE_CLASSES_MAX]; /* classes, ascending */
	unsigned tcmalloc_count;
};

void size_tables_init(struct size_tables *t);

/* "glibc", "jemalloc", ... */
const char *size_table_name(enum size_table table);

/*
 * The bytes that a block of 'size' takes, with glibc's header; at least 'size'.
 */
uint64_t size_table_taken(const struct size_tables *t, enum size_table table,
			  uint64_t size);

/* The part of these that the program may use, as malloc_usable_size() says. */
uint64_t size_table_usable(const struct size_tables *t, enum size_table table,
			   uint64_t size);

#endif /* SIZE_TABLES_H */

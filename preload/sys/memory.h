/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the recorder's own memory
 *
 * Mapped, named (it shows as "[anon:hatftrace]" in /proc/PID/maps where the
 * kernel can) and never from the traced heap.  All return zeroed memory that is
 * reserved only as far as it is touched, or NULL: page-aligned, or aligned to
 * 64 bytes if it is less than a page.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A large static buffer of which most processes use little or nothing.  It lies
 * behind all small variables, which then share a few pages.
 */
#define MEMORY_LARGE __attribute__((section(".bss.~large")))

/*
 * First of all, once or more often: map what the pieces of wiped memory are
 * taken from, unless the program has a limit on its memory.
 */
void memory_prepare(void);

/* A filter comes, which may kill for naming: what is mapped later has none. */
void memory_end_names(void);

/* Private, and wiped in the child of a fork. */
void *memory_map_wiped(size_t nbytes);

/* Private, and not there in the child of a fork. */
void *memory_map_private(size_t nbytes);

/* Private, and copied in the child of a fork. */
void *memory_map_forked(size_t nbytes);

/* What becomes of a mapping in the child of a fork, and whether it is data. */
enum memory_kind {
	MEMORY_LASTING, /* wiped or copied; private */
	MEMORY_PASSING, /* not there; private */
	MEMORY_SHARED,	/* not there */
	MEMORY_KINDS
};

void memory_unmap(void *p, size_t nbytes, enum memory_kind kind);

/*
 * Bytes of a kind that are mapped, by these functions or elsewhere and counted
 * here; in the child of a fork, once it has said that it is one.
 */
uint64_t memory_mapped(enum memory_kind kind);
void memory_count(enum memory_kind kind, uint64_t nbytes);
void memory_uncount(enum memory_kind kind, uint64_t nbytes);
void memory_begin_child(void);

/*
 * Memory for a ring that is in no file.  It is shared, though nobody shares it:
 * then RLIMIT_DATA does not count it, and 'hatf ctl' recognizes it in
 * /proc/PID/maps (tools/control/quiet.c).  The child of a fork does not have
 * it.
 */
void *memory_map_ring(size_t nbytes);

/* Private, at an address where nothing is mapped; false if something is. */
bool memory_map_at(void *p, size_t nbytes);

/* Give the pages back to the system; they read as zero afterwards. */
void memory_drop(void *p, size_t nbytes);

#endif /* MEMORY_H */

/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the recorder's own memory
 *
 * The recorder maps its memory and never takes any from the traced heap.  Where
 * the kernel supports names, /proc/PID/maps shows private memory as
 * "[anon:hatftrace]" and shared memory as "[anon_shmem:hatftrace]".  Once the
 * program may have a filter of system calls (filter.h), new mappings get no
 * name.
 *
 * The functions that return a pointer return NULL on failure.  The memory reads
 * as zero, and only touched pages use physical memory.  It is page-aligned, or
 * aligned to 64 bytes if it is smaller than a page.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Marks a large static buffer of which most processes use little or nothing.
 * The linker places it after all small variables, which then share few pages.
 */
#define MEMORY_LARGE __attribute__((section(".bss.~large")))

/*
 * Map the arena from which memory_map_wiped() takes pieces, unless the program
 * has a limit on its memory.  Call this before the other functions; once the
 * arena is mapped, further calls do nothing.
 */
void memory_prepare(void);

/* Map private memory that reads as zero in the child of a fork. */
void *memory_map_wiped(size_t nbytes);

/* Map private memory that is not mapped in the child of a fork. */
void *memory_map_private(size_t nbytes);

/* Map private memory that is copied to the child of a fork. */
void *memory_map_forked(size_t nbytes);

/*
 * Kinds of mappings.  They differ in what the child of a fork finds there, and
 * in whether they are private: RLIMIT_DATA counts only private mappings.
 */
enum memory_kind {
	MEMORY_LASTING, /* in the child: wiped or copied; private */
	MEMORY_PASSING, /* in the child: unmapped; private */
	MEMORY_SHARED,	/* in the child: unmapped; shared */
	MEMORY_KINDS
};

void memory_unmap(void *p, size_t nbytes, enum memory_kind kind);

/*
 * Count the mapped bytes of each kind.  Except for memory_map_at(), the
 * functions of this file count their own mappings.  Code in other files that
 * maps memory calls memory_count() and memory_uncount().  The child of a fork
 * calls memory_begin_child() first, to drop the counts of mappings that do not
 * exist in the child.
 */
uint64_t memory_mapped(enum memory_kind kind);
void memory_count(enum memory_kind kind, uint64_t nbytes);
void memory_uncount(enum memory_kind kind, uint64_t nbytes);
void memory_begin_child(void);

/*
 * Map memory for a ring without a file.  The mapping is shared, although no
 * other process uses it, because RLIMIT_DATA does not count shared mappings,
 * and because 'hatf ctl' finds the ring in /proc/PID/maps by this property
 * (tools/control/quiet.c).  The child of a fork does not have the mapping.
 */
void *memory_map_ring(size_t nbytes);

/*
 * Map private memory at 'p'.  Return false on failure, for example if something
 * is mapped there.
 */
bool memory_map_at(void *p, size_t nbytes);

/*
 * Return pages of a shared mapping to the kernel.  They read as zero
 * afterwards, if the file system of the mapped file can make holes.
 */
void memory_drop(void *p, size_t nbytes);

#endif /* MEMORY_H */

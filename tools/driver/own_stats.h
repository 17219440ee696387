/* SPDX-License-Identifier: MIT */
/*
 * own_stats.h - what an allocator tells of itself
 *
 *	glibc	  mallinfo2(), malloc_info()
 *	jemalloc  mallctl()
 *	tcmalloc  MallocExtension_GetNumericProperty()
 *	mimalloc  mi_process_info()
 *
 * A function counts only if it is of the library that has malloc.  Called when
 * all measures have been taken, since some of these allocate.
 */
#ifndef OWN_STATS_H
#define OWN_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define OWN_STATS_UNKNOWN UINT64_MAX

struct own_stats {
	const char *source;	/* the function; NULL: it does not tell */
	uint64_t used_nbytes;	/* in blocks, after rounding */
	uint64_t mapped_nbytes; /* from the system, and not given back */
	uint64_t arenas;
};

struct own_stats own_stats_read(void);

#endif /* OWN_STATS_H */

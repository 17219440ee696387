/* SPDX-License-Identifier: MIT */
/*
 * own_stats.h - an allocator's own statistics
 *
 * 	glibc	  mallinfo2(), malloc_info()
 * 	jemalloc  mallctl()
 * 	tcmalloc  MallocExtension_GetNumericProperty()
 * 	mimalloc  mi_process_info()
 *
 * own_stats_read() calls one of these functions only if the library that
 * defines malloc also defines the function.  The caller must read the
 * statistics after all measurements, because some of these functions allocate.
 */
#ifndef OWN_STATS_H
#define OWN_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define OWN_STATS_UNKNOWN UINT64_MAX

struct own_stats {
	/*
	 * Interface that returned the statistics, such as "mallctl"; NULL:
	 * there is none.
	 */
	const char *source;
	/* bytes in live blocks, whose sizes the allocator has rounded up */
	uint64_t used_nbytes;
	/* bytes obtained from the system and not returned to it */
	uint64_t mapped_nbytes;
	uint64_t arenas;
};

struct own_stats own_stats_read(void);

#endif /* OWN_STATS_H */

/* SPDX-License-Identifier: MIT */
/*
 * page_map.h - how much of the address space is live, over time
 *
 * Addresses are cut into chunks of one size, times into columns of one width.
 * Both begin small; when there are too many of them, the size is doubled and
 * neighbours are merged.  A column has what is live in each chunk at its end.
 *
 * Memory is bounded.  Used by one thread at a time.
 */
#ifndef PAGE_MAP_H
#define PAGE_MAP_H

#include "tools/sites/id_rows.h"
#include "tools/ui/out.h"

#define PAGE_MAP_CHUNKS	 1024
#define PAGE_MAP_COLUMNS 256
/* Rows of the map that is written. */
#define PAGE_MAP_ROWS 192

/* log2 of the first size of a chunk. */
#define PAGE_MAP_SHIFT 12

struct page_column {
	uint64_t number; /* of the column, from 0 */
	uint64_t *live;	 /* bytes by chunk; the chunks of that time */
	uint32_t count;
};

/* Begins as all zeros. */
struct page_map {
	unsigned wider;	     /* how often chunks were doubled */
	struct id_rows rows; /* of chunks, by address / size */
	uint64_t numbers[PAGE_MAP_CHUNKS];
	uint64_t live[PAGE_MAP_CHUNKS];
	unsigned column_shift; /* log2 of the width */
	struct page_column columns[PAGE_MAP_COLUMNS];
	uint32_t column_count; /* that have ended */
	uint64_t now;	       /* the current column */
	uint64_t now_end;      /* on the axis; 0: there is none yet */
	bool no_memory;
};

void page_map_add(struct page_map *m, uint64_t address, uint64_t nbytes);
void page_map_remove(struct page_map *m, uint64_t address, uint64_t nbytes);

/* The slow part of page_map_go_to(). */
void page_map_end_column(struct page_map *m, uint64_t at);

/* Go to a time of the axis, where the next event is. */
static inline void
page_map_go_to(struct page_map *m, uint64_t at)
{
	if (at >= m->now_end)
		page_map_end_column(m, at);
}

/*
 * Write the member 'addresses' if there are any.  'put_time' writes a time of
 * the axis, the last one of which is 'end'.
 */
void page_map_write(struct page_map *m, struct out *o, uint64_t end,
		    void (*put_time)(struct out *o, const void *ctx,
				     uint64_t at),
		    const void *ctx);

void page_map_free(struct page_map *m);

#endif /* PAGE_MAP_H */

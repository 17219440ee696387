/* SPDX-License-Identifier: MIT */
/*
 * page_map.h - the live part of the address space over time
 *
 * The address space is divided into chunks of equal size, and time into columns
 * of equal width.  Both begin small.  When there are too many chunks, their
 * size is doubled and neighbours are merged.  When there are too many columns,
 * their width is doubled, and the later one of two neighbours is kept.  A
 * column stores the live bytes of each chunk at the column's end.
 *
 * Memory is bounded.  Only one thread at a time may use a map.
 */
#ifndef PAGE_MAP_H
#define PAGE_MAP_H

#include "tools/sites/id_rows.h"
#include "tools/ui/out.h"

#define PAGE_MAP_CHUNKS	 1024
#define PAGE_MAP_COLUMNS 256
/* Maximum number of rows of the map on the page. */
#define PAGE_MAP_ROWS 192

/* log2 of the initial size of a chunk, in bytes. */
#define PAGE_MAP_SHIFT 12

struct page_column {
	uint64_t number; /* number of the column, from 0 */
	uint64_t *live;	 /* live bytes of each chunk at the column's end */
	uint32_t count;
};

/* Begins as all zeros. */
struct page_map {
	unsigned wider;	     /* how often the chunk size was doubled */
	struct id_rows rows; /* chunk number (address / size) -> row */
	uint64_t numbers[PAGE_MAP_CHUNKS];
	uint64_t live[PAGE_MAP_CHUNKS];
	unsigned column_shift; /* log2 of the column width */
	struct page_column columns[PAGE_MAP_COLUMNS];
	uint32_t column_count; /* number of columns that ended and had events */
	/* Time at which the current column ends; 0: there is no column yet. */
	uint64_t now_end;
	bool no_memory;
};

void page_map_add(struct page_map *m, uint64_t address, uint64_t nbytes);
void page_map_remove(struct page_map *m, uint64_t address, uint64_t nbytes);

/*
 * End the current column, and begin the one that contains 'at'.  For
 * page_map_go_to() only.
 */
void page_map_end_column(struct page_map *m, uint64_t at);

/* Advance to the time of the next event. */
static inline void
page_map_go_to(struct page_map *m, uint64_t at)
{
	if (at >= m->now_end)
		page_map_end_column(m, at);
}

/*
 * Write the member "addresses", unless the map is empty or there was no memory
 * for it.  'put_time' writes a time of the axis; 'end' is the axis's last time.
 */
void page_map_write(struct page_map *m, struct out *o, uint64_t end,
		    void (*put_time)(struct out *o, const void *ctx,
				     uint64_t at),
		    const void *ctx);

void page_map_free(struct page_map *m);

#endif /* PAGE_MAP_H */

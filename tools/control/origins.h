/* SPDX-License-Identifier: MIT */
/*
 * origins.h - which thread and call stack each live block came from
 *
 * The event stage gives each live block a number (hatf_events_number_blocks()).
 * For each heap there is an array of origins, indexed by this number.  A block
 * takes 16 bytes.  Memory is O(largest number of live blocks + heaps).
 *
 * Only one thread at a time may use a struct origins.
 */
#ifndef ORIGINS_H
#define ORIGINS_H

#include "hatf/hatf.h"
#include "tools/sites/id_rows.h"

#include <stdbool.h>

struct origin {
	uint64_t thread;
	uint64_t stack; /* id of the stack in the trace; 0: none */
};

struct origin_list {
	struct origin *rows;
	size_t count;
};

/* The origins of all live blocks.  Zero-initialize. */
struct origins {
	struct id_rows heaps;
	struct origin_list *lists; /* indexed by the heap's row in 'heaps' */
	size_t list_count;
};

/* Take note of the next event.  Return false if there is no memory. */
bool origins_note(struct origins *o, const struct hatf_event *e);

/*
 * Return where a live block came from: the thread that allocated or moved the
 * block, and the stack of its alloc or last realloc.  All zeros: unknown, as
 * for the blocks that a forked child has from its parent.
 */
struct origin origins_find(const struct origins *o,
			   const struct hatf_live *live);

void origins_free(struct origins *o);

#endif /* ORIGINS_H */

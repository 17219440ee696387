/* SPDX-License-Identifier: MIT */
/*
 * ids.h - which threads or heaps exist or have existed, by id
 *
 * A set remembers every id that was ever used, at about 20 bytes each.  Memory
 * is O(ids).  A trace that is not 'strict' may omit the creation of an id.  It
 * may also create an id again after its destruction, as operating systems do
 * with thread ids.
 *
 * Used by one thread at a time.
 */
#ifndef HATF_IDS_H
#define HATF_IDS_H

#include "hatf/containers/u64_map.h"

/* The result of ids_create(), ids_destroy() and ids_use(). */
enum ids_result {
	IDS_OK,
	/*
	 * The trace uses or destroys an id after its destruction, or creates an
	 * id twice without destroying it in between.  If 'strict' is set, it is
	 * also wrong to use or destroy an id that was never created, or to
	 * create an id again after its destruction.
	 */
	IDS_WRONG,
	IDS_NO_MEMORY,
};

struct ids {
	/* A hash table.  A slot whose state is 0 is free. */
	uint64_t *keys;
	uint8_t *states;   /* the state of each key, an enum ids_state */
	size_t slot_count; /* number of slots: 0, or a power of two */
	/* number of slots in use, at most 3/4 of 'slot_count' */
	size_t count;
	struct u64_map_seed seed;
	bool strict;
};

/* Start without ids.  Allocate nothing. */
void ids_init(struct ids *ids, bool strict);

/* Free the memory. */
void ids_fini(struct ids *ids);

/* Return the number of ids that were ever used. */
size_t ids_count(const struct ids *ids);

/*
 * Record that the trace creates, destroys or uses 'id'.  Return IDS_WRONG if
 * the state of 'id' does not allow that; the state changes nevertheless.
 * IDS_NO_MEMORY: nothing has changed.
 */
enum ids_result ids_create(struct ids *ids, uint64_t id);
enum ids_result ids_destroy(struct ids *ids, uint64_t id);
enum ids_result ids_use(struct ids *ids, uint64_t id);

#endif /* HATF_IDS_H */

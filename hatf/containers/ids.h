/* SPDX-License-Identifier: MIT */
/*
 * ids.h - which threads or heaps exist
 *
 * Remembers every id that was ever used, in about 20 bytes.  Memory is O(ids).  A trace that is not
 * 'strict' may leave out that something was created, and may use an id again
 * after it was destroyed, as systems do with theirs.
 */
#ifndef HATF_IDS_H
#define HATF_IDS_H

#include "hatf/containers/u64_map.h"

enum ids_result {
	IDS_OK,
	IDS_WRONG, /* it does not exist, or does already */
	IDS_NO_MEMORY,
};

struct ids {
	/* A hash table; of a slot that is free, the state is 0. */
	uint64_t *keys;
	uint8_t *states;   /* an enum ids_state each */
	size_t slot_count; /* 0, or a power of two */
	size_t count;	   /* slots in use, less than 3/4 of them */
	struct u64_map_seed seed;
	bool strict;
};

void ids_init(struct ids *ids, bool strict);
void ids_fini(struct ids *ids);

/* Ids that ever existed. */
size_t ids_count(const struct ids *ids);

/*
 * The id was created, destroyed, used.  After IDS_WRONG it is taken to be what
 * the caller says.
 */
enum ids_result ids_create(struct ids *ids, uint64_t id);
enum ids_result ids_destroy(struct ids *ids, uint64_t id);
enum ids_result ids_use(struct ids *ids, uint64_t id);

#endif /* HATF_IDS_H */

/* SPDX-License-Identifier: MIT */
/*
 * name_cache.h - what was found at an address
 *
 * The processes of a shell script share most of their code.  With this cache,
 * 'hatf record' looks up each address of a library once, not once for each
 * trace.
 *
 * A cache belongs to one symbol_lookup, whose strings it refers to.  Only one
 * thread at a time may use a cache.
 */
#ifndef NAME_CACHE_H
#define NAME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/symbols/symbol_lookup.h"

/* Begins as all zeros. */
struct name_cache {
	void *tree; /* tree of 'struct answer', see tsearch(3) */
	size_t nbytes;
};

/*
 * If the cache contains this address of this object, copy what was found there
 * to 'names_ret', and the number of functions to '*n_ret', and return true.
 */
bool name_cache_get(const struct name_cache *cache, int object,
		    uint64_t address, struct symbol_lookup_name *names_ret,
		    size_t *n_ret);

/*
 * Store what was found at an address that the cache does not have.  If there is
 * no memory, or if the cache is full, do nothing.
 */
void name_cache_put(struct name_cache *cache, int object, uint64_t address,
		    const struct symbol_lookup_name *names, size_t n);

void name_cache_free(struct name_cache *cache);

#endif /* NAME_CACHE_H */

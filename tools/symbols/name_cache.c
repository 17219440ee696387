/* SPDX-License-Identifier: MIT */
/* name_cache.c - see name_cache.h */
#include "tools/symbols/name_cache.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum memory of a cache, in bytes.  Traces are untrusted, and may contain
 * any number of addresses.
 */
#define NBYTES_MAX ((size_t)64 << 20)

struct answer {
	uint64_t address;
	int object;
	uint32_t n;
	struct symbol_lookup_name names[];
};

static int
compare(const void *a, const void *b)
{
	const struct answer *const x = a, *const y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

bool
name_cache_get(const struct name_cache *cache, int object, uint64_t address,
	       struct symbol_lookup_name *names_ret, size_t *n_ret)
{
	const struct answer wanted = { .address = address, .object = object };
	void *const found = tfind(&wanted, &cache->tree, compare);
	const struct answer *a;

	if (found == NULL)
		return false;
	a = *(const struct answer *const *)found;
	memcpy(names_ret, a->names, a->n * sizeof(a->names[0]));
	*n_ret = a->n;
	return true;
}

void
name_cache_put(struct name_cache *cache, int object, uint64_t address,
	       const struct symbol_lookup_name *names, size_t n)
{
	struct answer *a;
	const size_t nbytes = sizeof(*a) + n * sizeof(a->names[0]);

	if (cache->nbytes + nbytes > NBYTES_MAX)
		return;
	a = malloc(nbytes);
	if (a == NULL)
		return;
	a->address = address;
	a->object = object;
	a->n = (uint32_t)n;
	if (n != 0)
		memcpy(a->names, names, n * sizeof(a->names[0]));
	if (tsearch(a, &cache->tree, compare) == NULL)
		free(a);
	else
		cache->nbytes += nbytes;
}

void
name_cache_free(struct name_cache *cache)
{
	tdestroy(cache->tree, free);
	*cache = (struct name_cache){ 0 };
}

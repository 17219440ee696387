/* SPDX-License-Identifier: MIT */
/*
 * path_cache.h - the recent call stacks of a thread, each compared as a whole
 *
 * A program comes to the same call path again and again, with its frames at the
 * same addresses.  A path has the address and the value of each word that
 * decided the course of a walk, innermost first: each return address, and each
 * saved frame pointer that leads to a frame.  The address of each word follows
 * from words further in.  If all words still have these values, the stack is
 * therefore the same, and its number is known.  This comparison needs no
 * look-up of unwind rules, and its loads do not depend on each other.
 *
 * The address and the value of the innermost return address are the key by
 * which a path is found.  If several paths have the same key, their entry is a
 * branch.  The branch has the offset of the first word in which the paths
 * differ; that word's value in memory selects the next entry.
 *
 * The cache is only for stacks whose end is known (stack_memory.h), because a
 * search reads the words of a path before it is known that these words belong
 * to frames.
 *
 * Only the thread itself uses its cache.  The child of a fork finds the cache
 * empty.  If the fork interrupted a search, the child's search may read a
 * mixture of old and empty entries; at worst, a comparison then fails.
 */
#ifndef PATH_CACHE_H
#define PATH_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/stacks/walk.h"

/* Maximum number of words in a path.  Stacks with more words are not kept. */
#define PATH_WORDS_MAX 96u

#define PATH_ENTRIES_BITS 12
#define PATH_POOL_WORDS	  (1u << 16)
#define PATH_SEEN_BITS	  10

struct path {
	/* address of the first word; the offsets count from here */
	uintptr_t slot;
	/*
	 * if 'takes_bp': the path applies only if the frame pointer in the
	 * first visible frame has this value (walk_exit.h)
	 */
	uintptr_t bp;
	uint32_t node;	/* the number of the stack; 0: none */
	uint32_t epoch; /* stack_table_epoch() when 'node' was found */
	uint32_t reach; /* the largest of the offsets */
	uint16_t count; /* number of words: 1 to PATH_WORDS_MAX */
	bool takes_bp;
	/* 'count' values, followed by 'count' offsets of 32 bits. */
	uintptr_t value[];
};

struct path_entry {
	uint64_t key;
	/*
	 * Index in the pool at which the entry's path begins.  If the entry is
	 * a branch, this is the index of one of its paths.
	 */
	uint32_t path;
	/*
	 * 0: the entry has one path.  Otherwise the entry is a branch, and this
	 * is the offset of the first word in which its paths differ.
	 */
	uint32_t branch;
};

/*
 * Starts as all zeros.  It has 580 KiB, of which only pages in use take memory.
 */
struct path_cache {
	struct path_entry entries[1u << PATH_ENTRIES_BITS];
	/* hashes of stacks that were met once */
	uint32_t seen[1u << PATH_SEEN_BITS];
	/* number of words of the pool that are in use */
	uint32_t used;
	uint64_t pool[PATH_POOL_WORDS];
};

/* Maximum number of entries that a search follows. */
#define PATH_LEVELS 6u

static inline uint64_t
path_key(uint64_t key, uintptr_t word)
{
	const uint64_t next = (key ^ word) * 0x9e3779b97f4a7c15ull;

	return next ^ next >> 32;
}

static inline struct path_entry *
path_entry(struct path_cache *cache, uint64_t key)
{
	return &cache->entries[key % (1u << PATH_ENTRIES_BITS)];
}

static inline const struct path *
path_at(const struct path_cache *cache, uint32_t place)
{
	return (const struct path *)&cache->pool[place];
}

static inline const uint32_t *
path_offsets(const struct path *path)
{
	return (const uint32_t *)&path->value[path->count];
}

/*
 * Do all words of the path have the same values in memory?  The caller has
 * checked that the words can be read.
 */
static inline __attribute__((always_inline)) bool
path_holds(const struct path *path)
{
	const uint32_t *const offset = path_offsets(path);
	const uintptr_t slot = path->slot;
	const uint32_t count = path->count;
	uintptr_t even = 0, odd = 0;
	uint32_t i = 0;

	for (; i + 1 < count; i += 2) {
		even |= *(const uintptr_t *)(slot + offset[i]) ^ path->value[i];
		odd |= *(const uintptr_t *)(slot + offset[i + 1]) ^
		       path->value[i + 1];
	}
	if (i < count)
		even |= *(const uintptr_t *)(slot + offset[i]) ^ path->value[i];
	return (even | odd) == 0;
}

/*
 * Return the number of the stack whose first visible frame is 'outlet', or 0 if
 * the cache does not have it.  The stack can be read up to 'high'.
 */
static inline __attribute__((always_inline)) uint32_t
path_cache_find(struct path_cache *cache, const struct walk_outlet *outlet,
		uintptr_t high, uint32_t epoch)
{
	uint64_t key = path_key(outlet->slot, outlet->address);

	for (unsigned level = 0; level < PATH_LEVELS; level++) {
		const struct path_entry *const e = path_entry(cache, key);
		const struct path *const path = path_at(cache, e->path);

		if (e->key != key || path->slot != outlet->slot ||
		    path->reach >= high - outlet->slot)
			return 0;
		if (e->branch == 0)
			return path->epoch == epoch &&
					       (!path->takes_bp ||
						path->bp == outlet->bp) &&
					       path_holds(path)
				       ? path->node
				       : 0;
		key = path_key(key,
			       *(const uintptr_t *)(outlet->slot + e->branch));
	}
	return 0;
}

/*
 * Keep the stack that '*walk' has found, whose first visible frame is 'outlet'
 * and whose number is 'node'.  'node' must not be 0.  Do nothing if the stack
 * is met for the first time, or if it cannot be kept as a path.
 */
void path_cache_add(struct path_cache *cache, const struct walk *walk,
		    const struct walk_outlet *outlet, uint32_t node,
		    uint32_t epoch);

#endif /* PATH_CACHE_H */

/* SPDX-License-Identifier: MIT */
/*
 * path_cache.h - the recent call stacks of a thread, each compared as a whole
 *
 * A program comes to the same call path again and again, with its frames at the
 * same addresses.  A path has the address of each word that decided the course
 * of a walk: each return address, and each saved frame pointer that leads to a
 * frame.  Return addresses in the recorder's own code are among these words, so
 * a comparison with a path begins where a walk begins.  The address of each
 * word follows from words further in.  If all words still have their values,
 * the stack is therefore the same, and its number is known.  This comparison
 * needs no look-up of unwind rules, and its loads do not depend on each other.
 *
 * Between two captures, many programs need all of the processor's caches for
 * themselves, so a path is small: most paths fit in one cache line.  A path has
 * a hash of the values instead of the values.  The hash has 64 bits, so two
 * stacks with their frames at the same addresses hardly ever have the same
 * hash.  Instead of the addresses, a path has the distances between them.
 *
 * The cache finds a path in two ways.  The first is a prediction: a program
 * tends to come to the same paths in the same order.  Each path therefore has
 * the places (indices in the cache) of paths that came after it.  The cache
 * predicts one of these paths, chosen by the path that came before the present
 * one.  After each search, the cache prefetches the path that it predicts for
 * the next search.  Without the prefetch, the comparison would wait for memory.
 *
 * The second way is a table.  The stack pointer and the first visible return
 * address are the key by which a path is found.  If several paths have the same
 * key, their entry is a branch.  The branch has the offset of the first word in
 * which the paths differ; that word's value in memory selects the next entry.
 * To find this word, the cache keeps 16 bits of a hash of each value (a mark).
 *
 * The cache is only for stacks whose end is known (stack_memory.h), because a
 * search reads the words of a path before it is known that these words belong
 * to frames.
 *
 * Only the thread itself uses its cache.  In the child of a fork, the kernel
 * wipes the cache, and the thread makes a new one.  A search uses the wiped
 * cache only if a signal handler interrupted the search and forked.  Such a
 * search may have read a part of a path before the fork, and reads zeros after
 * the fork; at worst, a comparison then fails.
 */
#ifndef PATH_CACHE_H
#define PATH_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/stacks/stack_key.h"
#include "preload/stacks/walk.h"

/* Maximum number of words in a path.  Stacks with more words are not kept. */
#define PATH_WORDS_MAX 96u

#define PATH_ENTRIES_BITS 15
#define PATH_MET_BITS	  16
#define PATH_POOL_LINES	  24576u
#define PATH_LINE_NBYTES  64u

/* A path of N lines has N lines of marks, each with this many marks. */
#define PATH_LINE_MARKS 32u

/*
 * When walks have met a stack this many times, it gets a path.  Twice is too
 * early: in a compiler, half of the stacks that come twice do not come a third
 * time while the pool holds their paths.
 */
#define PATH_TIMES 3u

/* Each path has this many predictions, a power of 2. */
#define PATH_NEXT 4u

/* path_sum() reads this many words at once. */
#define PATH_GROUP 4u

/*
 * Factors of path_sum().  The factor of each word is a product of powers of
 * these two numbers.  The factors of any two words differ in one of their
 * lowest 12 bits, so the hash changes if two words are exchanged.
 */
#define PATH_FACTOR	 0x9e3779b97f4a7c15ull
#define PATH_LANE_FACTOR 0xbf58476d1ce4e5b9ull

struct path {
	uint64_t sum;	/* hash of the words, and of RBP if 'takes_bp' */
	uint32_t check; /* path_check() of the stack; few others share it */
	uint32_t node;	/* the number of the stack; 0: none */
	/*
	 * places of paths that came after this one; 0: none.  path_next()
	 * chooses one of them.
	 */
	uint16_t next[PATH_NEXT];
	/*
	 * Offsets from the stack pointer at the start of the walk, in units of
	 * 8 bytes: the largest one, and that of the first visible return
	 * address.
	 */
	uint16_t reach, first;
	uint8_t count; /* number of words: 1 to PATH_WORDS_MAX */
	/* the path depends on the frame pointer at the start of the walk */
	bool takes_bp : 1;
	bool is_wide : 1; /* a step takes two bytes instead of one */
	/*
	 * The offset of each word minus the offset of the one before it, in
	 * units of 8 bytes.  The offsets increase.  Unless 'is_wide' is set,
	 * steps of 0 follow, so that the number of steps is a multiple of
	 * PATH_GROUP.
	 */
	uint8_t step[];
};

struct path_entry {
	uint32_t tag; /* the upper half of the key */
	/*
	 * The place of the entry's path.  If the entry is a branch, this is the
	 * place of one of its paths.
	 */
	uint16_t path;
	/*
	 * 0: the entry has one path.  Otherwise the entry is a branch, and this
	 * is the offset of the first word in which its paths differ, in units
	 * of 8 bytes.
	 */
	uint16_t branch;
};

_Static_assert(PATH_POOL_LINES <= UINT16_MAX + 1,
	       "a place must fit in 16 bits");

/* A stack that a walk has found. */
struct path_met {
	uint32_t node; /* number of the stack; 0: the struct is unused */
	uint16_t path; /* the place of its path; 0: it has none */
	/*
	 * Number of walks that have met the stack, at most PATH_TIMES.  If
	 * another stack takes this struct, the count begins anew.
	 */
	uint16_t times;
};

/*
 * Starts as all zeros.  Its size is 3.8 MiB, but only pages in use take memory.
 */
struct path_cache {
	/*
	 * places of the path that was found last, of the one before it, and of
	 * the one that is predicted to be next; 0: none
	 */
	uint32_t last, before, predicted;
	/* number of lines of the pool that are in use; 0: the pool is empty */
	uint32_t used;
	uint32_t epoch; /* the paths are valid in this stack_table_epoch() */
	/* Each group of PATH_WAYS consecutive entries serves the same keys. */
	_Alignas(PATH_LINE_NBYTES) struct path_entry
		entries[1u << PATH_ENTRIES_BITS];
	struct path_met met[1u << PATH_MET_BITS];
	/*
	 * The paths.  Each begins with a line of its own; the place of a path
	 * is the index of this line.  The first line stays unused, since 0
	 * means "none".
	 */
	_Alignas(PATH_LINE_NBYTES)
		uint8_t pool[PATH_POOL_LINES * PATH_LINE_NBYTES];
	/* path_mark() of the words of each path; only insertions need them */
	uint16_t marks[PATH_POOL_LINES * PATH_LINE_MARKS];
};

static inline struct path *
path_at(struct path_cache *cache, uint32_t place)
{
	return (struct path *)&cache->pool[place * PATH_LINE_NBYTES];
}

static inline uint16_t
path_mark(uintptr_t word)
{
	return (uint16_t)stack_key_add(0, word);
}

/* Return the marks of the path at 'place'. */
static inline uint16_t *
path_marks(struct path_cache *cache, uint32_t place)
{
	return &cache->marks[place * PATH_LINE_MARKS];
}

/*
 * Return a hash of the stack pointer and of the first visible return address.
 * It is never 0, so it differs from the 'check' of a path that a fork has
 * wiped.
 */
static inline uint32_t
path_check(uintptr_t sp, uintptr_t address)
{
	return ((uint32_t)(sp >> 3) * 0x9e3779b1u ^ (uint32_t)address) | 1;
}

/*
 * Return the address of the element of path->next that predicts the next path
 * if the path at the place 'before' came just before 'path'.
 */
static inline uint16_t *
path_next(struct path *path, uint32_t before)
{
	return &path->next[before * 0x9e3779b1u >> 16 & (PATH_NEXT - 1)];
}

/* path_sum() for a path with steps of two bytes. */
uint64_t path_sum_wide(const struct path *path,
		       const struct walk_context *here);

/*
 * Compute the hash of the words that are now at the path's offsets, and of the
 * frame pointer if the path depends on it.  A walk would begin at 'here'.  The
 * caller has checked that the words can be read.  If a fork has wiped the path
 * meanwhile, its steps are 0, so only the word at the stack pointer is read.
 *
 * Each of the four sums takes every fourth word, so that the processor can
 * compute the sums at the same time.
 */
static inline __attribute__((always_inline)) uint64_t
path_sum(const struct path *path, const struct walk_context *here)
{
	const uintptr_t *word = (const uintptr_t *)here->sp;
	const uint8_t *step = path->step;
	const uint8_t *const end = step + path->count;
	uint64_t a = path->takes_bp ? here->bp : 0, b = 1, c = 0, d = 0;

	if (__builtin_expect(path->is_wide, 0))
		return path_sum_wide(path, here);
	for (; step < end; step += PATH_GROUP) {
		a = a * PATH_FACTOR + *(word += step[0]);
		b = b * PATH_FACTOR + *(word += step[1]);
		c = c * PATH_FACTOR + *(word += step[2]);
		d = d * PATH_FACTOR + *(word += step[3]);
	}
	a = a * PATH_LANE_FACTOR + b;
	a = a * PATH_LANE_FACTOR + c;
	return a * PATH_LANE_FACTOR + d;
}

/* Is 'path' the stack of a walk that would begin at 'here'? */
static inline __attribute__((always_inline)) bool
path_applies(const struct path *path, const struct walk_context *here,
	     uintptr_t high)
{
	const uintptr_t *const word = (const uintptr_t *)here->sp;

	return path->reach < (high - here->sp) / sizeof(uintptr_t) &&
	       path->check == path_check(here->sp, word[path->first]) &&
	       path->sum == path_sum(path, here);
}

/*
 * The path at 'place' has come after the path that was found last.  Predict the
 * next path, and prefetch it.
 */
static inline __attribute__((always_inline)) void
path_follow(struct path_cache *cache, uint32_t place)
{
	const uint32_t next = *path_next(path_at(cache, place), cache->last);

	cache->before = cache->last;
	cache->last = place;
	cache->predicted = next;
	/* Few paths have steps beyond the first line. */
	__builtin_prefetch(path_at(cache, next));
}

/*
 * If the stack is the one that the cache has predicted, return its number, else
 * 0.  A walk would begin at 'here'.  The stack can be read up to 'high'.
 */
static inline __attribute__((always_inline)) uint32_t
path_cache_predict(struct path_cache *cache, const struct walk_context *here,
		   uintptr_t high, uint32_t epoch)
{
	const uint32_t place = cache->predicted;
	const struct path *const path = path_at(cache, place);

	if (cache->epoch != epoch || !path_applies(path, here, high))
		return 0;
	path_follow(cache, place);
	return path->node;
}

/*
 * Return the number of the stack, or 0 if the cache does not have the stack.
 * 'outlet' is the first visible frame.  Call this if path_cache_predict() has
 * returned 0.
 */
uint32_t path_cache_find(struct path_cache *cache,
			 const struct walk_context *here,
			 const struct walk_outlet *outlet, uintptr_t high,
			 uint32_t epoch);

/*
 * Call this if path_cache_find() has not found the stack either.  '*walk' is
 * the walk from 'here' that has found the stack; walk_last_exit() returns its
 * exit.  'outlet' is the stack's first visible frame.  'node' is the stack's
 * number, and not 0.  If walks have met the stack PATH_TIMES times, make a path
 * of it.  If the stack gets no path, the next search has no prediction.
 */
void path_cache_add(struct path_cache *cache, const struct walk *walk,
		    const struct walk_context *here,
		    const struct walk_outlet *outlet, uint32_t node,
		    uint32_t epoch);

#endif /* PATH_CACHE_H */

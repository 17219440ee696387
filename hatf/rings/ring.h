/* SPDX-License-Identifier: MIT */
/*
 * ring.h - single-producer, single-consumer ring of 64-bit words
 *
 * Every traced thread owns one ring and is its only producer; the writer thread
 * is the only consumer of all of them.  The ring knows nothing of what the words
 * mean: an event is some words that are published together.  Nothing here
 * allocates, locks or makes a system call, so it may run inside malloc().  How a
 * producer waits for room, and how it gets it back, is in preload/record/ring_wait.h.
 *
 * 'head' and 'tail' count words since the ring was made or given to another
 * thread; they are 64 bits wide and never wrap.  A slot index is 'count & mask'.
 *
 *          tail             (drained)            head        tail + capacity
 *   ────────┼───────────────────┼──────────────────┼───────────────┼────
 *     free  │ drained, but not  │ published, not   │  free         │
 *           │ yet in the file   │ yet drained      │               │
 *
 * The consumer's reading position is its own business; 'tail' moves only when
 * the block that holds the events has reached the file, so whatever the file does
 * not have is still in the ring.
 *
 * A ring can lie in a file, so that what is in it outlives a process that is
 * killed (image.h), and its memory is then taken from the disk.  The less of it a
 * ring uses, the more of that stays in the producer's cache, too.  So it begins
 * small, and grows when the producer has to wait for room (ring_wait_grow()).
 *
 * Invariant: tail <= head <= tail + capacity, and the words of [tail, head) are
 * what was published.
 */
#ifndef RING_H
#define RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_CACHE_LINE	   64
#define RING_HEADER_NBYTES 4096

/*
 * How far the consumer was with a ring when a block had reached the file; written
 * and read by image.c only.
 */
struct ring_commit {
	_Atomic uint64_t seq; /* of the commit; RING_NO_COMMIT: not valid */
	uint64_t pos, stamp, realloc_old;
	uint64_t flags;	 /* RING_COMMIT_... */
	uint64_t thread; /* whose the word at 'pos' is: HATF thread number */
};

#define RING_NO_COMMIT		  UINT64_MAX
#define RING_COMMIT_REALLOC_OPEN  1u /* as in struct order_source */
#define RING_COMMIT_REALLOC_DONE  2u
#define RING_COMMIT_REALLOC_FREED 4u
#define RING_COMMIT_DEAD	  8u
#define RING_COMMIT_GONE	  16u /* its destroyThread is written */

#define RING_WAITING 1u
#define RING_GROWING 2u

struct ring {
	/* Written by the producer, read by the consumer once a round. */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t head;
	/*
	 * Written by the consumer once a block, read by the producer when it
	 * has used up the room that it knew of.
	 */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t tail;
	_Atomic uint64_t capacity; /* words, a power of two */
	/*
	 * Written by both, rarely: RING_WAITING while the producer sleeps for
	 * room, RING_GROWING while it must not go on.
	 */
	_Alignas(RING_CACHE_LINE) _Atomic uint32_t waiting;
	/* Dropped events that no EVENT_LOST tells of yet; whoever does takes
	 * the count out: the producer, or the consumer when there is no later
	 * event. */
	_Atomic uint64_t lost_count;
	_Atomic uint64_t lost_first; /* stamp */
	/*
	 * Whose it is, for a reader that finds it in a file; see image.h.  In
	 * one that is not in a file 'offset' is 0.
	 */
	_Alignas(RING_CACHE_LINE) uint64_t magic;
	uint64_t offset;     /* of the ring in its file, bytes; constant */
	uint64_t words_max;  /* what 'capacity' may become; constant, also in
				  a ring that is in no file */
	uint64_t id;	     /* HATF thread number of the life's first thread */
	uint64_t generation; /* the recorder's: of the file */
	uint32_t is_nested;  /* a signal handler's */
	_Atomic uint32_t life; /* 0: nobody's, what it holds means nothing */
	struct ring_commit commit[2];
	_Alignas(RING_HEADER_NBYTES) uint64_t words[];
};

_Static_assert(sizeof(struct ring) == RING_HEADER_NBYTES, "the words' place");

/* Bytes of memory for a ring of 'capacity' words. */
static inline size_t
ring_nbytes(uint64_t capacity)
{
	return RING_HEADER_NBYTES + capacity * sizeof(uint64_t);
}

/*
 * Make 'memory', ring_nbytes(capacity) zeroed and page-aligned bytes, a ring of
 * which all words have memory.
 */
static inline struct ring *
ring_init(void *memory, uint64_t capacity)
{
	struct ring *const r = (struct ring *)memory;

	/* relaxed, all: nobody else has the ring yet. */
	atomic_store_explicit(&r->capacity, capacity, memory_order_relaxed);
	atomic_store_explicit(&r->head, 0, memory_order_relaxed);
	atomic_store_explicit(&r->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
	return r;
}

/* An index is 'count & mask'. */
static inline uint64_t
ring_mask(const struct ring *r)
{
	/* relaxed: it changes only by ring_wait_grow(), which orders it. */
	return atomic_load_explicit(&r->capacity, memory_order_relaxed) - 1;
}

/* Producer: how far it may write, as a count of words. */
static inline uint64_t
ring_limit(const struct ring *r)
{
	/*
	 * acquire: pairs with the release of 'tail' in ring_wait_release().  Without
	 * it we could overwrite a slot that the consumer is still reading.
	 */
	return atomic_load_explicit(&r->tail, memory_order_acquire) +
	       ring_mask(r) + 1;
}

/* Producer: how far the consumer has come, as a count of words. */
static inline uint64_t
ring_tail(const struct ring *r)
{
	/* relaxed: only for how full the ring is. */
	return atomic_load_explicit(&r->tail, memory_order_relaxed);
}

/* Producer: write a word that is not yet published. */
static inline void
ring_put(struct ring *r, uint64_t pos, uint64_t word)
{
	r->words[pos & ring_mask(r)] = word;
}

/* Producer: publish all words before 'head'. */
static inline void
ring_publish(struct ring *r, uint64_t head)
{
	/*
	 * release: pairs with the acquire of 'head' in ring_head(), so that a
	 * consumer which sees the new count also sees the words behind it.
	 */
	atomic_store_explicit(&r->head, head, memory_order_release);
}

/* Consumer: how far the producer has published. */
static inline uint64_t
ring_head(const struct ring *r)
{
	/* acquire: pairs with the release in ring_publish(). */
	return atomic_load_explicit(&r->head, memory_order_acquire);
}

/* Consumer: the word at 'pos', which is in [tail, head). */
static inline uint64_t
ring_get(const struct ring *r, uint64_t pos)
{
	return r->words[pos & ring_mask(r)];
}

#endif /* RING_H */

/* SPDX-License-Identifier: MIT */
/*
 * ring.h - single-producer, single-consumer ring of 64-bit words
 *
 * Every traced thread owns one ring and is its only producer; the writer thread
 * is the only consumer of all of them.  The ring does not interpret the words:
 * an event is a group of words that are published together.  Nothing here
 * allocates, locks or makes a system call, so it may run inside malloc().
 * preload/record/ring_wait.h is where a producer waits for room and where the
 * consumer wakes it.
 *
 * 'head' and 'tail' count words since the ring was made or given to another
 * thread; they are 64-bit numbers and never wrap.  A slot index is
 * 'count & mask'.
 *
 *          tail             (drained)            head        tail + capacity
 *   ────────┼───────────────────┼──────────────────┼───────────────┼────
 *     free  │ drained, but not  │ published, not   │  free         │
 *           │ yet in the file   │ yet drained      │               │
 *
 * The consumer keeps its reading position elsewhere (struct order_producer).
 * 'tail' moves only when the block that holds the events has reached the file:
 * an event that the file lacks is still in the ring.
 *
 * A ring can be part of a mapped file, so that its contents survive if the
 * process is killed (image.h); its memory then takes disk space.  A small ring
 * also stays in the producer's cache.  So a ring starts small, and grows when
 * the producer has to wait for room (ring_wait_grow()).
 *
 * Invariant: tail <= head <= tail + capacity, and the words of [tail, head) are
 * exactly the published words that the consumer has not released.
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
 * The consumer's position in a ring when a block had reached the file.  Only
 * image.c reads and writes it.
 */
struct ring_commit {
	_Atomic uint64_t seq; /* of the commit; RING_NO_COMMIT: not valid */
	uint64_t pos, stamp, realloc_old; /* as in struct order_producer */
	uint64_t flags;	 /* RING_COMMIT_..., and above 16 bits the size code */
	uint64_t thread; /* that produced the word at 'pos': HATF number */
	uint64_t stack;	 /* as in struct order_source */
};

#define RING_NO_COMMIT		  UINT64_MAX
#define RING_COMMIT_REALLOC_OPEN  1u /* as in struct order_producer */
#define RING_COMMIT_REALLOC_DONE  2u
#define RING_COMMIT_REALLOC_FREED 4u
#define RING_COMMIT_DEAD	  8u
#define RING_COMMIT_GONE	  16u /* its destroyThread is written */
#define RING_COMMIT_TICK	  32u /* 'stamp' is a tick */
#define RING_COMMIT_CODE_SHIFT	  16  /* of the size code of the realloc */

/* Bits of 'waiting'. */
#define RING_WAITING 1u
#define RING_GROWING 2u

struct ring {
	/* Written by the producer, read by the consumer once per round. */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t head;
	/*
	 * Written by the consumer once per block, read by the producer when it
	 * has used up the room that it last saw.
	 */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t tail;
	_Atomic uint64_t capacity; /* words, a power of two */
	/*
	 * Written by both, rarely: RING_WAITING while the producer sleeps for
	 * room, RING_GROWING while the ring grows and the producer must stop.
	 */
	_Alignas(RING_CACHE_LINE) _Atomic uint32_t waiting;
	/*
	 * Dropped events that no EVENT_LOST has reported yet.  Whoever reports
	 * them exchanges the count for 0: the producer, or the consumer if no
	 * later event follows.
	 */
	_Atomic uint64_t lost_count;
	_Atomic uint64_t lost_first; /* stamp */
	/*
	 * Identity of the ring, for a reader that finds it in a file; see
	 * image.h.  'offset' is 0 in a ring that is not in a file.
	 */
	_Alignas(RING_CACHE_LINE) uint64_t magic;
	uint64_t offset;     /* of the ring in its file, bytes; constant */
	uint64_t words_max;  /* upper limit of 'capacity'; constant, also set in
				a ring that is not in a file */
	uint64_t id;	     /* HATF number of the first thread of this life */
	uint64_t generation; /* of the file; set and read by the recorder */
	uint32_t is_nested;  /* it records a signal handler's events */
	_Atomic uint32_t life; /* 0: unused, ignore the contents */
	struct ring_commit commit[2];
	_Alignas(RING_HEADER_NBYTES) uint64_t words[];
};

_Static_assert(sizeof(struct ring) == RING_HEADER_NBYTES,
	       "the words follow the header page");

/* Bytes of memory for a ring of 'capacity' words. */
static inline size_t
ring_nbytes(uint64_t capacity)
{
	return RING_HEADER_NBYTES + capacity * sizeof(uint64_t);
}

/*
 * Initialise a ring in 'memory': ring_nbytes(capacity) bytes, zeroed,
 * page-aligned, owned by the caller.  'capacity' is a power of two, in words.
 */
static inline struct ring *
ring_init(void *memory, uint64_t capacity)
{
	struct ring *const r = (struct ring *)memory;

	/* relaxed, all: no other thread can see the ring yet. */
	atomic_store_explicit(&r->capacity, capacity, memory_order_relaxed);
	atomic_store_explicit(&r->head, 0, memory_order_relaxed);
	atomic_store_explicit(&r->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
	return r;
}

/* The slot index of word 'count' is 'count & ring_mask(r)'. */
static inline uint64_t
ring_mask(const struct ring *r)
{
	/* relaxed: only ring_wait_grow() changes it, and orders the change. */
	return atomic_load_explicit(&r->capacity, memory_order_relaxed) - 1;
}

/* Producer: the count of words up to which there is room. */
static inline uint64_t
ring_limit(const struct ring *r)
{
	/*
	 * acquire: pairs with the release of 'tail' in ring_wait_release().
	 * Without it we could overwrite a slot that the consumer is still
	 * reading.
	 */
	return atomic_load_explicit(&r->tail, memory_order_acquire) +
	       ring_mask(r) + 1;
}

/* Producer: the count of words that the consumer has released. */
static inline uint64_t
ring_tail(const struct ring *r)
{
	/* relaxed: callers only estimate how full the ring is. */
	return atomic_load_explicit(&r->tail, memory_order_relaxed);
}

/* Producer: write a word without publishing it; 'pos' < ring_limit(). */
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
	 * consumer which sees the new count also sees the words that it counts.
	 */
	atomic_store_explicit(&r->head, head, memory_order_release);
}

/* Consumer: the count of published words. */
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

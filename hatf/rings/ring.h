/* SPDX-License-Identifier: MIT */
/*
 * ring.h - single-producer, single-consumer ring of 64-bit words
 *
 * Every traced thread owns one ring and is its only producer; the writer thread
 * is the only consumer of all of them.  The ring knows nothing of what the words
 * mean: an event is some words that are published together.  Nothing here
 * allocates, locks or makes a system call, so it may run inside malloc().  How a
 * producer waits for room, and how it gets it back, is in preload/room.h.
 *
 * 'head' and 'tail' count words since the ring was made; they are 64 bits wide
 * and never wrap.  A slot index is 'count & mask'.
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

struct ring {
	/* Written by the producer, read by the consumer once a round. */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t head;
	/* Written by the consumer once a block, read by the producer when it
	 * has used up the room that it knew of. */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t tail;
	/* Written by both, rarely: 1 while the producer sleeps for room. */
	_Alignas(RING_CACHE_LINE) _Atomic uint32_t waiting;
	uint64_t capacity; /* words, a power of two; constant */
	_Alignas(RING_HEADER_NBYTES) uint64_t words[];
};

/* Bytes of memory for a ring of 'capacity' words. */
static inline size_t
ring_nbytes(uint64_t capacity)
{
	return RING_HEADER_NBYTES + capacity * sizeof(uint64_t);
}

/* Make 'memory', ring_nbytes(capacity) zeroed and page-aligned bytes, a ring. */
static inline struct ring *
ring_init(void *memory, uint64_t capacity)
{
	struct ring *const r = (struct ring *)memory;

	r->capacity = capacity;
	/* relaxed: nobody else has the ring yet. */
	atomic_store_explicit(&r->head, 0, memory_order_relaxed);
	atomic_store_explicit(&r->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
	return r;
}

/*
 * Producer: how far it may write, as a count of words ('tail' + capacity).
 */
static inline uint64_t
ring_limit(const struct ring *r)
{
	/*
	 * acquire: pairs with the release of 'tail' in room_release().  Without
	 * it we could overwrite a slot that the consumer is still reading.
	 */
	return atomic_load_explicit(&r->tail, memory_order_acquire) +
	       r->capacity;
}

/* Producer: write a word that is not yet published. */
static inline void
ring_put(struct ring *r, uint64_t pos, uint64_t word)
{
	r->words[pos & (r->capacity - 1)] = word;
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
	return r->words[pos & (r->capacity - 1)];
}

#endif /* RING_H */

/* SPDX-License-Identifier: MIT */
/*
 * ring.h - single-producer, single-consumer ring of 64-bit words
 *
 * Every traced thread owns a ring, or two if its signal handlers have events,
 * and is the only producer of its rings; the writer thread is the only consumer
 * of all rings.  The ring does not interpret the words: an event is a group of
 * words that are published together.  Nothing here allocates, locks or makes a
 * system call, so these functions may run inside malloc().  The functions of
 * preload/record/ring_wait.h let a producer wait for room, and let the consumer
 * wake it.
 *
 * 'head' and 'tail' count words since the ring's life began (image.h); they are
 * 64-bit numbers and never wrap.  A slot index is 'count & mask'.
 *
 *          tail             (drained)            head        tail + capacity
 *   ────────┼───────────────────┼──────────────────┼───────────────┼────
 *     free  │ drained, but not  │ published, not   │  free         │
 *           │ yet in the trace  │ yet drained      │               │
 *
 * The consumer keeps its reading position elsewhere (struct order_producer).
 * 'tail' moves only when the block that holds the events has reached the trace
 * file, so an event that the trace file lacks is still in the ring.
 *
 * A ring can be part of a mapped file, so that its contents survive if the
 * process is killed (image.h); its memory then takes disk space.  A small ring
 * also stays in the producer's cache.  For both reasons, a ring starts small,
 * and grows when the producer has to wait for room (ring_wait_grow()).
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
 * The consumer's position in a ring at the moment when a block had just reached
 * the trace file.  Only image.c writes this struct; recovery reads it, too.
 */
struct ring_commit {
	/* Number of the commit; RING_NO_COMMIT: the slot is not valid. */
	_Atomic uint64_t seq;
	/* copies of the members of struct order_producer with these names */
	uint64_t pos, stamp, realloc_old;
	/*
	 * RING_COMMIT_... flags; the bits from RING_COMMIT_CODE_SHIFT on are
	 * the size code of the open realloc
	 */
	uint64_t flags;
	/* HATF number of the thread that produced the word at 'pos'. */
	uint64_t thread;
	/* copy of the member 'stack' of struct order_producer */
	uint64_t stack;
	uint64_t sum; /* image_ring_commit_sum() of the slot */
};

#define RING_NO_COMMIT UINT64_MAX
/*
 * Copies of the members 'realloc_open', 'realloc_done', 'realloc_freed' and
 * 'is_dead' of struct order_producer.  Each flag is set if its member is true.
 */
#define RING_COMMIT_REALLOC_OPEN  1u
#define RING_COMMIT_REALLOC_DONE  2u
#define RING_COMMIT_REALLOC_FREED 4u
#define RING_COMMIT_DEAD	  8u
/* the trace has the destroyThread record of the ring's thread */
#define RING_COMMIT_GONE  16u
#define RING_COMMIT_TICK  32u /* 'stamp' is the stamp of a tick */
#define RING_COMMIT_BRIEF 64u /* 'stamp' is the stamp of a brief tick */
/* the size code of the open realloc begins at this bit of 'flags' */
#define RING_COMMIT_CODE_SHIFT 16

/* Values of 'waiting' in struct ring; 0: neither. */
#define RING_WAITING 1u
#define RING_GROWING 2u

struct ring {
	/* Written by the producer, read by the consumer in each round. */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t head;
	/*
	 * Written by the consumer once per block.  The producer reads 'tail'
	 * when it has used all the room that it knows of, and to estimate how
	 * full the ring is.
	 */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t tail;
	_Atomic uint64_t capacity; /* size in words, a power of two */
	/*
	 * Written by both sides, rarely.  RING_WAITING: the producer sleeps
	 * until there is room.  RING_GROWING: the ring grows, and the producer
	 * must wait.
	 */
	_Alignas(RING_CACHE_LINE) _Atomic uint32_t waiting;
	/*
	 * Number of dropped events that no EVENT_LOST has reported yet.  The
	 * producer reports them just before its next event.  If the producer
	 * has no further event, the consumer reports them.  Whoever reports
	 * them exchanges this count for 0.
	 */
	_Atomic uint64_t lost_count;
	/* stamp of the first event that 'lost_count' counts */
	_Atomic uint64_t lost_first;
	/*
	 * Identity of the ring, for a reader that finds the ring in a file; see
	 * image.h.  'offset' is 0 in a ring that is not in a file.
	 */
	_Alignas(RING_CACHE_LINE) uint64_t magic;
	/* Offset of the ring in its file, in bytes; constant. */
	uint64_t offset;
	/*
	 * Upper limit of 'capacity'; constant.  A ring that is not in a file
	 * also has this limit.
	 */
	uint64_t words_max;
	uint64_t id; /* HATF number of the ring's first thread in this life */
	/*
	 * Number of the ring file that has the ring.  A process may make
	 * several ring files, one after the other.  Only the recorder uses this
	 * number.
	 */
	uint64_t generation;
	/* the ring contains the events of signal handlers */
	uint32_t is_nested;
	/*
	 * 1: the ring has a life (image.h); 0: the ring is unused, and its
	 * contents mean nothing
	 */
	_Atomic uint32_t life;
	struct ring_commit commit[2];
	_Alignas(RING_HEADER_NBYTES) uint64_t words[];
};

_Static_assert(sizeof(struct ring) == RING_HEADER_NBYTES,
	       "the words must follow the header page");

/* Return how many bytes of memory a ring of 'capacity' words needs. */
static inline size_t
ring_nbytes(uint64_t capacity)
{
	return RING_HEADER_NBYTES + capacity * sizeof(uint64_t);
}

/*
 * Initialize a ring in 'memory': ring_nbytes(capacity) bytes, zeroed,
 * page-aligned, owned by the caller.  'capacity' is a power of two, in words.
 */
static inline struct ring *
ring_init(void *memory, uint64_t capacity)
{
	struct ring *const r = (struct ring *)memory;

	/* relaxed, all stores: no other thread can see the ring yet. */
	atomic_store_explicit(&r->capacity, capacity, memory_order_relaxed);
	atomic_store_explicit(&r->head, 0, memory_order_relaxed);
	atomic_store_explicit(&r->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
	return r;
}

/*
 * Return the mask for slots: the slot index of word 'count' is 'count &
 * ring_mask(r)'.
 */
static inline uint64_t
ring_mask(const struct ring *r)
{
	/*
	 * relaxed: ring_wait_grow() and ringfile_shrink() change the capacity
	 * only while the producer waits or the ring has no producer.
	 */
	return atomic_load_explicit(&r->capacity, memory_order_relaxed) - 1;
}

/* Producer: return tail + capacity, the present upper limit of 'head'. */
static inline uint64_t
ring_limit(const struct ring *r)
{
	/*
	 * acquire: pairs with the release of 'tail' in ring_wait_release().  A
	 * relaxed load would let us overwrite a slot that the consumer is still
	 * reading.
	 */
	return atomic_load_explicit(&r->tail, memory_order_acquire) +
	       ring_mask(r) + 1;
}

/* Producer: return the count of words that the consumer has released. */
static inline uint64_t
ring_tail(const struct ring *r)
{
	/* relaxed: callers only estimate how full the ring is. */
	return atomic_load_explicit(&r->tail, memory_order_relaxed);
}

/*
 * Producer: write a word without publishing it.  'pos' must be below
 * ring_limit().
 */
static inline void
ring_put(struct ring *r, uint64_t pos, uint64_t word)
{
	r->words[pos & ring_mask(r)] = word;
}

/* Producer: publish all words before count 'head'. */
static inline void
ring_publish(struct ring *r, uint64_t head)
{
	/*
	 * release: pairs with the acquire of 'head' in ring_head().  A consumer
	 * that sees the new value of r->head also sees all words before it.
	 */
	atomic_store_explicit(&r->head, head, memory_order_release);
}

/* Consumer: return how many words have been published. */
static inline uint64_t
ring_head(const struct ring *r)
{
	/* acquire: pairs with the release in ring_publish(). */
	return atomic_load_explicit(&r->head, memory_order_acquire);
}

/* Consumer: return the word at 'pos', which is in [tail, head). */
static inline uint64_t
ring_get(const struct ring *r, uint64_t pos)
{
	return r->words[pos & ring_mask(r)];
}

#endif /* RING_H */

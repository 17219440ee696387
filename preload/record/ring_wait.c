/* SPDX-License-Identifier: MIT */
/* ring_wait.c - see ring_wait.h */

#include "preload/record/ring_wait.h"

#include "preload/sys/sys.h"

void
ring_wait_announce(struct ring *r)
{
	/*
	 * seq_cst here and in release().  The producer stores
	 * 'waiting' and then reads the tail.  The consumer stores the tail and
	 * then reads 'waiting'.  At least one of the two must see the other's
	 * store.  (Otherwise the producer would sleep until its time-out.)
	 */
	atomic_store_explicit(&r->waiting, RING_WAITING, memory_order_seq_cst);
}

void
ring_wait_sleep(struct ring *r, uint64_t need_limit, uint64_t timeout_ns)
{
	uint32_t expected = RING_WAITING;

	if (atomic_load_explicit(&r->tail, memory_order_seq_cst) +
		    ring_mask(r) + 1 <
	    need_limit)
		sys_futex_wait(&r->waiting, RING_WAITING, timeout_ns);
	/*
	 * If ring_wait_grow() is at work, wait until it has finished.  acquire:
	 * pairs with the release in ring_wait_grow().
	 */
	while (!atomic_compare_exchange_strong_explicit(&r->waiting, &expected,
							0, memory_order_acquire,
							memory_order_acquire) &&
	       expected != 0) {
		sys_futex_wait(&r->waiting, RING_GROWING, timeout_ns);
		expected = RING_WAITING;
	}
}

/*
 * Free the words before 'tail'.  If the producer waits and the ring now has
 * room for at least 'room_min' words, wake the producer.
 */
static void
release(struct ring *r, uint64_t tail, uint64_t room_min)
{
	/*
	 * seq_cst: the store comes before the load below.  It is also a
	 * release, which pairs with the acquire in ring_limit().
	 */
	atomic_store_explicit(&r->tail, tail, memory_order_seq_cst);
	/* seq_cst: see ring_wait_announce(). */
	if (atomic_load_explicit(&r->waiting, memory_order_seq_cst) == 0)
		return;
	if (tail + ring_mask(r) + 1 < ring_head(r) + room_min)
		return;
	/* relaxed: the futex call orders this store. */
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
	sys_futex_wake(&r->waiting);
}

void
ring_wait_release(struct ring *r, uint64_t tail)
{
	release(r, tail, 1);
}

void
ring_wait_release_part(struct ring *r, uint64_t tail)
{
	release(r, tail, (ring_mask(r) + 1) / 2);
}

bool
ring_wait_grow(struct ring *r, uint64_t capacity)
{
	const uint64_t old_mask = ring_mask(r);
	/*
	 * relaxed: only the consumer writes the tail.  If the producer calls
	 * this function, there is no consumer.
	 */
	const uint64_t tail =
		atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint32_t expected = RING_WAITING;
	uint64_t head;

	/*
	 * acquire: this thread sees everything that the producer did before it
	 * waited.
	 */
	if (!atomic_compare_exchange_strong_explicit(
		    &r->waiting, &expected, RING_GROWING, memory_order_acquire,
		    memory_order_relaxed))
		return false;
	head = ring_head(r);
	/*
	 * Copy words to their slots for the new capacity.  Each word also stays
	 * in its slot for the old capacity.
	 */
	for (uint64_t pos = tail; pos != head; pos++)
		if ((pos & (capacity - 1)) != (pos & old_mask))
			r->words[pos & (capacity - 1)] =
				r->words[pos & old_mask];
	/*
	 * release: if the process is killed, recovery finds the copied words
	 * with the new capacity.  This store also pairs with the acquire in
	 * ring_wait_sleep().
	 */
	atomic_store_explicit(&r->capacity, capacity, memory_order_release);
	atomic_store_explicit(&r->waiting, 0, memory_order_release);
	sys_futex_wake(&r->waiting);
	return true;
}

bool
ring_wait_is_pending(const struct ring *r)
{
	/*
	 * relaxed: only a hint.  If the writer does not see now that the
	 * producer waits, it sees this in its next round.
	 */
	return atomic_load_explicit(&r->waiting, memory_order_relaxed) != 0;
}

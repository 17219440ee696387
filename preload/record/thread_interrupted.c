/* SPDX-License-Identifier: MIT */
/*
 * thread_interrupted.c - what a fork needs if it comes from a signal handler
 * that has interrupted a recording; see thread.h
 */

#include "preload/record/thread.h"
#include "preload/sys/memory.h"

/*
 * thread_repair_interrupted() can repair at most this many recordings, each of
 * which has interrupted the one before.
 */
#define INTERRUPTED_MAX 4

static __thread struct {
	struct thread *thread;
	struct ring *ring;
	uint64_t words;
} interrupted[INTERRUPTED_MAX] __attribute__((tls_model("initial-exec")));

void
thread_note_interrupted(void)
{
	struct thread *t = thread_self;

	/*
	 * Note the ring of 'thread_self' even if thread_self->limit is not 0,
	 * because the interrupted recording may have read 'limit' but not yet
	 * set it to 0.
	 */
	for (size_t i = 0; i < INTERRUPTED_MAX; i++) {
		interrupted[i].thread = t;
		if (t == NULL || !thread_is_attached(t)) {
			interrupted[i].thread = NULL;
			return;
		}
		interrupted[i].ring = t->ring;
		interrupted[i].words = ring_mask(t->ring) + 1;
		t = t->limit == 0 ? t->nested : NULL;
	}
}

void
thread_repair_interrupted(void)
{
	for (size_t i = 0; i < INTERRUPTED_MAX; i++) {
		struct thread *const t = interrupted[i].thread;

		if (t == NULL)
			return;
		/* Use the same address, which a register may still hold. */
		if (!memory_map_at(interrupted[i].ring,
				   ring_nbytes(interrupted[i].words)))
			return;
		t->ring = ring_init(interrupted[i].ring, interrupted[i].words);
		t->mask = (uint32_t)(interrupted[i].words - 1);
		/* Other threads of this process must not claim the struct. */
		atomic_store_explicit(&t->state, THREAD_CLAIMED,
				      memory_order_relaxed);
		thread_self = &thread_unattached;
	}
}

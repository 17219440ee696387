/* SPDX-License-Identifier: MIT */
/*
 * ring_spares.c - spare rings, which the writer makes before threads need them
 *
 * A new thread takes a spare ring (ringfile_take()).  If there is none, the
 * thread waits for at most TAKE_NS.  The writer makes more spare rings
 * (ringfile_make_spares()).  A new thread may also take over the ring of a
 * thread that has ended.  See ringfile.h.
 */

#include <stddef.h>

#include "hatf/rings/image.h"
#include "preload/config/environment.h"
#include "preload/record/ringfile_state.h"
#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

/*
 * A new thread waits at most this long for its ring.  On a busy machine the
 * writer may be starved for a while.
 */
#define TAKE_NS (2 * NS_PER_SEC)

/* Producers --------------------------------------------------------------- */

bool
ringfile_may_reuse(struct ring *r)
{
	if (r->offset == 0 || r->generation == rf->generation)
		return true;
	memory_unmap(r, ring_nbytes(r->words_max), MEMORY_SHARED);
	return false;
}

bool
ringfile_may_hand_over(const struct ring *r)
{
	return r->offset != 0 ? r->generation == rf->generation
			      : rf->image == NULL || rf->is_removed;
}

static struct ring *
take_spare(bool is_initial)
{
	struct ring *r = NULL;

	/* acquire: pairs with the release in put_spare(). */
	if (is_initial)
		r = atomic_exchange_explicit(&rf->initial, NULL,
					     memory_order_acquire);
	for (unsigned i = 0; r == NULL && i < SPARES_MAX; i++)
		if (atomic_load_explicit(&rf->spare[i], memory_order_relaxed) !=
		    NULL)
			r = atomic_exchange_explicit(&rf->spare[i], NULL,
						     memory_order_acquire);
	return r;
}

struct ring *
ringfile_take(bool is_initial)
{
	const uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);
	struct ring *r;

	if (rf == NULL || rf->image == NULL || rf->is_removed)
		return NULL;
	r = take_spare(is_initial);
	/* relaxed: only a count, which the writer sees when it is woken. */
	if (r == NULL)
		atomic_fetch_add_explicit(&rf->wanted, 1, memory_order_relaxed);
	while (r == NULL && process_is_tracing() &&
	       sys_clock_ns(CLOCK_MONOTONIC) - start < TAKE_NS) {
		/* acquire: pairs with the release in ringfile_make_spares(). */
		const uint32_t made =
			atomic_load_explicit(&rf->made, memory_order_acquire);

		r = take_spare(is_initial);
		if (r != NULL ||
		    atomic_load_explicit(&rf->ahead, memory_order_relaxed) >
			    SPARES_MAX)
			break;
		wake_writer();
		sys_futex_wait(&rf->made, made, TAKE_NS / 100);
	}
	return r;
}

bool
ringfile_expects_thread(void)
{
	/* relaxed: only a hint for the writer. */
	return rf == NULL || rf->image == NULL ||
	       atomic_load_explicit(&rf->ahead, memory_order_relaxed) != 0;
}

void
ringfile_expect_thread(void)
{
	uint32_t none = 0;

	/* relaxed: only a hint for the writer. */
	if (rf != NULL && rf->image != NULL &&
	    atomic_compare_exchange_strong_explicit(&rf->ahead, &none, 1,
						    memory_order_relaxed,
						    memory_order_relaxed))
		wake_writer();
}

/* The writer -------------------------------------------------------------- */

static bool
put_spare(struct ring *r)
{
	for (unsigned i = 0; i < SPARES_MAX; i++) {
		struct ring *none = NULL;

		/* release: pairs with the acquire in take_spare(). */
		if (atomic_compare_exchange_strong_explicit(
			    &rf->spare[i], &none, r, memory_order_release,
			    memory_order_relaxed))
			return true;
	}
	return false;
}

static uint32_t
spare_count(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < SPARES_MAX; i++)
		n += atomic_load_explicit(&rf->spare[i],
					  memory_order_relaxed) != NULL;
	return n;
}

/*
 * A value of 'ahead': no spare ring can be made at present, so threads must not
 * wait for one.
 */
#define AHEAD_NEVER (SPARES_MAX + 1)

void
ringfile_make_spares(void)
{
	uint32_t ahead, wanted;
	bool made = false;

	if (rf->image == NULL)
		return;
	/* relaxed: 'ahead' and 'wanted' are only hints of the producers. */
	ahead = atomic_load_explicit(&rf->ahead, memory_order_relaxed);
	if (ahead == AHEAD_NEVER) {
		if (sys_clock_ns(CLOCK_MONOTONIC) < rf->retry_ns)
			return;
		ahead = 1;
	}
	wanted = atomic_exchange_explicit(&rf->wanted, 0, memory_order_relaxed);
	/* If a producer had to wait, keep more spares from now on. */
	if (wanted > 0 && ahead < SPARES_MAX / 2)
		ahead = ahead * 2 + 1;
	for (uint32_t n = spare_count(); n < ahead + wanted && n < SPARES_MAX;
	     n++) {
		struct ring *const r = ringfile_make_ring(rf->words);

		if (r == NULL) {
			ahead = AHEAD_NEVER;
			rf->retry_ns = sys_clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
		}
		made = true;
		if (r == NULL || !put_spare(r))
			break;
	}
	atomic_store_explicit(&rf->ahead, ahead, memory_order_relaxed);
	if (!made)
		return;
	/* release: pairs with the acquire in ringfile_take(). */
	atomic_fetch_add_explicit(&rf->made, 1, memory_order_release);
	sys_futex_wake(&rf->made);
}

/* Unmap the spares that no thread has taken, since their file is removed. */
static void
drop_spares(void)
{
	struct ring *r;

	while ((r = take_spare(true)) != NULL)
		memory_unmap(r, ring_nbytes(r->words_max), MEMORY_SHARED);
}

void
ringfile_renew(struct ring *r, const char *trace_path)
{
	if (rf->image == NULL || !rf->is_removed)
		return;
	drop_spares();
	memory_unmap(rf->image, IMAGE_HEADER_NBYTES, MEMORY_SHARED);
	rf->image = NULL;
	ringfile_close();
	ringfile_make(environment_own(), trace_path, true);
	ringfile_adopt(r, true);
}

/* SPDX-License-Identifier: MIT */
/* lanes.c - see lanes.h */
#include "tools/driver/lanes.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Threads need little stack; allocators may need some. */
#define STACK_NBYTES ((size_t)512 << 10)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

uint64_t
lanes_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Read the next chunk of a lane.  To map it instead would take the locks that
 * the allocator's own mappings take, and interrupt the other processors.
 */
static void
next_chunk(struct lane *lane)
{
	const struct lanes *const all = lane->all;
	const uint32_t i = lane->stream->chunk_first + lane->number++;
	ssize_t n = -1;

	if (lane->number <= lane->stream->chunk_count)
		n = pread(all->fd, lane->chunk, REPLAY_CHUNK_NBYTES,
			  (off_t)(all->chunks[i] * REPLAY_CHUNK_NBYTES));
	if (n != (ssize_t)REPLAY_CHUNK_NBYTES)
		all->fail("cannot read a chunk of the compiled trace");
	lane->next = lane->chunk;
}

/* -------------------------------------------------------------------- calls */

/* Write to the pages of a block from byte 'from' on. */
static inline void
touch(const struct lanes *all, void *block, uint64_t from, uint64_t size)
{
	volatile char *const bytes = block;
	const uint64_t end =
		size < all->touch_nbytes ? size : all->touch_nbytes;

	for (uint64_t i = from; i < end; i += REPLAY_PAGE_NBYTES)
		bytes[i & all->touch_mask] = 1;
	/* The last page, of which there may be less than that. */
	if (unlikely(end > REPLAY_PAGE_NBYTES))
		bytes[(end - 1) & all->touch_mask] = 1;
}

/* Store the block that a call has returned. */
static inline void
keep(const struct lanes *all, struct lane *lane, unsigned kind, uint32_t slot,
     void *block, uint64_t from, uint64_t size)
{
	if (likely(block != NULL)) {
		all->blocks[slot] = block;
		touch(all, block, from, size);
		return;
	}
	lane->failed++;
	/* A realloc that fails leaves the old block. */
	if (kind != WORD_REALLOC)
		all->blocks[slot] = NULL;
}

/* Check a slot before a call. */
static void
check_before(const struct lanes *all, struct lane *lane, unsigned kind,
	     uint32_t slot)
{
	const char *const fault = lane_check_before(all->checks, &lane->random,
						    (enum word_kind)kind, slot,
						    all->blocks[slot]);

	if (fault != NULL)
		all->fail(fault);
}

/* Check it after the call. */
static void
check_after(const struct lanes *all, struct lane *lane, unsigned kind,
	    uint32_t slot, uint64_t size)
{
	const char *const fault = lane_check_after(
		all->checks, &lane->random, (enum word_kind)kind, slot,
		kind != WORD_FREE ? all->blocks[slot] : NULL, size);

	if (fault != NULL)
		all->fail(fault);
}

static inline uint64_t
ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return lanes_now_ns();
#endif
}

uint64_t
lanes_ticks(void)
{
	return ticks();
}

/* What is done before a call that is observed. */
static void
observe_before(const struct lanes *all, struct lane *lane, unsigned kind,
	       uint32_t slot)
{
	if (all->checks != NULL)
		check_before(all, lane, kind, slot);
	lane->begin = ticks();
}

static inline void
observe_end(struct lane *lane, unsigned kind)
{
	const uint64_t end = ticks();

	if (lane->latency != NULL)
		latency_of(lane->latency,
			   kind)[latency_bucket(end - lane->begin)]++;
}

/* What is done after a call, which has returned 'block'. */
static void
observe_after(const struct lanes *all, struct lane *lane, unsigned kind,
	      uint32_t slot, void *block, uint64_t size)
{
	if (all->checks != NULL)
		check_after(all, lane, kind, slot, size);
	if (all->sizes != NULL && (block != NULL || kind != WORD_REALLOC))
		lane_sizes_note(all->sizes, slot, block, size);
	if (all->samples != NULL && (block != NULL || kind != WORD_REALLOC))
		lane_samples_note(all->samples, slot, block != NULL ? size : 0);
}

/* Make a call that returns a block. */
static inline void *
allocate(const struct lanes *all, unsigned kind, uint32_t slot, uint64_t size,
	 uint64_t alignment)
{
	if (kind == WORD_MALLOC)
		return all->calls.malloc(size);
	if (kind == WORD_REALLOC)
		return all->calls.realloc(all->blocks[slot], size);
	if (kind == WORD_CALLOC)
		return all->calls.calloc(1, size);
	if (kind == WORD_MEMALIGN)
		return all->calls.memalign(alignment, size);
	return all->calls.realloc(NULL, size);
}

/* Make the call of 'word' and return the word after it. */
static inline const uint64_t *
call(const struct lanes *all, struct lane *lane, uint64_t word,
     const uint64_t *next)
{
	const unsigned kind = word & WORD_KIND_MASK;
	const uint32_t slot =
		(uint32_t)(word >> WORD_SLOT_SHIFT & WORD_SLOT_MAX);
	uint64_t size = word >> WORD_SIZE_SHIFT, alignment = 0, old_size = 0;
	void *block = NULL;

	if (unlikely(size == WORD_BIG_SIZE))
		size = *next++;
	if (kind == WORD_MEMALIGN)
		alignment = *next++;
	if (unlikely(word & WORD_OLD))
		old_size = *next++;
	if (unlikely(word & WORD_WAITS))
		turn_wait(&all->turns[slot], (uint32_t)*next++);
	if (unlikely(all->is_observed))
		observe_before(all, lane, kind, slot);
	if (kind == WORD_FREE)
		all->calls.free(all->blocks[slot]);
	else
		block = allocate(all, kind, slot, size, alignment);
	if (unlikely(all->is_observed))
		observe_end(lane, kind);
	if (kind != WORD_FREE)
		keep(all, lane, kind, slot, block, old_size, size);
	if (unlikely(all->is_observed))
		observe_after(all, lane, kind, slot, block, size);
	if (unlikely(word & WORD_HANDS))
		turn_pass(&all->turns[slot]);
	return next;
}

/* ------------------------------------------------------------------ threads */

static void *run_thread(void *context);

/* Start the thread of a lane that 'life' others have run before. */
static void
create_thread(struct lanes *all, uint32_t stream, uint32_t life)
{
	struct lane *const lane = &all->lanes[stream];
	pthread_attr_t attr;
	int error;

	turn_wait(&lane->created, life);
	if (life > 0)
		pthread_join(lane->thread, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_NBYTES);
	error = pthread_create(&lane->thread, &attr, run_thread, lane);
	pthread_attr_destroy(&attr);
	if (error != 0)
		all->fail("the system has no more threads");
	turn_pass(&lane->created);
}

static void
pause_until(uint64_t ns)
{
	const struct timespec t = { .tv_sec = (time_t)(ns / 1000000000),
				    .tv_nsec = (long)(ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
}

/* Wait until 'count' threads are here.  The last one restarts the measures. */
static void
begin_window(struct lanes *all, struct lane *lane, uint32_t count)
{
	uint32_t arrived;

	if (lane->latency != NULL)
		memset(lane->latency, 0, sizeof(*lane->latency));
	/* acq_rel: the last one sees what all others have done. */
	arrived = 1 + atomic_fetch_add_explicit(&all->arrived_count, 1,
						memory_order_acq_rel);
	if (arrived == count) {
		all->restart(all);
		turn_pass(&all->opened);
	} else {
		turn_wait(&all->opened, 1);
	}
}

/* Do what a word that is no call says; false if the thread has ended. */
static bool
control(struct lane *lane, uint64_t word)
{
	struct lanes *const all = lane->all;

	switch (word & WORD_KIND_MASK) {
	case WORD_NEXT:
		next_chunk(lane);
		return true;
	case WORD_CREATE:
		create_thread(
			all,
			(uint32_t)(word >> WORD_SLOT_SHIFT & WORD_SLOT_MAX),
			(uint32_t)*lane->next++);
		return true;
	case WORD_BEGIN:
		begin_window(
			all, lane,
			(uint32_t)(word >> WORD_SLOT_SHIFT & WORD_SLOT_MAX));
		return true;
	case WORD_PAUSE:
		pause_until(all->begin_ns + (word >> WORD_SLOT_SHIFT));
		return true;
	default:
		return false;
	}
}

/* Make the call of a word that has neither WORD_SLOW nor words after it. */
static inline void
call_fast(const struct lanes *all, struct lane *lane, uint64_t word)
{
	const uint32_t slot =
		(uint32_t)(word >> WORD_SLOT_SHIFT & WORD_SLOT_MAX);
	const uint64_t size = word >> WORD_SIZE_SHIFT;

	if ((word & WORD_KIND_MASK) == WORD_FREE)
		all->calls.free(all->blocks[slot]);
	else
		keep(all, lane, WORD_MALLOC, slot, all->calls.malloc(size), 0,
		     size);
}

/* Run a lane until its thread ends.  Return the last word. */
static uint64_t
run_lane(struct lane *lane)
{
	const struct lanes *const all = lane->all;
	/* If calls are observed, every word is slow. */
	const uint64_t slow = all->is_observed ? UINT64_MAX : WORD_SLOW;
	const uint64_t *next = lane->next;

	for (;;) {
		const uint64_t word = *next++;

		if (likely((word & slow) == 0)) {
			call_fast(all, lane, word);
			continue;
		}
		if (likely(word_is_call(word))) {
			next = call(all, lane, word, next);
			continue;
		}
		lane->next = next;
		if (!control(lane, word))
			return word;
		next = lane->next;
	}
}

static void *
run_thread(void *context)
{
	struct lane *const lane = context;

	if (lane->number == 0)
		next_chunk(lane);
	if (run_lane(lane) == (WORD_EXIT | WORD_SLOW))
		return NULL;
	/* The thread outlives the trace. */
	turn_pass(&lane->all->parked);
	for (;;)
		pause();
}

void
lanes_run(struct lanes *all, uint64_t parked_count)
{
	next_chunk(&all->lanes[0]);
	run_lane(&all->lanes[0]);
	turn_wait(&all->parked, (uint32_t)parked_count);
	for (uint32_t i = 1; i < all->count; i++) {
		struct lane *const lane = &all->lanes[i];

		turn_wait(&lane->created, lane->stream->lives);
		if (lane->stream->lives > 0 && !lane->stream->is_live)
			pthread_join(lane->thread, NULL);
	}
}

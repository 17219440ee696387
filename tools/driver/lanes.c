/* SPDX-License-Identifier: MIT */
/* lanes.c - see lanes.h */
#include "tools/driver/lanes.h"

#include "tools/driver/lane_fast.h"
#include "tools/driver/lane_spread.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Size of a thread's stack.  The driver needs little stack, but allocators may
 * need more.
 */
#define STACK_NBYTES ((size_t)512 << 10)

/*
 * In a write that is longer than this, touch_long() changes the 'struct
 * lane_place' of the thread now and then, so that the watching process does not
 * report a standstill.
 */
#define LONG_WRITE_NBYTES ((uint64_t)64 << 20)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Read the next chunk of a lane.  If the driver mapped the file instead, the
 * mappings would contend with the allocator's own mappings for locks of the
 * kernel, and interrupt the other processors.
 */
static void
next_chunk(struct lane *lane)
{
	const struct lanes *const all = lane->all;
	const uint32_t i = lane->stream->chunk_first + lane->number++;
	ssize_t n = 0;

	if (lane->number <= lane->stream->chunk_count)
		n = pread(all->fd, lane->chunk, REPLAY_CHUNK_NBYTES,
			  (off_t)(all->chunks[i] * REPLAY_CHUNK_NBYTES));
	if (n < 0 && errno == EBADF)
		all->fail(
			"the allocator has closed a descriptor of the replay");
	if (n != (ssize_t)REPLAY_CHUNK_NBYTES)
		all->fail("cannot read a chunk of the compiled trace");
	lane->next = lane->chunk;
	/* relaxed, because the watching process only looks for changes. */
	atomic_store_explicit(&lane->place->chunk_count, lane->number,
			      memory_order_relaxed);
}

/* -------------------------------------------------------------------- calls */

/* Write a byte to each page of a block from byte 'from' up to 'end'. */
static inline void
touch_pages(const struct lanes *all, volatile char *bytes, uint64_t from,
	    uint64_t end)
{
	for (uint64_t i = from; i < end; i += REPLAY_PAGE_NBYTES)
		bytes[i & all->touch_mask] = 1;
}

/*
 * Write the same bytes as touch_pages().  During a write that is longer than
 * LONG_WRITE_NBYTES, change the 'struct lane_place' of the thread now and then.
 */
static __attribute__((noinline)) void
touch_long(const struct lanes *all, const struct lane *lane,
	   volatile char *bytes, uint64_t from, uint64_t end)
{
	uint32_t step = 0;

	while (from < end && end - from > LONG_WRITE_NBYTES) {
		touch_pages(all, bytes, from, from + LONG_WRITE_NBYTES);
		from += LONG_WRITE_NBYTES;
		lane_place_state(lane->place, LANE_CALLS, ++step);
	}
	touch_pages(all, bytes, from, end);
}

/* Write to a block from byte 'from' on, as --touch says. */
static inline void
touch(const struct lanes *all, const struct lane *lane, void *block,
      uint64_t from, uint64_t size)
{
	volatile char *const bytes = block;
	const uint64_t end =
		size < all->touch_nbytes ? size : all->touch_nbytes;

	if (unlikely(end > LONG_WRITE_NBYTES))
		touch_long(all, lane, bytes, from, end);
	else
		touch_pages(all, bytes, from, end);
	/*
	 * The last byte may be in a page to which the code above did not write.
	 */
	if (unlikely(end > REPLAY_PAGE_NBYTES))
		bytes[(end - 1) & all->touch_mask] = 1;
}

/*
 * If the call has returned a block, store the block's address in the slot, and
 * write to the block.  If the call has failed, count the failure instead.
 */
static inline void
keep(const struct lanes *all, struct lane *lane, unsigned kind, uint32_t slot,
     void *block, uint64_t from, uint64_t size)
{
	if (likely(block != NULL)) {
		all->blocks[slot] = block;
		touch(all, lane, block, from, size);
		return;
	}
	lane->failed++;
	/* A failed realloc leaves the old block live, so keep its address. */
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

/* Check a slot after a call. */
static void
check_after(const struct lanes *all, struct lane *lane, unsigned kind,
	    uint32_t slot, uint64_t size, uint64_t alignment)
{
	const char *const fault = lane_check_after(
		all->checks, &lane->random, (enum word_kind)kind, slot,
		kind != WORD_FREE ? all->blocks[slot] : NULL, size, alignment);

	if (fault != NULL)
		all->fail(fault);
}

static inline uint64_t
ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return lane_now_ns();
#endif
}

uint64_t
lanes_ticks(void)
{
	return ticks();
}

/* Before a call, check the slot if checks are on, and take the time. */
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

/*
 * After a call that returned 'block', check the slot if checks are on, and note
 * the size if this run sums up usable sizes or takes samples.
 */
static void
observe_after(const struct lanes *all, struct lane *lane, unsigned kind,
	      uint32_t slot, void *block, uint64_t size, uint64_t alignment)
{
	/*
	 * After a failed realloc, the old block is still live.  Its size is not
	 * known here, so pass 0, with which check_after() checks no bytes.
	 */
	if (all->checks != NULL)
		check_after(all, lane, kind, slot, block != NULL ? size : 0,
			    alignment);
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

/*
 * Make the call of 'word'.  'next' is the address of the word after 'word'.
 * Return the address of the word after all words of the call.
 */
static inline const uint64_t *
call(const struct lanes *all, struct lane *lane, uint64_t word,
     const uint64_t *next)
{
	const unsigned kind = word & WORD_KIND_MASK;
	const uint32_t slot = word_slot(word);
	uint64_t size = word_size(word), alignment = 0, old_size = 0;
	void *block = NULL;

	if (unlikely(size == WORD_BIG_SIZE))
		size = *next++;
	if (kind == WORD_MEMALIGN)
		alignment = *next++;
	if (unlikely(word & WORD_OLD))
		old_size = *next++;
	if (unlikely(word & WORD_WAITS))
		lane_times_wait(&lane->times, lane->place, &all->turns[slot],
				(uint32_t)*next++);
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
		observe_after(all, lane, kind, slot, block, size, alignment);
	if (unlikely(word & WORD_HANDS))
		turn_pass(&all->turns[slot]);
	return next;
}

/* ------------------------------------------------------------------ threads */

static void *run_thread(void *context);

/* Wait for the end of a lane's thread. */
static void
join_thread(struct lane_place *place, const struct lane *lane, uint32_t stream)
{
	lane_place_state(place, LANE_JOINS, stream);
	pthread_join(lane->thread, NULL);
	lane_place_state(place, LANE_CALLS, 0);
}

/*
 * Wait until the previous thread of the lane 'stream' has ended, and start the
 * next thread of this lane.  'life' is the number of earlier threads of the
 * lane.
 */
static void
create_thread(struct lane *creator, uint32_t stream, uint32_t life)
{
	struct lanes *const all = creator->all;
	struct lane *const lane = &all->lanes[stream];
	pthread_attr_t attr;
	int error;

	lane_times_wait(&creator->times, creator->place, &lane->created, life);
	if (life > 0) {
		const uint64_t begin_ns = lane_now_ns();

		join_thread(creator->place, lane, stream);
		lane_times_skip(&creator->times, begin_ns);
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_NBYTES);
	error = pthread_create(&lane->thread, &attr, run_thread, lane);
	pthread_attr_destroy(&attr);
	if (error != 0)
		all->fail("the system cannot start another thread");
	if (life == 0)
		lane_spread_move(lane->thread, stream);
	turn_pass(&lane->created);
}

static void
pause_until(struct lane *lane, uint64_t ns)
{
	const struct timespec t = { .tv_sec = (time_t)(ns / 1000000000),
				    .tv_nsec = (long)(ns % 1000000000) };
	const uint64_t begin_ns = lane_now_ns();

	lane_place_state(lane->place, LANE_PAUSES, 0);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
	lane_place_state(lane->place, LANE_CALLS, 0);
	lane_times_skip(&lane->times, begin_ns);
}

/*
 * Wait until 'count' threads have reached their WORD_BEGIN.  The last of them
 * restarts the measures.
 */
static void
begin_window(struct lanes *all, struct lane *lane, uint32_t count)
{
	uint32_t arrived;

	if (lane->latency != NULL)
		memset(lane->latency, 0, sizeof(*lane->latency));
	/*
	 * acq_rel, so that the last thread to arrive sees what all other
	 * threads wrote before they arrived.
	 */
	arrived = 1 + atomic_fetch_add_explicit(&all->arrived_count, 1,
						memory_order_acq_rel);
	if (arrived == count) {
		all->restart(all);
		turn_pass(&all->opened);
	} else {
		lane_place_state(lane->place, LANE_WAITS, 0);
		turn_wait(&all->opened, 1);
		lane_place_state(lane->place, LANE_CALLS, 0);
	}
	lane_times_restart(&lane->times);
}

/*
 * Carry out a word that is not a call.  Return false for the thread's last
 * word.
 */
static bool
control(struct lane *lane, uint64_t word)
{
	struct lanes *const all = lane->all;

	switch (word & WORD_KIND_MASK) {
	case WORD_NEXT:
		next_chunk(lane);
		return true;
	case WORD_CREATE:
		create_thread(lane, word_slot(word), (uint32_t)*lane->next++);
		return true;
	case WORD_BEGIN:
		begin_window(all, lane, word_slot(word));
		return true;
	case WORD_PAUSE:
		pause_until(lane, all->begin_ns + (word >> WORD_TIME_SHIFT));
		return true;
	case WORD_THREAD:
		lane->next++; /* Skip the ID, which only 'hatf replay' reads. */
		return true;
	default:
		return false;
	}
}

/*
 * Run a lane until its thread ends or has no more words.  Return the last word:
 * WORD_EXIT or WORD_END, with the flags WORD_CONTROL.
 */
static uint64_t
run_lane(struct lane *lane)
{
	const struct lanes *const all = lane->all;
	/*
	 * If calls are observed, treat every word as slow, because
	 * lane_fast_run() makes no observations.
	 */
	const bool is_observed = all->is_observed;
	const uint64_t *next = lane->next;

	for (;;) {
		uint64_t word;

		if (likely(!is_observed))
			next = lane_fast_run(lane, next);
		lane_place_next(lane->place, next);
		word = *next++;
		if ((word & WORD_LONE) == 0) {
			call(all, lane, word_of_pair(word, 0), next);
			lane_place_second(lane->place, next - 1);
			call(all, lane, word_of_pair(word, 1), next);
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

	uint64_t last;

	lane_place_state(lane->place, LANE_CALLS, 0);
	if (lane->number == 0) {
		/*
		 * Wait until the creator has returned from lane_spread_move().
		 */
		turn_wait(&lane->created, 1);
		next_chunk(lane);
	}
	lane_times_begin(&lane->times);
	last = run_lane(lane);
	lane_times_end(&lane->times);
	lane_place_state(lane->place, LANE_ENDED, 0);
	if (last == (WORD_EXIT | WORD_CONTROL))
		return NULL;
	/*
	 * The thread outlives the trace, so count it as parked, and never
	 * return.
	 */
	turn_pass(&lane->all->parked);
	for (;;)
		pause();
}

void
lanes_run(struct lanes *all, uint64_t parked_count)
{
	struct lane *const first = &all->lanes[0];

	lane_spread_init();
	lane_place_state(first->place, LANE_CALLS, 0);
	next_chunk(first);
	all->restart(all);
	lane_times_begin(&first->times);
	run_lane(first);
	lane_times_end(&first->times);
	lane_place_state(first->place, LANE_WAITS, 0);
	turn_wait(&all->parked, (uint32_t)parked_count);
	for (uint32_t i = 1; i < all->count; i++) {
		struct lane *const lane = &all->lanes[i];

		lane_place_state(first->place, LANE_WAITS, 0);
		turn_wait(&lane->created, lane->stream->lives);
		if (lane->stream->lives > 0 && !lane->stream->is_live)
			join_thread(first->place, lane, i);
	}
}

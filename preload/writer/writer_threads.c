/* SPDX-License-Identifier: MIT */
/*
 * writer_threads.c - the writer's list of the program's threads
 *
 * This file keeps the list of threads.  It also notices when a thread has
 * ended, reports the events that threads have lost, and counts the forks under
 * way.
 */

#include <stddef.h>
#include <string.h>

#include "preload/config/environment.h"
#include "preload/record/ring_wait.h"
#include "preload/record/ringfile.h"
#include "preload/sys/sys.h"
#include "preload/writer/writer_state.h"

/*
 * Ask the kernel at this interval whether a thread without events still exists.
 */
#define DEAD_CHECK_NS NS_PER_SEC
/*
 * For this time, a new thread may take over the ring of an ended one.  After
 * that the writer recycles the ring.
 */
#define OFFER_NS (10 * TICK_NS)
/* Forks can delay the end of a segment for at most this long. */
#define FORK_MAX_NS NS_PER_SEC

static void
add_thread(struct thread *t)
{
	writer->producers[writer->thread_count] = &t->producer;
	writer->threads[writer->thread_count++] = t;
}

void
writer_collect_threads(void)
{
	const uint32_t n = thread_pool_count();

	writer->thread_count = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct thread *const t = thread_pool_at(i);

		if (thread_is_in_use(t))
			add_thread(t);
	}
}

/* Return the number of words by which all rings together may grow. */
static uint64_t
growth_left(uint64_t limit)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < writer->thread_count; i++)
		sum += ring_mask(writer->producers[i]->ring) + 1;
	return sum < limit ? limit - sum : 0;
}

/*
 * Make a ring larger, to at most 'share' words and by at most 'left' words.
 * Return the number of added words.
 */
static uint64_t
extend_ring(struct ring *r, uint64_t share, uint64_t left)
{
	const uint64_t words = ring_mask(r) + 1;
	const uint64_t room = words < share ? share - words : 0;

	return ringfile_extend(r, room < left ? room : left);
}

void
writer_extend_rings(void)
{
	const uint64_t limit = environment_own()->all_ring_words;
	uint64_t left = 0;
	bool is_counted = false;

	for (uint32_t i = 0; i < writer->thread_count; i++) {
		struct ring *const r = writer->producers[i]->ring;

		if (!ring_wait_is_pending(r))
			continue;
		/*
		 * Add up the sizes of all rings at most once, and only if a
		 * thread waits for room in its ring, because there may be many
		 * rings.
		 */
		if (!is_counted)
			left = growth_left(limit);
		is_counted = true;
		left -= extend_ring(r, limit / 2 / writer->thread_count, left);
	}
}

void
writer_note_unattached(void)
{
	/* relaxed: no other data depends on the count. */
	const uint64_t n = atomic_exchange_explicit(&writer->wake.unattached, 0,
						    memory_order_relaxed);

	writer->unattached_reported += n;
	if (n != 0)
		narrate_lost(&writer->trace.narrator, NULL, n,
			     writer->trace.narrator.time_stamp,
			     writer->trace.narrator.timeline.stamp1);
}

void
writer_note_lost(struct thread *t)
{
	/* relaxed: see count_lost(), record_steps.c. */
	const uint64_t n = atomic_exchange_explicit(&t->ring->lost_count, 0,
						    memory_order_relaxed);

	if (n != 0)
		narrate_lost(&writer->trace.narrator, &t->producer, n,
			     atomic_load_explicit(&t->ring->lost_first,
						  memory_order_relaxed),
			     writer->trace.narrator.timeline.stamp1);
}

void
writer_recycle(struct thread *t)
{
	if (t->producer.realloc_open)
		writer->order.open_count--;
	writer->gone_count--;
	thread_recycle(t);
}

void
writer_tend_thread(struct thread *t, uint64_t stamp, uint64_t now, bool check)
{
	const uint32_t state =
		atomic_load_explicit(&t->state, memory_order_relaxed);

	if (t->is_gone || t->producer.pos != ring_head(t->producer.ring)) {
		t->idle_since_ns = 0;
		return;
	}
	if (t->producer.is_dead) {
		writer_note_lost(t);
		t->is_gone = true;
		writer->gone_count++;
		if (!t->is_nested)
			narrate_thread_end(&writer->trace.narrator,
					   &t->producer, stamp);
		return;
	}
	if (t->idle_since_ns == 0)
		t->idle_since_ns = now;
	if (!check &&
	    now - t->idle_since_ns <
		    (state == THREAD_ENDING ? OFFER_NS : DEAD_CHECK_NS))
		return;
	t->idle_since_ns = now;
	/*
	 * If the thread has ended, all its events are in its ring and visible
	 * now.  The next round drains them, and a later call of this function
	 * marks the thread as gone.
	 */
	t->producer.is_dead = thread_has_ended(t);
}

void
writer_tend_last(void)
{
	const struct timeline *const line = &writer->trace.narrator.timeline;

	for (unsigned tries = 0; tries < 20; tries++) {
		bool pending = false;

		for (uint32_t i = 0; i < writer->thread_count; i++) {
			struct thread *const t = writer->threads[i];

			writer_tend_thread(t, writer->covered_stamp, line->ns1,
					   true);
			pending |= !t->is_gone &&
				   (t->producer.is_dead ||
				    atomic_load_explicit(
					    &t->state, memory_order_relaxed) ==
					    THREAD_ENDING);
		}
		if (!pending)
			return;
		if (tries > 0)
			sys_sleep(TICK_NS / 10);
	}
}

void
writer_recycle_ended(void)
{
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		struct thread *const t = writer->threads[i];

		if (t->producer.pos != ring_head(t->producer.ring) ||
		    !thread_has_ended(t))
			continue;
		writer->gone_count++;
		writer_recycle(t);
	}
	writer->thread_count = 0;
}

/* Return the CPU time that this thread has used since writer_begin_work(). */
static uint64_t
own_cpu_ns(void)
{
	return sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - writer->cpu_start_ns;
}

void
writer_begin_work(void)
{
	writer->cpu_start_ns = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void
writer_end_work(void)
{
	writer->cpu_ns += own_cpu_ns();
}

void
writer_sum_up(struct narrate_trailer *end)
{
	const uint32_t n = thread_pool_count();

	end->threads = thread_id_count();
	end->cpu_ns = writer->cpu_ns + own_cpu_ns();
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *const t = thread_pool_at(i);

		/* relaxed: no other data depends on these counts. */
		end->waits += atomic_load_explicit(&t->wait_count,
						   memory_order_relaxed);
		end->wait_ns +=
			atomic_load_explicit(&t->wait_ns, memory_order_relaxed);
	}
}

bool
writer_is_waiting_inside(const struct order_producer *producer)
{
	const struct thread *const t = writer_thread_of(producer);

	for (const struct thread *n = t->nested; n != NULL; n = n->nested)
		if (ring_wait_is_pending(n->ring))
			return true;
	return false;
}

/*
 * Count the forks under way.  Remember what the trace states about each thread,
 * and the thread's name, because each later segment states both again.
 */
static void
note_thread(const struct order_producer *producer, const struct event *ev)
{
	struct thread *t = writer_thread_of(producer);

	if (ev->type == EVENT_FORK && (ev->flags & EVENT_FLAG_FORKED) == 0) {
		writer->fork_count++;
		writer->fork_since_ns = writer->trace.narrator.timeline.ns1;
	} else if (ev->type == EVENT_FORK) {
		writer->fork_count -= writer->fork_count > 0;
	} else if (ev->type == EVENT_THREAD) {
		t->is_announced = true;
		memcpy(t->announced, ev->operand, sizeof(t->announced));
	} else if (ev->type == EVENT_HANDOVER) {
		t->is_announced = false;
		t->name[0] = t->name[1] = 0;
	} else if (ev->type == EVENT_NAME) {
		/*
		 * Find the thread by its number, because a thread may set the
		 * name of another thread.
		 */
		for (uint32_t i = 0; i < writer->thread_count; i++)
			if (writer->producers[i]->id == ev->operand[0] &&
			    !writer->threads[i]->is_nested)
				memcpy(writer->threads[i]->name,
				       &ev->operand[1], sizeof(t->name));
	}
}

void
writer_note_rare_event(const struct order_producer *producer,
		       const struct event *ev)
{
	if (ev->type == EVENT_CREATE_HEAP || ev->type == EVENT_DESTROY_HEAP)
		segment_note_heap(&writer->segment, ev);
	else if (ev->type == EVENT_CLIENT_DTD)
		segment_note_dtd(&writer->segment, ev);
	else
		note_thread(producer, ev);
}

void
writer_forget_forks(void)
{
	writer->fork_count = 0;
	writer->fork_kept_ns = 0;
}

bool
writer_is_forking(uint64_t now)
{
	if (now - writer->fork_since_ns > FORK_MAX_NS)
		writer->fork_count = 0;
	if (writer->fork_kept_ns == 0)
		writer->fork_kept_ns = now;
	/*
	 * A fork under way delays the end of the segment, but only for a
	 * limited time.  Readers know the child's blocks only if the EVENT_FORK
	 * before the fork and the EVENT_FORK after it are in the same segment.
	 */
	if (writer->fork_count == 0 ||
	    now - writer->fork_kept_ns > FORK_MAX_NS) {
		writer->fork_kept_ns = 0;
		return false;
	}
	return true;
}

bool
writer_is_between_forks(const struct event *ev)
{
	if (ev->type != EVENT_FORK || (ev->flags & EVENT_FLAG_FORKED) != 0 ||
	    writer->fork_count != 0 || writer->fork_kept_ns == 0)
		return false;
	writer->fork_kept_ns = 0;
	return true;
}

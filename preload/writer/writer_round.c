/* SPDX-License-Identifier: MIT */
/*
 * writer_round.c - move events from the rings into blocks, and into the file
 *
 * In a round, the writer reads the clock, drains the events whose order is
 * known, tends threads that have ended, and commits if a block is full or old
 * or if a producer needs room.  These functions run on the writer thread, or on
 * the thread of the program that does the writer's work (writer_brief.c).
 */

#include "hatf/rings/narrate_stacks.h"
#include "preload/clock/clock.h"
#include "preload/config/environment.h"
#include "preload/record/ring_wait.h"
#include "preload/record/ringfile.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/writer/writer_state.h"

/* Events of other threads wait at most this long for the end of a realloc. */
#define BLOCKED_MAX_NS 100000000ull
/*
 * Commit early if more than this many ended threads wait for the commit of
 * their last events.
 */
#define GONE_MAX 16u

static const char *const end_names[] = {
	[WRITER_END_EXIT] = "exit",
	[WRITER_END_UNDERSCORE_EXIT] = "_exit",
	[WRITER_END_QUICK_EXIT] = "quick_exit",
	[WRITER_END_ABORT] = "abort",
	[WRITER_END_ABORT_HANDLED] = "abort",
	[WRITER_END_EXEC] = "exec",
	[WRITER_END_SANDBOX] = "sandbox",
	[WRITER_END_LAST_THREAD] = "last_thread",
	[WRITER_END_KILLED] = "killed",
};

struct clock_reading
writer_read_clock(void)
{
	const struct clock_reading now = trace_read_clock(&writer->trace);

	ringfile_note_reading(now.stamp, now.ns);
	return now;
}

void
writer_commit_rings(void)
{
	struct trace *const t = &writer->trace;
	struct narrate_trailer sums = { .name = "" };
	struct image_commit state;

	for (uint32_t i = 0; i < writer->thread_count; i++)
		ringfile_commit_ring(writer->producers[i]->ring,
				     writer->producers[i],
				     writer->threads[i]->is_gone);
	trace_get_state(t, &state);
	if (writer->is_ended)
		state.flags |= IMAGE_COMMIT_ENDED;
	if (writer->is_stopped)
		state.flags |= IMAGE_COMMIT_STOPPED;
	writer_sum_up(&sums);
	load_policy_note_waits(&t->load, sums.waits);
	state.threads = sums.threads;
	state.waits = sums.waits - writer->segment.waits;
	state.wait_ns = sums.wait_ns - writer->segment.wait_ns;
	state.cpu_ns = sums.cpu_ns - writer->segment.cpu_ns;
	state.unattached = writer->unattached_reported;
	ringfile_commit(&state, t->output.path, t->head_nbytes, t->head_hash);
}

bool
writer_commit(void)
{
	if (!trace_commit(&writer->trace))
		return false;
	writer->trace.narrator.block_since_ns =
		writer->trace.narrator.timeline.ns1;
	/* The commit may have taken some time, so renew the tick (clock.h). */
	clock_renew(clock_stamp());
	writer_commit_rings();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		ring_wait_release_part(writer->producers[i]->ring,
				       writer->producers[i]->pos);
	return true;
}

bool
writer_commit_and_recycle(void)
{
	if (!writer_commit())
		return false;
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		ring_wait_release(writer->producers[i]->ring,
				  writer->producers[i]->pos);
		if (writer->threads[i]->is_gone)
			writer_recycle(writer->threads[i]);
	}
	writer->thread_count = 0;
	return true;
}

/* Define the stacks of the events that are in the ring of a thread. */
static bool
define_stacks_of(const struct thread *t)
{
	struct narrator *const n = &writer->trace.narrator;
	const struct ring *const r = t->ring;
	const uint64_t head = ring_head(r);
	unsigned nwords = 1;

	narrate_define_stack(n, t->producer.stack);
	/*
	 * If the program has overwritten the ring, an event may have 0 words.
	 * Stop at such an event.
	 */
	for (uint64_t pos = t->producer.pos; pos < head && nwords != 0;
	     pos += nwords) {
		const uint64_t word = ring_get(r, pos);

		if (narrate_is_full(n) && !trace_commit(&writer->trace))
			return false;
		if (event_is_stack(word))
			narrate_define_stack(n, (uint32_t)(word >> 32));
		nwords = event_word_count(word);
	}
	return true;
}

/*
 * All processors see a store of one processor after at most this time, because
 * a store buffer holds some dozens of stores, which reach memory within
 * microseconds.
 */
#define STORES_NS 1000000ull

bool
writer_define_stacks(void)
{
	static _Atomic uint32_t never;
	const uint32_t n = thread_pool_count();

	if (writer->trace.narrator.stacks == NULL)
		return true;
	/*
	 * A thread first puts a stack into its ring, and then reads the number
	 * of the segment.  It uses no fence between the two steps, since a
	 * fence would cost more than everything else that the thread does for
	 * an event.  After this wait, if a thread has read the old number, the
	 * writer sees the stack that this thread has put into its ring.
	 */
	sys_futex_wait(&never, 0, STORES_NS);
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *const t = thread_pool_at(i);

		if (thread_is_in_use(t) && !define_stacks_of(t))
			return false;
	}
	return true;
}

bool
writer_rotate_now(void)
{
	const uint64_t now = writer->trace.narrator.timeline.ns1;
	const uint64_t number = writer->segment.number;
	struct narrate_trailer end = { .name = "rotate" };

	writer_sum_up(&end);
	if (!segment_rotate(&writer->segment, &end, now))
		return false;
	if (writer->segment.number != number) {
		writer_note_file();
		if (!writer_define_stacks())
			return false;
	}
	return writer_commit();
}

/* Rotate if it is time.  Return false if the trace cannot continue. */
static bool
rotate_if_due(void)
{
	const uint64_t now = writer->trace.narrator.timeline.ns1;

	return !segment_is_due(&writer->segment, now) ||
	       writer_is_forking(now) || writer_rotate_now();
}

void
writer_take_event(void *narrator, const struct order_producer *producer,
		  const struct event *ev)
{
	const struct timeline *const line = &writer->trace.narrator.timeline;

	if (__builtin_expect(narrate_is_full(narrator), 0) && writer_commit())
		rotate_if_due();
	/*
	 * Events later than the last reading of the clock are drained only at
	 * the end of a trace.  Read the clock again for such an event.
	 */
	if (__builtin_expect(ev->stamp > line->stamp1, 0))
		writer_read_clock();
	if (__builtin_expect(ev->type >= EVENT_THREAD, 0)) {
		if (writer_is_between_forks(ev) && writer_commit())
			rotate_if_due();
		writer_note_rare_event(producer, ev);
	}
	segment_note_event(&writer->segment, producer, ev);
	narrate_event(narrator, producer, ev);
	if (__builtin_expect(ev->type == EVENT_FORK, 0)) {
		/* release: pairs with the acquire in writer_await_fork(). */
		atomic_fetch_add_explicit(&writer->forks, 1,
					  memory_order_release);
		sys_futex_wake(&writer->forks);
	}
}

/*
 * Take a run of events at once, as writer_take_event() takes a single event.
 * Only a writer without a table of live blocks uses this order_run_sink.
 */
static size_t
take_run(void *narrator, const struct order_producer *producer,
	 struct order_run *run)
{
	if (__builtin_expect(narrate_is_full(narrator), 0) && writer_commit())
		rotate_if_due();
	return narrate_run(narrator, producer, run);
}

/* Does any producer wait for room, or is any ring more than half full? */
static bool
is_room_wanted(void)
{
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		const struct ring *const r = writer->producers[i]->ring;
		/*
		 * relaxed: only this thread writes 'tail' while it does the
		 * writer's work.
		 */
		const uint64_t used =
			ring_head(r) -
			atomic_load_explicit(&r->tail, memory_order_relaxed);

		if (used > (ring_mask(r) + 1) / 2 || ring_wait_is_pending(r))
			return true;
	}
	return false;
}

/*
 * Drain events with stamps up to 'until'.  If 'force' is set, an open realloc
 * does not stop the draining.  Return whether the trace now has all published
 * events up to 'until'.
 */
static bool
drain(uint64_t until, bool force)
{
	struct order *const o = &writer->order;

	/*
	 * The table of live blocks needs each event on its own, so take no runs
	 * if there is such a table.
	 */
	o->run_sink = writer->segment.live.slots == NULL ? take_run : NULL;
	order_round(o, writer->producers, writer->thread_count, until, force);
	if (o->event_count != 0)
		writer->last_event_ns = writer->trace.narrator.timeline.ns1;
	writer_note_events(writer->trace.narrator.event_count);
	return force || o->blocked == NULL;
}

/*
 * Store the present time in 'ticks_end_ns': all ticks before the last
 * clock_renew() have ended by now.
 */
static void
note_ticks_end(void)
{
	struct narrator *const n = &writer->trace.narrator;

	n->ticks_end_ns = sys_clock_ns(CLOCK_MONOTONIC) - n->timeline.start_ns;
}

/*
 * Has one open realloc delayed the events of other threads for too long?  If
 * the realloc cannot end before the writer makes room, any delay is too long.
 */
static bool
is_blocked_too_long(uint64_t now)
{
	const struct order_producer *const s = writer->order.blocked;

	if (s == NULL || s != writer->blocked || s->pos != writer->blocked_pos)
		writer->blocked_since_ns = now;
	writer->blocked = s;
	writer->blocked_pos = s != NULL ? s->pos : 0;
	if (s != NULL && writer_is_waiting_inside(s))
		return true;
	return now - writer->blocked_since_ns > BLOCKED_MAX_NS;
}

/*
 * If one thread has been the only one with events for long enough
 * (tick_grant.h), grant the tick to this thread.  Do nothing if HATFTRACE_CLOCK
 * is us or ns, or if the round had no events.
 */
static void
grant_tick(uint64_t now)
{
	const struct order *const o = &writer->order;
	const enum config_clock clock = environment_own()->clock;
	const struct thread *alone = NULL;

	if (clock == CONFIG_CLOCK_US || clock == CONFIG_CLOCK_NS ||
	    o->active_count == 0)
		return;
	if (o->active_count == 1 && !writer_thread_of(o->active)->is_nested)
		alone = writer_thread_of(o->active);
	tick_grant_end_round(&writer->grant, alone, now);
}

bool
writer_round(void)
{
	const struct clock_reading r = writer_read_clock();
	const bool stamped = clock_is_stamped();

	clock_renew(r.stamp);
	/*
	 * clock_bump() must come after the reading of the clock and before the
	 * reading of the rings (order.h, rule 3).
	 */
	clock_bump();
	note_ticks_end();
	trace_look_at_load(&writer->trace, r.ns);
	writer_collect_threads();
	/*
	 * Change the trace to stamped mode one round later than the clock,
	 * since this round may still drain events with ticks.
	 */
	trace_set_clock(&writer->trace, stamped && writer->was_stamped);
	writer->was_stamped = stamped;
	/* Events with the current tick wait until that tick has ended. */
	if (drain(r.stamp - 1, is_blocked_too_long(r.ns)))
		writer->covered_stamp = r.stamp;
	grant_tick(r.ns);
	writer_note_unattached();
	writer_extend_rings();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		writer_tend_thread(writer->threads[i], writer->covered_stamp,
				   r.ns, false);
	if ((is_room_wanted() || writer->gone_count > GONE_MAX ||
	     r.ns - writer->trace.narrator.block_since_ns > BLOCK_AGE_NS) &&
	    !writer_commit_and_recycle())
		return false;
	return writer->trace.error == 0 && rotate_if_due();
}

void
writer_prepare_end(struct narrate_trailer *end, uint64_t until)
{
	/*
	 * Drain twice.  The first drain may take long.  The second drain begins
	 * with a new reading of the clocks and is short, so few events are
	 * later than this reading.
	 */
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t stamp = writer_read_clock().stamp;

		clock_renew(stamp);
		clock_bump();
		note_ticks_end();
		writer_collect_threads();
		drain(i == 0 && stamp <= until ? stamp - 1 : until, true);
	}
	writer->covered_stamp = writer->trace.narrator.timeline.stamp1;
	writer_tend_last();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		writer_note_lost(writer->threads[i]);
	writer_note_unattached();
	writer_sum_up(end);
}

void
writer_end_trace(enum writer_end how)
{
	struct narrate_trailer end = {
		.name = end_names[how],
		.is_early = how == WRITER_END_SANDBOX,
	};

	writer_prepare_end(&end, UINT64_MAX);
	writer->is_ended = true;
	if (segment_end(&writer->segment, &end) ||
	    segment_end_failed(&writer->segment, &end))
		writer_commit_and_recycle();
	writer->is_ended = false;
	ringfile_remove();
	if (environment_own()->verbose)
		say("%s: %u events, %u bytes, %u waits for room in a buffer",
		    writer->trace.output.path,
		    writer->trace.narrator.event_count,
		    writer->trace.output.nbytes, end.waits);
}

void
writer_hold(void)
{
	/*
	 * relaxed: only the thread that does the writer's work reads or writes
	 * 'hold_until_ns'.
	 */
	atomic_store_explicit(&writer->hold_until_ns,
			      writer->trace.narrator.timeline.ns1 +
				      WRITER_HOLD_NS,
			      memory_order_relaxed);
}

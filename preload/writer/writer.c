/* SPDX-License-Identifier: MIT */
/*
 * writer.c - see writer.h
 *
 * A round: read the clock, drain what the order allows, look after threads that
 * have ended, commit if a block is full or old or if a producer wants its room
 * back, answer requests, sleep.  While the program allocates, a round comes about
 * every millisecond and is also the tick of the coarse clock; when it has been
 * quiet for a while the writer goes idle, and the next event wakes it.
 */

#include "hatf/deflate/deflate.h"
#include "preload/lifecycle.h"
#include "preload/record/clock.h"
#include "preload/record/memory_limit.h"
#include "preload/record/ring_wait.h"
#include "preload/record/ringfile.h"
#include "preload/sys/hidden_thread.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/writer/control.h"
#include "preload/writer/header.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer_state.h"

#define IDLE_AFTER_NS 50000000ull
#define IDLE_SLEEP_NS NS_PER_SEC
/* A block is written when it is this old, full or not. */
#define BLOCK_AGE_NS 500000000ull
/* A realloc that takes longer must not keep the other threads waiting. */
#define BLOCKED_MAX_NS 100000000ull
/* After a trailer, wait so long for the process to end. */
#define HOLD_NS NS_PER_SEC
/* ... but only so long while a thread of the process waits for us. */
#define HOLD_BUSY_NS 50000000ull
/* A process that is over sooner has no socket. */
#define CONTROL_AFTER_NS 100000000ull
/* Commit early when so many ended threads wait for their last block. */
#define GONE_MAX 16u

struct writer *writer;

static const char *const end_names[] = {
	[WRITER_END_EXIT] = "exit",
	[WRITER_END_UNDERSCORE_EXIT] = "_exit",
	[WRITER_END_QUICK_EXIT] = "quick_exit",
	[WRITER_END_ABORT] = "abort",
	[WRITER_END_EXEC] = "exec",
	[WRITER_END_SANDBOX] = "sandbox",
	[WRITER_END_LAST_THREAD] = "last_thread",
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
		ringfile_commit_ring(writer->sources[i]->ring,
				     writer->sources[i],
				     writer->threads[i]->is_gone);
	trace_get_state(t, &state);
	if (writer->is_ended)
		state.flags |= IMAGE_COMMIT_ENDED;
	if (writer->is_stopped)
		state.flags |= IMAGE_COMMIT_STOPPED;
	writer_sum_up(&sums);
	haste_note_waits(&t->haste, sums.waits);
	state.threads = sums.threads;
	state.waits = sums.waits - writer->segment.waits;
	state.wait_ns = sums.wait_ns - writer->segment.wait_ns;
	state.cpu_ns = sums.cpu_ns - writer->segment.cpu_ns;
	state.unattached = writer->unattached_told;
	ringfile_commit(&state, t->output.path, t->head_nbytes, t->head_hash);
}

bool
writer_commit(void)
{
	if (!trace_commit(&writer->trace))
		return false;
	writer->trace.narrator.block_since_ns =
		writer->trace.narrator.timeline.ns1;
	/* It may have taken some time, and the round is not over. */
	clock_renew(clock_stamp());
	writer_commit_rings();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		room_release(writer->sources[i]->ring, writer->sources[i]->pos);
	return true;
}

bool
writer_commit_and_recycle(void)
{
	if (!writer_commit())
		return false;
	for (uint32_t i = 0; i < writer->thread_count; i++)
		if (writer->threads[i]->is_gone)
			writer_recycle(writer->threads[i]);
	writer->thread_count = 0;
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
	if (writer->segment.number != number)
		writer_note_file();
	return writer_commit();
}

/* ... if it is time. */
static bool
rotate_if_due(void)
{
	const uint64_t now = writer->trace.narrator.timeline.ns1;

	return !segment_is_due(&writer->segment, now) ||
	       writer_is_forking(now) || writer_rotate_now();
}

void
writer_take_event(void *narrator, const struct order_source *source,
		  const struct event *ev)
{
	const struct timeline *const line = &writer->trace.narrator.timeline;

	if (__builtin_expect(narrate_is_full(narrator), 0) && writer_commit())
		rotate_if_due();
	/* In the last round: the event was stamped after the clocks were
	 * read. */
	if (__builtin_expect(ev->stamp > line->stamp1, 0))
		writer_read_clock();
	if (__builtin_expect(ev->type >= EVENT_THREAD, 0)) {
		if (writer_is_between_forks(ev) && writer_commit())
			rotate_if_due();
		writer_note_other(source, ev);
	}
	segment_note_event(&writer->segment, source, ev);
	narrate_event(narrator, source, ev);
}

/* The order_run_sink: the same for a run, where there is no live table. */
static size_t
take_run(void *narrator, const struct order_source *source,
	 const uint64_t *words, size_t n, uint64_t stamp)
{
	if (__builtin_expect(narrate_is_full(narrator), 0) && writer_commit())
		rotate_if_due();
	return narrate_run(narrator, source, words, n, stamp);
}

/* Does some producer need room, or soon will? */
static bool
is_room_wanted(void)
{
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		const struct ring *const r = writer->sources[i]->ring;
		/* relaxed, both: only this thread writes them. */
		const uint64_t used =
			ring_head(r) -
			atomic_load_explicit(&r->tail, memory_order_relaxed);

		if (used > (ring_mask(r) + 1) / 2 || room_is_waited_for(r))
			return true;
	}
	return false;
}

/* Returns whether all up to there that had been published is in the trace
 * now. */
static bool
drain(uint64_t until, bool force)
{
	struct order *const o = &writer->order;

	/* A live table wants each event; it is made, or given up, at rotations. */
	o->run_sink = writer->segment.carry.slots == NULL ? take_run : NULL;
	order_round(o, writer->sources, writer->thread_count, until, force);
	if (o->event_count != 0)
		writer->last_event_ns = writer->trace.narrator.timeline.ns1;
	writer_note_events(writer->trace.narrator.event_count);
	return force || o->blocked == NULL;
}

/* No tick from before this moment is used any more, or it is another one's. */
static void
note_ticks_end(void)
{
	struct narrator *const n = &writer->trace.narrator;

	n->ticks_end_ns = sys_clock_ns(CLOCK_MONOTONIC) - n->timeline.start_ns;
}

/* Has the same begin without an end stopped the others for too long? */
static bool
is_blocked_too_long(uint64_t now)
{
	const struct order_source *const s = writer->order.blocked;

	if (s == NULL || s != writer->blocked || s->pos != writer->blocked_pos)
		writer->blocked_since_ns = now;
	writer->blocked = s;
	writer->blocked_pos = s != NULL ? s->pos : 0;
	if (s != NULL && writer_is_waiting_inside(s))
		return true;
	return now - writer->blocked_since_ns > BLOCKED_MAX_NS;
}

/* Where times may be coarse, a thread that is alone goes without stamps. */
static void
grant_tick(uint64_t now)
{
	const struct order *const o = &writer->order;
	const enum config_clock clock = lifecycle_config()->clock;
	const struct thread *alone = NULL;

	if (clock == CONFIG_CLOCK_US || clock == CONFIG_CLOCK_NS ||
	    o->active_count == 0)
		return;
	if (o->active_count == 1 && !writer_thread_of(o->active)->is_nested)
		alone = writer_thread_of(o->active);
	grant_round(&writer->grant, alone, now);
}

bool
writer_round(void)
{
	const struct clock_reading r = writer_read_clock();
	const bool stamped = clock_is_stamped();

	clock_renew(r.stamp);
	note_ticks_end();
	writer_collect_threads();
	/* Once the last ticks are out. */
	trace_set_clock(&writer->trace, stamped && writer->was_stamped);
	writer->was_stamped = stamped;
	/* Those of the tick that is used now wait until it has ended. */
	if (drain(r.stamp - 1, is_blocked_too_long(r.ns)))
		writer->told_stamp = r.stamp;
	grant_tick(r.ns);
	writer_note_unattached();
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		ringfile_extend(writer->sources[i]->ring);
		writer_tend_thread(writer->threads[i], writer->told_stamp, r.ns,
				   false);
	}
	if ((is_room_wanted() || writer->gone_count > GONE_MAX ||
	     r.ns - writer->trace.narrator.block_since_ns > BLOCK_AGE_NS) &&
	    !writer_commit_and_recycle())
		return false;
	return writer->trace.error == 0 && rotate_if_due();
}

void
writer_prepare_end(struct narrate_trailer *end, uint64_t until)
{
	/* Twice: the second time there is little that comes after the
	 * reading. */
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t stamp = writer_read_clock().stamp;

		clock_renew(stamp);
		note_ticks_end();
		writer_collect_threads();
		drain(i == 0 && stamp <= until ? stamp - 1 : until, true);
	}
	writer->told_stamp = writer->trace.narrator.timeline.stamp1;
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
	if (lifecycle_config()->verbose)
		say("%s: %u events, %u bytes, %u waits",
		    writer->trace.output.path,
		    writer->trace.narrator.event_count,
		    writer->trace.output.nbytes, end.waits);
}

void
writer_hold(void)
{
	/* relaxed: writer_resume() is called only after the answer. */
	atomic_store_explicit(&writer->hold_until_ns,
			      writer->trace.narrator.timeline.ns1 + HOLD_NS,
			      memory_order_relaxed);
}

static void
answer(void)
{
	/* release: pairs with the acquire in writer_finish(). */
	atomic_store_explicit(&writer->request, 0, memory_order_release);
	atomic_fetch_add_explicit(&writer->done, 1, memory_order_release);
	sys_futex_wake(&writer->done);
}

/* Returns false when the writer's work is over. */
static bool
serve_request(void)
{
	/* acquire: pairs with the exchange in writer_finish(): what that thread
	 * published before is seen by the drain. */
	const uint32_t request =
		atomic_load_explicit(&writer->request, memory_order_acquire);

	if (request == 0)
		return true;
	const enum writer_end end = (enum writer_end)(request - 1);

	control_close();
	if (!writer->is_dormant)
		writer_end_trace(end);
	else
		ringfile_remove();
	writer_hold();
	answer();
	return end == WRITER_END_EXEC || end == WRITER_END_ABORT;
}

/* The program has other privileges now. */
static void
serve_follow(void)
{
	bool done;

	/* acquire: pairs with the release in writer_follow(). */
	if (atomic_load_explicit(&writer->follow, memory_order_acquire) !=
	    WRITER_FOLLOW_ASKED)
		return;
	/* The socket is where the old user could put it; made again. */
	control_close();
	/* Behind the seal nobody could remove it at the end. */
	if (writer->follow_to->filter == PRIVILEGES_SEAL)
		ringfile_remove();
	done = privileges_take_on(writer->follow_to);
	/* release: pairs with the acquire in writer_follow(). */
	atomic_store_explicit(&writer->follow,
			      done ? WRITER_FOLLOW_DONE : WRITER_FOLLOW_FAILED,
			      memory_order_release);
	sys_futex_wake(&writer->follow);
}

/* Nothing happens: stop the clock; the next event sets it going and wakes us. */
static bool
go_idle(uint32_t wake)
{
	if (alone_is_last(&writer->exit_status)) {
		writer_end_trace(WRITER_END_LAST_THREAD);
		return false;
	}
	clock_set_idle();
	writer_collect_threads();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		if (writer->sources[i]->pos !=
		    ring_head(writer->sources[i]->ring))
			return true;
	control_sleep(&writer->wake, wake,
		      writer->trace.narrator.in_block ? BLOCK_AGE_NS
						      : IDLE_SLEEP_NS);
	return true;
}

/* Sleep until there may be something to do; false if there never will be. */
static bool
rest(uint32_t wake)
{
	const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
	bool goes_on = true;

	/* acquire: as in serve_request(). */
	if (atomic_load_explicit(&writer->request, memory_order_acquire) != 0)
		return true;
	if (now - writer->last_event_ns > IDLE_AFTER_NS &&
	    writer->order.blocked == NULL)
		goes_on = go_idle(wake);
	else
		sys_futex_wait(&writer->wake, wake, TICK_NS);
	haste_note_sleep(&writer->trace.haste,
			 sys_clock_ns(CLOCK_MONOTONIC) - now);
	return goes_on;
}

/* What a thread of the program may wait for that has nothing to do with events. */
static void
serve_rings(void)
{
	ringfile_make_spares();
	quota_answer();
	thread_pool_extend();
	writer_collect_threads();
	for (uint32_t i = 0; i < writer->thread_count; i++)
		ringfile_extend(writer->sources[i]->ring);
}

/* An exec has failed: the process goes on, and so does its trace. */
static void
resume(void)
{
	/* acquire: pairs with the release in writer_resume(). */
	if (atomic_load_explicit(&writer->resume, memory_order_acquire) == 0)
		return;
	/* Made again by the next control_serve(). */
	control_close();
	/* relaxed: only now, as nothing could be begun, is it of interest. */
	atomic_store_explicit(&writer->is_ending, false, memory_order_relaxed);
	writer_collect_threads();
	/*
	 * A ring that is being written cannot be moved: what its producer, who
	 * takes no lock and cannot be stopped, stored between the copy and the
	 * new mapping would be lost.  Nor can the old file have its name back,
	 * which could not be left behind for an exec that succeeds: the system
	 * links no file again that has lost its last name.
	 */
	if (writer->thread_count == 1 && !writer->is_dormant) {
		ringfile_renew(writer->sources[0]->ring,
			       writer->trace.output.path);
		writer_commit_rings();
	} else if (ringfile_path() != NULL) {
		ringfile_tell_removed();
	}
	atomic_store_explicit(&writer->hold_until_ns, 0, memory_order_relaxed);
	/* release: pairs with the acquire in writer_resume(). */
	atomic_store_explicit(&writer->resume, 0, memory_order_release);
	sys_futex_wake(&writer->resume);
}

/*
 * Has the trailer only just been written?  Whoever goes on allocating has perhaps
 * not gone at all: a handler of abort()'s signal may have jumped out of it.
 */
static bool
is_holding(uint64_t now)
{
	/* relaxed: only this thread writes it. */
	const uint64_t until = atomic_load_explicit(&writer->hold_until_ns,
						    memory_order_relaxed);

	if (until <= now)
		return false;
	if (until - now > HOLD_NS - HOLD_BUSY_NS)
		return true;
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		const struct ring *const r = writer->sources[i]->ring;

		/* relaxed: see count_lost(), record.c. */
		if (room_is_waited_for(r) ||
		    atomic_load_explicit(&r->lost_count,
					 memory_order_relaxed) != 0)
			return false;
	}
	return true;
}

/* While dormant; who has said so and is still there a second later goes on. */
static bool
is_ending_dormant(uint64_t now)
{
	/* seq_cst: see writer_end_dormant(). */
	if (!writer->is_dormant ||
	    !atomic_load_explicit(&writer->is_ending, memory_order_seq_cst)) {
		writer->ending_since_ns = 0;
		return false;
	}
	if (writer->ending_since_ns == 0)
		writer->ending_since_ns = now;
	if (now - writer->ending_since_ns < HOLD_NS)
		return true;
	writer->ending_since_ns = 0;
	/* As in resume(). */
	control_close();
	atomic_store_explicit(&writer->is_ending, false, memory_order_relaxed);
	return false;
}

/* Nothing is recorded: sleep until somebody wants something. */
static bool
sleep_dormant(uint32_t wake)
{
	if (alone_is_last(&writer->exit_status))
		return false;
	control_sleep(&writer->wake, wake,
		      sys_clock_ns(CLOCK_MONOTONIC) - writer->start_ns >
				      CONTROL_AFTER_NS
			      ? IDLE_SLEEP_NS
			      : CONTROL_AFTER_NS);
	return true;
}

/* The thread ends: nobody waits for it any more. */
static int
leave_for_good(void)
{
	control_close();
	lifecycle_set_off();
	/*
	 * If the trace file could not be had again, what the trace lacks is in
	 * the ring file up to now.  What the program does from now on is
	 * nowhere.
	 */
	if (writer->has_left)
		ringfile_count_hidden();
	else
		ringfile_remove();
	answer();
	writer_set_presence(WRITER_AWAY);
	/* That of the last thread is the process's. */
	return writer->exit_status;
}

int
writer_main(void *unused)
{
	bool running = writer_take_up();

	(void)unused;
	while (running) {
		/* acquire: what was done before a wake is seen after it. */
		const uint32_t wake = atomic_load_explicit(
			&writer->wake, memory_order_acquire);

		running = serve_request();
		if (!running)
			break;
		resume();
		serve_follow();
		serve_rings();
		const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);

		if (is_holding(now)) {
			sys_futex_wait(&writer->wake, wake, 10 * TICK_NS);
			continue;
		}
		const bool is_settled =
			now - writer->start_ns > CONTROL_AFTER_NS;

		writer_serve_client();
		/* Ancestors may go at any time. */
		if (is_settled)
			header_complete();
		control_serve(now, is_settled && !is_ending_dormant(now));
		if (writer_serve_departure() || writer_leave_if_idle(now, wake))
			return 0;
		if (writer->is_dormant) {
			running = sleep_dormant(wake);
			continue;
		}
		running = writer_round() ? rest(wake) : writer_fail();
	}
	return leave_for_good();
}

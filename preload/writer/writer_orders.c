/* SPDX-License-Identifier: MIT */
/*
 * writer_orders.c - carry out orders: start, stop, flush, rotate, status
 *
 * Orders come from 'hatf ctl', through the socket (control.h) or the bell
 * (own_slot.h), or from the program itself.
 */

#include <string.h>

#include "hatf/recorder/bells.h"
#include "hatf/recorder/refusals.h"
#include "preload/clock/clock.h"
#include "preload/record/record.h"
#include "preload/record/record_order.h"
#include "preload/record/ring_wait.h"
#include "preload/record/ringfile.h"
#include "preload/state/process_state.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/trace/header.h"
#include "preload/writer/remaining_threads.h"
#include "preload/writer/writer_state.h"

/*
 * An order_sink that discards most events.  Remember the events that describe
 * threads, heaps and DTDs of the program, and write only these events to the
 * trace.  'narrator' belongs to the trace that has just begun.  If there is no
 * trace, 'narrator' is NULL, and nothing is written.
 */
static void
discard_event(void *narrator, const struct order_producer *producer,
	      const struct event *ev)
{
	if (ev->type != EVENT_THREAD && ev->type != EVENT_HANDOVER &&
	    ev->type != EVENT_NAME && ev->type != EVENT_CREATE_HEAP &&
	    ev->type != EVENT_DESTROY_HEAP && ev->type != EVENT_CLIENT_DTD)
		return;
	writer_note_rare_event(producer, ev);
	if (narrator != NULL)
		narrate_event(narrator, producer, ev);
}

/*
 * Discard all published events with stamps up to 'until', so that no thread
 * waits for room in a full ring.
 */
static void
discard(uint64_t until, struct narrator *narrator)
{
	struct order *const o = &writer->order;

	writer_collect_threads();
	o->sink = discard_event;
	o->run_sink = NULL;
	o->context = narrator;
	order_round(o, writer->producers, writer->thread_count, until, true);
	o->sink = writer_take_event;
	o->context = &writer->trace.narrator;
	if (narrator != NULL)
		writer_commit();
	for (uint32_t i = 0; i < writer->thread_count; i++) {
		struct order_producer *const producer = writer->producers[i];

		/*
		 * If a realloc is under way, the trace that begins after the
		 * discarded events lacks the realloc's old block.  Record only
		 * the new block.
		 */
		if (producer->realloc_open && !producer->realloc_done)
			producer->realloc_freed = true;
		ring_wait_release(producer->ring, producer->pos);
		/*
		 * relaxed: an event that is dropped at this moment comes before
		 * the trace, or just at its beginning, so it does not matter
		 * whether the event is counted.
		 */
		atomic_store_explicit(&producer->ring->lost_count, 0,
				      memory_order_relaxed);
	}
}

/*
 * Call this when recording starts in a process of several threads, while the
 * recorder is still dormant.  If clock_go_stamped() has not been called before,
 * only the initial thread can be recording an event now, so the table of page
 * owners (owners.h) may begin.
 */
static void
expect_threads(void)
{
	if (!clock_expects_threads())
		record_begin_owners();
	clock_go_stamped();
}

/*
 * Begin a trace, while the program's threads continue.  Return NULL, or the
 * reason why no trace has begun.
 *
 * Once the program's threads see that 'process_dormant' is false, they publish
 * events, perhaps of blocks that the trace does not know (FORMAT.md, header key
 * "start").  Therefore take a stamp T after changing the flag, and discard all
 * events that were published with stamps up to T.  If the process has only one
 * thread, its events have ticks instead of stamps; discard those with ticks up
 * to T that are already in its ring.
 *
 * The remaining events are consistent: if an event of a block is kept, all
 * later events of that block are kept, since their stamps are larger than T.
 * An event with a stamp up to T is kept, too, if its thread has not published
 * it yet.  Such an event is an allocation whose block no other thread has seen,
 * or a free that has not happened (order.h, rule 3).  Any thread that learns of
 * such an event later also sees the flag.
 */
static const char *
start_recording(void)
{
	struct clock_reading now;

	if (!writer->is_dormant)
		return "already recording";
	/* seq_cst, both: see writer_end_dormant(). */
	atomic_store_explicit(&writer->is_dormant, false, memory_order_seq_cst);
	if (atomic_load_explicit(&writer->is_ending, memory_order_seq_cst)) {
		atomic_store_explicit(&writer->is_dormant, true,
				      memory_order_relaxed);
		return "the process is ending";
	}
	discard(UINT64_MAX, NULL);
	writer_forget_forks();
	writer_recycle_ended();
	writer_read_clock();
	writer->last_error = 0;
	header_complete();
	if (!segment_open(&writer->segment)) {
		/*
		 * relaxed: this store undoes the store of false to 'is_dormant'
		 * above.
		 */
		atomic_store_explicit(&writer->is_dormant, true,
				      memory_order_relaxed);
		return "cannot create the trace";
	}
	process_move(PROCESS_TRACE_OPENED);
	if (writer->trace.output.directory < 0)
		output_hold_directory(&writer->trace.output);
	writer_limit_reach();
	writer_note_file();
	/*
	 * A thread that begins later changes the clock to stamped mode before
	 * its first event (attach_thread()).  Before this change, the creator
	 * of the new thread may record events with ticks.  These events precede
	 * any event of the new thread, so the order is right.
	 */
	if (remaining_threads_several(true))
		expect_threads();
	clock_set_idle();
	/*
	 * If the process is killed from now on, recovery completes this trace.
	 */
	writer_collect_threads();
	writer_commit_rings();
	/*
	 * seq_cst: this store comes before the stamp is taken and the heads of
	 * the rings are read.
	 */
	atomic_store_explicit(&process_dormant, false, memory_order_seq_cst);
	now = writer_read_clock();
	clock_bump();
	discard(now.stamp, &writer->trace.narrator);
	writer->last_event_ns = writer->trace.narrator.block_since_ns = now.ns;
	return NULL;
}

/*
 * End the trace, while the program continues.  Take a stamp T before setting
 * 'process_dormant'.  A thread that sees the flag set sees it after T, and from
 * then on records nothing.  Therefore the trace has all events up to T; discard
 * the later events.
 */
static void
halt(struct narrate_trailer *end)
{
	uint64_t until;

	/*
	 * After T some events are not recorded.  An event that depends on such
	 * an event must have a stamp, and not a tick from before T.
	 */
	clock_drop_grant();
	until = clock_stamp();
	clock_bump();
	/*
	 * seq_cst: this store comes after the stamp was taken and before the
	 * heads of the rings are read.
	 */
	atomic_store_explicit(&process_dormant, true, memory_order_seq_cst);
	writer_prepare_end(end, until);
}

/*
 * Call this when the trailer is in the file.  Close the file, and become
 * dormant.
 */
static void
become_dormant(const struct narrate_trailer *end)
{
	writer->last_events = writer->trace.narrator.event_count;
	writer->last_lost = writer->trace.narrator.lost_count;
	writer_commit_and_recycle();
	writer->is_ended = writer->is_stopped = false;
	segment_close(&writer->segment, end);
	writer->quiet_since_ns = sys_clock_ns(CLOCK_MONOTONIC);
	discard(UINT64_MAX, NULL);
	clock_set_idle();
	/*
	 * release: a thread that reads true from 'is_dormant' can rely on the
	 * trailer being in the file.
	 */
	atomic_store_explicit(&writer->is_dormant, true, memory_order_release);
}

/*
 * Call this after halt(), when a write has failed.  End the trace.  Return
 * false if no trailer could be written.
 */
static bool
end_failed(const struct narrate_trailer *end)
{
	writer->last_error = writer->trace.error;
	writer->is_ended = writer->is_stopped = true;
	if (!segment_end_failed(&writer->segment, end)) {
		writer->late_end = *end;
		/* release: pairs with the exchange in writer_end_late(). */
		atomic_store_explicit(&writer->has_late_end,
				      trace_lacks_room(&writer->trace),
				      memory_order_release);
		return false;
	}
	become_dormant(end);
	return true;
}

bool
writer_fail(void)
{
	struct narrate_trailer end = { .name = NULL };

	process_move(PROCESS_TRACE_FAILED);
	halt(&end);
	return end_failed(&end);
}

static const char *
stop_recording(void)
{
	struct narrate_trailer end = { .name = "stop" };

	if (writer->is_dormant)
		return REFUSAL_DORMANT;
	halt(&end);
	writer->last_error = 0;
	writer->is_ended = writer->is_stopped = true;
	if (segment_end(&writer->segment, &end)) {
		become_dormant(&end);
		return NULL;
	}
	end_failed(&end);
	return say_errno(writer->last_error);
}

static void
tell_trace(struct text *answer)
{
	const struct trace *const t = &writer->trace;
	const struct narrator *const n = &t->narrator;
	const bool dormant = writer->is_dormant;
	struct narrate_trailer sums = { .name = NULL };

	writer_sum_up(&sums);
	text_line(answer, "trace", t->output.path, strlen(t->output.path));
	text_line_u64(answer, "events",
		      dormant ? writer->last_events : n->event_count);
	text_line_u64(answer, "bytes", t->output.nbytes);
	text_line_u64(answer, "lost",
		      dormant ? writer->last_lost : n->lost_count);
	text_line_u64(answer, "waits", sums.waits);
	text_line_u64(answer, "wait_ns", sums.wait_ns);
	text_line_u64(answer, "threads", sums.threads);
	text_line_u64(answer, "segment", writer->segment.number);
	text_line_u64(answer, "keeps_live", writer->segment.live.slots != NULL);
	text_line_u64(
		answer, "seconds",
		(sys_clock_ns(CLOCK_MONOTONIC) - writer->segment.since_ns) /
			NS_PER_SEC);
}

/*
 * If the recorder has a table of all live blocks, add their bytes and their
 * number to the answer.
 */
static void
tell_live(struct text *answer)
{
	struct segment *const s = &writer->segment;

	if (writer->is_dormant || s->live.slots == NULL || !s->is_known)
		return;
	if (!live_blocks_apply_queue(&s->live)) {
		segment_lose_track(s);
		return;
	}
	text_line_u64(answer, "live_bytes", s->live.nbytes);
	text_line_u64(answer, "live_objects", s->live.used);
}

static void
tell_status(struct text *answer)
{
	const bool is_prepared = writer_is_prepared();
	const char *const exe = is_prepared ? header_names()->path : NULL;
	const char *const state = writer->is_dormant ? "dormant" : "recording";

	const char *const error = say_errno(writer->last_error);

	text_line_u64(answer, "pid", (uint64_t)sys_pid());
	/*
	 * Add the executable's name only if it is already known, since 'hatf
	 * ctl' can find the name itself.
	 */
	if (exe != NULL)
		text_line(answer, "exe", exe, strlen(exe));
	text_line(answer, "state", state, strlen(state));
	if (writer->is_dormant && writer->last_error != 0)
		text_line(answer, "error", error, strlen(error));
	if (is_prepared && writer->trace.output.path[0] != '\0')
		tell_trace(answer);
	tell_live(answer);
}

/* Write all published events to the file. */
static const char *
flush(struct text *answer)
{
	if (writer->is_dormant)
		return REFUSAL_DORMANT;
	if (!writer_round() || !writer_commit_and_recycle())
		return say_errno(writer->trace.error);
	tell_trace(answer);
	return NULL;
}

static const char *
rotate(void)
{
	if (writer->is_dormant)
		return REFUSAL_DORMANT;
	/*
	 * Make a round first, so that the events published so far are in the
	 * segment that ends.
	 */
	if (!writer_round())
		return say_errno(writer->trace.error);
	if (writer_is_forking(writer->trace.narrator.timeline.ns1)) {
		/*
		 * writer_is_forking() has set 'fork_kept_ns', so that the
		 * segment ends after the fork.  Undo this, since the order to
		 * rotate has failed.  If the segment is due to end for another
		 * reason, the next call of writer_is_forking() sets
		 * 'fork_kept_ns' again.
		 */
		writer->fork_kept_ns = 0;
		return REFUSAL_FORKING;
	}
	if (!writer_rotate_now())
		return say_errno(writer->trace.error);
	return writer->segment.is_failing ? "cannot create the next file"
					  : NULL;
}

const char *
writer_obey_order(const char *order, struct text *answer)
{
	const char *wrong = "unknown order";

	writer->is_called = true;
	writer->quiet_since_ns = sys_clock_ns(CLOCK_MONOTONIC);
	if (strcmp(order, "flush") == 0)
		return flush(answer);
	if (strcmp(order, "start") == 0)
		wrong = start_recording();
	else if (strcmp(order, "rotate") == 0)
		wrong = rotate();
	else if (strcmp(order, "stop") == 0)
		wrong = stop_recording();
	else if (strcmp(order, "status") == 0)
		wrong = NULL;
	if (wrong == NULL)
		tell_status(answer);
	return wrong;
}

void
writer_obey_bell(enum bell_call call)
{
	/*
	 * A thread of the program that takes an order to start passes it on by
	 * writer_obey().  An order to start comes here if it replaced another
	 * order in the slot while the writer thread was being made.
	 */
	if (call == BELL_START && writer->is_dormant)
		start_recording();
	else if (call == BELL_STOP && !writer->is_dormant)
		stop_recording();
}

void
writer_serve_client(void)
{
	static const char *const words[] = {
		[WRITER_ORDER_START] = "start",
		[WRITER_ORDER_STOP] = "stop",
		[WRITER_ORDER_FLUSH] = "flush",
	};
	MEMORY_LARGE static char buf[16384];
	/*
	 * acquire: pairs with the release in writer_obey().  The writer then
	 * sees everything that the thread published before its order.
	 */
	const uint32_t order = atomic_load_explicit(&writer->client_order,
						    memory_order_acquire);
	struct text unheard;

	if (order == WRITER_ORDER_NONE)
		return;
	text_init(&unheard, buf, sizeof(buf));
	/* relaxed: the store of 'client_order' publishes this store. */
	atomic_store_explicit(&writer->client_done,
			      writer_obey_order(words[order], &unheard) == NULL,
			      memory_order_relaxed);
	/* release: pairs with the acquire in writer_obey(). */
	atomic_store_explicit(&writer->client_order, WRITER_ORDER_NONE,
			      memory_order_release);
	sys_futex_wake(&writer->client_order);
}

/* SPDX-License-Identifier: MIT */
/* trace.c - see trace.h */

#include "preload/trace/trace.h"

#include <errno.h>
#include <string.h>

#include "hatf/deflate/deflate.h"
#include "hatf/rings/narrate_stacks.h"
#include "preload/clock/clock.h"
#include "preload/clock/owners.h"
#include "preload/record/missed_calls.h"
#include "preload/stacks/object_table.h"
#include "preload/stacks/stack_table.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"

#define COARSE_US 1000u

/*
 * A file of at most this many bytes takes one block of the file system,
 * compressed or not.  For a short process, compression would take longer than
 * all other work for the trace.
 */
#define BRIEF_NBYTES 4000u

static size_t
round_up(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

size_t
trace_memory_nbytes(const struct config *config)
{
	const bool has_stacks = config->stack_depth != 0;
	const int level = config->level;
	size_t n = round_up(narrate_memory_nbytes(has_stacks));

	if (level != 0)
		n += round_up(
			     deflate_bound(narrate_memory_nbytes(has_stacks))) +
		     round_up(deflate_work_nbytes(level));
	return n;
}

/*
 * Make the struct through which the trace gets its call stacks.  Return NULL if
 * there is no memory; events then have no stacks.
 */
static struct narrate_stacks *
make_stacks(const struct config *config)
{
	struct narrate_stacks *const s = memory_map_wiped(sizeof(*s));

	if (s == NULL)
		return NULL;
	s->node = stack_table_node;
	s->object = object_table_get;
	s->has_frees = config->stack_frees;
	return s;
}

void
trace_open(struct trace *t, const struct config *config,
	   const struct output *output, void *memory)
{
	struct narrator *const n = &t->narrator;
	const bool has_stacks = config->stack_depth != 0;
	uint8_t *const next =
		(uint8_t *)memory + round_up(narrate_memory_nbytes(has_stacks));
	struct narrate_stacks *stacks = NULL;
	struct clock_reading now;

	narrate_init(n, memory, has_stacks);
	if (has_stacks && stack_table_init() && object_table_init())
		stacks = make_stacks(config);
	if (stacks != NULL)
		narrate_use_stacks(n, stacks);
	output_copy(&t->output, output);
	t->level = config->level;
	n->encoder.has_sums = t->level == 0;
	t->clock = config->clock;
	if (config->clock == CONFIG_CLOCK_OFF)
		n->unit_ns = 0;
	else if (config->clock != CONFIG_CLOCK_NS)
		n->unit_ns = 1000;
	if (t->level != 0) {
		t->member = next;
		t->member_cap = deflate_bound(n->encoder.cap);
		t->work = next + round_up(t->member_cap);
	}
	now = clock_read();
	narrate_start_clock(n, now.stamp, now.ns);
}

struct clock_reading
trace_read_clock(struct trace *t)
{
	const struct clock_reading now = clock_read();

	narrate_read_clock(&t->narrator, now.stamp, now.ns);
	return now;
}

void
trace_set_clock(struct trace *t, bool stamped)
{
	struct narrator *const n = &t->narrator;

	/*
	 * With a coarse clock, stamps serve only to order the events of
	 * different threads, so round the times in the trace.
	 */
	if (t->clock == CONFIG_CLOCK_COARSE)
		n->grain = stamped ? COARSE_US : 1;
	if (t->clock == CONFIG_CLOCK_AUTO && stamped && owners_table == NULL)
		narrate_begin_stamps(n);
}

bool
trace_begin(struct trace *t, const char *header, size_t header_nbytes)
{
	const int level = t->level;
	bool done;

	/*
	 * Store the block without compression, since this thread's stack may be
	 * too small for the compressor.
	 */
	if (level != 0)
		t->level = DEFLATE_LEVEL_STORED;
	encoder_comment(&t->narrator.encoder, header, header_nbytes);
	narrate_open_block(&t->narrator);
	done = trace_commit(t);
	t->level = level;
	return done;
}

/*
 * Write a block.  If the disk or a quota is full, free space and try again.
 * Return 0 or an errno value.  After an error, the file has its old length,
 * unless 'output.is_torn' is set.
 */
static int
write_block(struct trace *t, const void *data, size_t nbytes)
{
	int error;

	do
		error = output_write(&t->output, data, nbytes);
	while ((error == ENOSPC || error == EDQUOT) && !t->output.is_torn &&
	       t->make_space != NULL && t->make_space(t->make_space_context));
	return error;
}

/* Make the block a gzip member in 't->member'; return its length. */
static size_t
pack(struct trace *t, const uint8_t *data, size_t nbytes)
{
	const bool is_stored = load_policy_is_storing(&t->load) ||
			       (t->is_brief && nbytes <= BRIEF_NBYTES);
	if (!is_stored && t->level != DEFLATE_LEVEL_STORED)
		deflate_load();

	const uint64_t start_ns = sys_clock_ns(CLOCK_MONOTONIC);
	const size_t packed =
		deflate_member(is_stored ? DEFLATE_LEVEL_STORED : t->level,
			       t->work, data, nbytes, t->member, t->member_cap);

	if (!is_stored && t->level != DEFLATE_LEVEL_STORED)
		load_policy_note_compressed(
			&t->load, sys_clock_ns(CLOCK_MONOTONIC) - start_ns,
			nbytes, packed);
	return packed;
}

/* Choose whether the encoder places the next metadata without a search. */
static void
set_pace(struct trace *t)
{
	struct encoder *const e = &t->narrator.encoder;
	const bool is_fast = t->is_tiny || load_policy_is_fast(&t->load);

	if (is_fast != e->is_fast)
		encoder_set_fast(e, is_fast);
}

/*
 * Write the block, note how long this took, and choose how the next block is
 * encoded.
 */
static int
write_packed(struct trace *t, const void *data, size_t nbytes)
{
	const uint64_t start_ns = sys_clock_ns(CLOCK_MONOTONIC);
	const int error = write_block(t, data, nbytes);
	const uint64_t now_ns = sys_clock_ns(CLOCK_MONOTONIC);

	load_policy_note_written(&t->load, now_ns - start_ns, nbytes);
	load_policy_end_block(&t->load, now_ns, t->narrator.encoder.used);
	set_pace(t);
	return error;
}

void
trace_set_brief(struct trace *t, bool is_brief, bool is_tiny)
{
	t->is_brief = is_brief;
	t->is_tiny = is_tiny;
	set_pace(t);
}

void
trace_begin_load(struct trace *t, bool is_contended)
{
	load_policy_begin(&t->load, is_contended);
	set_pace(t);
}

void
trace_look_at_load(struct trace *t, uint64_t now_ns)
{
	load_policy_look(&t->load, now_ns);
	set_pace(t);
}

bool
trace_commit(struct trace *t)
{
	struct narrator *const n = &t->narrator;
	struct encoder *const e = &n->encoder;
	const void *data = e->buf;
	size_t nbytes;

	missed_calls_report(t->output.path);
	if (t->error != 0) {
		t->missing += narrate_cancel_block(n);
		return false;
	}
	if (!n->in_block)
		return true;
	encoder_end(e);
	nbytes = e->used;
	if (t->level != 0) {
		nbytes = pack(t, e->buf, nbytes);
		data = t->member;
	}
	if (t->output.nbytes == 0) {
		t->head_nbytes = nbytes;
		t->head_hash = image_hash(IMAGE_HASH_START, data, nbytes);
	}
	t->error = write_packed(t, data, nbytes);
	if (t->error != 0) {
		t->missing = narrate_cancel_block(n);
		return false;
	}
	encoder_reset(e);
	n->in_block = false;
	return true;
}

/*
 * Report how often so far a new stack got no number because the table was full.
 * If this has not happened since the last report, report nothing.
 */
static void
report_full_table(struct trace *t)
{
	const uint64_t count = stack_table_full();

	if (count == t->full_count)
		return;
	t->full_count = count;
	say("%s: the table of call stacks is full; %u times, a call was "
	    "recorded with the stack of one of its callers instead of its own",
	    t->output.path, count);
}

bool
trace_finish(struct trace *t, const struct narrate_trailer *end)
{
	struct narrate_trailer own = *end;

	own.missed = missed_calls_text();
	narrate_trailer(&t->narrator, &own);
	if (!trace_commit(t))
		return false;
	if (output_is_removed(&t->output))
		say("%s: the file has been removed; its %u events are lost",
		    t->output.path, t->narrator.event_count);
	report_full_table(t);
	return true;
}

/*
 * The trace ends because of the errno value 'error'.  Append the number of
 * missing events and a trailer.
 */
static bool
end_with_error(struct trace *t, const struct narrate_trailer *end, int error)
{
	struct narrator *const n = &t->narrator;
	const uint64_t missing = t->missing + narrate_cancel_block(n);
	struct narrate_trailer own = *end;

	own.name = "error";
	own.error = say_errno(error);
	own.is_incomplete = true;
	own.missed = missed_calls_text();
	t->missing = 0;
	t->error = 0;
	if (missing != 0)
		narrate_lost(n, NULL, missing, n->time_stamp,
			     n->timeline.stamp1);
	narrate_trailer(n, &own);
	if (trace_commit(t))
		return true;
	t->error = error;
	return false;
}

/*
 * May a trailer be appended to the file?  A trailer is valid only after a
 * header and whole blocks.  If 'is_end_reported' is set, the file was removed.
 */
static bool
can_end(const struct trace *t)
{
	return t->output.nbytes != 0 && !t->output.is_torn &&
	       !t->is_end_reported;
}

bool
trace_finish_failed(struct trace *t, const struct narrate_trailer *end)
{
	struct narrator *const n = &t->narrator;
	const int error = t->error;
	bool has_ended;

	t->missing += narrate_cancel_block(n);

	const uint64_t missing = t->missing, count = n->event_count;

	has_ended = can_end(t) && end_with_error(t, end, error);
	if (!t->is_end_reported)
		say("%s: %s; the trace ends after %u events and lacks the next "
		    "%u; the program continues",
		    t->output.path, say_errno(error), count, missing);
	return has_ended;
}

bool
trace_lacks_room(const struct trace *t)
{
	return (t->error == ENOSPC || t->error == EDQUOT) && can_end(t);
}

bool
trace_finish_late(struct trace *t, const struct narrate_trailer *end)
{
	return end_with_error(t, end, t->error);
}

void
trace_get_state(const struct trace *t, struct image_commit *state_ret)
{
	const struct narrator *const n = &t->narrator;

	*state_ret = (struct image_commit){
		.nbytes = t->output.nbytes,
		.event_count = n->event_count,
		.record_count = encoder_data_records(&n->encoder),
		.block_count = n->encoder.block_count,
		.stream_nbytes = n->encoder.stream_nbytes,
		.lost_count = n->lost_count,
		.time = n->time,
		.time_stamp = n->time_stamp,
		.timeline = n->timeline,
		.unit_ns = n->unit_ns,
		.grain = n->grain,
		.flags = (n->is_stamped ? IMAGE_COMMIT_STAMPED : 0) |
			 (missed_calls_text() != NULL ? IMAGE_COMMIT_MISSED
						      : 0) |
			 (n->stacks != NULL && n->stacks->has_frees
				  ? IMAGE_COMMIT_STACKED_FREES
				  : 0),
		.level = t->level,
	};
}

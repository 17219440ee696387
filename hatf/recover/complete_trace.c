/* SPDX-License-Identifier: MIT */
/* complete_trace.c - append the events left in the rings to the trace */
#include "hatf/deflate/deflate.h"
#include "hatf/recover/recovery.h"
#include "hatf/rings/narrate_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static enum hatf_status
write_all(struct recovery *r, const void *data, size_t nbytes)
{
	const char *next = data;

	while (nbytes > 0) {
		const ssize_t n = write(r->trace.fd, next, nbytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return recovery_fail(r, HATF_IO, 0, NULL);
		next += n;
		nbytes -= (size_t)n;
	}
	return HATF_OK;
}

/*
 * End the block, if there is one, and write it to the trace.  Write nothing in
 * a dry run, while 'is_counting' is set, or after a failure.  r->err keeps the
 * first failure.
 */
static void
end_block(struct recovery *r)
{
	struct encoder *const e = &r->narrator->encoder;
	const void *data = e->buf;
	size_t nbytes;

	if (!r->narrator->in_block)
		return;
	encoder_end(e);
	nbytes = e->used;
	if (r->level != 0 && !r->is_counting) {
		nbytes = deflate_member(r->level, r->work, e->buf, nbytes,
					r->member, r->member_cap);
		data = r->member;
	}
	if (r->err->status == HATF_OK && !r->is_counting &&
	    (r->flags & HATF_RECOVER_DRY_RUN) == 0)
		write_all(r, data, nbytes);
	encoder_reset(e);
	r->narrator->in_block = false;
}

static void
on_event(void *context, const struct order_producer *producer,
	 const struct event *ev)
{
	struct recovery *const r = context;

	if (narrate_is_full(r->narrator))
		end_block(r);
	narrate_event(r->narrator, producer, ev);
}

/* Initialize the narrator with the values that a commit contains. */
static void
restore_narrator(struct recovery *r, const struct image_commit *c)
{
	struct narrator *const n = r->narrator;

	narrate_init(n, r->memory, true);
	narrate_use_stacks(n, r->stacks);
	n->stacks->has_frees = (c->flags & IMAGE_COMMIT_STACKED_FREES) != 0;
	n->encoder.has_sums = r->level == 0;
	narrate_use_timeline(n, &c->timeline);
	n->unit_ns = (uint32_t)c->unit_ns;
	n->grain = (uint32_t)c->grain;
	n->is_stamped = (c->flags & IMAGE_COMMIT_STAMPED) != 0;
	n->event_count = r->events_before = c->event_count;
	n->lost_count = c->lost_count;
	n->time = c->time;
	n->time_stamp = c->time_stamp;
	n->encoder.block_count = c->block_count;
	n->encoder.stream_nbytes = c->stream_nbytes;
	/*
	 * The count of each tag is unknown, but only the sum of the counts is
	 * needed here.  So store the sum as the count of one tag.
	 */
	n->encoder.record_count[HATF_COMMENT] = c->record_count;
	if (r->header != NULL)
		encoder_comment(&n->encoder, r->header, r->header_nbytes);
}

/*
 * Allocate the narrator and the memory to compress its blocks.  Set the
 * narrator to the state that the recorder's narrator had at the last commit.
 */
static enum hatf_status
prepare(struct recovery *r)
{
	const struct image_commit *const c = r->set.commit;
	size_t cap;

	r->level = c->level < DEFLATE_LEVEL_MAX ? (int)c->level
						: DEFLATE_LEVEL_MAX;
	r->narrator =
		aligned_alloc(64, (sizeof(*r->narrator) + 63) & ~(size_t)63);
	r->memory = aligned_alloc(64, narrate_memory_nbytes(true));
	r->stacks = calloc(1, sizeof(*r->stacks));
	if (r->narrator == NULL || r->memory == NULL || r->stacks == NULL)
		return recovery_fail(r, HATF_NO_MEMORY, 0, NULL);
	restore_narrator(r, c);
	cap = r->narrator->encoder.cap;
	if (r->level != 0) {
		deflate_load();
		r->member_cap = deflate_bound(cap);
		r->member = malloc(r->member_cap);
		r->work = aligned_alloc(
			64, (deflate_work_nbytes(r->level) + 63) & ~(size_t)63);
		if (r->member == NULL || r->work == NULL)
			return recovery_fail(r, HATF_NO_MEMORY, 0, NULL);
	}
	return HATF_OK;
}

/*
 * The clock readings at both ends of a timeline have errors.  The timeline may
 * therefore be too long by up to this many ns, and its slope too high.
 */
#define SLOPE_ERROR_NS 1000

/*
 * The timeline ends at the last reading of the clocks, but events may have
 * later stamps.  Extend the timeline to the last stamp.  The slope is not known
 * exactly, so use the smallest possible slope.  If the timeline has only one
 * reading, or is not longer than SLOPE_ERROR_NS, do not extend it.
 */
static void
extend_line(struct recovery *r)
{
	const struct image_reading *const last =
		image_last_reading(r->set.image);
	struct timeline *const l = &r->narrator->timeline;
	const uint64_t stamp = r->set.stamp_max;
	double more;

	if (last != NULL)
		timeline_add(l, last->stamp, last->ns, 0);
	if (stamp <= l->stamp1 || l->ns1 - l->ns0 <= SLOPE_ERROR_NS)
		return;
	more = (double)(stamp - l->stamp1) * l->slope *
	       (1 - SLOPE_ERROR_NS / (double)(l->ns1 - l->ns0));
	/*
	 * If 'stamp' is more than a year after the last reading, the ring is
	 * damaged, so ignore the stamp.
	 */
	if (more < 3.2e16)
		timeline_add(l, stamp, l->ns1 + (uint64_t)more, UINT64_MAX / 2);
}

static bool
drain(struct recovery *r)
{
	const uint32_t n = r->set.count;
	struct order_producer **const producers =
		calloc(2 * (size_t)n + 1, sizeof(struct order_producer *));
	struct order order;

	if (producers == NULL)
		return false;
	order_init(&order, producers + n, n, on_event, r);
	for (uint32_t i = 0; i < n; i++)
		producers[i] = &r->set.rings[i].producer;
	order.fork_reports_left = r->set.word_count;
	order_round(&order, producers, n, UINT64_MAX, true);
	free(producers);
	return true;
}

/*
 * Add what the writer thread writes at the end of a trace: the ends of threads
 * that have ended, and the counts of lost events.
 */
static void
add_final_records(struct recovery *r)
{
	struct narrator *const n = r->narrator;
	const uint64_t stamp = n->timeline.stamp1;
	const uint64_t unattached =
		r->set.image->unattached - r->set.commit->unattached;

	for (uint32_t i = 0; i < r->set.count; i++) {
		const struct saved_ring *const ring = &r->set.rings[i];

		if (narrate_is_full(n))
			end_block(r);
		if (ring->lost_count != 0)
			narrate_lost(n, &ring->producer, ring->lost_count,
				     ring->lost_first, stamp);
		if (ring->producer.is_dead && !ring->is_gone &&
		    !ring->is_nested)
			narrate_thread_end(n, &ring->producer, stamp);
	}
	if (r->set.image->unattached > r->set.commit->unattached)
		narrate_lost(n, NULL, unattached, n->timeline.stamp0, stamp);
}

static uint64_t
excess(uint64_t n, uint64_t over)
{
	return n > over ? n - over : 0;
}

/*
 * The narrator has now counted all events, including those in the part of the
 * trace that is missing.  Go back to the intact part, and record how many
 * events are lost.  The events after the missing part are lost, too, because no
 * reader could interpret them.
 */
static void
add_gap(struct recovery *r)
{
	struct narrator *const n = r->narrator;
	const struct intact_blocks *const left = &r->intact;
	const uint64_t missing = excess(n->event_count, left->event_count) +
				 excess(n->lost_count, left->lost_count);
	struct image_commit at = *r->set.commit;

	at.event_count = left->event_count;
	at.lost_count = left->lost_count;
	at.record_count = left->record_count;
	at.block_count = left->block_count;
	at.stream_nbytes = left->stream_nbytes;
	at.timeline = n->timeline;
	at.time = left->time;
	at.time_stamp = at.timeline.stamp0;
	restore_narrator(r, &at);
	r->is_counting = false;
	if (missing != 0)
		narrate_lost(n, NULL, missing, at.time_stamp,
			     at.timeline.stamp1);
}

/*
 * Return the word in the trailer that says how the process ended.  'flags' are
 * those of hatf_recover().
 */
static const char *
end_name(unsigned flags)
{
	if ((flags & HATF_RECOVER_EXITED) != 0)
		return "raw_exit";
	return (flags & HATF_RECOVER_KILLED) != 0 ? "killed" : "abrupt";
}

static void
add_trailer(struct recovery *r)
{
	const struct image_commit *const c = r->set.commit;
	struct narrate_trailer end = {
		.name = end_name(r->flags),
		.threads = c->threads,
		.waits = c->waits,
		.wait_ns = c->wait_ns,
		.cpu_ns = c->cpu_ns,
		.missed = (c->flags & IMAGE_COMMIT_MISSED) != 0
				  ? "calls bypassed the recorder"
				  : NULL,
		.is_recovered = true,
		.is_incomplete = r->set.is_cut || r->other_boot ||
				 r->is_short || r->set.image->hidden != 0,
		.recovered = r->narrator->event_count - r->events_before,
	};

	for (uint32_t i = 0; i < r->set.count; i++)
		if (r->set.rings[i].producer.id >= end.threads &&
		    r->set.rings[i].producer.id != UINT64_MAX)
			end.threads = r->set.rings[i].producer.id + 1;
	narrate_trailer(r->narrator, &end);
	r->found->complete = r->narrator->lost_count == 0 &&
			     !end.is_incomplete && end.missed == NULL;
	r->found->event_count = r->narrator->event_count;
	r->found->recovered = end.recovered;
	r->found->lost_count = r->narrator->lost_count;
}

enum hatf_status
recovery_complete(struct recovery *r)
{
	const bool dry = (r->flags & HATF_RECOVER_DRY_RUN) != 0;
	const off_t nbytes = (off_t)(r->is_short ? r->intact.file_nbytes
						 : r->set.commit->nbytes);
	const enum hatf_status status = prepare(r);

	if (status != HATF_OK)
		return status;
	if (!dry && (ftruncate(r->trace.fd, nbytes) != 0 ||
		     lseek(r->trace.fd, nbytes, SEEK_SET) < 0))
		return recovery_fail(r, HATF_IO, 0, NULL);
	r->is_counting = r->is_short;
	extend_line(r);
	if (!drain(r))
		return recovery_fail(r, HATF_NO_MEMORY, 0, NULL);
	add_final_records(r);
	if (r->is_short)
		add_gap(r);
	add_trailer(r);
	end_block(r);
	if (r->err->status == HATF_OK && !dry && fsync(r->trace.fd) != 0)
		return recovery_fail(r, HATF_IO, 0, NULL);
	return r->err->status;
}

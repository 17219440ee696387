/* SPDX-License-Identifier: MIT */
/* segment.c - see segment.h */

#include "preload/trace/segment.h"

#include <string.h>

#include "hatf/codec/comment_text.h"
#include "preload/clock/clock.h"
#include "preload/clock/owners.h"
#include "preload/record/ringfile.h"
#include "preload/record/thread.h"
#include "preload/stacks/stack_table.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/trace/header.h"

static bool
keeps_track(const struct config *config)
{
	return config->rotate_nbytes != 0 || config->rotate_ns != 0;
}

static void
remove_oldest(struct segment *s)
{
	const struct segment_file *const f = &s->kept[s->kept_first];

	output_remove(&s->trace->output, f->segment, f->number, &f->id);
	s->kept_first = (s->kept_first + 1) % SEGMENT_KEEP_MAX;
	s->kept_count--;
	s->kept_nbytes -= f->nbytes;
}

/*
 * Call this when the disk is full.  Remove the oldest of the segments that are
 * kept.  Return false if no segment is kept.
 */
static bool
make_space(void *segment)
{
	struct segment *const s = segment;

	if (s->kept_count == 0)
		return false;
	remove_oldest(s);
	return true;
}

void
segment_init(struct segment *s, struct trace *t, const struct config *config,
	     bool is_late)
{
	s->trace = t;
	s->config = config;
	s->is_late = is_late;
	s->is_known = !is_late;
	t->make_space = make_space;
	t->make_space_context = s;
	if (keeps_track(config) &&
	    !live_blocks_init(&s->live, config->stack_depth != 0))
		s->is_known = false;
}

void
segment_lose_track(struct segment *s)
{
	s->is_known = false;
	say("%s: no memory to keep track of live blocks; later segments will "
	    "not begin with them",
	    s->trace->output.path);
}

/* -------------------------------------------------------------- beginning */

static const char *
live_word(const struct segment *s)
{
	if (s->live.slots == NULL && s->number != 0)
		return "unknown";
	if (!s->is_known)
		return "unknown";
	return s->lost_before != 0 || s->lacks_heap ? "uncertain" : "exact";
}

static void
add_numbers(const struct segment *s, struct text *t)
{
	const char *const live = live_word(s);

	text_line_u64(t, "segment", s->number);
	if (s->previous[0] != '\0')
		text_line(t, "previous", s->previous, strlen(s->previous));
	text_line_u64(t, "events_before", s->events_before);
	text_line_u64(t, "lost_before", s->lost_before);
	text_line_u64(t, "bytes_before", s->bytes_before);
	text_line(t, "live", live, strlen(live));
	text_line_u64(t, "carried", s->live.used);
	text_line_u64(t, "carried_bytes", s->live.nbytes);
}

/*
 * Add the header lines about this segment.  The first segment has such lines
 * only if it is late, or if HATFTRACE_ROTATE is set.
 */
static void
add_lines(const struct segment *s, struct text *t)
{
	if (s->is_late)
		text_line(t, "start", "late", 4);
	if (s->number != 0 || keeps_track(s->config))
		add_numbers(s, t);

	const char *const rings = s->is_late ? ringfile_path() : NULL;

	/*
	 * Add the line only if it fits even with each byte of the name escaped.
	 * An escaped byte takes four bytes.
	 */
	if (rings != NULL && 4 * strlen(rings) + 8 < t->cap - t->used)
		text_line(t, "rings", rings, strlen(rings));
}

/* If the buffer is full, renew the tick (clock.h), and write the block. */
static bool
make_room(struct segment *s)
{
	if (!narrate_is_full(&s->trace->narrator))
		return true;
	clock_renew(clock_stamp());
	return trace_commit(s->trace);
}

/*
 * Write each thread whose creation is in the trace and whose end is not.  Also
 * write the names of all threads whose end is not in the trace.
 */
static void
put_threads(struct segment *s)
{
	const uint32_t n = thread_pool_count();

	for (uint32_t i = 0; i < n; i++) {
		const struct thread *const t = thread_pool_at(i);

		if (!thread_is_in_use(t) || t->is_nested || t->is_gone)
			continue;
		if (t->is_announced)
			narrate_carried_thread(&s->trace->narrator,
					       t->producer.id, t->announced);
		if (t->name[0] != 0)
			narrate_name(&s->trace->narrator, t->producer.id,
				     t->name);
	}
}

static void
put_heaps(struct segment *s)
{
	for (uint32_t i = 0; i < s->heap_count; i++)
		narrate_carried_heap(&s->trace->narrator, s->heaps[i].id,
				     s->heaps[i].name);
}

void
segment_note_heap(struct segment *s, const struct event *ev)
{
	if (ev->type == EVENT_CREATE_HEAP) {
		if (s->heap_count == SEGMENT_HEAPS_MAX) {
			s->lacks_heap = true;
			return;
		}
		s->heaps[s->heap_count++] = (struct segment_heap){
			.id = ev->operand[0],
			.name = { ev->operand[1], ev->operand[2] },
		};
		return;
	}
	for (uint32_t i = 0; i < s->heap_count; i++) {
		if (s->heaps[i].id != ev->operand[0])
			continue;
		s->heaps[i] = s->heaps[--s->heap_count];
		return;
	}
}

static uint32_t
part_nbytes_at(const struct segment_dtds *d, uint32_t at)
{
	return (uint32_t)d->bytes[at] | (uint32_t)d->bytes[at + 1] << 8;
}

/* Does 'd' already have a copy of the part that is being added? */
static bool
has_part(const struct segment_dtds *d)
{
	uint32_t n;

	for (uint32_t at = 0; at < d->nbytes; at += 2 + n) {
		n = part_nbytes_at(d, at);
		if (n == d->part_nbytes &&
		    memcmp(&d->bytes[at + 2], &d->bytes[d->nbytes + 2], n) == 0)
			return true;
	}
	return false;
}

void
segment_note_dtd(struct segment *s, const struct event *ev)
{
	struct segment_dtds *const d = &s->dtds;
	const uint32_t n = ev->flags >> EVENT_PIECE_SHIFT;
	const uint32_t end = d->nbytes + 2 + d->part_nbytes;

	if (n > EVENT_PIECE_NBYTES)
		return;
	if (n > SEGMENT_DTDS_NBYTES - end || d->is_full) {
		if (!d->is_full)
			say("%s: the program's DTDs are too long; later "
			    "segments will lack some of them",
			    s->trace->output.path);
		d->is_full = true;
		return;
	}
	memcpy(&d->bytes[end], ev->operand, n);
	d->part_nbytes += n;
	if ((ev->flags & EVENT_FLAG_MORE) != 0)
		return;
	/* Two threads may both have recorded the DTD, so skip a second copy. */
	if (!has_part(d) &&
	    d->nbytes + 2 + d->part_nbytes + 2 <= SEGMENT_DTDS_NBYTES) {
		d->bytes[d->nbytes] = (uint8_t)d->part_nbytes;
		d->bytes[d->nbytes + 1] = (uint8_t)(d->part_nbytes >> 8);
		d->nbytes += 2 + d->part_nbytes;
	}
	d->part_nbytes = 0;
}

static bool
put_dtds(struct segment *s)
{
	const struct segment_dtds *const d = &s->dtds;
	uint32_t n;

	for (uint32_t at = 0; at < d->nbytes; at += 2 + n) {
		n = part_nbytes_at(d, at);
		if (!make_room(s))
			return false;
		narrate_dtd(&s->trace->narrator,
			    (const char *)&d->bytes[at + 2], n);
	}
	return true;
}

static bool
put_blocks(struct segment *s)
{
	const struct live_blocks *const c = &s->live;

	for (uint64_t i = 0; i < c->slot_count; i++) {
		const struct live_block *const b = &c->slots[i];

		if (b->address == 0)
			continue;
		if (!make_room(s))
			return false;
		narrate_carried_block(&s->trace->narrator, b->address, b->size,
				      b->thread, b->heap,
				      live_blocks_stack(c, i));
	}
	return true;
}

/*
 * Write the header into the open file.  In a later segment, and in a first
 * segment that is late, also write the threads, heaps, DTDs and live blocks
 * that exist already.
 */
static bool
begin(struct segment *s)
{
	struct trace *const t = s->trace;
	char buf[HEADER_LINES_NBYTES];
	struct text lines;

	if (!live_blocks_apply_queue(&s->live))
		segment_lose_track(s);
	text_init(&lines, buf, sizeof(buf));
	add_lines(s, &lines);
	t->narrator.segment = s->number;
	s->is_open = true;
	s->since_ns = t->narrator.timeline.ns1;
	s->retry_nbytes = 0;
	s->is_failing = false;

	const struct header_text header = header_extend(buf, lines.used);

	if (!trace_begin(t, header.text, header.nbytes))
		return false;
	if (s->number == 0 && !s->is_late)
		return true;
	stack_table_begin_segment();
	if (t->clock == CONFIG_CLOCK_AUTO && clock_is_stamped() &&
	    owners_table == NULL)
		narrate_begin_stamps(&t->narrator);
	put_threads(s);
	put_heaps(s);
	if (!put_dtds(s) || !put_blocks(s) || !trace_commit(t))
		return false;
	s->head_nbytes = t->output.nbytes;
	/*
	 * If there is a table of live blocks, the file now has all live blocks
	 * of the trace.  Otherwise, the file lacks the earlier blocks.
	 */
	s->is_known = s->live.slots != NULL;
	return true;
}

bool
segment_begin_first(struct segment *s)
{
	const bool done = begin(s);

	s->head_nbytes = s->trace->output.nbytes;
	if (!done)
		say("%s: %s; not tracing%s", s->trace->output.path,
		    say_errno(s->trace->error),
		    output_advice(&s->trace->output, s->trace->error,
				  s->config->begin_now));
	return done;
}

/* -------------------------------------------------------------- retention */

/*
 * Call this before the next file begins.  Remove the oldest files of 's->kept'
 * until the remaining ones, the current file and the next file are together
 * within the limits 'keep_count' and 'keep_nbytes'.  The current file, which
 * has 'nbytes', is not in 's->kept' yet.  If no file is current, 'nbytes' is 0.
 */
static void
retain(struct segment *s, uint64_t nbytes)
{
	const struct config *const c = s->config;
	/*
	 * Assume that the next file will be as large as the current file, and
	 * not smaller than 'rotate_nbytes'.
	 */
	const uint64_t next =
		nbytes > c->rotate_nbytes ? nbytes : c->rotate_nbytes;

	if (c->keep_count == 0 && c->keep_nbytes == 0)
		return;
	while (s->kept_count > 0 &&
	       ((c->keep_count != 0 && s->kept_count + 2 > c->keep_count) ||
		(c->keep_nbytes != 0 &&
		 s->kept_nbytes + nbytes + next > c->keep_nbytes) ||
		s->kept_count == SEGMENT_KEEP_MAX))
		remove_oldest(s);
}

static void
remember(struct segment *s)
{
	const struct output *const o = &s->trace->output;

	if (s->config->keep_count == 0 && s->config->keep_nbytes == 0)
		return;
	if (s->kept_count == SEGMENT_KEEP_MAX)
		remove_oldest(s);
	s->kept[(s->kept_first + s->kept_count++) % SEGMENT_KEEP_MAX] =
		(struct segment_file){ .segment = s->number,
				       .number = o->number,
				       .id = o->id,
				       .nbytes = o->nbytes };
	s->kept_nbytes += o->nbytes;
}

/* ----------------------------------------------------------------- ending */

static struct narrate_trailer
own_figures(const struct segment *s, const struct narrate_trailer *end)
{
	struct narrate_trailer own = *end;

	own.waits -= s->waits;
	own.wait_ns -= s->wait_ns;
	own.cpu_ns -= s->cpu_ns;
	return own;
}

bool
segment_end(struct segment *s, struct narrate_trailer *end)
{
	const struct narrate_trailer own = own_figures(s, end);

	return trace_finish(s->trace, &own);
}

bool
segment_end_failed(struct segment *s, const struct narrate_trailer *end)
{
	const struct narrate_trailer own = own_figures(s, end);

	return trace_finish_failed(s->trace, &own);
}

bool
segment_end_late(struct segment *s, const struct narrate_trailer *end)
{
	const struct narrate_trailer own = own_figures(s, end);

	return trace_finish_late(s->trace, &own);
}

/*
 * Call this after the trailer, or if the file gets no trailer.  Add the file to
 * the totals over the earlier segments, close the file, and prepare for the
 * next one.
 */
static void
leave(struct segment *s, const struct narrate_trailer *end)
{
	struct trace *const t = s->trace;
	const char *const base = output_base(&t->output);
	const size_t n = strlen(base);

	remember(s);
	s->waits = end->waits;
	s->wait_ns = end->wait_ns;
	s->cpu_ns = end->cpu_ns;
	s->events_before += t->narrator.event_count;
	s->lost_before += t->narrator.lost_count;
	s->bytes_before += t->output.nbytes;
	if (n < sizeof(s->previous))
		memcpy(s->previous, base, n + 1);
	if (s->config->verbose)
		say("%s: %u events, %u bytes", t->output.path,
		    t->narrator.event_count, t->output.nbytes);
	output_close(&t->output);
	s->is_open = false;
	s->number++;
	narrate_restart(&t->narrator);
}

void
segment_close(struct segment *s, const struct narrate_trailer *end)
{
	leave(s, end);
	/*
	 * No events are recorded until the next start, so the table would
	 * become wrong.
	 */
	live_blocks_fini(&s->live);
	s->is_late = true;
	s->is_known = false;
}

/*
 * Announce the name of the next file to recovery, and then create that file.
 * If the process is killed before the next commit, recovery removes that file
 * and continues with the previous file.
 */
static int
open_announced(struct output *o, uint64_t segment)
{
	int error = output_find_name(o, segment);

	if (error != 0)
		return error;
	ringfile_announce(o->path);
	error = output_open(o, segment);
	/*
	 * If another process took the announced name, announce the name that
	 * the file has instead.
	 */
	if (error == 0)
		ringfile_announce(o->path);
	return error;
}

bool
segment_open(struct segment *s)
{
	struct output *const o = &s->trace->output;
	int error;

	retain(s, 0);
	error = open_announced(o, s->number);
	if (error != 0) {
		say("%s: %s; not tracing", o->path, say_errno(error));
		return false;
	}
	if (keeps_track(s->config) && s->live.slots == NULL)
		live_blocks_init(&s->live, s->config->stack_depth != 0);
	ringfile_begin(s->config, o->path);
	if (begin(s))
		return true;
	error = s->trace->error;
	say("%s: %s; not tracing", o->path, say_errno(error));
	output_discard(o);
	narrate_restart(&s->trace->narrator);
	s->trace->error = 0;
	s->is_open = false;
	return false;
}

bool
segment_abandon(struct segment *s, const struct narrate_trailer *end)
{
	leave(s, end);
	return segment_open(s);
}

/*
 * The next file cannot be made.  Continue with the current file, unless the
 * current file was removed.
 */
static bool
go_on(struct segment *s, const struct output *next, int error, uint64_t now_ns)
{
	struct trace *const t = s->trace;

	s->retry_nbytes = t->output.nbytes + s->config->rotate_nbytes;
	s->since_ns = now_ns;
	if (output_is_removed(&t->output)) {
		say("%s: %s, and the current file %s was removed; the trace "
		    "ends now, and the program continues",
		    next->path, say_errno(error), output_base(&t->output));
		t->error = error;
		t->is_end_reported = true;
		return false;
	}
	if (!s->is_failing)
		say("%s: %s; the trace continues in %s", next->path,
		    say_errno(error), output_base(&t->output));
	s->is_failing = true;
	return true;
}

bool
segment_rotate(struct segment *s, struct narrate_trailer *end, uint64_t now_ns)
{
	MEMORY_LARGE static struct output next; /* too large for a stack */
	struct trace *const t = s->trace;
	int error;

	output_copy(&next, &t->output);
	retain(s, t->output.nbytes);
	error = open_announced(&next, s->number + 1);
	if (error != 0)
		return go_on(s, &next, error, now_ns);
	if (!segment_end(s, end)) {
		output_discard(&next);
		return false;
	}
	leave(s, end);
	output_copy(&t->output, &next);
	return begin(s);
}

bool
segment_is_due(const struct segment *s, uint64_t now_ns)
{
	const struct config *const c = s->config;
	const struct trace *const t = s->trace;
	/*
	 * Let a file grow until the live blocks at its beginning take at most
	 * half of it, even if the file then exceeds 'rotate_nbytes'.
	 */
	const uint64_t limit = c->rotate_nbytes > 2 * s->head_nbytes
				       ? c->rotate_nbytes
				       : 2 * s->head_nbytes;

	if (!s->is_open)
		return false;
	if (c->rotate_nbytes != 0 && t->output.nbytes >= limit &&
	    t->output.nbytes >= s->retry_nbytes)
		return true;
	return c->rotate_ns != 0 && now_ns - s->since_ns >= c->rotate_ns &&
	       t->narrator.event_count != 0;
}

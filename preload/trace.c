/* SPDX-License-Identifier: MIT */
/* trace.c - see trace.h */

#include "trace.h"

#include <string.h>

#include "deflate.h"
#include "say.h"
#include "text.h"

#define COARSE_US 1000u

static size_t
round_up(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

/*
 * An event is three records at most and is not cut in two by a block's end; a few
 * comments and the trailer may come on top.
 */
static size_t
block_cap(void)
{
	return TRACE_BLOCK_NBYTES + encoder_room_nbytes(NULL) +
	       3 * ENCODER_RECORD_MAX_NBYTES;
}

size_t
trace_memory_nbytes(int level)
{
	const size_t cap = block_cap();
	size_t n = round_up(cap) + round_up(encoder_memory_nbytes(NULL));

	if (level != 0)
		n += round_up(deflate_bound(cap)) +
		     round_up(deflate_work_nbytes(level));
	return n;
}

void
trace_open(struct trace *t, const struct config *config,
	   const struct output *output, void *memory, const char *header,
	   size_t header_nbytes)
{
	const size_t cap = block_cap();
	uint8_t *const buf = memory;
	uint8_t *next = buf + round_up(cap);

	memset(t, 0, sizeof(*t));
	t->output = *output;
	t->level = config->level;
	t->clock = config->clock;
	t->is_clock_noted = config->clock != CONFIG_CLOCK_AUTO;
	encoder_init(&t->encoder, buf, cap, NULL, next);
	next += round_up(encoder_memory_nbytes(NULL));
	if (t->level != 0) {
		t->member = next;
		t->member_cap = deflate_bound(cap);
		t->work = next + round_up(t->member_cap);
	}
	encoder_comment(&t->encoder, header, header_nbytes);
	clock_line_init(&t->line, clock_stamp(), sys_clock_ns(CLOCK_MONOTONIC));
}

/* The time of a stamp; never less than that of the record before. */
static uint64_t
time_of(struct trace *t, uint64_t stamp)
{
	uint64_t time;

	if (stamp == t->time_stamp || t->clock == CONFIG_CLOCK_OFF)
		return t->time;
	t->time_stamp = stamp;
	time = clock_line_ns(&t->line, stamp);
	if (t->clock != CONFIG_CLOCK_NS)
		time /= 1000;
	/* Threads are ordered by stamps that this clock need not show. */
	if (t->clock == CONFIG_CLOCK_COARSE && clock_is_stamped())
		time -= time % COARSE_US;
	if (time > t->time)
		t->time = time;
	return t->time;
}

/* Before the first record of an event: is there a block for it? */
static void
open_block(struct trace *t)
{
	if (__builtin_expect(t->in_block, 1))
		return;
	encoder_begin(&t->encoder, t->event_count, t->time);
	t->in_block = true;
	t->block_event = t->event_count;
	t->block_since_ns = t->line.ns1;
}

bool
trace_begin(struct trace *t)
{
	const int level = t->level;
	bool done;

	/* Stored, if compression is on: this thread's stack may be tiny. */
	if (level != 0)
		t->level = DEFLATE_LEVEL_STORED;
	open_block(t);
	done = trace_commit(t);
	t->level = level;
	return done;
}

static void
put_comment(struct trace *t, const struct text *text)
{
	open_block(t);
	encoder_comment(&t->encoder, text->buf, text->used);
}

/* An alloc with an attribute, which is rare. */
static void
put_special_alloc(struct trace *t, const struct thread *thread,
		  const struct event *ev)
{
	static const uint8_t zeroed[] = { HATF_ATTR_ZEROED };
	struct hatf_record rec = {
		.tag = HATF_ALLOC,
		.size = ev->operand[1],
		.address = ev->operand[0],
		.thread = thread->id,
		.time = t->time,
	};
	uint8_t attributes[16];

	if ((ev->flags & EVENT_FLAG_ZEROED) != 0) {
		rec.attributes = zeroed;
		rec.attributes_nbytes = sizeof(zeroed);
	} else {
		const struct hatf_attr_item item = {
			.key = HATF_ATTR_ALIGNMENT,
			.value = ev->operand[2],
		};
		size_t used = 0;

		hatf_attr_put(attributes, sizeof(attributes), &used, &item);
		rec.attributes = attributes;
		rec.attributes_nbytes = (uint32_t)used;
	}
	encoder_put(&t->encoder, &rec);
}

static void
put_alloc(struct trace *t, const struct thread *thread, const struct event *ev)
{
	if (__builtin_expect(ev->flags != 0 || ev->operand[2] != 0, 0))
		put_special_alloc(t, thread, ev);
	else
		encoder_put_plain(&t->encoder, HATF_ALLOC, ev->operand[1],
				  ev->operand[0], thread->id, t->time);
}

static void
put_free(struct trace *t, const struct thread *thread, uint64_t address)
{
	encoder_put_plain(&t->encoder, HATF_FREE, 0, address, thread->id,
			  t->time);
}

/* Which of the four reallocs it was: hatf/FORMAT.md, "realloc". */
static enum hatf_tag
realloc_tag(const struct event *ev)
{
	const uint64_t old_address = ev->operand[0];
	const uint64_t address = ev->operand[1];

	if ((ev->flags & EVENT_FLAG_FREED) != 0)
		return HATF_REALLOC_FREE;
	if (address == old_address || address == 0)
		return HATF_REALLOC_NO_ALLOC;
	return old_address == 0 ? HATF_REALLOC_ALLOC : HATF_REALLOC_ALLOC_FREE;
}

/* The realloc, then the alloc and the free that it announces. */
static void
put_realloc(struct trace *t, const struct thread *thread,
	    const struct event *ev)
{
	const enum hatf_tag tag = realloc_tag(ev);
	struct hatf_record rec = {
		.tag = (uint8_t)tag,
		.old_address = ev->operand[0],
		.address = ev->operand[1],
		.size = ev->operand[2],
		.thread = thread->id,
		.time = t->time,
	};

	encoder_put(&t->encoder, &rec);
	if (tag == HATF_REALLOC_ALLOC || tag == HATF_REALLOC_ALLOC_FREE) {
		rec.tag = HATF_ALLOC;
		rec.old_address = 0;
		encoder_put(&t->encoder, &rec);
	}
	if (tag == HATF_REALLOC_FREE || tag == HATF_REALLOC_ALLOC_FREE)
		put_free(t, thread, ev->operand[0]);
}

static void
put_create_thread(struct trace *t, const struct thread *thread,
		  const struct event *ev)
{
	const struct hatf_attr_item items[] = {
		{ .key = HATF_ATTR_PARENT, .value = ev->operand[0] },
		{ .key = HATF_ATTR_TID, .value = ev->operand[1] },
		{ .key = HATF_ATTR_START, .value = ev->operand[2] },
	};
	/* One that came by another way has neither parent nor function. */
	const bool known = ev->operand[2] != 0;
	uint8_t attributes[48];
	size_t used = 0;

	for (size_t i = 0; i < 3; i++)
		if (known || items[i].key == HATF_ATTR_TID)
			hatf_attr_put(attributes, sizeof(attributes), &used,
				      &items[i]);
	const struct hatf_record rec = {
		.tag = HATF_CREATE_THREAD,
		.thread = thread->id,
		.time = t->time,
		.attributes = attributes,
		.attributes_nbytes = (uint32_t)used,
	};

	encoder_put(&t->encoder, &rec);
}

static void
put_name(struct trace *t, const struct event *ev)
{
	char buf[256], name[17] = "";
	struct text text;

	memcpy(name, &ev->operand[1], 16);
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF thread\n");
	text_line_u64(&text, "thread", ev->operand[0]);
	text_line(&text, "name", name, strlen(name));
	put_comment(t, &text);
}

static void
put_fork(struct trace *t, const struct thread *thread, const struct event *ev)
{
	const uint64_t ticket = ev->operand[0];
	char buf[128];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF fork\n");
	text_line_u64(&text, "thread", thread->id);
	text_line_u64(&text, "event", t->event_count);
	text_line_u64(&text, "time", t->time);
	put_comment(t, &text);
	t->fork[ticket % TRACE_FORKS_MAX].event = t->event_count;
	/* release: pairs with the acquire in writer_await_fork(). */
	atomic_store_explicit(&t->fork[ticket % TRACE_FORKS_MAX].ticket, ticket,
			      memory_order_release);
}

void
trace_lost(struct trace *t, const struct thread *thread, uint64_t count,
	   uint64_t from, uint64_t to)
{
	char buf[256];
	struct text text;

	t->lost_count += count;
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF lost\n");
	if (thread != NULL)
		text_line_u64(&text, "thread", thread->id);
	text_line_u64(&text, "count", count);
	text_line_u64(&text, "from", time_of(t, from));
	text_line_u64(&text, "to", time_of(t, to));
	put_comment(t, &text);
}

void
trace_event(void *context, const struct thread *thread, const struct event *ev)
{
	struct trace *const t = context;

	open_block(t);
	switch (ev->type) {
	case EVENT_ALLOC:
		time_of(t, ev->stamp);
		put_alloc(t, thread, ev);
		t->event_count++;
		break;
	case EVENT_FREE:
		time_of(t, ev->stamp);
		put_free(t, thread, ev->operand[0]);
		t->event_count++;
		break;
	case EVENT_REALLOC_END:
		time_of(t, ev->stamp);
		put_realloc(t, thread, ev);
		t->event_count++;
		break;
	case EVENT_THREAD:
		time_of(t, ev->stamp);
		put_create_thread(t, thread, ev);
		break;
	case EVENT_NAME:
		put_name(t, ev);
		break;
	case EVENT_FORK:
		time_of(t, ev->stamp);
		put_fork(t, thread, ev);
		break;
	case EVENT_LOST:
		trace_lost(t, thread, ev->operand[0], ev->operand[1],
			   ev->stamp);
		break;
	default: /* begins and ticks do not come this far */
		break;
	}
}

void
trace_thread_gone(struct trace *t, const struct thread *thread, uint64_t stamp)
{
	const struct hatf_record rec = {
		.tag = HATF_DESTROY_THREAD,
		.thread = thread->id,
		.time = time_of(t, stamp),
	};

	open_block(t);
	encoder_put(&t->encoder, &rec);
}

void
trace_clock_switched(struct trace *t, uint64_t stamp)
{
	char buf[128];
	struct text text;

	t->is_clock_noted = true;
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF clock\nclock=us\n");
	text_line_u64(&text, "time", time_of(t, stamp));
	put_comment(t, &text);
}

bool
trace_is_full(const struct trace *t)
{
	return encoder_is_full(&t->encoder, TRACE_BLOCK_NBYTES);
}

bool
trace_commit(struct trace *t)
{
	const void *data = t->encoder.buf;
	size_t nbytes;

	if (!t->in_block || t->error != 0)
		return t->error == 0;
	encoder_end(&t->encoder);
	nbytes = t->encoder.used;
	if (t->level != 0) {
		nbytes = deflate_member(t->level, t->work, t->encoder.buf,
					nbytes, t->member, t->member_cap);
		data = t->member;
	}
	t->error = output_write(&t->output, data, nbytes);
	encoder_reset(&t->encoder);
	t->in_block = false;
	if (t->error == 0)
		return true;
	say("%s: %s after %u events; the trace ends here, the program goes on",
	    t->output.path, say_errno(t->error), t->block_event);
	return false;
}

bool
trace_finish(struct trace *t, const struct trace_end *end)
{
	char buf[512];
	struct text text;

	open_block(t);
	encoder_flush(&t->encoder);
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF end\n");
	text_line_u64(&text, "complete", t->lost_count == 0);
	text_line(&text, "end", end->name, strlen(end->name));
	text_line_u64(&text, "events", t->event_count);
	text_line_u64(&text, "records", encoder_data_records(&t->encoder));
	text_line_u64(&text, "lost", t->lost_count);
	text_line_u64(&text, "threads", end->threads);
	text_line_u64(&text, "waits", end->waits);
	text_line_u64(&text, "wait_ns", end->wait_ns);
	text_line_u64(&text, "time", t->time);
	text_line_u64(&text, "hatf_bytes",
		      t->encoder.stream_nbytes + t->encoder.used);
	text_line_u64(&text, "cpu_ns", end->cpu_ns);
	put_comment(t, &text);
	return trace_commit(t);
}

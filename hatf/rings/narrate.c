/* SPDX-License-Identifier: MIT */
/* narrate.c - see narrate.h */

#include "hatf/rings/narrate.h"

#include <stddef.h>
#include <string.h>

#include "hatf/codec/comment_text.h"

static size_t
round_up(size_t nbytes)
{
	return (nbytes + 63) & ~(size_t)63;
}

static size_t
buffer_nbytes(void)
{
	return NARRATE_BUFFER_NBYTES(encoder_room_nbytes(NULL));
}

size_t
narrate_memory_nbytes(void)
{
	return round_up(buffer_nbytes()) +
	       round_up(encoder_memory_nbytes(NULL));
}

void
narrate_init(struct narrator *n, void *memory)
{
	uint8_t *const buf = memory;
	const size_t cap = buffer_nbytes();

	/* The encoder sees to its own: much of it is written when it is used. */
	memset((uint8_t *)n + offsetof(struct narrator, line), 0,
	       sizeof(*n) - offsetof(struct narrator, line));
	n->unit_ns = 1;
	n->grain = 1;
	n->step = NARRATE_STEP;
	encoder_init(&n->encoder, buf, cap, NULL, buf + round_up(cap));
}

void
narrate_restart(struct narrator *n)
{
	struct encoder *const e = &n->encoder;
	uint8_t *const buf = e->buf;
	const size_t cap = e->cap;
	const bool has_sums = e->has_sums;

	encoder_init(e, buf, cap, NULL, buf + round_up(cap));
	e->has_sums = has_sums;
	n->event_count = 0;
	n->block_event = 0;
	n->lost_count = 0;
	n->is_stamped = false;
	n->step = NARRATE_STEP;
	n->tick_stamp = 0;
}

/* How far back the long line goes, at least, when it has become so long. */
#define FAR_NS 100000000ull

void
narrate_start_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns)
{
	line_init(&n->line, stamp, now_ns);
	n->far = n->line;
}

void
narrate_read_clock(struct narrator *n, uint64_t stamp, uint64_t now_ns)
{
	line_add(&n->line, stamp, now_ns, 0);
	line_add(&n->far, stamp, now_ns, FAR_NS);
}

/*
 * The moment of a stamp, in ns since the start.  An event with a stamp from
 * before the last two readings was held up, by a realloc under way or because
 * its thread did not run.  It was published after those readings, so the time
 * of the older one is not too late for it.
 */
static uint64_t
ns_of(const struct narrator *n, uint64_t stamp)
{
	uint64_t ns, latest;

	if (stamp >= n->line.stamp0)
		return line_ns(&n->line, stamp);
	ns = line_ns(&n->far, stamp);
	latest = n->line.ns0 - n->line.start_ns;
	return ns < latest ? ns : latest;
}

/* How many stamps from this one on, at 'ns', are within the same unit of time? */
static uint64_t
count_same(const struct narrator *n, uint64_t ns)
{
	const uint64_t unit_ns = n->unit_ns * n->grain;
	uint64_t left_ns;
	double count;

	if (unit_ns == 1 || n->line.slope <= 0)
		return 0;
	left_ns = unit_ns - 1 - ns % unit_ns;
	if (left_ns < 2)
		return 0;
	/* One less, for what rounding may do. */
	count = (double)(left_ns - 1) / n->line.slope;
	/* A slope from a file may be anything above 0. */
	return count < 0x1p63 ? (uint64_t)count : 1ull << 63;
}

/* Convert nanoseconds since the start into the trace's unit, which is not 0. */
static uint64_t
in_units(const struct narrator *n, uint64_t ns)
{
	const uint64_t time = n->unit_ns != 1 ? ns / 1000 : ns;

	/* Threads are ordered by stamps that this clock need not show. */
	return n->grain != 1 ? time - time % n->grain : time;
}

/*
 * The time of a stamp, for a comment: not earlier than the record before.
 * Unlike time_of() it leaves n->time alone, since a comment about a later
 * moment must not make the next records late.
 */
static uint64_t
time_at(const struct narrator *n, uint64_t stamp)
{
	const uint64_t time =
		n->unit_ns != 0 ? in_units(n, ns_of(n, stamp)) : 0;

	return time > n->time ? time : n->time;
}

/* The time of a stamp; never less than that of the record before. */
static uint64_t
time_of(struct narrator *n, uint64_t stamp)
{
	uint64_t ns, time;

	if (stamp == n->time_stamp || n->unit_ns == 0)
		return n->time;
	n->time_stamp = stamp;
	if (stamp - n->same_from < n->same_count &&
	    n->line.stamp1 == n->same_line)
		return n->time;
	ns = ns_of(n, stamp);
	n->same_from = stamp;
	n->same_line = n->line.stamp1;
	n->same_count = count_same(n, ns);
	time = in_units(n, ns);
	if (time > n->time)
		n->time = time;
	return n->time;
}

void
narrate_open_block(struct narrator *n)
{
	if (__builtin_expect(n->in_block, 1))
		return;
	encoder_begin(&n->encoder, n->event_count, n->time);
	n->in_block = true;
	n->block_event = n->event_count;
	n->block_lost = n->lost_count;
	n->block_time = n->time;
	n->block_time_stamp = n->time_stamp;
	n->block_is_stamped = n->is_stamped;
	n->block_step = n->step;
	n->block_since_ns = n->line.ns1;
}

uint64_t
narrate_cancel_block(struct narrator *n)
{
	uint64_t missing;

	if (!n->in_block)
		return 0;
	missing =
		n->event_count - n->block_event + n->lost_count - n->block_lost;
	encoder_cancel(&n->encoder);
	n->in_block = false;
	n->event_count = n->block_event;
	n->lost_count = n->block_lost;
	n->time = n->block_time;
	n->same_count = 0;
	n->time_stamp = n->block_time_stamp;
	n->is_stamped = n->block_is_stamped;
	n->step = n->block_step;
	n->tick_stamp = 0;
	return missing;
}

static void
put_comment(struct narrator *n, const struct text *text)
{
	narrate_open_block(n);
	encoder_comment(&n->encoder, text->buf, text->used);
}

/* Put a comment: how times are taken from here on. */
static void
put_clock(struct narrator *n, const char *name)
{
	char buf[128];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF clock\n");
	text_line(&text, "clock", name, strlen(name));
	text_line_u64(&text, "time", n->time);
	if (!n->is_stamped && n->step != NARRATE_STEP)
		text_line_u64(&text, "step", n->step);
	put_comment(n, &text);
}

void
narrate_stamped(struct narrator *n)
{
	if (n->is_stamped)
		return;
	n->is_stamped = true;
	put_clock(n, "us");
}

/* Put a smaller step once no tick has needed the larger one for so long. */
#define STEP_TIME 1000000u

/* How early the time of an event can be that has the tick 'stamp', in units. */
static uint64_t
step_of_tick(const struct narrator *n, uint64_t stamp)
{
	const uint64_t since_ns = ns_of(n, stamp);
	const uint64_t lasted_ns =
		n->ticks_end_ns > since_ns ? n->ticks_end_ns - since_ns : 0;
	uint64_t step = NARRATE_STEP;

	/* One unit for rounding down, what the grain cuts off, and one to
	 * spare. */
	while (step < lasted_ns / 1000 + n->grain + 2)
		step *= 2;
	return step;
}

/*
 * The next event has the time of the tick 'stamp'.  Put a comment that says so,
 * and how long ticks last if that is longer than the trace has said, unless
 * there is nothing new to say.
 */
static void
see_tick(struct narrator *n, uint64_t stamp)
{
	uint64_t step;
	bool is_less;

	if (__builtin_expect(stamp == n->tick_stamp && !n->is_stamped, 1))
		return;
	n->tick_stamp = stamp;
	/* Only traces in microseconds have ticks; one without times says
	 * nothing. */
	if (n->unit_ns != 1000)
		return;
	step = step_of_tick(n, stamp);
	is_less = step < n->step && n->time - n->step_time >= STEP_TIME;
	if (step >= n->step)
		n->step_time = n->time;
	if (step <= n->step && !is_less && !n->is_stamped)
		return;
	if (step > n->step || is_less)
		n->step = step;
	n->is_stamped = false;
	put_clock(n, "coarse");
}

static void
begin_event(struct narrator *n, const struct event *ev)
{
	narrate_open_block(n);
	if (ev->by_tick)
		see_tick(n, ev->stamp);
}

/* An alloc of a heap, or with an attribute, which is rare. */
static void
put_special_alloc(struct narrator *n, const struct order_source *source,
		  const struct event *ev, uint64_t heap, uint64_t alignment)
{
	const struct hatf_attr_item zeroed = { .key = HATF_ATTR_ZEROED };
	const struct hatf_attr_item aligned = {
		.key = HATF_ATTR_ALIGNMENT,
		.value = alignment,
	};
	uint8_t attributes[16];
	size_t used = 0;

	if ((ev->flags & EVENT_FLAG_ZEROED) != 0)
		hatf_attr_put(attributes, sizeof(attributes), &used, &zeroed);
	if (alignment != 0)
		hatf_attr_put(attributes, sizeof(attributes), &used, &aligned);

	const struct hatf_record rec = {
		.tag = HATF_ALLOC,
		.size = ev->operand[1],
		.address = ev->operand[0],
		.thread = source->id,
		.heap = heap,
		.time = n->time,
		.attributes = attributes,
		.attributes_nbytes = (uint32_t)used,
	};

	encoder_put(&n->encoder, &rec);
}

static void
put_alloc(struct narrator *n, const struct order_source *source,
	  const struct event *ev)
{
	if (__builtin_expect(ev->flags != 0 || ev->operand[2] != 0, 0))
		put_special_alloc(n, source, ev, 0, ev->operand[2]);
	else
		encoder_put_plain(&n->encoder, HATF_ALLOC, ev->operand[1],
				  ev->operand[0], source->id, n->time);
}

static void
put_free(struct narrator *n, const struct order_source *source,
	 uint64_t address)
{
	encoder_put_plain(&n->encoder, HATF_FREE, 0, address, source->id,
			  n->time);
}

/* Which of the four reallocs it was: hatf/FORMAT.md, "Realloc". */
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
put_realloc_records(struct narrator *n, const struct hatf_record *realloc)
{
	const uint8_t tag = realloc->tag;
	struct hatf_record part = *realloc;

	encoder_put(&n->encoder, realloc);
	part.old_address = 0;
	if (tag == HATF_REALLOC_ALLOC || tag == HATF_REALLOC_ALLOC_FREE) {
		part.tag = HATF_ALLOC;
		encoder_put(&n->encoder, &part);
	}
	if (tag == HATF_REALLOC_FREE || tag == HATF_REALLOC_ALLOC_FREE) {
		part.tag = HATF_FREE;
		part.size = 0;
		part.address = realloc->old_address;
		encoder_put(&n->encoder, &part);
	}
}

static void
put_realloc(struct narrator *n, const struct order_source *source,
	    const struct event *ev)
{
	const enum hatf_tag tag = realloc_tag(ev);
	const struct hatf_record rec = {
		.tag = (uint8_t)tag,
		.old_address = ev->operand[0],
		.address = ev->operand[1],
		.size = ev->operand[2],
		.thread = source->id,
		.time = n->time,
	};

	put_realloc_records(n, &rec);
}

static void
put_create_thread(struct narrator *n, uint64_t thread, const uint64_t *operand,
		  bool is_carried)
{
	const struct hatf_attr_item items[] = {
		{ .key = HATF_ATTR_PARENT, .value = operand[0] },
		{ .key = HATF_ATTR_TID, .value = operand[1] },
		{ .key = HATF_ATTR_START, .value = operand[2] },
	};
	/* One that came by another way has neither parent nor function. */
	const bool known = operand[2] != 0;
	uint8_t attributes[48] = { HATF_ATTR_CARRIED };
	size_t used = is_carried;

	for (size_t i = 0; i < 3; i++)
		if (known || items[i].key == HATF_ATTR_TID)
			hatf_attr_put(attributes, sizeof(attributes), &used,
				      &items[i]);
	const struct hatf_record rec = {
		.tag = HATF_CREATE_THREAD,
		.thread = thread,
		.time = n->time,
		.attributes = attributes,
		.attributes_nbytes = (uint32_t)used,
	};

	encoder_put(&n->encoder, &rec);
}

void
narrate_carried_thread(struct narrator *n, uint64_t thread,
		       const uint64_t *operand)
{
	narrate_open_block(n);
	put_create_thread(n, thread, operand, true);
}

void
narrate_carried_block(struct narrator *n, uint64_t address, uint64_t size,
		      uint64_t thread, uint64_t heap)
{
	static const uint8_t carried[] = { HATF_ATTR_CARRIED };
	const struct hatf_record rec = {
		.tag = HATF_ALLOC,
		.size = size,
		.address = address,
		.thread = thread,
		.heap = heap,
		.time = n->time,
		.attributes = carried,
		.attributes_nbytes = sizeof(carried),
	};

	narrate_open_block(n);
	encoder_put(&n->encoder, &rec);
}

void
narrate_name(struct narrator *n, uint64_t thread, const uint64_t *name)
{
	char buf[256], string[17] = "";
	struct text text;

	memcpy(string, name, 16);
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF thread\n");
	text_line_u64(&text, "thread", thread);
	text_line(&text, "name", string, strlen(string));
	put_comment(n, &text);
}

/* A realloc that was under way during a fork. */
static void
put_moving(struct narrator *n, const struct order_source *source,
	   const struct event *ev)
{
	char buf[192];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF realloc\n");
	text_line_u64(&text, "thread", source->id);
	text_line_u64(&text, "fork", ev->operand[2]);
	text_line_u64(&text, "old", ev->operand[0]);
	if (ev->operand[1] != 0)
		text_line_u64(&text, "address", ev->operand[1]);
	put_comment(n, &text);
}

static void
put_fork(struct narrator *n, const struct order_source *source,
	 const struct event *ev)
{
	const uint64_t ticket = ev->operand[0];
	const bool after = (ev->flags & EVENT_FLAG_FORKED) != 0;
	char buf[192];
	struct text text;

	if (ev->type == EVENT_REALLOC_BEGIN) {
		put_moving(n, source, ev);
		return;
	}
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF fork\n");
	text_line_u64(&text, "thread", source->id);
	text_line_u64(&text, "fork", ticket);
	if (after)
		text_line_u64(&text, "forked", 1);
	text_line_u64(&text, "event", n->event_count);
	text_line_u64(&text, "time", n->time);
	put_comment(n, &text);
	if (after)
		return;
	n->fork[ticket % NARRATE_FORKS_MAX].segment = n->segment;
	n->fork[ticket % NARRATE_FORKS_MAX].event = n->event_count;
	/* release: pairs with the acquire in writer_await_fork(). */
	atomic_store_explicit(&n->fork[ticket % NARRATE_FORKS_MAX].ticket,
			      ticket, memory_order_release);
}

void
narrate_lost(struct narrator *n, const struct order_source *source,
	     uint64_t count, uint64_t from, uint64_t to)
{
	char buf[256];
	struct text text;

	n->lost_count += count;
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF lost\n");
	if (source != NULL)
		text_line_u64(&text, "thread", source->id);
	text_line_u64(&text, "count", count);
	text_line_u64(&text, "from", time_at(n, from));
	text_line_u64(&text, "to", time_at(n, to));
	put_comment(n, &text);
}

static void
put_heap(struct narrator *n, enum hatf_tag tag, uint64_t thread, uint64_t heap,
	 const uint64_t *name, bool carried)
{
	const uint8_t *const text = (const uint8_t *)name;
	const struct hatf_attr_item items[] = {
		{ .key = HATF_ATTR_CARRIED },
		{ .key = HATF_ATTR_NAME,
		  .text = text,
		  .text_nbytes =
			  name != NULL ? strnlen((const char *)name, 16) : 0 },
	};
	uint8_t attributes[32];
	size_t used = 0;

	if (carried)
		hatf_attr_put(attributes, sizeof(attributes), &used, &items[0]);
	if (items[1].text_nbytes != 0)
		hatf_attr_put(attributes, sizeof(attributes), &used, &items[1]);

	const struct hatf_record rec = {
		.tag = (uint8_t)tag,
		.heap = heap,
		.thread = thread,
		.time = n->time,
		.attributes = attributes,
		.attributes_nbytes = (uint32_t)used,
	};

	narrate_open_block(n);
	encoder_put(&n->encoder, &rec);
}

void
narrate_carried_heap(struct narrator *n, uint64_t heap, const uint64_t *name)
{
	put_heap(n, HATF_CREATE_HEAP, 0, heap, name, true);
}

/* What a pool has done: the same records as malloc's, but for the heap. */
static void
put_pool(struct narrator *n, const struct order_source *source,
	 const struct event *ev)
{
	const uint64_t *const o = ev->operand;
	struct hatf_record rec = { .thread = source->id, .time = n->time };

	switch (ev->type) {
	case EVENT_POOL_ALLOC:
		put_special_alloc(n, source, ev, o[2], o[3]);
		return;
	case EVENT_POOL_FREE:
		rec.tag = HATF_FREE;
		rec.address = o[0];
		rec.heap = o[1];
		break;
	default:
		rec.tag = (uint8_t)realloc_tag(ev);
		rec.old_address = o[0];
		rec.address = o[1];
		rec.size = o[2];
		rec.heap = o[3];
		put_realloc_records(n, &rec);
		return;
	}
	encoder_put(&n->encoder, &rec);
}

/* A piece of a mark; with the last one it is written. */
static void
put_mark(struct narrator *n, const struct order_source *source,
	 const struct event *ev)
{
	const char *const piece = (const char *)ev->operand;
	const size_t nbytes = strnlen(piece, sizeof(ev->operand));
	char buf[4 * NARRATE_MARK_NBYTES + 256];
	struct text text;

	if (nbytes <= sizeof(n->mark) - n->mark_nbytes) {
		memcpy(n->mark + n->mark_nbytes, piece, nbytes);
		n->mark_nbytes += (uint32_t)nbytes;
	}
	if ((ev->flags & EVENT_FLAG_MORE) != 0)
		return;
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF mark\n");
	text_line_u64(&text, "thread", source->id);
	text_line_u64(&text, "time", n->time);
	text_line(&text, "text", n->mark, n->mark_nbytes);
	n->mark_nbytes = 0;
	put_comment(n, &text);
}

/* Events that no program has often. */
static void
tell_rare(struct narrator *n, const struct order_source *source,
	  const struct event *ev)
{
	switch (ev->type) {
	case EVENT_NAME:
		narrate_name(n, ev->operand[0], &ev->operand[1]);
		break;
	case EVENT_LOST:
		narrate_lost(n, source, ev->operand[0], ev->operand[1],
			     ev->stamp);
		break;
	case EVENT_HEAP:
		time_of(n, ev->stamp);
		put_heap(n, HATF_CREATE_HEAP, source->id, ev->operand[0],
			 &ev->operand[1], false);
		break;
	case EVENT_HEAP_GONE:
		time_of(n, ev->stamp);
		put_heap(n, HATF_DESTROY_HEAP, source->id, ev->operand[0], NULL,
			 false);
		break;
	case EVENT_MARK:
		time_of(n, ev->stamp);
		put_mark(n, source, ev);
		break;
	case EVENT_HANDOVER:
		narrate_thread_gone(n, source, ev->stamp);
		break;
	default: /* ticks do not come this far */
		break;
	}
}

void
narrate_event(void *context, const struct order_source *source,
	      const struct event *ev)
{
	struct narrator *const n = context;

	begin_event(n, ev);
	switch (ev->type) {
	case EVENT_ALLOC:
		time_of(n, ev->stamp);
		put_alloc(n, source, ev);
		n->event_count++;
		break;
	case EVENT_FREE:
		time_of(n, ev->stamp);
		put_free(n, source, ev->operand[0]);
		n->event_count++;
		break;
	case EVENT_REALLOC_END:
		time_of(n, ev->stamp);
		put_realloc(n, source, ev);
		n->event_count++;
		break;
	case EVENT_THREAD:
		time_of(n, ev->stamp);
		put_create_thread(n, source->id, ev->operand, false);
		break;
	case EVENT_REALLOC_BEGIN:
	case EVENT_FORK:
		time_of(n, ev->stamp);
		put_fork(n, source, ev);
		break;
	case EVENT_POOL_ALLOC:
	case EVENT_POOL_FREE:
	case EVENT_POOL_REALLOC:
		time_of(n, ev->stamp);
		put_pool(n, source, ev);
		n->event_count++;
		break;
	default:
		tell_rare(n, source, ev);
	}
}

size_t
narrate_run(void *context, const struct order_source *source,
	    const uint64_t *words, size_t n, uint64_t stamp)
{
	struct narrator *const to = context;
	struct encoder_run run;
	size_t done = 0;

	_Static_assert((unsigned)EVENT_KIND_ALLOC == (unsigned)HATF_ALLOC &&
			       (unsigned)EVENT_KIND_FREE == (unsigned)HATF_FREE,
		       "a kind is a tag");
	if (!to->in_block)
		return 0;
	see_tick(to, stamp);

	const uint64_t time = time_of(to, stamp);
	const size_t room = encoder_window_left(&to->encoder);

	if (n > room)
		n = room;
	if (encoder_begin_run(&to->encoder, source->id, time, &run)) {
		while (done < n &&
		       encoder_run_put(
			       &run, (unsigned)(words[done] & EVENT_KIND_MASK),
			       words[done] >> EVENT_SIZE_SHIFT,
			       words[done] & ~EVENT_ADDRESS_REST))
			done++;
		encoder_end_run(&to->encoder, &run);
	}
	for (; done < n; done++)
		encoder_put_plain(
			&to->encoder, (uint8_t)(words[done] & EVENT_KIND_MASK),
			words[done] >> EVENT_SIZE_SHIFT,
			words[done] & ~EVENT_ADDRESS_REST, source->id, time);
	to->event_count += n;
	return n;
}

void
narrate_thread_gone(struct narrator *n, const struct order_source *source,
		    uint64_t stamp)
{
	const struct hatf_record rec = {
		.tag = HATF_DESTROY_THREAD,
		.thread = source->id,
		.time = time_of(n, stamp),
	};

	narrate_open_block(n);
	encoder_put(&n->encoder, &rec);
}

bool
narrate_is_full(const struct narrator *n)
{
	return encoder_is_full(&n->encoder, NARRATE_BLOCK_NBYTES);
}

void
narrate_end(struct narrator *n, const struct narrate_end *end)
{
	char buf[NARRATE_END_NBYTES];
	struct text text;

	narrate_open_block(n);
	encoder_flush(&n->encoder);
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF end\n");
	text_line_u64(&text, "complete",
		      n->lost_count == 0 && !end->is_early &&
			      !end->is_incomplete && end->missed == NULL);
	text_line(&text, "end", end->name, strlen(end->name));
	if (end->error != NULL)
		text_line(&text, "error", end->error, strlen(end->error));
	if (end->missed != NULL)
		text_line(&text, "missed", end->missed, strlen(end->missed));
	text_line_u64(&text, "events", n->event_count);
	text_line_u64(&text, "records", encoder_data_records(&n->encoder));
	text_line_u64(&text, "lost", n->lost_count);
	text_line_u64(&text, "threads", end->threads);
	text_line_u64(&text, "waits", end->waits);
	text_line_u64(&text, "wait_ns", end->wait_ns);
	text_line_u64(&text, "time", n->time);
	text_line_u64(&text, "hatf_bytes",
		      n->encoder.stream_nbytes + n->encoder.used);
	text_line_u64(&text, "cpu_ns", end->cpu_ns);
	if (end->is_recovered)
		text_line_u64(&text, "recovered", end->recovered);
	encoder_trailer(&n->encoder, &text);
}

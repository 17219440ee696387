/* SPDX-License-Identifier: MIT */
/*
 * narrate.c - see narrate.h; narrate_comments.c and this file call each other
 */

#include "hatf/rings/narrate.h"

#include "hatf/rings/narrate_comments.h"
#include "hatf/rings/narrate_run.h"
#include "hatf/rings/narrate_stacks.h"
#include "hatf/rings/narrate_time.h"

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
	n->block_since_ns = n->timeline.ns1;
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
	/*
	 * The discarded block may have contained definitions of stacks.  Forget
	 * which stacks are defined, so that the narrator defines them again.  A
	 * trace may repeat a definition.
	 */
	narrate_forget_stacks(n);
	return missing;
}

void
narrate_begin_stamps(struct narrator *n)
{
	if (n->is_stamped)
		return;
	n->is_stamped = true;
	narrate_put_clock(n, "us");
}

/*
 * If no tick has needed the present step for this many microseconds, announce a
 * smaller step.
 */
#define STEP_TIME 1000000u

/*
 * An event with the tick 'stamp' may have happened later than its time in the
 * trace.  Return the maximum delay, in the trace's unit, rounded up to
 * NARRATE_STEP times a power of two.
 */
static uint64_t
step_of_tick(const struct narrator *n, uint64_t stamp, bool is_brief)
{
	const uint64_t since_ns = narrate_ns_of(n, stamp);
	const uint64_t lasted_ns = n->ticks_end_ns > since_ns && !is_brief
					   ? n->ticks_end_ns - since_ns
					   : 0;
	uint64_t step = NARRATE_STEP;

	/*
	 * Add the grain and one unit, because the event's time and 'lasted_ns'
	 * / 1000 are rounded down.  Add another unit as a reserve.
	 */
	while (step < lasted_ns / 1000 + n->grain + 2)
		step *= 2;
	return step;
}

/*
 * Prepare for an event that gets the time of the tick 'stamp'.  In a trace in
 * microseconds, put a clock comment in three cases: the last clock comment says
 * that events have their own times; the tick needs a larger step than n->step;
 * or the tick needs a smaller step than n->step, and no tick has needed n->step
 * for STEP_TIME.
 */
static void
note_tick(struct narrator *n, uint64_t stamp, bool is_brief)
{
	uint64_t step;
	bool is_less;

	if (__builtin_expect(stamp == n->tick_stamp && !n->is_stamped, 1))
		return;
	n->tick_stamp = stamp;
	/* Only traces in microseconds have clock comments. */
	if (n->unit_ns != 1000)
		return;
	step = step_of_tick(n, stamp, is_brief);
	is_less = step < n->step && n->time - n->step_time >= STEP_TIME;
	if (step >= n->step)
		n->step_time = n->time;
	if (step <= n->step && !is_less && !n->is_stamped)
		return;
	if (step > n->step || is_less)
		n->step = step;
	n->is_stamped = false;
	narrate_put_clock(n, "coarse");
}

static void
begin_event(struct narrator *n, const struct event *ev)
{
	narrate_open_block(n);
	if (ev->by_tick)
		note_tick(n, ev->stamp, ev->by_brief_tick);
}

/*
 * Unless 'stack' is 0 (no stack), define the call stack, and append the
 * attribute that refers to it.
 */
static void
put_stack_attribute(struct narrator *n, uint32_t stack, uint8_t *attributes,
		    size_t cap, size_t *used)
{
	const struct hatf_attr_item item = {
		.key = HATF_ATTR_STACK,
		.value = stack,
	};

	if (n->stacks == NULL || stack == 0)
		return;
	narrate_define_stack(n, stack);
	hatf_attr_put(attributes, cap, used, &item);
}

/* Slow path: put an alloc that belongs to a heap or has attributes. */
static void
put_special_alloc(struct narrator *n, const struct order_producer *producer,
		  const struct event *ev, uint64_t heap, uint64_t alignment)
{
	const struct hatf_attr_item zeroed = { .key = HATF_ATTR_ZEROED };
	const struct hatf_attr_item aligned = {
		.key = HATF_ATTR_ALIGNMENT,
		.value = alignment,
	};
	uint8_t attributes[32];
	size_t used = 0;

	if ((ev->flags & EVENT_FLAG_ZEROED) != 0)
		hatf_attr_put(attributes, sizeof(attributes), &used, &zeroed);
	if (alignment != 0)
		hatf_attr_put(attributes, sizeof(attributes), &used, &aligned);
	put_stack_attribute(n, producer->stack, attributes, sizeof(attributes),
			    &used);

	const struct hatf_record rec = {
		.tag = HATF_ALLOC,
		.size = ev->operand[1],
		.address = ev->operand[0],
		.thread = producer->id,
		.heap = heap,
		.time = n->time,
		.attributes = attributes,
		.attributes_nbytes = (uint32_t)used,
	};

	encoder_put(&n->encoder, &rec);
}

static void
put_alloc(struct narrator *n, const struct order_producer *producer,
	  const struct event *ev)
{
	if (__builtin_expect(
		    ev->flags != 0 || ev->operand[2] != 0 ||
			    (n->stacks != NULL && producer->stack != 0),
		    0))
		put_special_alloc(n, producer, ev, 0, ev->operand[2]);
	else
		encoder_put_plain(&n->encoder, HATF_ALLOC, ev->operand[1],
				  ev->operand[0], producer->id, n->time);
}

/* Put a free; 'heap' is 0 for malloc's heap. */
static void
put_free(struct narrator *n, const struct order_producer *producer,
	 uint64_t address, uint64_t heap)
{
	uint8_t attributes[16];
	size_t used = 0;

	if (n->stacks != NULL && n->stacks->has_frees)
		put_stack_attribute(n, producer->stack, attributes,
				    sizeof(attributes), &used);
	if (used != 0 || heap != 0) {
		const struct hatf_record rec = {
			.tag = HATF_FREE,
			.address = address,
			.thread = producer->id,
			.heap = heap,
			.time = n->time,
			.attributes = attributes,
			.attributes_nbytes = (uint32_t)used,
		};

		encoder_put(&n->encoder, &rec);
		return;
	}
	encoder_put_plain(&n->encoder, HATF_FREE, 0, address, producer->id,
			  n->time);
}

/* Return the tag of the realloc: one of four, see hatf/FORMAT.md, "Realloc". */
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

/* Put the realloc, then the alloc and free records that it announces. */
static void
put_realloc_records(struct narrator *n, const struct order_producer *producer,
		    const struct hatf_record *realloc)
{
	const uint8_t tag = realloc->tag;
	struct hatf_record whole = *realloc, part = *realloc;
	uint8_t attributes[16];
	size_t used = 0;

	put_stack_attribute(n, producer->stack, attributes, sizeof(attributes),
			    &used);
	whole.attributes = attributes;
	whole.attributes_nbytes = (uint32_t)used;
	encoder_put(&n->encoder, &whole);
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
put_realloc(struct narrator *n, const struct order_producer *producer,
	    const struct event *ev)
{
	const enum hatf_tag tag = realloc_tag(ev);
	struct hatf_record rec = {
		.tag = (uint8_t)tag,
		.old_address = ev->operand[0],
		.address = ev->operand[1],
		.size = ev->operand[2],
		.thread = producer->id,
		.time = n->time,
	};

	put_realloc_records(n, producer, &rec);
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
	/*
	 * If the recorder did not see the pthread_create() that made the
	 * thread, the recorder knows only the tid.
	 */
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
		      uint64_t thread, uint64_t heap, uint32_t stack)
{
	uint8_t attributes[16] = { HATF_ATTR_CARRIED };
	size_t used = 1;

	narrate_open_block(n);
	put_stack_attribute(n, stack, attributes, sizeof(attributes), &used);

	const struct hatf_record rec = {
		.tag = HATF_ALLOC,
		.size = size,
		.address = address,
		.thread = thread,
		.heap = heap,
		.time = n->time,
		.attributes = attributes,
		.attributes_nbytes = (uint32_t)used,
	};

	encoder_put(&n->encoder, &rec);
}

static void
put_heap_record(struct narrator *n, enum hatf_tag tag, uint64_t thread,
		uint64_t heap, const uint64_t *name, bool carried)
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
	put_heap_record(n, HATF_CREATE_HEAP, 0, heap, name, true);
}

/* Put the records of an event of a heap; each record has the heap's id. */
static void
put_heap_event(struct narrator *n, const struct order_producer *producer,
	       const struct event *ev)
{
	const uint64_t *const o = ev->operand;
	struct hatf_record rec = { .thread = producer->id, .time = n->time };

	switch (ev->type) {
	case EVENT_HEAP_ALLOC:
		put_special_alloc(n, producer, ev, o[2], o[3]);
		return;
	case EVENT_HEAP_FREE:
		put_free(n, producer, o[0], o[1]);
		return;
	default:
		rec.tag = (uint8_t)realloc_tag(ev);
		rec.old_address = o[0];
		rec.address = o[1];
		rec.size = o[2];
		rec.heap = o[3];
		put_realloc_records(n, producer, &rec);
	}
}

/* Narrate an event of a type that is rare. */
static void
put_rare(struct narrator *n, const struct order_producer *producer,
	 const struct event *ev)
{
	switch (ev->type) {
	case EVENT_NAME:
		narrate_name(n, ev->operand[0], &ev->operand[1]);
		break;
	case EVENT_LOST:
		narrate_lost(n, producer, ev->operand[0], ev->operand[1],
			     ev->stamp);
		break;
	case EVENT_CREATE_HEAP:
		narrate_time_of(n, ev->stamp);
		put_heap_record(n, HATF_CREATE_HEAP, producer->id,
				ev->operand[0], &ev->operand[1], false);
		break;
	case EVENT_DESTROY_HEAP:
		narrate_time_of(n, ev->stamp);
		put_heap_record(n, HATF_DESTROY_HEAP, producer->id,
				ev->operand[0], NULL, false);
		break;
	case EVENT_MARK:
	case EVENT_CLIENT:
	case EVENT_CLIENT_DTD:
		narrate_time_of(n, ev->stamp);
		narrate_put_piece(n, producer, ev);
		break;
	case EVENT_HANDOVER:
		narrate_thread_end(n, producer, ev->stamp);
		break;
	case EVENT_STACK_NODE:
	case EVENT_OBJECT:
	case EVENT_OBJECT_TEXT:
		narrate_put_definition(n, ev);
		break;
	default: /* Not reached: order_round() passes no tick to the sink */
		break;
	}
}

void
narrate_event(void *context, const struct order_producer *producer,
	      const struct event *ev)
{
	struct narrator *const n = context;

	begin_event(n, ev);
	switch (ev->type) {
	case EVENT_ALLOC:
		narrate_time_of(n, ev->stamp);
		put_alloc(n, producer, ev);
		n->event_count++;
		break;
	case EVENT_FREE:
		narrate_time_of(n, ev->stamp);
		put_free(n, producer, ev->operand[0], 0);
		n->event_count++;
		break;
	case EVENT_REALLOC_END:
		narrate_time_of(n, ev->stamp);
		put_realloc(n, producer, ev);
		n->event_count++;
		break;
	case EVENT_THREAD:
		narrate_time_of(n, ev->stamp);
		put_create_thread(n, producer->id, ev->operand, false);
		break;
	/*
	 * For an EVENT_REALLOC_BEGIN, narrate_put_fork() writes the comment
	 * about a realloc that was in progress during a fork.
	 */
	case EVENT_REALLOC_BEGIN:
	case EVENT_FORK:
		narrate_time_of(n, ev->stamp);
		narrate_put_fork(n, producer, ev);
		break;
	case EVENT_HEAP_ALLOC:
	case EVENT_HEAP_FREE:
	case EVENT_HEAP_REALLOC:
		narrate_time_of(n, ev->stamp);
		put_heap_event(n, producer, ev);
		n->event_count++;
		break;
	default:
		put_rare(n, producer, ev);
	}
}

/* Does the run have an alloc or a free, and not only EVENT_STACK words? */
static bool
has_event(const struct order_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if ((run->words[i] & EVENT_KIND_MASK) <= HATF_FREE)
			return true;
	return false;
}

size_t
narrate_run(void *context, const struct order_producer *producer,
	    struct order_run *run)
{
	struct narrator *const n = context;
	size_t taken;

	if (!n->in_block || !narrate_can_take_run(n))
		return 0;
	if (run->is_stamped)
		return narrate_put_stamped_run(n, producer->id, run);
	/*
	 * Do not call note_tick() if the run has only EVENT_STACK words: the
	 * event after them may have a stamp of its own.
	 */
	if (has_event(run))
		note_tick(n, run->stamp, order_is_brief(producer, run->stamp));
	taken = narrate_put_run(n, producer->id, narrate_time_of(n, run->stamp),
				run);
	n->event_count += run->events_taken;
	return taken;
}

void
narrate_thread_end(struct narrator *n, const struct order_producer *producer,
		   uint64_t stamp)
{
	const struct hatf_record rec = {
		.tag = HATF_DESTROY_THREAD,
		.thread = producer->id,
		.time = narrate_time_of(n, stamp),
	};

	narrate_open_block(n);
	encoder_put(&n->encoder, &rec);
}

bool
narrate_is_full(const struct narrator *n)
{
	const size_t more = n->pieces_nbytes != 0 ? NARRATE_PIECES_NBYTES : 0;

	return encoder_is_full(&n->encoder, NARRATE_BLOCK_NBYTES + more);
}

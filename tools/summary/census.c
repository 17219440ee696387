/* SPDX-License-Identifier: MIT */
/* census.c - see census.h */
#include "tools/summary/census.h"

#include "tools/trace/scan.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- rows */

/* Grow an array to more than 'row' rows; the new rows are all zeros. */
static bool
reach(void **rows, uint32_t *cap, uint32_t row, size_t row_nbytes)
{
	uint32_t count = *cap == 0 ? 16 : *cap;
	char *grown;

	if (row < *cap)
		return true;
	while (count <= row)
		count *= 2;
	grown = realloc(*rows, count * row_nbytes);
	if (grown == NULL)
		return false;
	memset(grown + *cap * row_nbytes, 0, (count - *cap) * row_nbytes);
	*rows = grown;
	*cap = count;
	return true;
}

static bool
add_stack_row(struct census *s, uint32_t row, uint64_t id)
{
	void *ids = s->stack_ids;
	const bool ok = reach(&ids, &s->stack_cap, row, sizeof(uint64_t));

	s->stack_ids = ids;
	if (!ok || !account_list_reach(&s->by_stack, row) ||
	    !history_reach(&s->history, row))
		return false;
	s->stack_ids[row] = id;
	return true;
}

/* Return the row of a stack id. */
static uint32_t
stack_row(struct census *s, uint64_t id)
{
	struct hatf_stack stack;
	uint32_t row;

	if (id == 0)
		return STACK_NONE;
	row = id_rows_find(&s->stack_rows, id);
	if (row != ID_ROWS_NONE)
		return row + STACK_FIRST;
	if (!hatf_stacks_get(s->stacks, id, &stack)) {
		s->undefined_stacks++;
		return STACK_NONE;
	}
	row = id_rows_add(&s->stack_rows, id);
	if (row == ID_ROWS_NONE || !add_stack_row(s, row + STACK_FIRST, id)) {
		s->no_memory = true;
		return STACK_NONE;
	}
	return row + STACK_FIRST;
}

/* Return the stack of a call. */
static uint64_t
stack_of(const struct hatf_event *e)
{
	const uint8_t *next = e->attributes;
	const uint8_t *end;
	struct hatf_attr_item item;

	if (e->attributes_nbytes == 0)
		return 0;
	/* Most records have a small stack and no other item. */
	if (e->attributes_nbytes <= 5 && next[0] == HATF_ATTR_STACK) {
		uint64_t id = next[1] & 0x7f;

		for (uint32_t i = 2; i < e->attributes_nbytes; i++) {
			if ((next[i - 1] & 0x80) == 0)
				break;
			id |= (uint64_t)(next[i] & 0x7f) << 7 * (i - 1);
		}
		if (e->attributes_nbytes >= 2)
			return id;
	}
	end = next + e->attributes_nbytes;
	while (hatf_attr_next(&next, end, &item))
		if (item.key == HATF_ATTR_STACK)
			return item.value;
	return 0;
}

static uint32_t
thread_row(struct census *s, uint64_t id)
{
	uint32_t row = id_rows_find(&s->thread_rows, id);
	void *threads = s->threads;
	bool ok;

	if (row != ID_ROWS_NONE)
		return row;
	row = id_rows_add(&s->thread_rows, id);
	ok = row != ID_ROWS_NONE &&
	     reach(&threads, &s->thread_cap, row, sizeof(struct census_thread));
	s->threads = threads;
	if (ok) {
		/* The index always has room for each thread. */
		void *index =
			realloc(s->lane_index, sizeof(uint32_t) * CLASS_COUNT *
						       (size_t)s->thread_cap);

		ok = index != NULL;
		if (ok)
			s->lane_index = index;
	}
	if (!ok) {
		s->no_memory = true;
		return 0;
	}
	memset(s->lane_index + (size_t)row * CLASS_COUNT, 0,
	       sizeof(uint32_t) * CLASS_COUNT);
	s->threads[row].id = id;
	return row;
}

/* Add the lane of a thread and a size class.  Return its row. */
static uint32_t
add_lane(struct census *s, uint32_t thread, unsigned size_class)
{
	const uint32_t row = s->by_lane.count;
	void *lanes = s->lanes;
	const bool ok = reach(&lanes, &s->lane_cap, row, sizeof(struct lane)) &&
			account_list_reach(&s->by_lane, row);

	s->lanes = lanes;
	if (!ok) {
		s->no_memory = true;
		return 0;
	}
	s->lanes[row] = (struct lane){ thread, size_class };
	s->lane_index[(size_t)thread * CLASS_COUNT + size_class] = row + 1;
	return row;
}

static inline uint32_t
lane_row(struct census *s, uint32_t thread, uint64_t size)
{
	const unsigned size_class = census_class(size);
	const uint32_t row_plus_1 =
		s->lane_index[(size_t)thread * CLASS_COUNT + size_class];

	return row_plus_1 != 0 ? row_plus_1 - 1
			       : add_lane(s, thread, size_class);
}

static uint32_t
add_heap(struct census *s, uint64_t id)
{
	const uint32_t row = id_rows_add(&s->heap_rows, id);
	uint32_t cap = s->heap_cap;
	void *ids = s->heap_ids, *live = s->live;
	bool ok =
		row != ID_ROWS_NONE && reach(&ids, &cap, row, sizeof(uint64_t));

	s->heap_ids = ids;
	ok = ok && reach(&live, &s->heap_cap, row, sizeof(struct live_table)) &&
	     account_list_reach(&s->by_heap, row);
	s->live = live;
	if (!ok) {
		s->no_memory = true;
		return 0;
	}
	s->heap_ids[row] = id;
	return row;
}

static inline uint32_t
heap_row(struct census *s, uint64_t id)
{
	const uint32_t row = id_rows_find(&s->heap_rows, id);

	return row != ID_ROWS_NONE ? row : add_heap(s, id);
}

/* ----------------------------------------------------------------- counting */

/* The four accounts of a block. */
struct owners {
	struct account *total, *stack, *lane, *heap;
};

static inline struct owners
owners_of(struct census *s, const struct live_block *block, uint32_t heap)
{
	const struct owners o = {
		&s->total,
		&s->by_stack.rows[block->stack],
		&s->by_lane.rows[block->lane_plus_1 - 1],
		&s->by_heap.rows[heap],
	};

	return o;
}

static inline void
account_begin(struct account *t, uint64_t epoch, uint64_t size, bool is_event)
{
	account_touch(t, epoch);
	amount_add(&t->live, size);
	if (is_event)
		amount_add(&t->allocated, size);
}

static inline void
account_end(struct account *t, uint64_t epoch, uint64_t size)
{
	account_touch(t, epoch);
	amount_subtract(&t->live, size);
}

/* End a block without a free: 'why' counts it. */
static void
lose_block(struct census *s, const struct live_block *block, uint32_t heap,
	   struct amount *why)
{
	const struct owners o = owners_of(s, block, heap);

	account_end(o.total, s->epoch, block->size);
	account_end(o.stack, s->epoch, block->size);
	account_end(o.lane, s->epoch, block->size);
	account_end(o.heap, s->epoch, block->size);
	history_mark(&s->history, block->stack);
	amount_add(why, block->size);
}

/* Put a block into the table and count it as live. */
static inline void
begin_block(struct census *s, const struct live_block *block, uint32_t heap,
	    bool is_event)
{
	struct live_table *const table = &s->live[heap];
	struct live_block old;

	/* No later event may tell the object of such a block. */
	if (!is_event && !table->by_address && !live_table_use_addresses(table))
		s->no_memory = true;
	if (!live_table_put(table, block, &old)) {
		s->no_memory = true;
		return;
	}
	if (old.lane_plus_1 != 0)
		lose_block(s, &old, heap, &s->replaced);

	const struct owners o = owners_of(s, block, heap);

	account_begin(o.total, s->epoch, block->size, is_event);
	account_begin(o.stack, s->epoch, block->size, is_event);
	account_begin(o.lane, s->epoch, block->size, is_event);
	account_begin(o.heap, s->epoch, block->size, is_event);
	history_mark(&s->history, block->stack);
	if (is_event)
		amount_add(&history_now(&s->history)->allocated, block->size);
}

/* How a block came to its end. */
struct ending {
	uint64_t events, time; /* its lifetime */
	bool is_temporary;
	/* not after a realloc, where the object lives on */
	bool has_lifetime;
};

static inline void
account_free(struct account *t, uint64_t epoch, uint64_t size,
	     const struct ending *end)
{
	account_end(t, epoch, size);
	amount_add(&t->freed, size);
	if (end->is_temporary)
		amount_add(&t->temporary, size);
	t->lifetime_events += end->events;
	t->lifetime_time += end->time;
}

/* Count a block that is no longer in the table as freed. */
static inline void
free_block(struct census *s, const struct live_block *block, uint32_t heap,
	   const struct ending *end)
{
	const struct owners o = owners_of(s, block, heap);
	const unsigned c = census_class(block->size);

	account_free(o.total, s->epoch, block->size, end);
	account_free(o.stack, s->epoch, block->size, end);
	account_free(o.lane, s->epoch, block->size, end);
	account_free(o.heap, s->epoch, block->size, end);
	history_mark(&s->history, block->stack);
	history_now(&s->history)->free_count++;
	if (!end->has_lifetime)
		return;
	amount_add(&s->lifetime_events[c][census_class(end->events)],
		   block->size);
	amount_add(&s->lifetime_time[c][census_class(end->time)], block->size);
}

/* Count a block that another thread than its own has freed. */
static void
note_crossing(struct census *s, uint32_t from, uint32_t to, uint64_t size)
{
	const uint64_t key = (uint64_t)from << 32 | to;
	uint32_t row = id_rows_find(&s->crossing_rows, key);
	void *rows = s->crossings;

	if (row == ID_ROWS_NONE) {
		row = id_rows_add(&s->crossing_rows, key);
		if (row == ID_ROWS_NONE || !reach(&rows, &s->crossing_cap, row,
						  sizeof(struct crossing))) {
			s->no_memory = true;
			return;
		}
		s->crossings = rows;
		s->crossings[row].from = from;
		s->crossings[row].to = to;
	}
	amount_add(&s->crossings[row].freed, size);
}

/* After an event: is there more live than ever? */
static inline void
note_peak(struct census *s, const struct hatf_event *e)
{
	const struct amount live = s->total.live;
	struct span *const span = history_now(&s->history);

	if (live.nbytes > span->max_nbytes)
		span->max_nbytes = live.nbytes;
	if (live.count > s->peak_live_count)
		s->peak_live_count = live.count;
	if (live.nbytes <= s->peak_nbytes)
		return;
	s->peak_nbytes = live.nbytes;
	s->peak.event = s->event_count;
	s->peak.time = e->time;
	s->epoch++;
}

/* ------------------------------------------------------------------- events */

static void
on_alloc(struct census *s, const struct hatf_event *e)
{
	const uint32_t thread = thread_row(s, e->thread);
	const uint32_t heap = heap_row(s, e->heap);

	if (e->address == 0) {
		s->failed_calls++;
		return;
	}

	const struct live_block block = {
		.object = e->object,
		.address = e->address,
		.size = e->size,
		.stack = stack_row(s, stack_of(e)),
		.lane_plus_1 = lane_row(s, thread, e->size) + 1,
	};

	if (s->no_memory)
		return;
	begin_block(s, &block, heap, !e->carried);
	if (e->carried) {
		amount_add(&s->start, e->size);
		return;
	}
	s->threads[thread].last_object = e->object;
	s->alloc_calls++;
}

/* Take the block that a free or realloc ends; false if it is not known. */
static inline bool
take_block(struct census *s, const struct hatf_event *e, uint32_t heap,
	   struct live_block *block_ret)
{
	if (live_table_take(&s->live[heap], e->object, e->old_address,
			    block_ret))
		return true;
	s->unknown_frees++;
	return false;
}

/* Count the end of a block by an event of 'thread'. */
static inline void
end_block(struct census *s, const struct hatf_event *e,
	  const struct live_block *block, uint32_t heap, uint32_t thread,
	  bool is_final)
{
	const uint32_t from = s->lanes[block->lane_plus_1 - 1].thread;
	/* When an inherited or carried block was allocated is not known. */
	const bool is_known = is_final && e->object != 0 && !e->carried;
	const struct ending end = {
		.events = is_known ? s->event_count - 1 - e->birth_event : 0,
		.time = is_known && e->time > e->birth_time
				? e->time - e->birth_time
				: 0,
		.is_temporary = from == thread && e->object != 0 &&
				s->threads[thread].last_object == e->object,
		.has_lifetime = is_known,
	};

	free_block(s, block, heap, &end);
	if (from != thread)
		note_crossing(s, from, thread, block->size);
}

static void
on_free(struct census *s, const struct hatf_event *e)
{
	const uint32_t thread = thread_row(s, e->thread);
	const uint32_t heap = heap_row(s, e->heap);
	struct live_block block;

	s->free_calls++;
	if (!s->no_memory && take_block(s, e, heap, &block))
		end_block(s, e, &block, heap, thread, true);
	s->threads[thread].last_object = 0;
}

/* Count how a realloc changed a block, where the realloc was called. */
static void
note_resize(struct census *s, const struct live_block *block, uint32_t heap,
	    const struct live_block *old)
{
	const struct owners o = owners_of(s, block, heap);
	struct account *const all[] = { o.total, o.stack, o.lane, o.heap };
	const uint64_t copied =
		old->size < block->size ? old->size : block->size;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (old->address == block->address)
			all[i]->in_place++;
		else
			amount_add(&all[i]->moved, copied);
	}
}

static void
on_realloc(struct census *s, const struct hatf_event *e)
{
	const uint32_t thread = thread_row(s, e->thread);
	const uint32_t heap = heap_row(s, e->heap);
	const bool frees = e->address == 0;
	struct live_block old = { 0 };

	s->realloc_calls++;
	if (frees && e->tag != HATF_REALLOC_FREE) {
		s->failed_calls++;
		return;
	}
	if (s->no_memory)
		return;
	if (e->old_address != 0 && take_block(s, e, heap, &old))
		end_block(s, e, &old, heap, thread, frees);
	s->threads[thread].last_object = 0;
	if (frees)
		return;

	const struct live_block block = {
		.object = e->object,
		.address = e->address,
		.size = e->size,
		.stack = stack_row(s, stack_of(e)),
		.lane_plus_1 = lane_row(s, thread, e->size) + 1,
	};

	if (s->no_memory)
		return;
	begin_block(s, &block, heap, true);
	if (old.lane_plus_1 != 0)
		note_resize(s, &block, heap, &old);
	s->threads[thread].last_object = e->object;
}

/* All blocks of a destroyed heap end with it. */
static void
on_heap_destroy(struct census *s, const struct hatf_event *e)
{
	const uint32_t row = id_rows_find(&s->heap_rows, e->heap);
	struct live_table *table;

	if (row == ID_ROWS_NONE)
		return;
	table = &s->live[row];
	for (size_t i = 0; i < table->slot_count; i++)
		if (table->slots[i].lane_plus_1 != 0)
			lose_block(s, &table->slots[i], row, &s->with_heap);
	live_table_free(table);
}

/* Take a name from a createThread or from a comment about the thread. */
static void
name_thread(struct census *s, uint64_t id, const void *name, size_t nbytes)
{
	const uint32_t row = thread_row(s, id);
	char *copy;

	if (s->no_memory || nbytes == 0)
		return;
	copy = strndup(name, nbytes);
	if (copy == NULL) {
		s->no_memory = true;
		return;
	}
	free(s->threads[row].name);
	s->threads[row].name = copy;
}

static void
on_thread_create(struct census *s, const struct hatf_event *e)
{
	const uint8_t *next = e->attributes;
	const uint8_t *end = next;
	struct hatf_attr_item item;

	thread_row(s, e->thread);
	if (e->attributes_nbytes != 0)
		end += e->attributes_nbytes;
	while (next != end && hatf_attr_next(&next, end, &item))
		if (item.key == HATF_ATTR_NAME)
			name_thread(s, e->thread, item.text, item.text_nbytes);
}

static void
on_thread_destroy(struct census *s, const struct hatf_event *e)
{
	const uint32_t row = id_rows_find(&s->thread_rows, e->thread);
	const uint32_t *index;

	if (row == ID_ROWS_NONE)
		return;
	s->threads[row].ended = true;
	s->threads[row].outlived = (struct amount){ 0, 0 };
	index = s->lane_index + (size_t)row * CLASS_COUNT;
	for (unsigned c = 0; c < CLASS_COUNT; c++)
		if (index[c] != 0)
			amount_sum(&s->threads[row].outlived,
				   &s->by_lane.rows[index[c] - 1].live);
}

/* ----------------------------------------------------------------- comments */

static bool
begins(const struct hatf_event *e, const char *kind)
{
	const size_t nbytes = strlen(kind);

	return e->attributes_nbytes >= nbytes &&
	       memcmp(e->attributes, kind, nbytes) == 0;
}

/* Find the line "key=value" of a comment; NULL if there is none. */
static const char *
find_value(const struct hatf_event *e, const char *key, size_t *nbytes_ret)
{
	const size_t key_nbytes = strlen(key);
	const char *next = (const char *)e->attributes;
	const char *const end = next + e->attributes_nbytes;

	while (next < end) {
		const size_t left = (size_t)(end - next);
		const char *const stop = memchr(next, '\n', left);
		const size_t line = stop ? (size_t)(stop - next) : left;

		if (line > key_nbytes && next[key_nbytes] == '=' &&
		    memcmp(next, key, key_nbytes) == 0) {
			*nbytes_ret = line - key_nbytes - 1;
			return next + key_nbytes + 1;
		}
		next += line + (stop != NULL);
	}
	return NULL;
}

/* A comment gives a thread a new name. */
static void
on_thread_name(struct census *s, const struct hatf_event *e)
{
	size_t number_nbytes, name_nbytes;
	const char *const number = find_value(e, "thread", &number_nbytes);
	const char *const name = find_value(e, "name", &name_nbytes);
	char digits[24];
	char *end;

	if (number == NULL || name == NULL || number_nbytes == 0 ||
	    number_nbytes >= sizeof(digits))
		return;
	memcpy(digits, number, number_nbytes);
	digits[number_nbytes] = '\0';

	const uint64_t id = strtoull(digits, &end, 10);

	if (*end == '\0')
		name_thread(s, id, name, name_nbytes);
}

static void
on_comment(struct census *s, const struct hatf_event *e)
{
	if (begins(e, "HATF frame\n") || begins(e, "HATF stack\n") ||
	    begins(e, "HATF object\n")) {
		const struct hatf_record rec = {
			.tag = HATF_COMMENT,
			.attributes = e->attributes,
			.attributes_nbytes = e->attributes_nbytes,
			.offset = e->offset,
		};
		const enum hatf_status status =
			hatf_stacks_note(s->stacks, &rec, NULL);

		if (status == HATF_NO_MEMORY)
			s->no_memory = true;
		else if (status != HATF_OK)
			s->bad_definitions++;
	} else if (begins(e, "HATF thread\n")) {
		on_thread_name(s, e);
	}
}

/* ------------------------------------------------------------------- window */

static uint64_t
on_axis(const struct census *s, const struct hatf_event *e)
{
	const uint64_t at = s->has_times ? e->time : s->event_count;

	return at > s->axis_start ? at - s->axis_start : 0;
}

/* The window begins with the next event, which is 'e'. */
static void
begin_window(struct census *s, const struct hatf_event *e)
{
	struct account_list *const lists[] = { &s->by_stack, &s->by_lane,
					       &s->by_heap };

	account_restart(&s->total);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (uint32_t row = 0; row < lists[i]->count; row++)
			account_restart(&lists[i]->rows[row]);
	memset(s->lifetime_events, 0, sizeof(s->lifetime_events));
	memset(s->lifetime_time, 0, sizeof(s->lifetime_time));
	for (uint32_t i = 0; i < s->crossing_rows.count; i++)
		s->crossings[i].freed = (struct amount){ 0, 0 };
	s->alloc_calls = s->free_calls = s->realloc_calls = 0;
	s->failed_calls = 0;
	s->epoch = 1; /* what is live is also what was at the peak so far */
	s->start = s->total.live;
	s->peak_nbytes = s->start.nbytes;
	s->peak_live_count = s->start.count;
	s->first = (struct moment){ s->event_count, e->time };
	s->peak = s->first;
	history_restart(&s->history, &s->by_stack);
	s->begun = true;
}

/* Has the event reached a bound of the window? */
static bool
reaches(const struct census *s, const struct hatf_event *e, bool is_time,
	uint64_t bound)
{
	if (!is_time)
		return s->event_count >= bound;
	return e->time >= s->axis_start && e->time - s->axis_start >= bound;
}

/* The first event of all: an axis of times begins here. */
static void
begin_axis(struct census *s, const struct hatf_event *e)
{
	s->axis_start = s->has_times ? e->time : 0;
	s->first.time = e->time;
	s->peak.time = e->time;
	s->last.time = e->time;
}

/* A carried record is no call; the free of a carried block is one. */
static bool
is_call(const struct hatf_event *e)
{
	return e->kind <= HATF_EVENT_REALLOC &&
	       !(e->kind == HATF_EVENT_ALLOC && e->carried);
}

/* Before an event: go to its time.  False if the window ends before it. */
static bool
go_to(struct census *s, const struct hatf_event *e)
{
	uint64_t at;

	if (s->last.time == UINT64_MAX)
		begin_axis(s, e);
	if (is_call(e) && s->window.has_to &&
	    reaches(s, e, s->window.to_is_time, s->window.to)) {
		s->ended = true;
		return false;
	}
	if (is_call(e) && !s->begun &&
	    reaches(s, e, s->window.from_is_time, s->window.from))
		begin_window(s, e);
	at = on_axis(s, e);
	if (at >= s->history.span_end || s->history.span_count == 0)
		history_advance(&s->history, at, &s->by_stack, &s->total.live);
	if (e->time > s->last.time)
		s->last.time = e->time;
	return true;
}

/*
 * A trace that contradicts itself may end blocks without an event that tells
 * their objects: from here on, addresses tell.  So it is with a realloc that
 * keeps its old block.
 */
static void
distrust_objects(struct census *s, const struct hatf_event *e)
{
	struct live_table *const table = &s->live[heap_row(s, e->heap)];

	if (!table->by_address && !live_table_use_addresses(table))
		s->no_memory = true;
}

static void
take_event(struct census *s, const struct hatf_event *e)
{
	s->event_count += is_call(e);
	if (e->kind <= HATF_EVENT_REALLOC &&
	    (e->violation != HATF_VIOLATION_NONE ||
	     (e->tag == HATF_REALLOC_ALLOC && e->old_address != 0)))
		distrust_objects(s, e);
	switch (e->kind) {
	case HATF_EVENT_ALLOC:
		on_alloc(s, e);
		break;
	case HATF_EVENT_FREE:
		on_free(s, e);
		break;
	case HATF_EVENT_REALLOC:
		on_realloc(s, e);
		break;
	case HATF_EVENT_THREAD_CREATE:
		on_thread_create(s, e);
		break;
	case HATF_EVENT_THREAD_DESTROY:
		on_thread_destroy(s, e);
		break;
	case HATF_EVENT_HEAP_DESTROY:
		on_heap_destroy(s, e);
		break;
	default:
		break;
	}
	note_peak(s, e);
}

/* How many events ahead to fetch slots: about the latency of the memory. */
#define PREFETCH_AHEAD 24

/* Fetch what the event will need into the cache. */
static inline void
prefetch(const struct census *s, const struct hatf_event *e)
{
	if (e->kind > HATF_EVENT_REALLOC || e->heap != 0)
		return;
	if (e->kind != HATF_EVENT_FREE)
		live_table_prefetch(&s->live[0], e->object, e->address);
	if (e->kind != HATF_EVENT_ALLOC)
		live_table_prefetch(&s->live[0], e->object, e->old_address);
}

bool
census_add(struct census *s, const struct hatf_event *events, size_t n)
{
	for (size_t i = 0; i < n && i < PREFETCH_AHEAD; i++)
		prefetch(s, &events[i]);
	for (size_t i = 0; i < n; i++) {
		const struct hatf_event *const e = &events[i];

		if (n - i > PREFETCH_AHEAD)
			prefetch(s, &e[PREFETCH_AHEAD]);
		if (e->kind == HATF_EVENT_COMMENT) {
			on_comment(s, e);
			continue;
		}
		if (!go_to(s, e))
			return false;
		take_event(s, e);
	}
	if (s->history.no_memory)
		s->no_memory = true;
	return !s->no_memory;
}

/* --------------------------------------------------------- opening, closing */

/* Count a block that a forked child has from its parent. */
static bool
take_inherited(void *ctx, const struct hatf_live *live)
{
	struct census *const s = ctx;
	const uint32_t thread = thread_row(s, 0);
	const uint32_t heap = heap_row(s, live->heap);
	const struct live_block block = {
		.address = live->address,
		.size = live->size,
		.stack = STACK_INHERITED,
		.lane_plus_1 = lane_row(s, thread, live->size) + 1,
	};

	if (s->no_memory)
		return false;
	begin_block(s, &block, heap, false);
	amount_add(&s->start, live->size);
	return !s->no_memory;
}

static void
begin_counting(struct census *s, const struct hatf_events *events)
{
	heap_row(s, 0);
	thread_row(s, 0);
	if (!add_stack_row(s, STACK_NONE, 0) ||
	    !add_stack_row(s, STACK_INHERITED, 0))
		s->no_memory = true;
	if (!s->no_memory)
		hatf_events_visit_live(events, take_inherited, s);
	s->peak_nbytes = s->start.nbytes;
	s->peak_live_count = s->start.count;
	s->epoch++;
}

struct census *
census_open(struct hatf_reader *reader, const struct hatf_events *events,
	    const struct census_window *window)
{
	struct census *const s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->reader = reader;
	if (window != NULL)
		s->window = *window;
	s->begun = !s->window.has_from;
	s->unit_ns = scan_unit_ns(hatf_reader_header(reader, "unit"));
	s->has_times = s->unit_ns != 0;
	s->last.time = UINT64_MAX; /* no event has come */
	if (hatf_stacks_open(&s->stacks) != HATF_OK)
		s->no_memory = true;
	else
		begin_counting(s, events);
	if (s->no_memory) {
		census_close(s);
		return NULL;
	}
	return s;
}

void
census_end(struct census *s)
{
	struct hatf_event end = { .time = 0 };

	if (s->last.time == UINT64_MAX)
		s->last.time = 0;
	end.time = s->last.time;
	s->last.event = s->event_count;
	if (!s->begun)
		begin_window(s, &end); /* it has no event */
	history_end(&s->history, &s->by_stack, &s->total.live);
	if (s->history.no_memory)
		s->no_memory = true;
}

const struct live_block *
census_find_live(const struct census *s, const struct hatf_live *live)
{
	const uint32_t row = id_rows_find(&s->heap_rows, live->heap);

	return row != ID_ROWS_NONE
		       ? live_table_find(&s->live[row], live->object,
					 live->address)
		       : NULL;
}

static void
free_rows(struct census *s)
{
	for (uint32_t i = 0; i < s->thread_rows.count && i < s->thread_cap; i++)
		free(s->threads[i].name);
	for (uint32_t i = 0; i < s->heap_cap; i++)
		live_table_free(&s->live[i]);
	free(s->stack_ids);
	free(s->threads);
	free(s->lane_index);
	free(s->lanes);
	free(s->heap_ids);
	free(s->live);
	free(s->crossings);
}

void
census_close(struct census *s)
{
	if (s == NULL)
		return;
	free_rows(s);
	account_list_free(&s->by_stack);
	account_list_free(&s->by_lane);
	account_list_free(&s->by_heap);
	id_rows_free(&s->stack_rows);
	id_rows_free(&s->thread_rows);
	id_rows_free(&s->heap_rows);
	id_rows_free(&s->crossing_rows);
	history_free(&s->history);
	hatf_stacks_close(s->stacks);
	free(s);
}

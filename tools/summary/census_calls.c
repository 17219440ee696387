/* SPDX-License-Identifier: MIT */
/* census_calls.c - see census_calls.h */
#include "tools/summary/census_calls.h"

#include "tools/summary/census_rows.h"

/* ----------------------------------------------------------------- counting */

/* The accounts in which a block is counted. */
struct owners {
	struct account *total, *stack, *lane;
	struct account *heap; /* NULL: there is one heap, see 'by_heap' */
	struct account *pair; /* NULL: the census does not count pairs */
};

/*
 * Return the account of one pair: the thread that allocated the block, and the
 * block's stack.
 */
static struct account *
pair_of(struct census *s, const struct live_block *block)
{
	return pairs_account(s->pairs, s->lanes[block->lane_plus_1 - 1].thread,
			     block->stack);
}

static inline struct owners
owners_of(struct census *s, const struct live_block *block, uint32_t heap)
{
	const struct owners o = {
		&s->total,
		&s->by_stack.rows[block->stack],
		&s->by_lane.rows[block->lane_plus_1 - 1],
		s->heap_rows.count > 1 ? &s->by_heap.rows[heap] : NULL,
		s->pairs != NULL ? pair_of(s, block) : NULL,
	};

	return o;
}

/*
 * Note in the history that the live bytes of the block's stack change or, if
 * 'points_are_lanes' is set, those of the block's lane.
 */
static inline void
mark(struct census *s, const struct live_block *block)
{
	history_mark(&s->history, s->window.points_are_lanes
					  ? block->lane_plus_1 - 1
					  : block->stack);
}

static inline void
account_end(struct account *t, uint64_t epoch, uint64_t size)
{
	account_touch(t, epoch);
	amount_subtract(&t->live, size);
}

/* End a block for which the trace has no free.  Add it to the counter 'why'. */
static void
lose_block(struct census *s, const struct live_block *block, uint32_t heap,
	   struct amount *why)
{
	const struct owners o = owners_of(s, block, heap);

	account_end(o.total, s->epoch, block->size);
	account_end(o.stack, s->epoch, block->size);
	account_end(o.lane, s->epoch, block->size);
	if (o.heap != NULL)
		account_end(o.heap, s->epoch, block->size);
	if (o.pair != NULL)
		account_end(o.pair, s->epoch, block->size);
	mark(s, block);
	amount_add(why, block->size);
	if (s->waste != NULL)
		waste_end(s->waste, s->epoch, block->size);
}

/*
 * Call this after adding a block.  If a sum of bytes is smaller than the block,
 * the sum has exceeded 64 bits, so count the block in 'wrapped_sums'.
 */
static inline void
note_wrapped_sums(struct census *s, uint64_t size, bool is_event)
{
	if (s->total.live.nbytes < size ||
	    (is_event && s->total.allocated.nbytes < size))
		s->wrapped_sums++;
}

static inline void
account_begin(struct account *t, uint64_t epoch, uint64_t size, bool is_event)
{
	account_touch(t, epoch);
	amount_add(&t->live, size);
	if (is_event)
		amount_add(&t->allocated, size);
}

/*
 * Store a block in row 'number' of s->live[heap].  If this row still has
 * another block, the trace lacks the end of that block, so end it now.  Return
 * false if there is no memory.
 */
static inline bool
store_block(struct census *s, struct live_block block, uint32_t number,
	    uint32_t heap)
{
	struct live_rows *const live = &s->live[heap];
	struct live_block *row;

	if (number >= live->count && !live_rows_reach(live, number)) {
		s->no_memory = true;
		return false;
	}
	row = &live->rows[number];
	if (row->lane_plus_1 != 0)
		lose_block(s, row, heap, &s->replaced);
	*row = block;
	return true;
}

/*
 * Like census_begin_block().  If 'is_event' is set, also count the block as
 * allocated.
 */
static inline void
begin_block(struct census *s, struct live_block block, uint32_t number,
	    uint32_t heap, bool is_event)
{
	if (!store_block(s, block, number, heap))
		return;

	const struct owners o = owners_of(s, &block, heap);

	account_begin(o.total, s->epoch, block.size, is_event);
	account_begin(o.stack, s->epoch, block.size, is_event);
	account_begin(o.lane, s->epoch, block.size, is_event);
	if (o.heap != NULL)
		account_begin(o.heap, s->epoch, block.size, is_event);
	if (o.pair != NULL)
		account_begin(o.pair, s->epoch, block.size, is_event);
	note_wrapped_sums(s, block.size, is_event);
	mark(s, &block);
	if (is_event)
		amount_add(&history_now(&s->history)->allocated, block.size);
	if (s->waste != NULL)
		waste_begin(s->waste, s->epoch, block.size, is_event);
}

/* What the census knows about the end of a block. */
struct ending {
	/* the block's lifetime, in events and in time units */
	uint64_t events, time;
	bool is_temporary;
	/*
	 * false if the lifetime is unknown, or if a realloc has ended the
	 * block, but not the block's object
	 */
	bool has_lifetime;
};

static inline void
account_free(struct account *t, uint64_t epoch, uint64_t size,
	     const struct ending *end)
{
	account_end(t, epoch, size);
	amount_add(&t->freed, size);
	t->lifetime_events += end->events;
	t->lifetime_time += end->time;
	if (end->is_temporary)
		amount_add(&t->temporary, size);
}

/* Count a block as freed, and no longer as live. */
static inline void
free_block(struct census *s, const struct live_block *block, uint32_t heap,
	   const struct ending *end)
{
	const struct owners o = owners_of(s, block, heap);
	const unsigned c = s->lanes[block->lane_plus_1 - 1].size_class;

	account_free(o.total, s->epoch, block->size, end);
	account_free(o.stack, s->epoch, block->size, end);
	account_free(o.lane, s->epoch, block->size, end);
	if (o.heap != NULL)
		account_free(o.heap, s->epoch, block->size, end);
	if (o.pair != NULL)
		account_free(o.pair, s->epoch, block->size, end);
	mark(s, block);
	history_now(&s->history)->free_count++;
	if (s->waste != NULL)
		waste_end(s->waste, s->epoch, block->size);
	if (!end->has_lifetime)
		return;
	amount_add(&s->lifetime_events[c][census_class(end->events)],
		   block->size);
	amount_add(&s->lifetime_time[c][census_class(end->time)], block->size);
}

/*
 * Count a block that was freed by a thread other than the one that allocated
 * it.
 */
static void
note_crossing(struct census *s, uint32_t from, uint32_t to, uint64_t size)
{
	const uint64_t key = (uint64_t)from << 32 | to;
	uint32_t row = id_rows_find(&s->crossing_rows, key);
	void *rows = s->crossings;

	if (row == ID_ROWS_NONE) {
		row = id_rows_add(&s->crossing_rows, key);
		if (row == ID_ROWS_NONE ||
		    !census_reach(&rows, &s->crossing_cap, row,
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

/* -------------------------------------------------------------------- calls */

uint64_t
census_stack_of(const struct hatf_event *e)
{
	const uint8_t *next = e->attributes;
	const uint8_t *end;
	struct hatf_attr_item item;

	if (e->attributes_nbytes == 0)
		return 0;
	/*
	 * Fast path: most records have a small stack number and no other
	 * attribute.
	 */
	if (e->attributes_nbytes <= 5 && next[0] == HATF_ATTR_STACK) {
		uint64_t id = 0;

		for (uint32_t i = 1; i < e->attributes_nbytes; i++) {
			id |= (uint64_t)(next[i] & 0x7f) << 7 * (i - 1);
			if ((next[i] & 0x80) == 0)
				return id;
		}
	}
	end = next + e->attributes_nbytes;
	while (hatf_attr_next(&next, end, &item))
		if (item.key == HATF_ATTR_STACK)
			return item.value;
	return 0;
}

void
census_on_alloc(struct census *s, const struct hatf_event *e)
{
	const uint32_t thread = census_thread_row(s, e->thread);
	const uint32_t heap = census_heap_row(s, e->heap);

	if (e->address == 0) {
		s->failed_calls++;
		return;
	}
	if (s->no_memory)
		return;

	const struct live_block block = {
		.size = e->size,
		.stack = census_stack_row(s, census_stack_of(e)),
		.lane_plus_1 = census_lane_row(s, thread, e->size) + 1,
	};

	if (s->no_memory)
		return;
	begin_block(s, block, e->block, heap, !e->carried);
	if (e->carried) {
		amount_add(&s->start, e->size);
		return;
	}
	s->threads[thread].last_object = e->object;
	s->alloc_calls++;
}

/*
 * Remove from s->live[heap] the block that a free or realloc ends, and store it
 * in '*block_ret'.  If s->live[heap] does not contain the block, count an
 * unknown free and return false.
 */
static inline bool
take_block(struct census *s, const struct hatf_event *e, uint32_t heap,
	   struct live_block *block_ret)
{
	struct live_block *const row =
		live_rows_find(&s->live[heap], e->old_block);

	if (row == NULL) {
		s->unknown_frees++;
		return false;
	}
	*block_ret = *row;
	row->lane_plus_1 = 0;
	return true;
}

/*
 * Count the end of a block that 'thread' has freed or reallocated.  'is_final'
 * is false if a realloc continues the lifetime of the block's object.
 */
static inline void
end_block(struct census *s, const struct hatf_event *e,
	  const struct live_block *block, uint32_t heap, uint32_t thread,
	  bool is_final)
{
	const uint32_t from = s->lanes[block->lane_plus_1 - 1].thread;
	/*
	 * The lifetime of an inherited or carried block is unknown, because the
	 * block is older than the trace.
	 */
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

void
census_on_free(struct census *s, const struct hatf_event *e)
{
	const uint32_t thread = census_thread_row(s, e->thread);
	const uint32_t heap = census_heap_row(s, e->heap);
	struct live_block block;

	s->free_calls++;
	if (s->no_memory)
		return;
	if (take_block(s, e, heap, &block))
		end_block(s, e, &block, heap, thread, true);
	s->threads[thread].last_object = 0;
}

/*
 * Count a realloc in all accounts of 'block', the block that it returned: as a
 * move or, with 'is_in_place', as a resize in place.
 */
static void
note_resize(struct census *s, const struct live_block *block, uint32_t heap,
	    uint64_t old_size, bool is_in_place)
{
	const struct owners o = owners_of(s, block, heap);
	struct account *const all[] = { o.total, o.stack, o.lane, o.heap,
					o.pair };
	const uint64_t copied = old_size < block->size ? old_size : block->size;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i] == NULL)
			continue;
		if (is_in_place)
			all[i]->in_place++;
		else
			amount_add(&all[i]->moved, copied);
	}
}

void
census_on_realloc(struct census *s, const struct hatf_event *e)
{
	const uint32_t thread = census_thread_row(s, e->thread);
	const uint32_t heap = census_heap_row(s, e->heap);
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
		.size = e->size,
		.stack = census_stack_row(s, census_stack_of(e)),
		.lane_plus_1 = census_lane_row(s, thread, e->size) + 1,
	};

	if (s->no_memory)
		return;
	begin_block(s, block, e->block, heap, true);
	if (old.lane_plus_1 != 0)
		note_resize(s, &block, heap, old.size,
			    e->old_address == e->address);
	s->threads[thread].last_object = e->object;
}

void
census_on_heap_destroy(struct census *s, const struct hatf_event *e)
{
	const uint32_t row = id_rows_find(&s->heap_rows, e->heap);
	struct live_rows *live;

	if (row == ID_ROWS_NONE)
		return;
	live = &s->live[row];
	for (size_t i = 0; i < live->count; i++)
		if (live->rows[i].lane_plus_1 != 0)
			lose_block(s, &live->rows[i], row, &s->with_heap);
	live_rows_free(live);
}

void
census_begin_pair(struct census *s, const struct live_block *block)
{
	struct account *const pair = pair_of(s, block);

	if (pair != NULL)
		amount_add(&pair->live, block->size);
}

void
census_begin_block(struct census *s, const struct live_block *block,
		   uint32_t number, uint32_t heap)
{
	begin_block(s, *block, number, heap, false);
}

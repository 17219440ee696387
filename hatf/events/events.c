/* SPDX-License-Identifier: MIT */
/*
 * events.c - hatf_events: turn records into logical events
 *
 * A realloc changes the live set at its own record.  The stage then skips the
 * alloc and free records that the realloc announces (pairing.h), so a trace
 * without these records has the same meaning; on_part() describes the only
 * exception.  A trace by another program may lack all announced records of a
 * realloc.  Otherwise a missing record is a violation.  The stage notices a
 * missing record only at the next event, and reports it with that event.
 *
 * If an event contradicts earlier events, the stage believes the later event
 * (see hatf_events_read()).  So one defect gives one violation, not a series of
 * them.
 */
#include "hatf/events/events.h"

#include "hatf/codec/hatf_record.h"
#include "hatf/decoder/decoder.h"

/* Set the violation of an event, unless it already has one. */
static void
violate(struct hatf_event *out, enum hatf_violation violation)
{
	if (out->violation == HATF_VIOLATION_NONE)
		out->violation = violation;
}

/* ------------------------------------------------------------- live blocks */

static void
no_memory(struct hatf_events *ev)
{
	ev->no_memory = true;
}

/*
 * Is the block inherited: known only from the parent's trace, or from an
 * earlier segment that had inherited it?  All other blocks have an object
 * number.
 */
static bool
is_inherited(const struct block *block)
{
	return block->object == 0;
}

/*
 * Copy what the live set knows of a block to 'out', an event that concerns the
 * block.  If the block is inherited, count the event.
 */
static void
describe_object(struct hatf_events *ev, struct hatf_event *out,
		const struct block *block)
{
	out->inherited = is_inherited(block);
	ev->stats.inherited_count += out->inherited;
	out->old_size = block->size;
	out->old_block = block->number;
	out->object = block->object;
	out->carried = events_is_carried(ev, block->object);
	out->birth_time = block->birth_time;
	out->birth_event = block->birth_event;
}

/*
 * An inherited block is freed or replaced, or becomes an object of this trace.
 * Stop counting it as inherited.
 */
static void
uncount_inherited(struct hatf_events *ev, const struct block *block)
{
	ev->stats.inherited_live_count--;
	ev->stats.inherited_live_nbytes -= block->size;
}

/*
 * Remove the block at 'address' from the live set, and copy it to '*old_ret'.
 * Return false if no block is live there.
 */
static bool
end_block(struct hatf_events *ev, struct heap *heap, uint64_t address,
	  struct block *old_ret)
{
	if (!heaps_take(&ev->heaps, heap, address, old_ret))
		return false;
	if (is_inherited(old_ret))
		uncount_inherited(ev, old_ret);
	if (ev->inherits)
		inherited_note_dead(&ev->inherited, address);
	return true;
}

/* Create the object that the event 'out' allocates. */
static void
new_object(struct hatf_events *ev, struct hatf_event *out)
{
	out->object = ++ev->object_count;
	out->birth_time = out->time;
	out->birth_event = ev->stats.event_count;
}

/*
 * 'address' was just allocated.  If a block that was live when the trace began
 * (carried) is still there, remove this block, because the trace may lack its
 * free.
 */
static void
drop_doubtful(struct hatf_events *ev, struct heap *heap, uint64_t address)
{
	struct block block;

	if (heaps_find_block(&ev->heaps, heap, address, &block) &&
	    events_is_carried(ev, block.object))
		heaps_take(&ev->heaps, heap, address, &block);
}

/*
 * 'address' was just allocated.  If the live set has an inherited block there,
 * stop counting this block.  If the state of 'address' at the fork is unknown,
 * also remove the block: the parent may have freed it before the fork, so the
 * allocation must not be reported as a violation.
 */
static void
replace_inherited(struct hatf_events *ev, struct heap *heap, uint64_t address)
{
	struct block block;

	if (!heaps_find_block(&ev->heaps, heap, address, &block) ||
	    !is_inherited(&block))
		return;
	uncount_inherited(ev, &block);
	if (inherited_settle(&ev->inherited, address))
		heaps_take(&ev->heaps, heap, address, &block);
}

/*
 * Add the object of 'out' to the live set, at out->address.  If a block is live
 * there, and neither drop_doubtful() nor replace_inherited() removes it, the
 * object replaces it, which is a violation.
 */
static void
begin_block(struct hatf_events *ev, struct heap *heap, struct hatf_event *out)
{
	struct block block = {
		.size = out->size,
		.object = out->object,
		.birth_time = out->birth_time,
		.birth_event = out->birth_event & BLOCK_EVENT_MAX,
	};
	bool replaced = false;

	if (!ev->is_exact && !out->carried)
		drop_doubtful(ev, heap, out->address);
	if (ev->stats.inherited_live_count != 0)
		replace_inherited(ev, heap, out->address);
	if (!heaps_put(&ev->heaps, heap, out->address, &block, &replaced, NULL))
		no_memory(ev);
	out->block = block.number;
	if (replaced)
		violate(out, HATF_VIOLATION_ALLOC_LIVE);
}

/*
 * Handle a free or realloc of an address at which the live set has no block.
 * An inherited block may be there, unless an earlier event shows that none is.
 * If none can be there, the event is a violation.  'dies' is true if the event
 * frees the inherited block, or makes it an object of this trace.
 */
static void
on_unknown_block(struct hatf_events *ev, struct hatf_event *out,
		 enum hatf_violation violation, bool dies)
{
	if (!ev->inherits ||
	    !inherited_may_be(&ev->inherited, out->old_address)) {
		violate(out, violation);
		return;
	}
	out->inherited = true;
	ev->stats.inherited_count++;
	if (dies && !inherited_note(&ev->inherited, out->old_address))
		no_memory(ev);
}

static void
on_alloc(struct hatf_events *ev, struct heap *heap,
	 const struct hatf_record *rec, struct hatf_event *out)
{
	out->kind = HATF_EVENT_ALLOC;
	out->address = rec->address;
	out->size = rec->size;
	if (rec->address == 0)
		return; /* the call failed */
	new_object(ev, out);
	begin_block(ev, heap, out);
}

/*
 * Add a block that was live when the trace began.  The stage returns it like an
 * alloc, but does not count it as a logical event.
 */
static void
on_carried(struct hatf_events *ev, const struct hatf_record *rec,
	   struct hatf_event *out)
{
	struct heap *const heap = heaps_get(&ev->heaps, rec->heap);

	if (heap == NULL) {
		no_memory(ev);
		return;
	}
	out->carried = true;
	on_alloc(ev, heap, rec, out);
	ev->stats.carried_count = ev->object_count;
	ev->stats.carried_nbytes += rec->size;
}

static void
on_free(struct hatf_events *ev, struct heap *heap,
	const struct hatf_record *rec, struct hatf_event *out)
{
	struct block old;

	out->kind = HATF_EVENT_FREE;
	out->old_address = rec->address;
	if (end_block(ev, heap, rec->address, &old)) {
		describe_object(ev, out, &old);
	} else if (rec->address != 0 || ev->ours) {
		/*
		 * The condition above omits a free(NULL) in a trace by another
		 * program, because free(NULL) does nothing.
		 */
		on_unknown_block(ev, out, HATF_VIOLATION_FREE_UNKNOWN, true);
	}
}

/* Do the addresses of a realloc fit its tag (FORMAT "Realloc")? */
static bool
fits_tag(const struct hatf_record *rec)
{
	const uint64_t from = rec->old_address, to = rec->address;

	switch (rec->tag) {
	case HATF_REALLOC_NO_ALLOC:
		return to == from || to == 0;
	case HATF_REALLOC_ALLOC_FREE:
		return from != 0 && to != 0 && from != to;
	case HATF_REALLOC_ALLOC:
		return from == 0 && to != 0;
	default:
		return from != 0 && to == 0;
	}
}

/*
 * 'out' reallocates 'block', which is inherited and so is no object of this
 * trace.  Make 'block' an object that begins with 'out'.
 */
static void
adopt_block(struct hatf_events *ev, struct hatf_event *out, struct block *block)
{
	new_object(ev, out);
	block->object = out->object;
	block->birth_time = out->birth_time;
	block->birth_event = out->birth_event & BLOCK_EVENT_MAX;
}

/* Handle a realloc in place. */
static void
resize_block(struct hatf_events *ev, struct heap *heap, struct hatf_event *out,
	     struct block *live)
{
	bool replaced;

	if (is_inherited(live)) {
		uncount_inherited(ev, live);
		adopt_block(ev, out, live);
	}
	live->size = out->size;
	if (!heaps_put(&ev->heaps, heap, out->address, live, &replaced, NULL))
		no_memory(ev);
	out->block = live->number;
}

/*
 * Remove the old block of a realloc that moved or freed the block.  If the
 * realloc has tag 4, keep a copy of the block for on_part().
 */
static void
drop_block(struct hatf_events *ev, struct heap *heap,
	   const struct hatf_record *rec, struct hatf_event *out)
{
	struct block old;

	if (!end_block(ev, heap, rec->old_address, &old))
		return;
	if (is_inherited(&old))
		adopt_block(ev, out, &old);
	if (rec->tag == HATF_REALLOC_ALLOC) {
		ev->left_over = old;
		ev->left_over_address = rec->old_address;
		ev->left_over_heap = heap;
	}
}

/*
 * Apply a successful realloc; 'live' is the old block.  If the realloc has no
 * old block, or the live set lacks the old block, 'live' is NULL.
 */
static void
change_block(struct hatf_events *ev, struct heap *heap,
	     const struct hatf_record *rec, struct hatf_event *out,
	     struct block *live)
{
	if (live != NULL && out->address == out->old_address) {
		resize_block(ev, heap, out, live);
		return;
	}
	if (live != NULL)
		drop_block(ev, heap, rec, out);
	else if (out->address != 0)
		new_object(ev, out);
	if (out->address != 0)
		begin_block(ev, heap, out);
}

static void
on_realloc(struct hatf_events *ev, struct heap *heap,
	   const struct hatf_record *rec, struct hatf_event *out)
{
	const bool frees = rec->tag == HATF_REALLOC_FREE;
	const bool failed = !frees && rec->address == 0;
	struct block live;
	bool is_live = false;

	out->kind = HATF_EVENT_REALLOC;
	out->address = frees ? 0 : rec->address;
	out->old_address = rec->old_address;
	out->size = rec->size;
	ev->left_over_heap = NULL;
	if (ev->ours && !fits_tag(rec))
		violate(out, HATF_VIOLATION_PAIRING);
	if (rec->old_address != 0) {
		is_live = heaps_find_block(&ev->heaps, heap, rec->old_address,
					   &live);
		if (is_live)
			describe_object(ev, out, &live);
		else
			on_unknown_block(ev, out,
					 HATF_VIOLATION_REALLOC_UNKNOWN,
					 !failed);
	}
	if (!failed)
		change_block(ev, heap, rec, out, is_live ? &live : NULL);
}

/*
 * Does an announced record match its realloc?  For a trace by another program,
 * compare only the size of an alloc.
 */
static bool
fits_realloc(const struct hatf_events *ev, const struct hatf_record *rec)
{
	if (rec->tag == HATF_ALLOC && rec->size != ev->realloc_size)
		return false;
	if (!ev->ours)
		return true;
	/* The announced alloc must come before the announced free. */
	return (rec->tag == HATF_ALLOC || !ev->pairing.alloc_expected) &&
	       rec->time == ev->realloc_time && rec->heap == ev->realloc_heap;
}

/*
 * Handle a record that the realloc before it announced.  on_realloc() has
 * already changed the live set.  This change is right, with one exception: a
 * realloc of tag 4 that has an old block.  Such a realloc announces an alloc
 * but no free.  If the alloc follows, the old block is still live, so put back
 * the block that on_realloc() removed.  If the alloc does not follow, the
 * realloc counts as a move, as in mpatrol.
 */
static void
on_part(struct hatf_events *ev, const struct hatf_record *rec)
{
	struct heap *const heap = ev->left_over_heap;
	bool replaced;

	if (!fits_realloc(ev, rec))
		ev->pending_violation = HATF_VIOLATION_PAIRING;
	if (rec->tag != HATF_ALLOC || heap == NULL)
		return;
	ev->left_over_heap = NULL;
	if (!heaps_put(&ev->heaps, heap, ev->left_over_address, &ev->left_over,
		       &replaced, NULL))
		no_memory(ev);
}

/* ------------------------------------------------------------------- events */

static void
check_id(struct hatf_events *ev, struct hatf_event *out, enum ids_result result,
	 enum hatf_violation violation)
{
	if (result == IDS_WRONG)
		violate(out, violation);
	else if (result == IDS_NO_MEMORY)
		no_memory(ev);
}

/*
 * Check that the thread of the event exists, and remember its id, so that
 * use_thread() need not check the same thread again for the next event.
 */
static __attribute__((noinline)) void
use_other_thread(struct hatf_events *ev, struct hatf_event *out)
{
	check_id(ev, out, ids_use(&ev->threads, out->thread),
		 HATF_VIOLATION_THREAD);
	ev->thread_known = true;
	ev->thread = out->thread;
}

/* Check that the thread of the event exists. */
static inline void
use_thread(struct hatf_events *ev, struct hatf_event *out)
{
	if (!ev->thread_known || out->thread != ev->thread)
		use_other_thread(ev, out);
}

static void
on_thread(struct hatf_events *ev, const struct hatf_record *rec,
	  struct hatf_event *out)
{
	const bool creates = rec->tag == HATF_CREATE_THREAD;

	out->kind =
		creates ? HATF_EVENT_THREAD_CREATE : HATF_EVENT_THREAD_DESTROY;
	ev->thread_known = false;
	check_id(ev, out,
		 creates ? ids_create(&ev->threads, rec->thread)
			 : ids_destroy(&ev->threads, rec->thread),
		 HATF_VIOLATION_THREAD);
}

static void
on_heap(struct hatf_events *ev, const struct hatf_record *rec,
	struct hatf_event *out)
{
	const bool creates = rec->tag == HATF_CREATE_HEAP;

	out->kind = creates ? HATF_EVENT_HEAP_CREATE : HATF_EVENT_HEAP_DESTROY;
	use_thread(ev, out);
	check_id(ev, out,
		 creates ? ids_create(&ev->heaps.ids, rec->heap)
			 : ids_destroy(&ev->heaps.ids, rec->heap),
		 HATF_VIOLATION_HEAP);
	if (creates)
		return;
	/*
	 * In our traces, heap 0 (malloc's) is never destroyed, so report a
	 * violation.
	 */
	if (ev->ours && rec->heap == 0)
		violate(out, HATF_VIOLATION_HEAP);
	if (ev->stats.inherited_live_count != 0) {
		uint64_t count, nbytes;

		heaps_sum_without_history(&ev->heaps, rec->heap, &count,
					  &nbytes);
		ev->stats.inherited_live_count -= count;
		ev->stats.inherited_live_nbytes -= nbytes;
	}
	heaps_clear(&ev->heaps, rec->heap);
}

/* Handle a logical event of a heap: alloc, free or realloc. */
static void
on_block(struct hatf_events *ev, const struct hatf_record *rec,
	 struct hatf_event *out)
{
	struct heap *const heap = heaps_get(&ev->heaps, rec->heap);

	if (heap == NULL) {
		no_memory(ev);
		return;
	}
	use_thread(ev, out);
	if (rec->heap != 0)
		check_id(ev, out, ids_use(&ev->heaps.ids, rec->heap),
			 HATF_VIOLATION_HEAP);
	if (rec->tag == HATF_ALLOC)
		on_alloc(ev, heap, rec, out);
	else if (rec->tag == HATF_FREE)
		on_free(ev, heap, rec, out);
	else
		on_realloc(ev, heap, rec, out);
	ev->stats.event_count++;
}

/*
 * Store the time of a record.  Return false if the time is before the time of
 * the previous record.
 */
static bool
note_time(struct hatf_events *ev, const struct hatf_record *rec)
{
	const bool in_order = rec->time >= ev->time;

	if (!ev->has_time) {
		ev->has_time = true;
		ev->stats.first_time = rec->time;
	}
	ev->time = rec->time;
	if (rec->time > ev->stats.last_time)
		ev->stats.last_time = rec->time;
	return in_order;
}

/*
 * Return the role of a record, which must not be a comment.  If the latest
 * realloc announced the record, also handle it, by on_part().
 */
static enum pairing_role
note_pairing(struct hatf_events *ev, const struct hatf_record *rec)
{
	const bool waits =
		ev->pairing.alloc_expected || ev->pairing.free_expected;
	const enum pairing_role role = pairing_role(&ev->pairing, rec);

	if (role == PAIRING_PART) {
		ev->part_seen = true;
		on_part(ev, rec);
		return role;
	}
	/*
	 * Other programs may omit all records that a realloc announces, but
	 * must not omit only some.
	 */
	if (waits && (ev->ours || ev->part_seen))
		ev->pending_violation = HATF_VIOLATION_PAIRING;
	ev->part_seen = false;
	ev->realloc_size = rec->size;
	ev->realloc_time = rec->time;
	ev->realloc_heap = rec->heap;
	return role;
}

/* Handle a record that is not a comment.  Return true if it begins an event. */
static bool
handle_data(struct hatf_events *ev, const struct hatf_record *rec,
	    struct hatf_event *out)
{
	const enum pairing_role role = note_pairing(ev, rec);
	const bool in_order = note_time(ev, rec);

	if (role == PAIRING_PART) {
		if (!in_order)
			ev->pending_violation = HATF_VIOLATION_TIME;
		return false;
	}
	out->violation = ev->pending_violation;
	ev->pending_violation = HATF_VIOLATION_NONE;
	if (!in_order)
		violate(out, HATF_VIOLATION_TIME);
	if (ev->stats.event_count == 0 && ev->ours &&
	    hatf_record_is_carried(rec))
		on_carried(ev, rec, out);
	else if (role == PAIRING_EVENT)
		on_block(ev, rec, out);
	else if (rec->tag >= HATF_CREATE_THREAD)
		on_thread(ev, rec, out);
	else
		on_heap(ev, rec, out);
	ev->stats.violation_count += out->violation != HATF_VIOLATION_NONE;
	return true;
}

/*
 * Set the fields of an event that depend only on its first record, and clear
 * all others.  Assign field by field, because gcc compiles one assignment of
 * the whole struct to slow code (see hatf_record_clear()).
 */
static void
begin_event(struct hatf_events *ev, const struct hatf_record *rec,
	    struct hatf_event *out)
{
	out->kind = HATF_EVENT_COMMENT;
	out->violation = HATF_VIOLATION_NONE;
	out->tag = rec->tag;
	out->record = ev->record++;
	out->offset = rec->offset;
	out->time = rec->time;
	out->thread = rec->thread;
	out->heap = rec->heap;
	out->address = 0;
	out->size = 0;
	out->old_address = 0;
	out->old_size = 0;
	out->object = 0;
	out->birth_time = 0;
	out->birth_event = 0;
	out->block = 0;
	out->old_block = 0;
	out->inherited = false;
	out->carried = false;
	out->attributes = rec->attributes;
	out->attributes_nbytes = rec->attributes_nbytes;
}

/*
 * Turn a record into an event.  Return false if the record is metadata, or a
 * part of the event before it.
 */
static bool
handle(struct hatf_events *ev, const struct hatf_record *rec,
       struct hatf_event *out)
{
	if (rec->tag == HATF_METADATA)
		return false;
	begin_event(ev, rec, out);
	return rec->tag == HATF_COMMENT || handle_data(ev, rec, out);
}

/*
 * Read the next records.  At the end of the trace, check that the last realloc
 * has all the records that it announced.
 */
static enum hatf_status
fetch(struct hatf_events *ev)
{
	const enum hatf_status status = hatf_reader_read(
		ev->reader, ev->records, EVENTS_BATCH_COUNT, &ev->filled);

	ev->next = 0;
	if (status == HATF_OK)
		heaps_look_at_first(&ev->heaps, ev->records, ev->filled);
	if (status != HATF_END)
		return status;
	if ((ev->pairing.alloc_expected || ev->pairing.free_expected) &&
	    (ev->ours || ev->part_seen))
		ev->pending_violation = HATF_VIOLATION_PAIRING;
	ev->pairing = (struct pairing){ 0 };
	/*
	 * No further event can report the pending violation, so only count the
	 * violation.
	 */
	ev->stats.violation_count +=
		ev->pending_violation != HATF_VIOLATION_NONE;
	ev->pending_violation = HATF_VIOLATION_NONE;
	return status;
}

enum hatf_status
hatf_events_read(struct hatf_events *events, struct hatf_event *out, size_t max,
		 size_t *n_ret)
{
	size_t n = 0;

	/*
	 * Return the events of one batch at most, because their attributes are
	 * in the reader's memory, which the reader overwrites when it reads the
	 * next batch.
	 */
	while (n == 0 && max != 0 && !events->no_memory) {
		if (events->next == events->filled) {
			const enum hatf_status status = fetch(events);

			if (status != HATF_OK) {
				*n_ret = 0;
				return status;
			}
		}
		while (n < max && events->next < events->filled) {
			const size_t i = events->next++;

			heaps_look_ahead(&events->heaps, events->records,
					 events->filled, i);
			n += handle(events, &events->records[i], &out[n]);
		}
	}
	*n_ret = n;
	return n == 0 && events->no_memory ? HATF_NO_MEMORY : HATF_OK;
}

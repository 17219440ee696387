/* SPDX-License-Identifier: MIT */
/*
 * gperftools_source.c - convert malloc traces of alk/gperftools to records
 * (FORMATS "gperftools")
 *
 * Instead of an address, the gperftools recorder gives every block a token, a
 * number that it never reuses.  It writes the events of each thread in buffers
 * of that thread.  Buffers of different threads are unordered, but when the
 * recorder writes a barrier, it has already written all buffers with events
 * from before the barrier.
 *
 * 	Buf thread 4 | Buf thread 5 | Death 4 | Buf thread 0 | Barrier | Buf ...
 *
 * So, like gperftools' own 'postprocess', the source keeps all buffers up to a
 * barrier and then merges their events.  It always takes the earliest next
 * event of all runnable threads.  If the next event of a thread frees a token
 * that is not allocated yet, the thread is blocked until another thread
 * allocates the token.  If the trace ends first, or the buffers exceed
 * BUFFERED_MAX, all blocked threads become runnable, because the token may
 * never be allocated.  For such a token, 'hatf verify' reports the free of an
 * unknown block.
 *
 * Memory is O(live blocks + threads), plus at most about BUFFERED_MAX for
 * buffers.
 */
#include "hatf/containers/block_set.h"
#include "hatf/formats/common/batch.h"

#include "hatf/codec/bytes.h"
#include "hatf/containers/u64_map.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/foreign/gperftools.h"

#include <stdlib.h>

#define MAGIC	     0x6cbd63e4
#define MAGIC_NBYTES 4

/*
 * The longest outer event (an event of the file, not of a thread), in bytes,
 * without its buffer.
 */
#define OUTER_MAX (3 * GPERFTOOLS_NUMBER_MAX)

/*
 * The longest buffer that is accepted, in bytes; real buffers have a few KiB.
 * The buffer and the outer event that precedes it must fit into the input
 * window.
 */
#define BUFFER_MAX (256 * 1024)

/*
 * When the buffers have more bytes than this, blocked threads become runnable
 * although there was no barrier.  Real traces have a barrier every few
 * milliseconds.
 */
#define BUFFERED_MAX ((size_t)64 << 20)

struct gperftools {
	struct batch batch;
	/* maps a thread id to the address of a struct gperftools_thread */
	struct u64_map threads;
	struct block_set tokens; /* the set of tokens of allocated blocks */
	/*
	 * Maps a token to the address of the first struct gperftools_thread
	 * that waits for this token.
	 */
	struct u64_map blocked;
	struct gperftools_queue runnable;
	/* total size of all buffers and their headers, in bytes */
	size_t buffered_nbytes;
	bool is_merging;
	/* block a thread if it frees a token that is not allocated */
	bool may_block;
	/* the status with which to stop after merging; HATF_OK: read on */
	enum hatf_status end;
	const char *end_field;
	uint64_t time; /* time of the previous record */
};

/* ------------------------------------------------------- a thread's events */

static void
drop_buffer(struct gperftools *g, struct gperftools_thread *t)
{
	struct gperftools_buffer *const b = t->first;

	t->time = b->time;
	t->first = b->next;
	if (t->first == NULL)
		t->last = NULL;
	else
		t->next = t->first->bytes;
	g->buffered_nbytes -= sizeof(*b) + b->nbytes;
	free(b);
}

/*
 * Decode the next event of 't' into t->event.  If 't' has no more events, clear
 * t->has_event.  Return false if the source has stopped with an error.
 */
static bool
decode_next(struct source *s, struct gperftools_thread *t)
{
	struct gperftools *const g = s->ctx;

	t->has_event = false;
	while (!t->has_event && t->first != NULL) {
		const uint8_t *const start = t->next;
		const uint8_t *const end = t->first->bytes + t->first->nbytes;
		const char *fault;

		if (start == end) {
			drop_buffer(g, t);
			continue;
		}
		fault = gperftools_decode(t, end, &t->has_event);
		t->event.offset =
			t->first->offset + (uint64_t)(start - t->first->bytes);
		if (fault != NULL) {
			s->offset = t->event.offset;
			source_stop(s, HATF_BAD_FIELD, fault);
			return false;
		}
	}
	/*
	 * If the thread has ended, add one event after its last event: the end
	 * of the thread.
	 */
	if (!t->has_event && t->has_ended) {
		t->has_event = true;
		t->event.type = GPERFTOOLS_THREAD_END;
		t->time = t->end_time;
	}
	return true;
}

/* ----------------------------------------------------- runnable and blocked */

static bool
add_runnable(struct source *s, struct gperftools_thread *t)
{
	struct gperftools *const g = s->ctx;

	if (gperftools_queue_add(&g->runnable, t))
		return true;
	source_stop(s, HATF_NO_MEMORY, NULL);
	return false;
}

static struct gperftools_thread *
thread_of(const struct u64_map_entry *block)
{
	return (struct gperftools_thread *)(uintptr_t)block->value;
}

/*
 * Block 't', the first runnable thread, until another thread allocates 'token'.
 */
static void
block_on(struct source *s, struct gperftools_thread *t, uint64_t token)
{
	struct gperftools *const g = s->ctx;
	bool added;
	struct u64_map_entry *const entry =
		u64_map_put(&g->blocked, token, &added);

	if (entry == NULL) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return;
	}
	t->next_blocked = added ? NULL : thread_of(entry);
	entry->value = (uint64_t)(uintptr_t)t;
	gperftools_queue_drop_first(&g->runnable);
}

static void
unblock_all(struct source *s, struct gperftools_thread *t)
{
	while (t != NULL && add_runnable(s, t))
		t = t->next_blocked;
}

/* Mark 'token' as allocated, and make the threads that wait for it runnable. */
static void
add_token(struct source *s, uint64_t token)
{
	struct gperftools *const g = s->ctx;
	const struct block unknown = { .size = 0 };
	struct u64_map_entry *entry;
	bool added;

	if (!block_set_put(&g->tokens, token, &unknown, &added, NULL)) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return;
	}
	entry = u64_map_count(&g->blocked) == 0
			? NULL
			: u64_map_find(&g->blocked, token);
	if (entry != NULL) {
		struct gperftools_thread *const t = thread_of(entry);

		u64_map_remove(&g->blocked, entry);
		unblock_all(s, t);
	}
}

/*
 * Make all blocked threads runnable, and block no thread in the rest of this
 * merge.  Call this when the tokens for which the threads wait may never be
 * allocated.
 */
static void
unblock_everything(struct source *s)
{
	struct gperftools *const g = s->ctx;
	const struct u64_map *const w = &g->blocked;

	for (size_t i = 0; i < w->slot_count; i++)
		if (w->keys[i] != 0)
			unblock_all(s, thread_of(&w->entries[i]));
	if (w->has_zero)
		unblock_all(s, thread_of(&w->zero));
	u64_map_fini(&g->blocked);
	g->may_block = false;
}

/* ------------------------------------------------------------------ records */

static struct hatf_record *
add_record(struct source *s, const struct gperftools_thread *t, unsigned tag)
{
	struct gperftools *const g = s->ctx;
	struct hatf_record *const rec = batch_add(&g->batch, tag);

	if (rec == NULL) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return NULL;
	}
	/*
	 * The trace gives a thread's time only now and then, so 't->time' may
	 * be before the time of the previous record.  In this case, use the
	 * time of the previous record again.
	 */
	if (t->time > g->time)
		g->time = t->time;
	rec->time = g->time;
	rec->thread = t->id;
	rec->offset = t->event.offset;
	return rec;
}

static void
add_alignment(struct source *s, struct hatf_record *rec, uint64_t alignment)
{
	struct gperftools *const g = s->ctx;
	const struct hatf_attr_item item = { .key = HATF_ATTR_ALIGNMENT,
					     .value = alignment };
	uint8_t *const bytes = batch_bytes(&g->batch, 11);
	size_t used = 0;

	if (bytes == NULL) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return;
	}
	hatf_attr_put(bytes, 11, &used, &item);
	rec->attributes = bytes;
	rec->attributes_nbytes = (uint32_t)used;
}

static void
add_alloc(struct source *s, const struct gperftools_thread *t)
{
	struct hatf_record *const rec = add_record(s, t, HATF_ALLOC);

	if (rec == NULL)
		return;
	rec->size = t->event.nbytes;
	rec->address = t->event.new_token + 1;
	if (t->event.type == GPERFTOOLS_MEMALIGN)
		add_alignment(s, rec, t->event.alignment);
}

static void
add_free(struct source *s, const struct gperftools_thread *t)
{
	struct hatf_record *const rec = add_record(s, t, HATF_FREE);

	if (rec != NULL)
		rec->address = t->event.token + 1;
}

/*
 * Add a realloc.  The gperftools recorder assigns a new token in every realloc,
 * so even a block that stayed in place gets a new address here.
 */
static void
add_realloc(struct source *s, const struct gperftools_thread *t)
{
	struct gperftools *const g = s->ctx;

	if (t->time > g->time)
		g->time = t->time;
	if (!batch_realloc(&g->batch,
			   &(struct hatf_record){
				   .size = t->event.nbytes,
				   .address = t->event.new_token + 1,
				   .old_address = t->event.token + 1,
				   .thread = t->id,
				   .time = g->time,
				   .offset = t->event.offset,
			   },
			   false))
		source_stop(s, HATF_NO_MEMORY, NULL);
}

static void
add_event(struct source *s, const struct gperftools_thread *t)
{
	switch (t->event.type) {
	case GPERFTOOLS_FREE:
	case GPERFTOOLS_FREE_SIZED:
		add_free(s, t);
		break;
	case GPERFTOOLS_REALLOC:
		add_realloc(s, t);
		break;
	case GPERFTOOLS_THREAD_END:
		add_record(s, t, HATF_DESTROY_THREAD);
		break;
	default:
		add_alloc(s, t);
	}
}

/* ------------------------------------------------------------------ merging */

static bool
frees(const struct gperftools_event *e)
{
	return e->type == GPERFTOOLS_FREE || e->type == GPERFTOOLS_FREE_SIZED ||
	       e->type == GPERFTOOLS_REALLOC;
}

static bool
allocates(const struct gperftools_event *e)
{
	return e->type == GPERFTOOLS_MALLOC || e->type == GPERFTOOLS_MEMALIGN ||
	       e->type == GPERFTOOLS_REALLOC;
}

static void
forget_thread(struct gperftools *g, struct gperftools_thread *t)
{
	u64_map_remove(&g->threads, u64_map_find(&g->threads, t->id));
	free(t);
}

/*
 * Replace the current event of 't', the first runnable thread, by its next
 * event; if there is none, remove 't' from the queue.
 */
static void
advance(struct source *s, struct gperftools_thread *t)
{
	struct gperftools *const g = s->ctx;
	const bool ended = t->event.type == GPERFTOOLS_THREAD_END;

	if (!ended && !decode_next(s, t))
		return;
	if (!ended && t->has_event) {
		gperftools_queue_update_first(&g->runnable);
		return;
	}
	gperftools_queue_drop_first(&g->runnable);
	if (ended)
		forget_thread(g, t);
}

/*
 * Process the event with the least time: add its record to the batch, or block
 * its thread.
 */
static void
merge_one(struct source *s)
{
	struct gperftools *const g = s->ctx;
	struct gperftools_thread *const t = g->runnable.threads[0];
	const struct gperftools_event e = t->event;

	if (frees(&e)) {
		struct block old;

		if (!block_set_take(&g->tokens, e.token, &old) &&
		    g->may_block) {
			block_on(s, t, e.token);
			return;
		}
	}
	add_event(s, t);
	advance(s, t);
	if (allocates(&e))
		add_token(s, e.new_token);
}

/*
 * Merge buffered events into the batch.  Return true if no thread is runnable
 * any more: the only events left are those of blocked threads, which wait for
 * more buffers.  Return false if the batch is full or the source has stopped.
 */
static bool
merge_events(struct source *s)
{
	struct gperftools *const g = s->ctx;

	while (batch_has_room(&g->batch) && s->err.status == HATF_OK) {
		if (g->runnable.count != 0)
			merge_one(s);
		else if (u64_map_count(&g->blocked) != 0 &&
			 (g->end != HATF_OK ||
			  g->buffered_nbytes > BUFFERED_MAX))
			unblock_everything(s);
		else
			return true;
	}
	return false;
}

/* ------------------------------------------------------------- outer events */

static struct gperftools_thread *
find_thread(struct source *s, uint64_t id)
{
	struct gperftools *const g = s->ctx;
	bool added;
	struct u64_map_entry *const entry =
		u64_map_put(&g->threads, id, &added);
	struct gperftools_thread *t;

	if (entry != NULL && !added)
		return thread_of(entry);
	t = entry == NULL ? NULL : calloc(1, sizeof(*t));
	if (t == NULL) {
		if (entry != NULL)
			u64_map_remove(&g->threads, entry);
		source_stop(s, HATF_NO_MEMORY, NULL);
		return NULL;
	}
	t->id = id;
	entry->value = (uint64_t)(uintptr_t)t;
	return t;
}

/*
 * If 't' has no event, decode its next event.  If there is one, make 't'
 * runnable.
 */
static void
resume_if_idle(struct source *s, struct gperftools_thread *t)
{
	if (!t->has_event && decode_next(s, t) && t->has_event)
		add_runnable(s, t);
}

static void
add_buffer(struct source *s, struct gperftools_thread *t, uint64_t time,
	   const uint8_t *bytes, size_t nbytes)
{
	struct gperftools *const g = s->ctx;
	struct gperftools_buffer *const b = malloc(sizeof(*b) + nbytes);

	if (b == NULL) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return;
	}
	*b = (struct gperftools_buffer){
		.time = time & ~GPERFTOOLS_CPU_MASK,
		.offset = input_window_offset(&s->window) +
			  (uint64_t)(bytes - s->window.next),
		.nbytes = nbytes,
	};
	memcpy(b->bytes, bytes, nbytes);
	g->buffered_nbytes += sizeof(*b) + nbytes;
	if (t->last == NULL) {
		t->first = b;
		t->next = b->bytes;
	} else {
		t->last->next = b;
	}
	t->last = b;
	resume_if_idle(s, t);
}

/* Let read_records() merge the buffered events and then stop with 'status'. */
static void
end_trace(struct source *s, enum hatf_status status, const char *field)
{
	struct gperftools *const g = s->ctx;

	g->end = status;
	g->end_field = field;
	g->is_merging = true;
}

/*
 * End the trace at the end of the file.  The last 'left' bytes are not a
 * complete event.
 */
static void
end_early(struct source *s, size_t left)
{
	const enum hatf_status status = s->window.input.status;

	if (status != HATF_END)
		end_trace(s, status, "event");
	else if (left != 0)
		end_trace(s, HATF_TRUNCATED, "event");
	else
		end_trace(s, HATF_NO_TRAILER, "end");
}

/*
 * Process an outer event.  The caller has decoded the first number of the event
 * ('first') and the other numbers ('number').  'next' points to the byte after
 * these numbers.
 */
static void
process_outer(struct source *s, uint64_t first, const uint8_t *next,
	      const uint64_t *number)
{
	const enum gperftools_type type = gperftools_type_of(first);
	struct gperftools_thread *t = NULL;

	if (type == GPERFTOOLS_BUFFER || type == GPERFTOOLS_THREAD_END) {
		t = find_thread(s, gperftools_argument_of(first));
		if (t == NULL)
			return;
		if (t->has_ended) {
			source_stop(s, HATF_BAD_FIELD, "thread");
			return;
		}
	}
	if (type == GPERFTOOLS_BUFFER) {
		add_buffer(s, t, number[0], next, (size_t)number[1]);
		next += number[1];
	} else if (type == GPERFTOOLS_THREAD_END) {
		t->has_ended = true;
		t->end_time = number[0] & ~GPERFTOOLS_CPU_MASK;
		resume_if_idle(s, t);
	}
	s->window.next = next;
	s->offset = input_window_offset(&s->window);
}

/*
 * Return how many numbers follow the first number of an event of this type; -1
 * for an unknown type.
 */
static int
count_numbers(enum gperftools_type type)
{
	switch (type) {
	case GPERFTOOLS_END:
		return 0;
	case GPERFTOOLS_THREAD_END:
	case GPERFTOOLS_BARRIER:
		return 1;
	case GPERFTOOLS_BUFFER:
		return 2;
	default:
		return -1;
	}
}

/* Read the next outer event. */
static void
read_outer(struct source *s)
{
	struct gperftools *const g = s->ctx;
	const size_t left =
		input_window_fill(&s->window, OUTER_MAX + BUFFER_MAX);
	const uint8_t *next = s->window.next;
	const uint8_t *const end = next + left;
	uint64_t first, number[2] = { 0 };
	int count;

	s->offset = input_window_offset(&s->window);
	if (!gperftools_take_number(&next, end, &first)) {
		end_early(s, left);
		return;
	}
	count = count_numbers(gperftools_type_of(first));
	if (count < 0) {
		source_stop(s, HATF_BAD_FIELD, "type");
		return;
	}
	for (int i = 0; i < count; i++)
		if (!gperftools_take_number(&next, end, &number[i])) {
			end_early(s, left);
			return;
		}
	if (number[1] > BUFFER_MAX) {
		source_stop(s, HATF_LIMIT, "buffer");
	} else if (number[1] > (uint64_t)(end - next)) {
		end_early(s, left);
	} else if (gperftools_type_of(first) == GPERFTOOLS_END) {
		end_trace(s, HATF_END, NULL);
	} else {
		process_outer(s, first, next, number);
		g->is_merging =
			gperftools_type_of(first) == GPERFTOOLS_BARRIER ||
			g->buffered_nbytes > BUFFERED_MAX;
	}
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct gperftools *const g = s->ctx;

	batch_begin(&g->batch, records, max);
	while (batch_has_room(&g->batch) && s->err.status == HATF_OK) {
		if (!g->is_merging) {
			g->may_block = true;
			read_outer(s);
			continue;
		}
		if (!merge_events(s))
			continue;
		g->is_merging = false;
		if (g->end != HATF_OK) {
			s->offset = input_window_offset(&s->window);
			source_stop(s, g->end, g->end_field);
		}
	}
	return batch_end(&g->batch, s);
}

/* -------------------------------------------------------- opening, closing */

bool
gperftools_recognize(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= MAGIC_NBYTES && get_le32(bytes) == MAGIC;
}

static enum hatf_status
open_source(struct source *s)
{
	struct gperftools *const g = calloc(1, sizeof(*g));

	if (g == NULL)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	s->ctx = g;
	u64_map_init(&g->threads);
	block_set_init(&g->tokens);
	u64_map_init(&g->blocked);
	s->window.next += MAGIC_NBYTES;
	s->offset = MAGIC_NBYTES;
	if (!source_header(s, "unit", "ns", 2))
		return s->err.status;
	return HATF_OK;
}

static void
free_thread(struct gperftools *g, const struct u64_map_entry *block)
{
	struct gperftools_thread *const t = thread_of(block);

	while (t->first != NULL)
		drop_buffer(g, t);
	free(t);
}

static void
close_source(struct source *s)
{
	struct gperftools *const g = s->ctx;

	if (g == NULL)
		return;
	for (size_t i = 0; i < g->threads.slot_count; i++)
		if (g->threads.keys[i] != 0)
			free_thread(g, &g->threads.entries[i]);
	if (g->threads.has_zero)
		free_thread(g, &g->threads.zero);
	u64_map_fini(&g->threads);
	block_set_fini(&g->tokens);
	u64_map_fini(&g->blocked);
	batch_fini(&g->batch);
	free(g->runnable.threads);
	free(g);
}

const struct source_ops gperftools_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

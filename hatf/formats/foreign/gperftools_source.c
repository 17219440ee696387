/* SPDX-License-Identifier: MIT */
/*
 * gperftools_source.c - malloc traces of alk/gperftools into records (FORMATS
 * "gperftools")
 *
 * The recorder gives every block a token, a number that no other block has ever
 * had, instead of its address, and writes what each thread did in buffers of that
 * thread.  Buffers come in no order among threads but for barriers: what happened
 * before a barrier's buffers were taken is in front of it.
 *
 *	Buf thread 4 | Buf thread 5 | Death 4 | Buf thread 0 | Barrier | Buf ...
 *
 * So, as the system's own 'postprocess' does, all buffers up to a barrier are held,
 * and their events merged: the next one is that of the thread with the least time,
 * but a thread that is about to free what has not been allocated yet sleeps until
 * that has come.  It wakes at the end of the trace, or when too much is held, as
 * the token may never come: a free of an unknown block is then a violation for
 * 'hatf verify' to tell.
 *
 * Memory is O(live blocks + threads), and HELD_MAX of buffers.
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

/* The most of an event in front of its buffer. */
#define OUTER_MAX (3 * GPERFTOOLS_NUMBER_MAX)

/*
 * Buffers are a few KiB; a longer one is none.  It must fit the window, whole and
 * with what stands before it.
 */
#define BUFFER_MAX (256 * 1024)

/*
 * A barrier comes every few milliseconds.  Without it, sleeping threads wake when
 * so much is held.
 */
#define HELD_MAX ((size_t)64 << 20)

struct gperftools {
	struct batch batch;
	/* id -> 'value' is a struct gperftools_thread */
	struct u64_map threads;
	struct block_set tokens; /* that are allocated */
	struct u64_map waited;	 /* token -> 'value' is the first that sleeps */
	struct gperftools_queue awake;
	size_t held_nbytes; /* in buffers */
	bool is_merging;
	bool sleeps;	      /* a thread may sleep */
	enum hatf_status end; /* when all is merged; HATF_OK: read on */
	const char *end_field;
	uint64_t time; /* of the last record */
};

/* ------------------------------------------------------- a thread's events */

static void
drop_buffer(struct gperftools *g, struct gperftools_thread *t)
{
	struct gperftools_buffer *const b = t->first;

	t->time = b->time;
	t->first = b->after;
	if (t->first == NULL)
		t->last = NULL;
	else
		t->next = t->first->bytes;
	g->held_nbytes -= sizeof(*b) + b->nbytes;
	free(b);
}

/* Find out what a thread does next, if anything.  False: reading has stopped. */
static bool
look_ahead(struct source *s, struct gperftools_thread *t)
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
	/* A thread that does nothing more may still have died. */
	if (!t->has_event && t->is_dead) {
		t->has_event = true;
		t->event.type = GPERFTOOLS_DEATH;
		t->time = t->death_time;
	}
	return true;
}

/* ------------------------------------------------------------ those awake */

static bool
wake(struct source *s, struct gperftools_thread *t)
{
	struct gperftools *const g = s->ctx;

	if (gperftools_queue_add(&g->awake, t))
		return true;
	source_stop(s, HATF_NO_MEMORY, NULL);
	return false;
}

static struct gperftools_thread *
thread_of(const struct u64_map_entry *block)
{
	return (struct gperftools_thread *)(uintptr_t)block->value;
}

/* The thread at the top sleeps until 'token' is allocated. */
static void
put_to_sleep(struct source *s, struct gperftools_thread *t, uint64_t token)
{
	struct gperftools *const g = s->ctx;
	bool added;
	struct u64_map_entry *const place =
		u64_map_put(&g->waited, token, &added);

	if (place == NULL) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return;
	}
	t->sleeps_after = added ? NULL : thread_of(place);
	place->value = (uint64_t)(uintptr_t)t;
	gperftools_queue_drop_first(&g->awake);
}

static void
wake_all(struct source *s, struct gperftools_thread *t)
{
	while (t != NULL && wake(s, t))
		t = t->sleeps_after;
}

/* 'token' is allocated: who has slept for it goes on. */
static void
add_token(struct source *s, uint64_t token)
{
	struct gperftools *const g = s->ctx;
	const struct block unknown = { .size = 0 };
	struct u64_map_entry *place;
	bool added;

	if (!block_set_put(&g->tokens, token, &unknown, &added, NULL)) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return;
	}
	place = u64_map_count(&g->waited) == 0
			? NULL
			: u64_map_find(&g->waited, token);
	if (place != NULL) {
		struct gperftools_thread *const t = thread_of(place);

		u64_map_remove(&g->waited, place);
		wake_all(s, t);
	}
}

/* From here on nobody sleeps: what is waited for will not come. */
static void
end_sleep(struct source *s)
{
	struct gperftools *const g = s->ctx;
	const struct u64_map *const w = &g->waited;

	for (size_t i = 0; i < w->slot_count; i++)
		if (w->keys[i] != 0)
			wake_all(s, thread_of(&w->entries[i]));
	if (w->has_zero)
		wake_all(s, thread_of(&w->zero));
	u64_map_fini(&g->waited);
	g->sleeps = false;
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
	/* Threads' times are known now and then only. */
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
tell_alloc(struct source *s, const struct gperftools_thread *t)
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
tell_free(struct source *s, const struct gperftools_thread *t)
{
	struct hatf_record *const rec = add_record(s, t, HATF_FREE);

	if (rec != NULL)
		rec->address = t->event.token + 1;
}

/* Every realloc gives a new token, wherever the block is then. */
static void
tell_realloc(struct source *s, const struct gperftools_thread *t)
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
tell(struct source *s, const struct gperftools_thread *t)
{
	switch (t->event.type) {
	case GPERFTOOLS_FREE:
	case GPERFTOOLS_FREE_SIZED:
		tell_free(s, t);
		break;
	case GPERFTOOLS_REALLOC:
		tell_realloc(s, t);
		break;
	case GPERFTOOLS_DEATH:
		add_record(s, t, HATF_DESTROY_THREAD);
		break;
	default:
		tell_alloc(s, t);
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

/* The thread at the top has done what it was about to do. */
static void
go_on(struct source *s, struct gperftools_thread *t)
{
	struct gperftools *const g = s->ctx;
	const bool died = t->event.type == GPERFTOOLS_DEATH;

	if (!died && !look_ahead(s, t))
		return;
	if (!died && t->has_event) {
		gperftools_queue_update_first(&g->awake);
		return;
	}
	gperftools_queue_drop_first(&g->awake);
	if (died)
		forget_thread(g, t);
}

/* Tell of the next event, or let its thread sleep. */
static void
merge_one(struct source *s)
{
	struct gperftools *const g = s->ctx;
	struct gperftools_thread *const t = g->awake.threads[0];
	const struct gperftools_event e = t->event;

	if (frees(&e)) {
		struct block old;

		if (!block_set_take(&g->tokens, e.token, &old) && g->sleeps) {
			put_to_sleep(s, t, e.token);
			return;
		}
	}
	tell(s, t);
	go_on(s, t);
	if (allocates(&e))
		add_token(s, e.new_token);
}

/* Merge what is held, as far as there is room; true if there is no more. */
static bool
merge(struct source *s)
{
	struct gperftools *const g = s->ctx;

	while (batch_has_room(&g->batch) && s->err.status == HATF_OK) {
		if (g->awake.count != 0)
			merge_one(s);
		else if (u64_map_count(&g->waited) != 0 &&
			 (g->end != HATF_OK || g->held_nbytes > HELD_MAX))
			end_sleep(s);
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
	struct u64_map_entry *const place =
		u64_map_put(&g->threads, id, &added);
	struct gperftools_thread *t;

	if (place != NULL && !added)
		return thread_of(place);
	t = place == NULL ? NULL : calloc(1, sizeof(*t));
	if (t == NULL) {
		if (place != NULL)
			u64_map_remove(&g->threads, place);
		source_stop(s, HATF_NO_MEMORY, NULL);
		return NULL;
	}
	t->id = id;
	place->value = (uint64_t)(uintptr_t)t;
	return t;
}

/* A thread has got more to do; it may have been idle. */
static void
extend(struct source *s, struct gperftools_thread *t)
{
	if (!t->has_event && look_ahead(s, t) && t->has_event)
		wake(s, t);
}

static void
hold_buffer(struct source *s, struct gperftools_thread *t, uint64_t time,
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
	g->held_nbytes += sizeof(*b) + nbytes;
	if (t->last == NULL) {
		t->first = b;
		t->next = b->bytes;
	} else {
		t->last->after = b;
	}
	t->last = b;
	extend(s, t);
}

/* The trace ends with 'status' behind what is held. */
static void
end_trace(struct source *s, enum hatf_status status, const char *field)
{
	struct gperftools *const g = s->ctx;

	g->end = status;
	g->end_field = field;
	g->is_merging = true;
}

/* The file has no more, and 'left' bytes belong to no whole event. */
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

/* What else there is to an outer event, in the window behind 'next'. */
static void
take_outer(struct source *s, uint64_t first, const uint8_t *next,
	   const uint64_t *number)
{
	const enum gperftools_type type = gperftools_type_of(first);
	struct gperftools_thread *t = NULL;

	if (type == GPERFTOOLS_BUFFER || type == GPERFTOOLS_DEATH) {
		t = find_thread(s, gperftools_rest_of(first));
		if (t == NULL)
			return;
		if (t->is_dead) {
			source_stop(s, HATF_BAD_FIELD, "thread");
			return;
		}
	}
	if (type == GPERFTOOLS_BUFFER) {
		hold_buffer(s, t, number[0], next, (size_t)number[1]);
		next += number[1];
	} else if (type == GPERFTOOLS_DEATH) {
		t->is_dead = true;
		t->death_time = number[0] & ~GPERFTOOLS_CPU_MASK;
		extend(s, t);
	}
	s->window.next = next;
	s->offset = input_window_offset(&s->window);
}

/* How many numbers follow the first one, or -1: there is no such event. */
static int
count_numbers(enum gperftools_type type)
{
	switch (type) {
	case GPERFTOOLS_END:
		return 0;
	case GPERFTOOLS_DEATH:
	case GPERFTOOLS_BARRIER:
		return 1;
	case GPERFTOOLS_BUFFER:
		return 2;
	default:
		return -1;
	}
}

/* Take the next outer event. */
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
		take_outer(s, first, next, number);
		g->is_merging =
			gperftools_type_of(first) == GPERFTOOLS_BARRIER ||
			g->held_nbytes > HELD_MAX;
	}
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct gperftools *const g = s->ctx;

	batch_begin(&g->batch, records, max);
	while (batch_has_room(&g->batch) && s->err.status == HATF_OK) {
		if (!g->is_merging) {
			g->sleeps = true;
			read_outer(s);
			continue;
		}
		if (!merge(s))
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
gperftools_recognise(const uint8_t *bytes, size_t nbytes)
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
	u64_map_init(&g->waited);
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
	u64_map_fini(&g->waited);
	batch_fini(&g->batch);
	free(g->awake.threads);
	free(g);
}

const struct source_ops gperftools_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

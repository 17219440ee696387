/* SPDX-License-Identifier: MIT */
/*
 * gperftools_source.c - malloc traces of alk/gperftools into records (FORMAT
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
#include "batch.h"
#include "block_set.h"

#include "bytes.h"
#include "format.h"
#include "live.h"

#include <stdlib.h>

#define MAGIC	     0x6cbd63e4
#define MAGIC_NBYTES 4

/* The longest number, and the most of an event in front of its buffer. */
#define NUMBER_MAX 9
#define OUTER_MAX  (3 * NUMBER_MAX)

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

/* Sizes count words, and 2^61 of them are all of memory. */
#define WORDS_MAX ((uint64_t)1 << 61)

/* The low bits of a time are the processor's number. */
#define CPU_MASK ((uint64_t)1023)

/* The low 3 bits of the first number; with all of them set, the low 8. */
enum type {
	TYPE_MALLOC = 0x00,
	TYPE_FREE = 0x01,
	TYPE_TOKENS = 0x02,
	TYPE_BUFFER = 0x03,
	TYPE_FREE_SIZED = 0x04,
	TYPE_DEATH = 0x07,
	TYPE_END = 0x0f,
	TYPE_REALLOC = 0x17,
	TYPE_MEMALIGN = 0x1f,
	TYPE_BARRIER = 0x27,
};
#define TYPE_BITS	   3
#define TYPE_MASK	   7
#define TYPE_EXTENDED	   7
#define TYPE_EXTENDED_BITS 8

/* Bytes of one thread's events. */
struct buffer {
	struct buffer *after;
	uint64_t time;	 /* when it was taken */
	uint64_t offset; /* of its first byte */
	size_t nbytes;
	uint8_t bytes[];
};

/* What a thread does next. */
struct event {
	enum type type;
	uint64_t token; /* freed */
	uint64_t new_token, nbytes, alignment;
	uint64_t offset;
};

struct thread {
	uint64_t id;
	uint64_t time;
	/* The last values, to which the next ones are differences. */
	uint64_t words, token, next_token;
	struct buffer *first, *last;
	const uint8_t *next; /* in 'first' */
	struct event event;  /* if 'has_event' */
	bool has_event, is_dead;
	uint64_t death_time;
	struct thread *sleeps_after; /* that sleeps for the same token */
};

struct gperftools {
	struct batch batch;
	struct live threads;	 /* id -> 'object' is a struct thread */
	struct block_set tokens; /* that are allocated */
	struct live waited; /* token -> 'object' is the first that sleeps */
	/* A heap of those awake, the least time first. */
	struct thread **awake;
	size_t awake_count, awake_cap;
	size_t held_nbytes; /* in buffers */
	bool is_merging;
	bool sleeps;	      /* a thread may sleep */
	enum hatf_status end; /* when all is merged; HATF_OK: read on */
	const char *end_field;
	uint64_t time; /* of the last record */
};

/* ------------------------------------------------------------------ numbers */

/*
 * As many zero bits as begin the first byte, from the lowest, so many bytes follow
 * it; the number is behind the lowest bit that is set.  Eight: it is the eight
 * bytes that follow.
 */
static bool
take_number(const uint8_t **next, const uint8_t *end, uint64_t *n_ret)
{
	const uint8_t *const p = *next;
	uint8_t bytes[8] = { 0 };
	unsigned nbytes, skip;

	if (p == end)
		return false;
	skip = p[0] == 0;
	nbytes = skip ? 8 : 1 + (unsigned)__builtin_ctz(p[0]);
	if (nbytes + skip > (size_t)(end - p))
		return false;
	if (end - p >= NUMBER_MAX)
		*n_ret = get_le64(p + skip) << (64 - 8 * nbytes) >>
			 (64 - 8 * nbytes);
	else
		*n_ret = get_le64(memcpy(bytes, p + skip, nbytes));
	if (!skip)
		*n_ret >>= nbytes;
	*next = p + nbytes + skip;
	return true;
}

/* 0, -1, 1, -2, ...: a difference. */
static uint64_t
unzigzag(uint64_t n)
{
	return n >> 1 ^ (0 - (n & 1));
}

static enum type
type_of(uint64_t first)
{
	return (first & TYPE_MASK) == TYPE_EXTENDED ? first & 0xff
						    : first & TYPE_MASK;
}

/* What stands behind the type in the first number. */
static uint64_t
rest_of(uint64_t first)
{
	return first >> ((first & TYPE_MASK) == TYPE_EXTENDED
				 ? TYPE_EXTENDED_BITS
				 : TYPE_BITS);
}

/* ------------------------------------------------------- a thread's events */

static void
drop_buffer(struct gperftools *g, struct thread *t)
{
	struct buffer *const b = t->first;

	t->time = b->time;
	t->first = b->after;
	if (t->first == NULL)
		t->last = NULL;
	else
		t->next = t->first->bytes;
	g->held_nbytes -= sizeof(*b) + b->nbytes;
	free(b);
}

static const char *
take_size(struct thread *t, uint64_t difference)
{
	t->words += unzigzag(difference);
	if (t->words > WORDS_MAX)
		return "size";
	t->event.nbytes = t->words << 3;
	return NULL;
}

static const char *
take_new_token(struct thread *t)
{
	/* It becomes an address, which is one more. */
	if (t->next_token == UINT64_MAX)
		return "token";
	t->event.new_token = t->next_token++;
	return NULL;
}

static const char *
take_old_token(struct thread *t, uint64_t difference)
{
	t->token += unzigzag(difference);
	t->event.token = t->token;
	return t->token == UINT64_MAX ? "token" : NULL;
}

/*
 * Decode an event; '*is_event_ret' is false for one that only tells of what comes.
 * Returns NULL or what is malformed.
 */
static const char *
decode(struct thread *t, const uint8_t *end, bool *is_event_ret)
{
	struct event *const e = &t->event;
	uint64_t first, second = 0;
	const char *fault = NULL;

	if (!take_number(&t->next, end, &first))
		return "event";
	e->type = type_of(first);
	if ((e->type == TYPE_TOKENS || e->type == TYPE_REALLOC ||
	     e->type == TYPE_MEMALIGN) &&
	    !take_number(&t->next, end, &second))
		return "event";
	first = rest_of(first);
	*is_event_ret = true;
	switch (e->type) {
	case TYPE_TOKENS:
		t->time = second & ~CPU_MASK;
		t->next_token = first;
		*is_event_ret = false;
		return NULL;
	case TYPE_FREE:
	case TYPE_FREE_SIZED:
		return take_old_token(t, first);
	case TYPE_REALLOC:
		fault = take_old_token(t, second);
		break;
	case TYPE_MALLOC:
		break;
	case TYPE_MEMALIGN:
		e->alignment = second;
		break;
	default:
		return "type";
	}
	if (fault == NULL)
		fault = take_size(t, first);
	return fault != NULL ? fault : take_new_token(t);
}

/* Find out what a thread does next, if anything.  False: reading has stopped. */
static bool
look_ahead(struct source *s, struct thread *t)
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
		fault = decode(t, end, &t->has_event);
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
		t->event.type = TYPE_DEATH;
		t->time = t->death_time;
	}
	return true;
}

/* ------------------------------------------------------------ those awake */

static bool
is_before(const struct thread *a, const struct thread *b)
{
	return a->time != b->time ? a->time < b->time : a->id < b->id;
}

static void
sift_up(struct gperftools *g, size_t i)
{
	struct thread *const t = g->awake[i];

	for (; i != 0 && is_before(t, g->awake[(i - 1) / 2]); i = (i - 1) / 2)
		g->awake[i] = g->awake[(i - 1) / 2];
	g->awake[i] = t;
}

/* Put 't' where it belongs at or below the top. */
static void
sift_down(struct gperftools *g, struct thread *t)
{
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= g->awake_count)
			break;
		if (child + 1 < g->awake_count &&
		    is_before(g->awake[child + 1], g->awake[child]))
			child++;
		if (!is_before(g->awake[child], t))
			break;
		g->awake[i] = g->awake[child];
		i = child;
	}
	g->awake[i] = t;
}

static bool
wake(struct source *s, struct thread *t)
{
	struct gperftools *const g = s->ctx;

	if (g->awake_count == g->awake_cap) {
		const size_t cap = g->awake_cap == 0 ? 16 : 2 * g->awake_cap;
		struct thread **const awake =
			reallocarray(g->awake, cap, sizeof(struct thread *));

		if (awake == NULL) {
			source_stop(s, HATF_NO_MEMORY, NULL);
			return false;
		}
		g->awake = awake;
		g->awake_cap = cap;
	}
	g->awake[g->awake_count++] = t;
	sift_up(g, g->awake_count - 1);
	return true;
}

/* The thread at the top does not run any more. */
static void
drop_top(struct gperftools *g)
{
	g->awake_count--;
	if (g->awake_count != 0)
		sift_down(g, g->awake[g->awake_count]);
}

static struct thread *
thread_of(const struct live_block *block)
{
	return (struct thread *)(uintptr_t)block->object;
}

/* The thread at the top sleeps until 'token' is allocated. */
static void
put_to_sleep(struct source *s, struct thread *t, uint64_t token)
{
	struct gperftools *const g = s->ctx;
	bool added;
	struct live_block *const place = live_put(&g->waited, token, &added);

	if (place == NULL) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return;
	}
	t->sleeps_after = added ? NULL : thread_of(place);
	place->object = (uint64_t)(uintptr_t)t;
	drop_top(g);
}

static void
wake_all(struct source *s, struct thread *t)
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
	struct live_block *place;
	bool added;

	if (!block_set_put(&g->tokens, token, &unknown, &added, NULL)) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return;
	}
	place = live_count(&g->waited) == 0 ? NULL
					    : live_find(&g->waited, token);
	if (place != NULL) {
		struct thread *const t = thread_of(place);

		live_remove(&g->waited, place);
		wake_all(s, t);
	}
}

/* From here on nobody sleeps: what is waited for will not come. */
static void
end_sleep(struct source *s)
{
	struct gperftools *const g = s->ctx;
	const struct live *const w = &g->waited;

	for (size_t i = 0; i < w->slot_count; i++)
		if (w->keys[i] != 0)
			wake_all(s, thread_of(&w->blocks[i]));
	if (w->has_zero)
		wake_all(s, thread_of(&w->zero));
	live_fini(&g->waited);
	g->sleeps = false;
}

/* ------------------------------------------------------------------ records */

static struct hatf_record *
add_record(struct source *s, const struct thread *t, unsigned tag)
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
tell_alloc(struct source *s, const struct thread *t)
{
	struct hatf_record *const rec = add_record(s, t, HATF_ALLOC);

	if (rec == NULL)
		return;
	rec->size = t->event.nbytes;
	rec->address = t->event.new_token + 1;
	if (t->event.type == TYPE_MEMALIGN)
		add_alignment(s, rec, t->event.alignment);
}

static void
tell_free(struct source *s, const struct thread *t)
{
	struct hatf_record *const rec = add_record(s, t, HATF_FREE);

	if (rec != NULL)
		rec->address = t->event.token + 1;
}

/* Every realloc gives a new token, wherever the block is then. */
static void
tell_realloc(struct source *s, const struct thread *t)
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
tell(struct source *s, const struct thread *t)
{
	switch (t->event.type) {
	case TYPE_FREE:
	case TYPE_FREE_SIZED:
		tell_free(s, t);
		break;
	case TYPE_REALLOC:
		tell_realloc(s, t);
		break;
	case TYPE_DEATH:
		add_record(s, t, HATF_DESTROY_THREAD);
		break;
	default:
		tell_alloc(s, t);
	}
}

/* ------------------------------------------------------------------ merging */

static bool
frees(const struct event *e)
{
	return e->type == TYPE_FREE || e->type == TYPE_FREE_SIZED ||
	       e->type == TYPE_REALLOC;
}

static bool
allocates(const struct event *e)
{
	return e->type == TYPE_MALLOC || e->type == TYPE_MEMALIGN ||
	       e->type == TYPE_REALLOC;
}

static void
forget_thread(struct gperftools *g, struct thread *t)
{
	live_remove(&g->threads, live_find(&g->threads, t->id));
	free(t);
}

/* The thread at the top has done what it was about to do. */
static void
go_on(struct source *s, struct thread *t)
{
	struct gperftools *const g = s->ctx;
	const bool died = t->event.type == TYPE_DEATH;

	if (!died && !look_ahead(s, t))
		return;
	if (!died && t->has_event) {
		sift_down(g, t);
		return;
	}
	drop_top(g);
	if (died)
		forget_thread(g, t);
}

/* Tell of the next event, or let its thread sleep. */
static void
merge_one(struct source *s)
{
	struct gperftools *const g = s->ctx;
	struct thread *const t = g->awake[0];
	const struct event e = t->event;

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

	while (batch_wants(&g->batch) && s->err.status == HATF_OK) {
		if (g->awake_count != 0)
			merge_one(s);
		else if (live_count(&g->waited) != 0 &&
			 (g->end != HATF_OK || g->held_nbytes > HELD_MAX))
			end_sleep(s);
		else
			return true;
	}
	return false;
}

/* ------------------------------------------------------------- outer events */

static struct thread *
find_thread(struct source *s, uint64_t id)
{
	struct gperftools *const g = s->ctx;
	bool added;
	struct live_block *const place = live_put(&g->threads, id, &added);
	struct thread *t;

	if (place != NULL && !added)
		return thread_of(place);
	t = place == NULL ? NULL : calloc(1, sizeof(*t));
	if (t == NULL) {
		if (place != NULL)
			live_remove(&g->threads, place);
		source_stop(s, HATF_NO_MEMORY, NULL);
		return NULL;
	}
	t->id = id;
	place->object = (uint64_t)(uintptr_t)t;
	return t;
}

/* A thread has got more to do; it may have been idle. */
static void
extend(struct source *s, struct thread *t)
{
	if (!t->has_event && look_ahead(s, t) && t->has_event)
		wake(s, t);
}

static void
hold_buffer(struct source *s, struct thread *t, uint64_t time,
	    const uint8_t *bytes, size_t nbytes)
{
	struct gperftools *const g = s->ctx;
	struct buffer *const b = malloc(sizeof(*b) + nbytes);

	if (b == NULL) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return;
	}
	*b = (struct buffer){
		.time = time & ~CPU_MASK,
		.offset = window_offset(&s->window) +
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
	const enum type type = type_of(first);
	struct thread *t = NULL;

	if (type == TYPE_BUFFER || type == TYPE_DEATH) {
		t = find_thread(s, rest_of(first));
		if (t == NULL)
			return;
		if (t->is_dead) {
			source_stop(s, HATF_BAD_FIELD, "thread");
			return;
		}
	}
	if (type == TYPE_BUFFER) {
		hold_buffer(s, t, number[0], next, (size_t)number[1]);
		next += number[1];
	} else if (type == TYPE_DEATH) {
		t->is_dead = true;
		t->death_time = number[0] & ~CPU_MASK;
		extend(s, t);
	}
	s->window.next = next;
	s->offset = window_offset(&s->window);
}

/* How many numbers follow the first one, or -1: there is no such event. */
static int
count_numbers(enum type type)
{
	switch (type) {
	case TYPE_END:
		return 0;
	case TYPE_DEATH:
	case TYPE_BARRIER:
		return 1;
	case TYPE_BUFFER:
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
	const size_t left = window_want(&s->window, OUTER_MAX + BUFFER_MAX);
	const uint8_t *next = s->window.next;
	const uint8_t *const end = next + left;
	uint64_t first, number[2] = { 0 };
	int count;

	s->offset = window_offset(&s->window);
	if (!take_number(&next, end, &first)) {
		end_early(s, left);
		return;
	}
	count = count_numbers(type_of(first));
	if (count < 0) {
		source_stop(s, HATF_BAD_FIELD, "type");
		return;
	}
	for (int i = 0; i < count; i++)
		if (!take_number(&next, end, &number[i])) {
			end_early(s, left);
			return;
		}
	if (number[1] > BUFFER_MAX) {
		source_stop(s, HATF_LIMIT, "buffer");
	} else if (number[1] > (uint64_t)(end - next)) {
		end_early(s, left);
	} else if (type_of(first) == TYPE_END) {
		end_trace(s, HATF_END, NULL);
	} else {
		take_outer(s, first, next, number);
		g->is_merging = type_of(first) == TYPE_BARRIER ||
				g->held_nbytes > HELD_MAX;
	}
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct gperftools *const g = s->ctx;

	batch_begin(&g->batch, records, max);
	while (batch_wants(&g->batch) && s->err.status == HATF_OK) {
		if (!g->is_merging) {
			g->sleeps = true;
			read_outer(s);
			continue;
		}
		if (!merge(s))
			continue;
		g->is_merging = false;
		if (g->end != HATF_OK) {
			s->offset = window_offset(&s->window);
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
	live_init(&g->threads);
	block_set_init(&g->tokens);
	live_init(&g->waited);
	s->window.next += MAGIC_NBYTES;
	s->offset = MAGIC_NBYTES;
	if (!source_header(s, "unit", "ns", 2))
		return s->err.status;
	return HATF_OK;
}

static void
free_thread(struct gperftools *g, const struct live_block *block)
{
	struct thread *const t = thread_of(block);

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
			free_thread(g, &g->threads.blocks[i]);
	if (g->threads.has_zero)
		free_thread(g, &g->threads.zero);
	live_fini(&g->threads);
	block_set_fini(&g->tokens);
	live_fini(&g->waited);
	batch_fini(&g->batch);
	free(g->awake);
	free(g);
}

const struct source_ops gperftools_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

/* SPDX-License-Identifier: MIT */
/* page_sights.c - see page_sights.h */
#include "tools/report/page_sights.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- threads */

/*
 * Return the row of a thread.  If the thread has no row yet, add one, with a
 * life that begins at 'at'.  Return ID_ROWS_NONE if there is no memory.
 */
static uint32_t
find_life(struct page_sights *s, uint64_t thread, uint64_t at)
{
	uint32_t row = id_rows_find(&s->thread_ids, thread);

	if (row != ID_ROWS_NONE)
		return row;
	row = id_rows_add(&s->thread_ids, thread);
	if (row != ID_ROWS_NONE && row >= s->life_cap) {
		const uint32_t cap = s->life_cap == 0 ? 64 : 2 * s->life_cap;
		struct page_life *const lives =
			realloc(s->lives, cap * sizeof(*lives));

		if (lives == NULL) {
			s->no_memory = true;
			return ID_ROWS_NONE;
		}
		s->lives = lives;
		s->life_cap = cap;
	}
	if (row == ID_ROWS_NONE)
		s->no_memory = true;
	else
		s->lives[row] = (struct page_life){ at, PAGE_NEVER };
	return row;
}

bool
page_sights_life(const struct page_sights *s, uint64_t thread,
		 struct page_life *life_ret)
{
	const uint32_t row = id_rows_find(&s->thread_ids, thread);

	if (row == ID_ROWS_NONE)
		return false;
	*life_ret = s->lives[row];
	return true;
}

/* ------------------------------------------------------------------ marks */

/* Is the comment of this kind?  'kind' has the form "HATF KIND\n". */
static bool
is_kind(const struct hatf_event *e, const char *kind)
{
	return e->attributes_nbytes >= strlen(kind) &&
	       memcmp(e->attributes, kind, strlen(kind)) == 0;
}

static bool
is_mark(const struct hatf_event *e)
{
	return is_kind(e, "HATF mark\n");
}

/*
 * Return the value of a key in a comment; 'key' is "\nkey=".  Return NULL if
 * the comment does not contain the key.
 */
static const char *
find_value(const struct hatf_event *e, const char *key, size_t *nbytes_ret)
{
	const char *const text = (const char *)e->attributes;
	const size_t nbytes = e->attributes_nbytes;
	const char *from = memmem(text, nbytes, key, strlen(key));
	const char *end;

	if (from == NULL)
		return NULL;
	from += strlen(key);
	end = memchr(from, '\n', nbytes - (size_t)(from - text));
	*nbytes_ret = (size_t)((end != NULL ? end : text + nbytes) - from);
	return from;
}

static void
note_mark(struct page_sights *s, const struct hatf_event *e, uint64_t at)
{
	size_t nbytes;
	const char *const text =
		is_mark(e) ? find_value(e, "\ntext=", &nbytes) : NULL;
	struct page_mark *const mark = &s->marks[s->mark_count];

	if (text == NULL)
		return;
	if (s->mark_count == PAGE_MARKS_MAX) {
		s->marks_left_out++;
		return;
	}
	mark->text = strndup(text, nbytes < 200 ? nbytes : 200);
	mark->at = at;
	if (mark->text == NULL)
		s->no_memory = true;
	else
		s->mark_count++;
}

/*
 * Return the value of a key as a number; 'otherwise' if it is missing, empty or
 * too long.
 */
static uint64_t
find_number(const struct hatf_event *e, const char *key, uint64_t otherwise)
{
	char digits[20] = { 0 };
	size_t nbytes;
	const char *const text = find_value(e, key, &nbytes);

	if (text == NULL || nbytes == 0 || nbytes >= sizeof(digits))
		return otherwise;
	memcpy(digits, text, nbytes);
	return strtoull(digits, NULL, 10);
}

/* ----------------------------------------------------------------- events */

static bool
is_call(const struct hatf_event *e)
{
	return e->kind <= HATF_EVENT_REALLOC &&
	       !(e->kind == HATF_EVENT_ALLOC && e->carried);
}

/*
 * Update the map: add new blocks, and remove freed ones.  Ignore blocks of
 * heaps other than 0, because these blocks may lie inside blocks of heap 0.
 */
static void
note_blocks(struct page_sights *s, const struct hatf_event *e)
{
	const bool moves = e->kind == HATF_EVENT_REALLOC &&
			   (e->address != 0 || e->tag == HATF_REALLOC_FREE);

	if (e->kind > HATF_EVENT_REALLOC || e->heap != 0)
		return;
	if (e->kind == HATF_EVENT_FREE || moves)
		page_map_remove(&s->map, e->old_address, e->old_size);
	if (e->kind != HATF_EVENT_FREE && e->address != 0)
		page_map_add(&s->map, e->address, e->size);
}

static void
see_event(struct page_sights *s, const struct census *c,
	  const struct hatf_event *e, uint64_t *thread)
{
	uint64_t at;
	uint32_t row;

	s->event_count += is_call(e);
	at = c->has_times ? e->time : s->event_count;
	at = at > c->axis_start ? at - c->axis_start : 0;
	if (e->kind <= HATF_EVENT_REALLOC && e->thread == *thread) {
		page_map_go_to(&s->map, at);
		note_blocks(s, e);
		return;
	}
	if (e->kind == HATF_EVENT_THREAD_DESTROY) {
		row = find_life(s, e->thread, at);
		if (row != ID_ROWS_NONE)
			s->lives[row].end = at;
	} else if (e->kind <= HATF_EVENT_REALLOC ||
		   e->kind == HATF_EVENT_THREAD_CREATE) {
		find_life(s, e->thread, at);
		*thread = e->thread;
		page_map_go_to(&s->map, at);
		note_blocks(s, e);
	}
}

/*
 * Return the position of a mark on the axis; 0 if the comment is not a mark.
 * If the trace has times, the text of the comment states the time of the mark.
 */
static uint64_t
time_of_comment(const struct page_sights *s, const struct census *c,
		const struct hatf_event *e)
{
	uint64_t at = c->has_times ? e->time : s->event_count;

	if (!is_mark(e))
		return 0;
	if (c->has_times)
		at = find_number(e, "\ntime=", at);
	return at > c->axis_start ? at - c->axis_start : 0;
}

void
page_sights_see(void *ctx, const struct census *c,
		const struct hatf_event *events, size_t n)
{
	struct page_sights *const s = ctx;
	uint64_t thread = UINT64_MAX;

	for (size_t i = 0; i < n && !s->no_memory; i++) {
		if (events[i].kind == HATF_EVENT_COMMENT) {
			note_mark(s, &events[i],
				  time_of_comment(s, c, &events[i]));
			continue;
		}
		see_event(s, c, &events[i], &thread);
	}
	s->no_memory = s->no_memory || s->map.no_memory;
}

void
page_sights_free(struct page_sights *s)
{
	for (uint32_t i = 0; i < s->mark_count; i++)
		free(s->marks[i].text);
	id_rows_free(&s->thread_ids);
	free(s->lives);
	page_map_free(&s->map);
}

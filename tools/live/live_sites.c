/* SPDX-License-Identifier: MIT */
/* live_sites.c - see live_sites.h */
#include "tools/live/live_sites.h"

#include "tools/sites/stack_view.h"
#include "tools/symbols/symbol_lookup.h"
#include "tools/ui/escape.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Row 0 is the sum of all stacks that have no name yet. */
#define ROW_UNNAMED 0
#define UNNAMED	    "[not named yet]"

/* The name of a row, as an item of the tree of tsearch(). */
struct entry_key {
	const char *name;
	uint32_t row;
};

/* What is known about a stack. */
struct live_stack {
	uint32_t row;
	/* number of the update from which growth counts; 0: none yet */
	uint32_t first_update;
	uint64_t first_nbytes; /* live bytes at the update 'first_update' */
	uint64_t last_nbytes;  /* bytes allocated until the last update */
};

struct live_sites {
	enum group_by by;
	struct stack_view_options view;
	struct symbol_lookup *lookup; /* NULL: do not look up names */
	struct live_site *rows;
	struct entry_key **keys; /* key of each row */
	size_t count, cap;
	void *tree; /* tree of 'keys' in the order of names, see tsearch(3) */
	/* what is known about each stack, indexed by its census row */
	struct live_stack *stacks;
	uint32_t *order;    /* scratch memory: stacks to name, in this order */
	size_t stack_count; /* number of valid entries of 'stacks' */
	size_t stack_cap;
	uint32_t update_count;
	bool has_stacks, has_blocks;
};

/* --------------------------------------------------------------------- rows */

static int
compare_keys(const void *a, const void *b)
{
	const struct entry_key *const x = a, *const y = b;

	return strcmp(x->name, y->name);
}

/* Add a row.  Return false if there is no memory. */
static bool
append_row(struct live_sites *s, const char *name)
{
	struct entry_key *key;

	if (s->count == s->cap) {
		const size_t cap = s->cap != 0 ? 2 * s->cap : 64;
		struct live_site *const rows =
			reallocarray(s->rows, cap, sizeof(*rows));
		struct entry_key **keys;

		if (rows == NULL)
			return false;
		s->rows = rows;
		keys = reallocarray(s->keys, cap, sizeof(struct entry_key *));
		if (keys == NULL)
			return false;
		s->keys = keys;
		s->cap = cap;
	}
	key = malloc(sizeof(*key));
	s->rows[s->count] = (struct live_site){ .name = strdup(name) };
	if (key == NULL || s->rows[s->count].name == NULL) {
		free(key);
		free(s->rows[s->count].name);
		return false;
	}
	key->name = s->rows[s->count].name;
	key->row = (uint32_t)s->count;
	s->keys[s->count++] = key;
	return tsearch(key, &s->tree, compare_keys) != NULL;
}

/*
 * Return the row of a name.  Add a row if the name is new.  Return UINT32_MAX
 * if there is no memory.
 */
static uint32_t
find_row(struct live_sites *s, const char *name)
{
	const struct entry_key key = { .name = name };
	struct entry_key **const found = tfind(&key, &s->tree, compare_keys);

	if (found != NULL)
		return (*found)->row;
	return append_row(s, name) ? (uint32_t)s->count - 1 : UINT32_MAX;
}

struct live_sites *
live_sites_open(enum group_by by, const struct stack_view_options *view)
{
	const struct symbol_lookup_options options = { .debug_dir = NULL };
	struct live_sites *const s = calloc(1, sizeof(*s));

	if (s == NULL || !append_row(s, UNNAMED)) {
		live_sites_close(s);
		return NULL;
	}
	s->by = by;
	s->view = *view;
	if (by == BY_SITE)
		s->lookup = symbol_lookup_open(&options);
	return s;
}

static void
keep_nothing(void *key)
{
	(void)key;
}

void
live_sites_close(struct live_sites *s)
{
	if (s == NULL)
		return;
	tdestroy(s->tree, keep_nothing);
	for (size_t i = 0; i < s->count; i++) {
		free(s->rows[i].name);
		free(s->keys[i]);
	}
	symbol_lookup_close(s->lookup);
	free(s->rows);
	free(s->keys);
	free(s->stacks);
	free(s->order);
	free(s);
}

struct live_site *
live_sites_rows(struct live_sites *s, size_t *n_ret)
{
	*n_ret = s->count;
	return s->rows;
}

bool
live_sites_has_blocks(const struct live_sites *s)
{
	return s->has_blocks;
}

bool
live_sites_has_stacks(const struct live_sites *s)
{
	return s->has_stacks;
}

void
live_sites_forget_growth(struct live_sites *s)
{
	for (size_t i = 0; i < s->count; i++) {
		s->rows[i].first_nbytes = 0;
		s->rows[i].first_update = 0;
	}
	for (size_t i = 0; i < s->stack_count; i++)
		s->stacks[i].first_update = 0;
}

void
live_sites_forget_stacks(struct live_sites *s)
{
	bool is_named = true;

	for (size_t i = 0; i < s->stack_count; i++)
		is_named &= s->stacks[i].row != ROW_UNNAMED ||
			    s->stacks[i].first_nbytes == 0;
	if (!is_named)
		live_sites_forget_growth(s);
	s->stack_count = 0;
	/* The next trace counts from zero, so reset the counters. */
	for (size_t i = 0; i < s->count; i++)
		s->rows[i].allocated = (struct amount){ 0 };
}

/* -------------------------------------------------------------------- names */

/*
 * Write the name of the innermost visible function at the address of 'frame',
 * where functions may be inlined into each other.  If all functions there are
 * hidden, write the name of the innermost one, and return false.
 */
static bool
name_frame(struct live_sites *s, const struct live_trace *t,
	   struct hatf_frame *frame, char *name)
{
	struct symbol_lookup_name names[SYMBOL_LOOKUP_NAMES_MAX];
	bool is_visible;
	size_t n = 0;

	if (s->lookup != NULL && frame->file == NULL && frame->object != NULL) {
		const int object = symbol_lookup_object(
			s->lookup, frame->object,
			live_trace_build_id(t, frame->object));

		/*
		 * Look up the call instruction, which ends at the return
		 * address.
		 */
		if (object >= 0 && frame->offset > 0)
			n = symbol_lookup_find(s->lookup, object,
					       frame->offset - 1, names);
	}
	for (size_t i = 0; i < n; i++) {
		if (names[i].function != NULL)
			frame->function = names[i].function;
		frame->file = names[i].file;
		frame->line = names[i].line;
		is_visible = !stack_view_hides(&s->view, frame);
		if (i == 0 || is_visible)
			stack_view_frame_text(frame, name);
		if (is_visible)
			return true;
	}
	if (n == 0)
		stack_view_frame_text(frame, name);
	return n == 0 && !stack_view_hides(&s->view, frame);
}

/* Write the name of a stack's site. */
static void
name_stack(struct live_sites *s, const struct live_trace *t,
	   const struct census *c, uint64_t id,
	   char name[STACK_VIEW_TEXT_NBYTES])
{
	char text[STACK_VIEW_TEXT_NBYTES];
	bool is_innermost = true;
	struct hatf_stack stack;
	struct hatf_frame frame;

	snprintf(name, STACK_VIEW_TEXT_NBYTES, "[unknown]");
	for (; hatf_stacks_get(c->stacks, id, &stack); id = stack.parent) {
		bool is_visible;

		if (!hatf_stacks_get_frame(c->stacks, stack.frame, &frame))
			return;
		is_visible = name_frame(s, t, &frame, text);
		if (is_innermost || is_visible)
			memcpy(name, text, strlen(text) + 1);
		if (is_visible)
			return;
		is_innermost = false;
	}
}

/* ------------------------------------------------------------------- update */

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool
reach_stacks(struct live_sites *s, size_t count)
{
	if (count > s->stack_cap) {
		const size_t cap = 2 * count;
		struct live_stack *const stacks =
			reallocarray(s->stacks, cap, sizeof(*stacks));
		uint32_t *order;

		if (stacks == NULL)
			return false;
		s->stacks = stacks;
		order = reallocarray(s->order, cap, sizeof(*order));
		if (order == NULL)
			return false;
		s->order = order;
		s->stack_cap = cap;
	}
	while (s->stack_count < count)
		s->stacks[s->stack_count++] =
			(struct live_stack){ .row = ROW_UNNAMED };
	return true;
}

/*
 * Make a stack part of a row.  The growth of the row counts from the update
 * that first saw a stack of this row.  If a later update was the first to see
 * 'stack', all live bytes of 'stack' are growth.
 */
static void
join(struct live_site *site, const struct live_stack *stack)
{
	if (site->first_update == 0 ||
	    stack->first_update < site->first_update) {
		site->first_update = stack->first_update;
		site->first_nbytes = stack->first_nbytes;
	} else if (stack->first_update == site->first_update) {
		site->first_nbytes += stack->first_nbytes;
	}
}

/*
 * The growth of a stack counts from a baseline: the number of an update, and
 * the bytes that were live then.  If a stack lacks a baseline, make the present
 * update its baseline.
 */
static void
begin_growth(struct live_sites *s, const struct census *c)
{
	for (size_t i = 0; i < s->stack_count; i++) {
		struct live_stack *const stack = &s->stacks[i];

		if (stack->first_update != 0)
			continue;
		stack->first_update = s->update_count;
		stack->first_nbytes = c->by_stack.rows[i].live.nbytes;
		if (stack->row != ROW_UNNAMED)
			join(&s->rows[stack->row], stack);
	}
}

static int
compare_live(const void *a, const void *b, void *ctx)
{
	const struct account_list *const list = ctx;
	const struct account *const x = &list->rows[*(const uint32_t *)a];
	const struct account *const y = &list->rows[*(const uint32_t *)b];

	if (x->live.nbytes != y->live.nbytes)
		return x->live.nbytes < y->live.nbytes ? 1 : -1;
	if (x->allocated.nbytes != y->allocated.nbytes)
		return x->allocated.nbytes < y->allocated.nbytes ? 1 : -1;
	return 0;
}

/*
 * Find names for the stacks that have none yet, in descending order of their
 * live bytes.  Stop after about 'budget_ms' milliseconds, but find at least one
 * name.  Return false if there is no memory.
 */
static bool
name_stacks(struct live_sites *s, const struct live_trace *t,
	    const struct census *c, unsigned budget_ms)
{
	const uint64_t end = now_ms() + budget_ms;
	struct account_list list = c->by_stack;
	char name[STACK_VIEW_TEXT_NBYTES];
	size_t n = 0;

	for (uint32_t i = 0; i < list.count; i++)
		if (s->stacks[i].row == ROW_UNNAMED)
			s->order[n++] = i;
	qsort_r(s->order, n, sizeof(*s->order), compare_live, &list);
	for (size_t i = 0; i < n && (i == 0 || now_ms() < end); i++) {
		const uint32_t row = s->order[i];
		uint32_t site;

		if (row == STACK_NONE)
			snprintf(name, sizeof(name), "[no stack]");
		else if (row == STACK_INHERITED)
			snprintf(name, sizeof(name), "%s",
				 "[inherited from the parent process]");
		else
			name_stack(s, t, c, c->stack_ids[row], name);
		site = find_row(s, name);
		if (site == UINT32_MAX)
			return false;
		s->stacks[row].row = site;
		join(&s->rows[site], &s->stacks[row]);
	}
	return true;
}

static void
add(struct live_site *site, const struct account *a)
{
	amount_sum(&site->live, &a->live);
	amount_sum(&site->allocated, &a->allocated);
}

/* Update the rows of all stacks. */
static void
add_stacks(struct live_sites *s, const struct census *c)
{
	s->rows[ROW_UNNAMED].first_nbytes = 0;
	for (size_t i = 0; i < s->stack_count; i++) {
		struct live_stack *const stack = &s->stacks[i];
		struct live_site *const site = &s->rows[stack->row];

		add(site, &c->by_stack.rows[i]);
		site->before_nbytes += stack->last_nbytes;
		stack->last_nbytes = c->by_stack.rows[i].allocated.nbytes;
		if (stack->row == ROW_UNNAMED)
			site->first_nbytes += stack->first_nbytes;
	}
}

/*
 * Update the rows of all threads or, if rows are sites but the trace has no
 * stacks, of all pairs of a thread and a size class.
 */
static bool
add_lanes(struct live_sites *s, const struct census *c)
{
	struct groups groups = { 0 };
	bool ok = groups_make(&groups, c, NULL, s->by);

	for (uint32_t i = 0; ok && i < groups.count; i++) {
		const uint32_t row = find_row(s, groups.rows[i].name);
		struct live_site *site;

		ok = row != UINT32_MAX;
		if (!ok)
			break;
		site = &s->rows[row];
		add(site, &groups.rows[i].sum);
		if (site->first_update == 0) {
			site->first_update = s->update_count;
			site->first_nbytes = site->live.nbytes;
		}
	}
	groups_free(&groups);
	return ok;
}

bool
live_sites_update(struct live_sites *s, const struct live_trace *t,
		  const struct census *c, unsigned budget_ms)
{
	const size_t known_count = s->count;

	s->update_count++;
	s->has_stacks = s->by == BY_SITE && groups_has_stacks(c);
	s->has_blocks = groups_has_blocks(c);
	for (size_t i = 0; i < s->count; i++) {
		struct live_site *const site = &s->rows[i];

		site->before_nbytes =
			s->has_stacks ? 0 : site->allocated.nbytes;
		site->live = site->allocated = (struct amount){ 0 };
	}
	if (!s->has_stacks) {
		if (!add_lanes(s, c))
			return false;
		/*
		 * A new row may be a thread that was renamed, so do not count
		 * all bytes of the row as allocated since the last update.
		 */
		for (size_t i = known_count; i < s->count; i++)
			s->rows[i].before_nbytes = s->rows[i].allocated.nbytes;
		return true;
	}
	if (!reach_stacks(s, c->by_stack.count))
		return false;
	begin_growth(s, c);
	if (!name_stacks(s, t, c, budget_ms))
		return false;
	add_stacks(s, c);
	return true;
}

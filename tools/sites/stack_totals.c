/* SPDX-License-Identifier: MIT */
/* stack_totals.c - see stack_totals.h */
#include "tools/sites/stack_totals.h"

#include "tools/sites/id_rows.h"
#include "tools/sites/stack_view.h"

#include <stdlib.h>
#include <string.h>

struct stack_counter {
	struct hatf_stacks *stacks;
	struct stack_view *view;
	struct stack_totals totals;
	struct id_rows ids;
	/* number of frames of each stack, by its row in 'ids' */
	uint64_t *depths;
	size_t depth_cap;
};

struct stack_counter *
stack_counter_open(void)
{
	const struct stack_view_options options = { .fold_std = true };
	struct stack_counter *const c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	if (hatf_stacks_open(&c->stacks) == HATF_OK)
		c->view = stack_view_open(c->stacks, &options);
	if (c->view != NULL)
		return c;
	stack_counter_close(c);
	return NULL;
}

void
stack_counter_close(struct stack_counter *c)
{
	if (c == NULL)
		return;
	stack_view_close(c->view);
	hatf_stacks_close(c->stacks);
	id_rows_free(&c->ids);
	free(c->depths);
	free(c);
}

static bool
begins_with(const uint8_t *text, uint32_t nbytes, const char *start)
{
	const size_t length = strlen(start);

	return nbytes >= length && memcmp(text, start, length) == 0;
}

void
stack_counter_note(struct stack_counter *c, const uint8_t *text,
		   uint32_t nbytes)
{
	static const char function[] = "\nfunction=", file[] = "\nfile=";
	const struct hatf_record comment = {
		.tag = HATF_COMMENT,
		.attributes = text,
		.attributes_nbytes = nbytes,
	};
	const uint64_t frames = hatf_stacks_frame_count(c->stacks);

	hatf_stacks_note(c->stacks, &comment, NULL);
	/*
	 * Do not count a frame that was defined before or whose definition is
	 * bad.
	 */
	if (hatf_stacks_frame_count(c->stacks) == frames ||
	    !begins_with(text, nbytes, "HATF frame\n"))
		return;
	c->totals.named_frames +=
		memmem(text, nbytes, function, sizeof(function) - 1) != NULL;
	c->totals.located_frames +=
		memmem(text, nbytes, file, sizeof(file) - 1) != NULL;
}

/* ------------------------------------------------------------------- depths */

static bool
put_depth(struct stack_counter *c, uint64_t id, uint64_t frames)
{
	uint32_t row;

	if (c->ids.count == c->depth_cap) {
		const size_t cap = c->depth_cap == 0 ? 256 : 2 * c->depth_cap;
		uint64_t *const depths =
			reallocarray(c->depths, cap, sizeof(*depths));

		if (depths == NULL)
			return false;
		c->depths = depths;
		c->depth_cap = cap;
	}
	row = id_rows_add(&c->ids, id);
	if (row == ID_ROWS_NONE)
		return false;
	c->depths[row] = frames;
	return true;
}

/* Return the depth of a stack, or 0 if it is not known yet. */
static uint64_t
known_depth(const struct stack_counter *c, uint64_t id)
{
	const uint32_t row = id_rows_find(&c->ids, id);

	return row == ID_ROWS_NONE ? 0 : c->depths[row];
}

/*
 * Return the number of frames of a stack.  To visit each stack only once, first
 * go outwards up to a stack whose depth is known, then store the depths of the
 * stacks on the way.
 */
static uint64_t
find_depth(struct stack_counter *c, uint64_t id)
{
	uint64_t depth = 0, steps = 0;
	struct hatf_stack stack;
	uint64_t next = id;

	while (next != 0 && (depth = known_depth(c, next)) == 0 &&
	       hatf_stacks_get(c->stacks, next, &stack)) {
		steps++;
		next = stack.parent;
	}
	depth += steps;
	next = id;
	for (uint64_t left = depth; steps != 0; steps--, left--) {
		if (!put_depth(c, next, left))
			break;
		hatf_stacks_get(c->stacks, next, &stack);
		next = stack.parent;
	}
	return depth;
}

void
stack_counter_add(struct stack_counter *c, const uint8_t *attributes,
		  uint32_t nbytes)
{
	const struct hatf_record rec = {
		.tag = HATF_ALLOC,
		.attributes = attributes,
		.attributes_nbytes = nbytes,
	};
	const uint64_t stack = hatf_record_stack(&rec);
	uint64_t depth;

	c->totals.allocations++;
	if (stack == 0 || stack_view_site(c->view, stack) == 0) {
		c->totals.without_stack++;
		return;
	}
	depth = find_depth(c, stack);
	c->totals.depth_sum += depth;
	if (depth > c->totals.depth_max)
		c->totals.depth_max = depth;
}

struct stack_totals
stack_counter_get(const struct stack_counter *c)
{
	struct stack_totals totals = c->totals;

	totals.frames = hatf_stacks_frame_count(c->stacks);
	totals.stacks = hatf_stacks_count(c->stacks);
	totals.sites = stack_view_site_count(c->view);
	return totals;
}

double
stack_totals_mean_depth(const struct stack_totals *t)
{
	const uint64_t count = t->allocations - t->without_stack;

	return count == 0 ? 0 : (double)t->depth_sum / (double)count;
}

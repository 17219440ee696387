/* SPDX-License-Identifier: MIT */
/* stack_totals.c - see stack_totals.h */
#include "tools/sites/stack_totals.h"

#include "hatf/frames/hidden_frames.h"
#include "tools/sites/id_rows.h"
#include "tools/sites/stack_view.h"

#include <stdlib.h>
#include <string.h>

/* What the outermost frame of a stack says about missing frames. */
enum stack_end {
	END_WHOLE, /* no frame is known to be missing */
	END_CUT_OFF,
	END_UNKNOWN_CALLER,
};

struct extent {
	uint64_t depth; /* number of frames; 0: the stack is unknown */
	enum stack_end end;
};

struct stack_counter {
	struct hatf_stacks *stacks;
	struct stack_view *view;
	struct stack_totals totals;
	struct id_rows ids;
	struct extent *extents; /* of each stack, by its row in 'ids' */
	size_t extent_cap;
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
	free(c->extents);
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

/* ------------------------------------------------------------------ extents */

static bool
put_extent(struct stack_counter *c, uint64_t id, struct extent extent)
{
	uint32_t row;

	if (c->ids.count == c->extent_cap) {
		const size_t cap = c->extent_cap == 0 ? 256 : 2 * c->extent_cap;
		struct extent *const extents =
			reallocarray(c->extents, cap, sizeof(*extents));

		if (extents == NULL)
			return false;
		c->extents = extents;
		c->extent_cap = cap;
	}
	row = id_rows_add(&c->ids, id);
	if (row == ID_ROWS_NONE)
		return false;
	c->extents[row] = extent;
	return true;
}

/* Return the extent of a stack; its 'depth' is 0 if the extent is unknown. */
static struct extent
known_extent(const struct stack_counter *c, uint64_t id)
{
	const uint32_t row = id_rows_find(&c->ids, id);

	return row == ID_ROWS_NONE ? (struct extent){ .depth = 0 }
				   : c->extents[row];
}

/* Return what the outermost frame of a stack says about missing frames. */
static enum stack_end
end_at(const struct stack_counter *c, uint64_t frame_id)
{
	struct hatf_frame frame;

	if (!hatf_stacks_get_frame(c->stacks, frame_id, &frame))
		return END_WHOLE;
	if (hidden_frames_is_cut_off(&frame))
		return END_CUT_OFF;
	return hidden_frames_is_unknown_caller(&frame) ? END_UNKNOWN_CALLER
						       : END_WHOLE;
}

/*
 * Return the extent of a stack.  To visit each stack only once, first go
 * outwards up to a stack whose extent is known, then store the extents of the
 * stacks on the way.
 */
static struct extent
find_extent(struct stack_counter *c, uint64_t id)
{
	struct extent extent = { .depth = 0 };
	struct hatf_stack stack = { .frame = 0 };
	uint64_t next = id, steps = 0;

	while (next != 0 && (extent = known_extent(c, next)).depth == 0 &&
	       hatf_stacks_get(c->stacks, next, &stack)) {
		steps++;
		next = stack.parent;
	}
	if (extent.depth == 0)
		extent.end = end_at(c, stack.frame);
	extent.depth += steps;
	next = id;
	for (struct extent outer = extent; steps != 0; steps--, outer.depth--) {
		if (!put_extent(c, next, outer))
			break;
		hatf_stacks_get(c->stacks, next, &stack);
		next = stack.parent;
	}
	return extent;
}

void
stack_counter_add(struct stack_counter *c, const struct hatf_event *e)
{
	const struct hatf_record rec = {
		.tag = HATF_ALLOC,
		.attributes = e->attributes,
		.attributes_nbytes = e->attributes_nbytes,
	};
	const uint64_t stack = hatf_record_stack(&rec);
	const bool has_site =
		stack != 0 && stack_view_site(c->view, stack) != 0;
	struct extent extent;

	if (e->carried)
		return;
	c->totals.allocations++;
	c->totals.without_stack += !has_site;
	if (!has_site)
		return;
	extent = find_extent(c, stack);
	c->totals.depth_sum += extent.depth;
	if (extent.depth > c->totals.depth_max)
		c->totals.depth_max = extent.depth;
	c->totals.cut_off += extent.end == END_CUT_OFF;
	c->totals.unknown_caller += extent.end == END_UNKNOWN_CALLER;
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

/* SPDX-License-Identifier: MIT */
/* stack_view.c - see stack_view.h */
#include "tools/sites/stack_view.h"

#include "hatf/frames/function_name.h"
#include "hatf/frames/hidden_frames.h"
#include "tools/sites/id_rows.h"
#include "tools/ui/cut.h"
#include "tools/ui/escape.h"
#include "tools/ui/message.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of frames of the recorder that stack_view_caller() leaves out.
 * A real stack has one or two in a row; a forged trace may have millions.
 */
#define RECORDER_FRAMES_MAX 16

/* What is known about a stack. */
struct known_stack {
	/* the stack without its hidden innermost frames; 0: all are hidden */
	uint64_t top;
	uint32_t site; /* number of its site; 0: not requested yet */
};

struct site {
	char *name;
	uint64_t frame; /* id of a frame with this name */
	uint64_t hash;
};

struct stack_view {
	const struct hatf_stacks *stacks;
	struct stack_view_options options;
	/* 'options.has_matched' or, if that is NULL, 'own_matches' */
	bool *has_matched;
	bool own_matches[STACK_VIEW_WRAPPERS_MAX];
	struct id_rows ids;
	/* what is known about each stack, by its row in 'ids' */
	struct known_stack *known;
	size_t known_cap;
	struct site *sites; /* site number n is sites[n - 1] */
	uint32_t site_count, site_cap;
	/*
	 * hash table of the sites by name; a slot has the number of a site, or
	 * 0 if it is free
	 */
	uint32_t *slots;
	size_t slot_count; /* a power of 2 */
	struct seeded_hash hash;
};

bool
stack_view_add_wrapper(struct stack_view_options *options, const char *origin,
		       const char *glob)
{
	if (glob[0] == '\0') {
		message_print("%s: the name of a function is missing", origin);
		return false;
	}
	if (options->wrapper_count == STACK_VIEW_WRAPPERS_MAX) {
		message_print("%s: more than %d wrappers", origin,
			      STACK_VIEW_WRAPPERS_MAX);
		return false;
	}
	options->wrapper_origins[options->wrapper_count] = origin;
	options->wrappers[options->wrapper_count++] = glob;
	return true;
}

/*
 * Does a wrapper match the frame's function?  If the function is unknown, does
 * a wrapper match the text that stands for the frame, with or without the
 * folders in it?  If 'has_matched' is not NULL, set the element of each wrapper
 * that matches.
 */
static bool
is_wrapper(const struct stack_view_options *options,
	   const struct hatf_frame *frame, bool *has_matched)
{
	char text[STACK_VIEW_TEXT_NBYTES];
	const char *name = NULL;
	bool is_found = false;

	if (options->wrapper_count == 0)
		return false;
	if (frame->function == NULL) {
		stack_view_frame_text(frame, text);
		name = strrchr(text, '/');
		name = name != NULL ? name + 1 : text;
	}
	for (unsigned i = 0; i < options->wrapper_count; i++) {
		const char *const glob = options->wrappers[i];

		if (frame->function != NULL
			    ? !function_name_matches(glob, frame->function)
			    : fnmatch(glob, text, 0) != 0 &&
				      fnmatch(glob, name, 0) != 0)
			continue;
		is_found = true;
		if (has_matched != NULL)
			has_matched[i] = true;
	}
	return is_found;
}

static bool
hides(const struct stack_view_options *options, const struct hatf_frame *frame,
      bool *has_matched)
{
	return !options->is_raw &&
	       (is_wrapper(options, frame, has_matched) ||
		hidden_frames_is_allocator(frame) ||
		hidden_frames_is_missing(frame) ||
		(options->fold_std && hidden_frames_is_std(frame)) ||
		(options->hides_new && hidden_frames_is_new(frame)));
}

bool
stack_view_hides(const struct stack_view_options *options,
		 const struct hatf_frame *frame)
{
	return hides(options, frame, NULL);
}

struct stack_view *
stack_view_open(const struct hatf_stacks *stacks,
		const struct stack_view_options *options)
{
	struct stack_view *const v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->stacks = stacks;
	v->options = *options;
	v->has_matched = options->has_matched != NULL ? options->has_matched
						      : v->own_matches;
	seeded_hash_init(&v->hash);
	return v;
}

void
stack_view_close(struct stack_view *v)
{
	if (v == NULL)
		return;
	for (uint32_t i = 0; i < v->site_count; i++)
		free(v->sites[i].name);
	free(v->sites);
	free(v->slots);
	id_rows_free(&v->ids);
	free(v->known);
	free(v);
}

const struct stack_view_options *
stack_view_options(const struct stack_view *v)
{
	return &v->options;
}

static void
tell_unused(const char *origin, const char *word, const char *glob)
{
	char text[256];

	message_print("%s%s '%s' hides no frame", origin, word,
		      escape_text(glob, text, sizeof(text)));
}

void
stack_view_report_wrappers(const struct stack_view *v, const char *path)
{
	const struct stack_view_options *const o = &v->options;

	for (unsigned i = 0; !o->is_raw && i < o->wrapper_count; i++)
		if (!v->has_matched[i])
			tell_unused(message_path(path), ": --wrapper",
				    o->wrappers[i]);
}

void
stack_view_report_all_wrappers(const struct stack_view_options *o)
{
	for (unsigned i = 0; !o->is_raw && i < o->wrapper_count; i++) {
		const char *const origin = o->wrapper_origins[i];
		const bool is_option = strcmp(origin, "--wrapper") == 0;

		if (!o->has_matched[i])
			tell_unused(origin, is_option ? "" : ": wrapper",
				    o->wrappers[i]);
	}
}

/* ------------------------------------------------------------------- stacks */

/* Return what is known about a stack; NULL if it was not visited yet. */
static struct known_stack *
find_known(const struct stack_view *v, uint64_t id)
{
	const uint32_t row = id_rows_find(&v->ids, id);

	return row == ID_ROWS_NONE ? NULL : &v->known[row];
}

/* Store what is known about a stack; return NULL if there is no memory. */
static struct known_stack *
add_known(struct stack_view *v, uint64_t id, const struct known_stack *what)
{
	uint32_t row;

	if (v->ids.count == v->known_cap) {
		const size_t cap = v->known_cap == 0 ? 256 : 2 * v->known_cap;
		struct known_stack *const known =
			reallocarray(v->known, cap, sizeof(*known));

		if (known == NULL)
			return NULL;
		v->known = known;
		v->known_cap = cap;
	}
	row = id_rows_add(&v->ids, id);
	if (row == ID_ROWS_NONE)
		return NULL;
	v->known[row] = *what;
	return &v->known[row];
}

static bool
is_hidden(struct stack_view *v, uint64_t frame_id)
{
	struct hatf_frame frame;

	return hatf_stacks_get_frame(v->stacks, frame_id, &frame) &&
	       hides(&v->options, &frame, v->has_matched);
}

/*
 * Set 'found->top' to the stack without its hidden innermost frames, or to 0 if
 * all frames are hidden.  Go outwards up to the first visible frame, or up to a
 * caller for which 'top' is already known.  Return the number of hidden frames
 * on the way.
 */
static uint64_t
find_top(struct stack_view *v, uint64_t id, struct known_stack *found)
{
	uint64_t hidden_count = 0;
	struct hatf_stack stack;

	for (; hatf_stacks_get(v->stacks, id, &stack); id = stack.parent) {
		const struct known_stack *const known = find_known(v, id);

		if (known != NULL) {
			found->top = known->top;
			return hidden_count;
		}
		if (!is_hidden(v, stack.frame)) {
			found->top = id;
			return hidden_count;
		}
		hidden_count++;
	}
	found->top = 0;
	return hidden_count;
}

/*
 * Return what is known about a stack; NULL if the stack is not defined, or if
 * there is no memory.  To visit each stack only once, store the result also for
 * the hidden callers that find_top() has visited.
 */
static struct known_stack *
find_stack(struct stack_view *v, uint64_t id)
{
	struct known_stack *const known = find_known(v, id);
	struct known_stack found = { .site = 0 };
	struct hatf_stack stack;
	uint64_t hidden_count, next;

	if (known != NULL || !hatf_stacks_get(v->stacks, id, &stack))
		return known;
	hidden_count = find_top(v, id, &found);
	next = stack.parent;
	for (uint64_t i = 1; i < hidden_count; i++) {
		if (add_known(v, next, &found) == NULL)
			return NULL;
		hatf_stacks_get(v->stacks, next, &stack);
		next = stack.parent;
	}
	return add_known(v, id, &found);
}

uint64_t
stack_view_top(struct stack_view *v, uint64_t stack)
{
	const struct known_stack *const known = find_stack(v, stack);

	if (known == NULL)
		return 0;
	return known->top != 0 ? known->top : stack;
}

uint64_t
stack_view_caller(const struct stack_view *v, uint64_t stack)
{
	struct hatf_stack at;
	struct hatf_frame frame;

	if (!hatf_stacks_get(v->stacks, stack, &at))
		return 0;
	stack = at.parent;
	for (unsigned i = 0; i < RECORDER_FRAMES_MAX && !v->options.is_raw;
	     i++, stack = at.parent)
		if (!hatf_stacks_get(v->stacks, stack, &at) ||
		    !hatf_stacks_get_frame(v->stacks, at.frame, &frame) ||
		    !hidden_frames_is_recorder(&frame))
			break;
	return stack;
}

/* -------------------------------------------------------------------- sites */

/* Return the slot of a name, or the free slot where the name belongs. */
static uint32_t *
seek_site(const struct stack_view *v, const char *name, uint64_t hash)
{
	size_t i = hash & (v->slot_count - 1);

	while (v->slots[i] != 0) {
		const struct site *const s = &v->sites[v->slots[i] - 1];

		if (s->hash == hash && strcmp(s->name, name) == 0)
			break;
		i = (i + 1) & (v->slot_count - 1);
	}
	return &v->slots[i];
}

static bool
grow_slots(struct stack_view *v)
{
	const size_t count = v->slot_count == 0 ? 256 : 2 * v->slot_count;
	uint32_t *const slots = calloc(count, sizeof(*slots));

	if (slots == NULL)
		return false;
	free(v->slots);
	v->slots = slots;
	v->slot_count = count;
	for (uint32_t i = 0; i < v->site_count; i++)
		*seek_site(v, v->sites[i].name, v->sites[i].hash) = i + 1;
	return true;
}

static bool
make_site_room(struct stack_view *v)
{
	if (2 * ((size_t)v->site_count + 1) > v->slot_count && !grow_slots(v))
		return false;
	if (v->site_count == v->site_cap) {
		const uint32_t cap = v->site_cap == 0 ? 64 : 2 * v->site_cap;
		struct site *const sites =
			reallocarray(v->sites, cap, sizeof(*sites));

		if (sites == NULL)
			return false;
		v->sites = sites;
		v->site_cap = cap;
	}
	return true;
}

/*
 * Return the number of the site of a frame; if the name of the frame is new,
 * add a site.  Return 0 if there is no memory.
 */
static uint32_t
put_site(struct stack_view *v, uint64_t frame_id)
{
	char text[STACK_VIEW_TEXT_NBYTES];
	struct hatf_frame frame;
	uint64_t hash;
	uint32_t *slot;

	if (!hatf_stacks_get_frame(v->stacks, frame_id, &frame) ||
	    !make_site_room(v))
		return 0;
	stack_view_frame_text(&frame, text);
	hash = seeded_hash_text(&v->hash, text);
	slot = seek_site(v, text, hash);
	if (*slot == 0) {
		struct site *const s = &v->sites[v->site_count];

		*s = (struct site){ strdup(text), frame_id, hash };
		if (s->name == NULL)
			return 0;
		*slot = ++v->site_count;
	}
	return *slot;
}

uint32_t
stack_view_site(struct stack_view *v, uint64_t stack)
{
	struct known_stack *const known = find_stack(v, stack);
	struct hatf_stack top;

	if (known == NULL)
		return 0;
	if (known->site == 0 &&
	    hatf_stacks_get(v->stacks, known->top != 0 ? known->top : stack,
			    &top))
		known->site = put_site(v, top.frame);
	return known->site;
}

uint32_t
stack_view_site_count(const struct stack_view *v)
{
	return v->site_count;
}

const char *
stack_view_site_name(const struct stack_view *v, uint32_t site)
{
	return v->sites[site - 1].name;
}

struct hatf_frame
stack_view_site_frame(const struct stack_view *v, uint32_t site)
{
	struct hatf_frame frame = { .function = NULL };

	hatf_stacks_get_frame(v->stacks, v->sites[site - 1].frame, &frame);
	return frame;
}

/* --------------------------------------------------------------------- text */

static void
add(struct cut *c, const char *text)
{
	cut_escaped(c, text, strlen(text));
}

static void
add_u64(struct cut *c, const char *before, uint64_t n, bool is_hex)
{
	char text[32];

	snprintf(text, sizeof(text), is_hex ? "%s0x%" PRIx64 : "%s%" PRIu64,
		 before, n);
	add(c, text);
}

/* Append "file:line", or "file" if the line is unknown. */
static void
add_place(struct cut *c, const struct hatf_frame *frame)
{
	add(c, frame->file);
	if (frame->line != 0)
		add_u64(c, ":", frame->line, false);
}

char *
stack_view_frame_text(const struct hatf_frame *frame, char *buf)
{
	struct cut c;

	cut_begin(&c, buf, STACK_VIEW_TEXT_NBYTES);
	if (frame->function != NULL) {
		add(&c, frame->function);
		if (frame->file != NULL) {
			add(&c, " (");
			add_place(&c, frame);
			add(&c, ")");
		}
	} else if (frame->file != NULL) {
		add_place(&c, frame);
	} else if (frame->object != NULL && frame->offset != 0) {
		add(&c, frame->object);
		add_u64(&c, "+", frame->offset, true);
	} else if (frame->address != 0) {
		add_u64(&c, "", frame->address, true);
		if (frame->object != NULL) {
			add(&c, " (");
			add(&c, frame->object);
			add(&c, ")");
		}
	} else {
		add(&c, "[unknown]");
	}
	return cut_end(&c);
}

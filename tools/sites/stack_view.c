/* SPDX-License-Identifier: MIT */
/*
 * stack_view.c - see stack_view.h
 *
 * Two hash tables with open addressing: what was found out about a stack, by
 * its id, and the sites, by their names.
 */
#include "tools/sites/stack_view.h"

#include "tools/sites/hidden_frames.h"
#include "tools/ui/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A slot of the stacks; id 0: free. */
struct known_stack {
	uint64_t id, top;
	uint32_t site; /* 0: not asked for yet */
};

struct site {
	char *name;
	uint64_t frame; /* id */
	uint64_t hash;
};

struct stack_view {
	const struct hatf_stacks *stacks;
	struct stack_view_options options;
	struct known_stack *known;
	size_t known_count, known_cap; /* a power of 2 */
	struct site *sites;	       /* by number less 1 */
	uint32_t site_count, site_cap;
	uint32_t *slots; /* numbers of sites, by name; 0: free */
	size_t slot_count;
};

struct stack_view *
stack_view_open(const struct hatf_stacks *stacks,
		const struct stack_view_options *options)
{
	struct stack_view *const v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->stacks = stacks;
	v->options = *options;
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
	free(v->known);
	free(v);
}

/* ------------------------------------------------------------------- stacks */

static size_t
hash_id(uint64_t id)
{
	return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* Return the slot of an id, or the free one where it belongs. */
static struct known_stack *
seek_stack(const struct stack_view *v, uint64_t id)
{
	size_t i = hash_id(id) & (v->known_cap - 1);

	while (v->known[i].id != 0 && v->known[i].id != id)
		i = (i + 1) & (v->known_cap - 1);
	return &v->known[i];
}

/* Make room for one more stack; false if there is no memory. */
static bool
make_room(struct stack_view *v)
{
	const size_t old_cap = v->known_cap;
	struct known_stack *const old = v->known;

	if (2 * (v->known_count + 1) <= old_cap)
		return true;
	v->known_cap = old_cap == 0 ? 256 : 2 * old_cap;
	v->known = calloc(v->known_cap, sizeof(*v->known));
	if (v->known == NULL) {
		v->known = old;
		v->known_cap = old_cap;
		return false;
	}
	for (size_t i = 0; i < old_cap; i++)
		if (old[i].id != 0)
			*seek_stack(v, old[i].id) = old[i];
	free(old);
	return true;
}

static bool
is_hidden(const struct stack_view *v, uint64_t frame_id)
{
	struct hatf_frame frame;

	return hatf_stacks_get_frame(v->stacks, frame_id, &frame) &&
	       (hidden_frames_is_allocator(&frame) ||
		(v->options.fold_std && hidden_frames_is_std(&frame)) ||
		(v->options.hides_new && hidden_frames_is_new(&frame)));
}

/* Find the innermost frame of a stack that is not hidden. */
static uint64_t
find_top(const struct stack_view *v, uint64_t id)
{
	uint64_t top = id;
	struct hatf_stack stack;

	if (v->options.is_raw)
		return id;
	for (;;) {
		if (!hatf_stacks_get(v->stacks, top, &stack))
			return id;
		if (!is_hidden(v, stack.frame))
			return top;
		if (stack.parent == 0)
			return id;
		top = stack.parent;
	}
}

/* Return what is known about a stack; NULL: not defined, or no memory. */
static struct known_stack *
find_stack(struct stack_view *v, uint64_t id)
{
	struct hatf_stack stack;
	struct known_stack *known;

	if (v->known_cap != 0) {
		known = seek_stack(v, id);
		if (id != 0 && known->id == id)
			return known;
	}
	if (!hatf_stacks_get(v->stacks, id, &stack) || !make_room(v))
		return NULL;
	known = seek_stack(v, id);
	*known = (struct known_stack){ .id = id, .top = find_top(v, id) };
	v->known_count++;
	return known;
}

uint64_t
stack_view_top(struct stack_view *v, uint64_t stack)
{
	const struct known_stack *const known = find_stack(v, stack);

	return known != NULL ? known->top : 0;
}

/* -------------------------------------------------------------------- sites */

/* FNV-1a, 64 bits. */
static uint64_t
hash_name(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* Return the slot of a name, or the free one where it belongs. */
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

/* Return the site of a frame, a new one if its name is new; 0: no memory. */
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
	hash = hash_name(text);
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
	if (known->site == 0 && hatf_stacks_get(v->stacks, known->top, &top))
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

/* Append escaped text; what does not fit ends in "...". */
static size_t
append(char *buf, size_t used, const char *text)
{
	const size_t cap = STACK_VIEW_TEXT_NBYTES - 4;
	const uint8_t *next = (const uint8_t *)text;
	size_t left = strlen(text);
	char out[ESCAPE_MAX_NBYTES];

	while (left != 0 && used <= cap) {
		size_t nbytes;
		const size_t taken =
			escape_next(next, left, false, out, &nbytes);

		if (nbytes > cap - used) {
			memcpy(buf + used, "...", 4);
			return STACK_VIEW_TEXT_NBYTES;
		}
		memcpy(buf + used, out, nbytes);
		used += nbytes;
		next += taken;
		left -= taken;
	}
	if (used < STACK_VIEW_TEXT_NBYTES)
		buf[used] = '\0';
	return used;
}

static size_t
append_u64(char *buf, size_t used, const char *before, uint64_t n, bool is_hex)
{
	char text[32];

	snprintf(text, sizeof(text), is_hex ? "%s0x%" PRIx64 : "%s%" PRIu64,
		 before, n);
	return append(buf, used, text);
}

/* Append "file:line", "file", or nothing. */
static size_t
append_place(char *buf, size_t used, const struct hatf_frame *frame)
{
	used = append(buf, used, frame->file);
	return frame->line != 0 ? append_u64(buf, used, ":", frame->line, false)
				: used;
}

char *
stack_view_frame_text(const struct hatf_frame *frame, char *buf)
{
	size_t used = 0;

	buf[0] = '\0';
	if (frame->function != NULL) {
		used = append(buf, used, frame->function);
		if (frame->file != NULL) {
			used = append(buf, used, " (");
			used = append_place(buf, used, frame);
			append(buf, used, ")");
		}
	} else if (frame->file != NULL) {
		append_place(buf, used, frame);
	} else if (frame->object != NULL && frame->offset != 0) {
		used = append(buf, used, frame->object);
		append_u64(buf, used, "+", frame->offset, true);
	} else if (frame->address != 0) {
		used = append_u64(buf, used, "", frame->address, true);
		if (frame->object != NULL) {
			used = append(buf, used, " (");
			used = append(buf, used, frame->object);
			append(buf, used, ")");
		}
	} else {
		append(buf, used, "[unknown]");
	}
	return buf;
}

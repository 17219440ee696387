/* SPDX-License-Identifier: MIT */
/* site_names.c - see site_names.h */
#include "tools/summary/site_names.h"

#include "tools/ui/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_NBYTES 1024

struct site_names {
	const struct hatf_stacks *stacks;
	char buf[NAME_NBYTES];
};

struct site_names *
site_names_open(const struct hatf_stacks *stacks)
{
	struct site_names *const names = calloc(1, sizeof(*names));

	if (names != NULL)
		names->stacks = stacks;
	return names;
}

void
site_names_close(struct site_names *names)
{
	free(names);
}

uint64_t
site_names_top(struct site_names *names, uint64_t stack)
{
	(void)names;
	return stack;
}

static const char *
last_part(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void
name_place(const struct hatf_frame *f, char *buf, size_t nbytes)
{
	char function[NAME_NBYTES / 2], place[NAME_NBYTES / 4];

	if (f->function == NULL) {
		snprintf(buf, nbytes, "%s+0x%" PRIx64,
			 escape_text(f->object != NULL ? last_part(f->object)
						       : "[unknown]",
				     place, sizeof(place)),
			 f->address);
		return;
	}
	escape_text(f->function, function, sizeof(function));
	if (f->file == NULL) {
		snprintf(buf, nbytes, "%s", function);
		return;
	}
	snprintf(buf, nbytes, "%s (%s:%" PRIu64 ")", function,
		 escape_text(last_part(f->file), place, sizeof(place)),
		 f->line);
}

char *
site_names_frame(struct site_names *names, uint64_t frame, char *buf,
		 size_t nbytes)
{
	struct hatf_frame f;

	if (hatf_stacks_get_frame(names->stacks, frame, &f))
		name_place(&f, buf, nbytes);
	else
		snprintf(buf, nbytes, "[unknown]");
	return buf;
}

const char *
site_names_get(struct site_names *names, uint64_t stack, enum site_part part)
{
	struct hatf_stack top;
	struct hatf_frame f = { 0 };
	const char *text = NULL;

	if (hatf_stacks_get(names->stacks, stack, &top))
		hatf_stacks_get_frame(names->stacks, top.frame, &f);
	if (part == SITE_PLACE) {
		name_place(&f, names->buf, sizeof(names->buf));
		return names->buf;
	}
	if (part == SITE_FUNCTION)
		text = f.function;
	else
		text = part == SITE_FILE ? f.file : f.object;
	return escape_text(text != NULL ? text : "[unknown]", names->buf,
			   sizeof(names->buf));
}

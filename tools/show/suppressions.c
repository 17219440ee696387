/* SPDX-License-Identifier: MIT */
/* suppressions.c - see suppressions.h */
#include "tools/show/suppressions.h"

#include "tools/sites/stack_view.h"
#include "tools/ui/message.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames of a stack beyond this number are ignored. */
#define DEPTH_MAX 4096

/* ----------------------------------------------------------------- matching */

/*
 * Find the 'nbytes' bytes of 'part' in 'text'; return NULL if 'text' does not
 * contain them.
 */
static const char *
find(const char *text, const char *part, size_t nbytes)
{
	return memmem(text, strlen(text), part, nbytes);
}

bool
suppressions_match(const char *pattern, const char *text)
{
	bool at_start = pattern[0] == '^';
	bool any = false; /* the previous character was '*' */

	if (text == NULL || text[0] == '\0')
		return false;
	pattern += at_start;
	while (pattern[0] != '\0') {
		const size_t nbytes = strcspn(pattern, "*$");
		const char *found;

		if (pattern[0] == '*') {
			pattern++;
			at_start = false;
			any = true;
			continue;
		}
		if (pattern[0] == '$')
			return text[0] == '\0' || any;
		if (text[0] == '\0')
			return false;
		found = find(text, pattern, nbytes);
		if (found == NULL || (at_start && found != text))
			return false;
		text = found + nbytes;
		pattern += nbytes;
		at_start = false;
		any = false;
	}
	return true;
}

/*
 * If 'is_allocating' is set, the frame is of the allocator or of operator new.
 * Compare only the function of such a frame: operator new belongs to the
 * standard library of C++, and the stacks of most C++ allocations have it.
 */
static bool
matches_frame(const char *pattern, const struct hatf_frame *f,
	      bool is_allocating)
{
	return suppressions_match(pattern, f->function) ||
	       (!is_allocating && (suppressions_match(pattern, f->file) ||
				   suppressions_match(pattern, f->object)));
}

struct suppression *
suppressions_find(struct suppressions *s, const struct hatf_stacks *stacks,
		  uint64_t stack)
{
	static const struct stack_view_options allocating = {
		.hides_new = true,
	};
	bool is_allocating = true;
	struct hatf_stack at;
	struct hatf_frame f;

	if (s->count == 0)
		return NULL;
	for (unsigned n = 0;
	     n < DEPTH_MAX && hatf_stacks_get(stacks, stack, &at); n++) {
		stack = at.parent;
		if (!hatf_stacks_get_frame(stacks, at.frame, &f))
			continue;
		is_allocating =
			is_allocating && stack_view_hides(&allocating, &f);
		for (size_t i = 0; i < s->count; i++)
			if (matches_frame(s->rows[i].pattern, &f,
					  is_allocating))
				return &s->rows[i];
	}
	return NULL;
}

/* ------------------------------------------------------------------ reading */

static bool
add(struct suppressions *s, const char *pattern)
{
	char *const copy = strdup(pattern);

	if (s->count == s->cap) {
		const size_t cap = s->cap == 0 ? 16 : 2 * s->cap;
		struct suppression *const rows =
			realloc(s->rows, cap * sizeof(*rows));

		if (rows != NULL) {
			s->rows = rows;
			s->cap = cap;
		}
	}
	if (copy == NULL || s->count == s->cap) {
		free(copy);
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	s->rows[s->count++] = (struct suppression){ .pattern = copy };
	return true;
}

static bool
read_line(struct suppressions *s, const char *path, unsigned number, char *line)
{
	static const char type[] = "leak:";
	size_t nbytes;

	while (isspace((unsigned char)*line))
		line++;
	nbytes = strlen(line);
	while (nbytes > 0 && isspace((unsigned char)line[nbytes - 1]))
		line[--nbytes] = '\0';
	if (nbytes == 0 || line[0] == '#')
		return true;
	if (strncmp(line, type, sizeof(type) - 1) != 0) {
		message_print("%s:%u: not a suppression: '%.60s' (want "
			      "leak:PATTERN)",
			      path, number, line);
		return false;
	}
	return add(s, line + sizeof(type) - 1);
}

bool
suppressions_read(struct suppressions *s, const char *path)
{
	FILE *const file = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	unsigned number = 0;
	bool ok = file != NULL;

	while (ok && getline(&line, &cap, file) >= 0)
		ok = read_line(s, path, ++number, line);
	if (file == NULL || ferror(file)) {
		message_print("%s: %s", path, strerror(errno));
		ok = false;
	}
	free(line);
	if (file != NULL)
		fclose(file);
	return ok;
}

void
suppressions_free(struct suppressions *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->rows[i].pattern);
	free(s->rows);
	*s = (struct suppressions){ 0 };
}

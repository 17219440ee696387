/* SPDX-License-Identifier: MIT */
/* allocator.c - see allocator.h */
#include "tools/program/allocator.h"

#include "hatf/recorder/sanitizer_names.h"
#include "tools/program/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * The symbol "malloc", and symbols of allocators that programs often link
 * statically.
 */
static const char *const entry_points[] = {
	"malloc",	"je_malloc",	    "_rjem_malloc", "mi_malloc",
	"tc_malloc",	"rpmalloc",	    "sn_malloc",    "scalable_malloc",
	"Hoard_malloc", "ltmalloc",	    "nedmalloc",    "dlmalloc",
	"xxmalloc",	"runtime.mallocgc",
};

static bool
match(const char *name, bool is_defined_function, void *context)
{
	const char **const found = context;

	if (!is_defined_function)
		return false;
	for (size_t i = 0; i < sizeof(entry_points) / sizeof(*entry_points);
	     i++)
		if (strcmp(entry_points[i], name) == 0)
			*found = entry_points[i];
	return *found != NULL;
}

const char *
allocator_inside(int fd)
{
	const char *found = NULL;

	symbols_visit(fd, false, match, &found);
	return found;
}

struct signs {
	bool inits[SANITIZER_COUNT];
	unsigned intercepted_count;
};

static bool
look_for_signs(const char *name, bool is_defined_function, void *context)
{
	struct signs *const s = context;

	for (size_t i = 0; i < SANITIZER_COUNT; i++)
		s->inits[i] |= strcmp(sanitizer_inits[i].init, name) == 0;
	for (size_t i = 0; i < SANITIZER_INTERCEPTED_COUNT; i++)
		s->intercepted_count +=
			is_defined_function &&
			strcmp(sanitizer_intercepted[i], name) == 0;
	return false;
}

const char *
allocator_sanitizer(int fd)
{
	struct signs s = { .intercepted_count = 0 };

	symbols_visit(fd, true, look_for_signs, &s);
	for (size_t i = 0; i < SANITIZER_COUNT; i++)
		if (s.inits[i])
			return sanitizer_inits[i].name;
	return s.intercepted_count == SANITIZER_INTERCEPTED_COUNT
		       ? "a sanitizer"
		       : NULL;
}

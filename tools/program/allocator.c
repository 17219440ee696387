/* SPDX-License-Identifier: MIT */
/* allocator.c - see allocator.h */
#include "tools/program/allocator.h"

#include "tools/program/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* malloc() itself, and what allocators are called that are linked in privately. */
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

/* In order of what says most: AddressSanitizer brings LeakSanitizer with it. */
static const struct {
	const char *init, *name;
} sanitizers[] = {
	{ "__asan_init", "AddressSanitizer" },
	{ "__tsan_init", "ThreadSanitizer" },
	{ "__msan_init", "MemorySanitizer" },
	{ "__hwasan_init", "HWAddressSanitizer" },
	{ "__lsan_init", "LeakSanitizer" },
};
#define SANITIZER_COUNT (sizeof(sanitizers) / sizeof(*sanitizers))

/*
 * gcc's run-times, linked statically, show the dynamic loader only what they
 * intercept.  preload/process/sanitizer.c has the same rules.
 */
static const char *const intercepted[] = { "malloc", "pthread_create",
					   "sigaction", "_exit" };
#define INTERCEPTED_COUNT (sizeof(intercepted) / sizeof(*intercepted))

struct signs {
	bool inits[SANITIZER_COUNT];
	unsigned intercepted_count;
};

static bool
look_for_signs(const char *name, bool is_defined_function, void *context)
{
	struct signs *const s = context;

	for (size_t i = 0; i < SANITIZER_COUNT; i++)
		s->inits[i] |= strcmp(sanitizers[i].init, name) == 0;
	for (size_t i = 0; i < INTERCEPTED_COUNT; i++)
		s->intercepted_count += is_defined_function &&
					strcmp(intercepted[i], name) == 0;
	return false;
}

const char *
allocator_sanitizer(int fd)
{
	struct signs s = { .intercepted_count = 0 };

	symbols_visit(fd, true, look_for_signs, &s);
	for (size_t i = 0; i < SANITIZER_COUNT; i++)
		if (s.inits[i])
			return sanitizers[i].name;
	return s.intercepted_count == INTERCEPTED_COUNT ? "a sanitizer" : NULL;
}

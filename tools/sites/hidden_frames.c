/* SPDX-License-Identifier: MIT */
/* hidden_frames.c - see hidden_frames.h */
#include "tools/sites/hidden_frames.h"

#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Functions that allocate, under the names that programs call. */
static const char *const allocating[] = {
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"free",
	"memalign",
	"aligned_alloc",
	"posix_memalign",
	"valloc",
	"pvalloc",
	"cfree",
	"__libc_malloc",
	"__libc_calloc",
	"__libc_realloc",
	"__libc_free",
	"__libc_memalign",
	"__libc_valloc",
	"__libc_pvalloc",
	"free_sized",
	"free_aligned_sized",
	"malloc_usable_size",
};

/* Libraries that are an allocator, or the recorder. */
static const char *const libraries[] = {
	"libhatftrace.so", "libjemalloc.so", "libtcmalloc",
	"libmimalloc",	   "libsnmalloc",    "libhoard.so",
};

/* How the names of the standard library begin. */
static const char *const std_names[] = {
	"std::",    "__gnu_cxx::", "operator new",   "operator delete",
	"alloc::",  "core::",	   "hashbrown::",    "__rust_alloc",
	"__rdl_",   "__rg_",	   "__rust_realloc", "__cxxabiv1::",
	"<alloc::", "<core::",	   "<std::",	     "<hashbrown::",
};

static bool
begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool
hidden_frames_is_new(const struct hatf_frame *frame)
{
	static const char *const names[] = { "operator new(",
					     "operator new[](" };

	for (size_t i = 0; frame->function != NULL && i < COUNT(names); i++)
		if (begins_with(frame->function, names[i]))
			return true;
	return false;
}

bool
hidden_frames_is_allocator(const struct hatf_frame *frame)
{
	const char *const slash =
		frame->object != NULL ? strrchr(frame->object, '/') : NULL;
	const char *const library = slash != NULL ? slash + 1 : frame->object;

	for (size_t i = 0; frame->function != NULL && i < COUNT(allocating);
	     i++)
		if (strcmp(frame->function, allocating[i]) == 0)
			return true;
	for (size_t i = 0; library != NULL && i < COUNT(libraries); i++)
		if (begins_with(library, libraries[i]))
			return true;
	return false;
}

/*
 * Return where the qualified name of a demangled function begins: after the
 * type that a template returns, as in "int *std::vector<int>::data()".  That is
 * after the last blank that is in no brackets, before the parameters.
 */
static const char *
qualified_name(const char *function)
{
	const char *name = function;
	int depth = 0;

	for (const char *p = function; *p != '\0'; p++) {
		if (*p == '(' && depth == 0 && p != function)
			break;
		/* The operator in "operator<" opens no bracket. */
		if (begins_with(p, "operator"))
			break;
		if (*p == '<' || *p == '(')
			depth++;
		else if (*p == '>' || *p == ')')
			depth--;
		else if (*p == ' ' && depth == 0)
			name = p + 1;
	}
	while (*name == '*' || *name == '&')
		name++;
	return name;
}

bool
hidden_frames_is_std(const struct hatf_frame *frame)
{
	const char *name;

	if (frame->function == NULL)
		return false;
	name = qualified_name(frame->function);
	for (size_t i = 0; i < COUNT(std_names); i++)
		if (begins_with(name, std_names[i]) ||
		    begins_with(frame->function, std_names[i]))
			return true;
	return false;
}

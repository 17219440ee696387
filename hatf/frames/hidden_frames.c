/* SPDX-License-Identifier: MIT */
/* hidden_frames.c - see hidden_frames.h */
#include "hatf/frames/hidden_frames.h"

#include "hatf/frames/function_name.h"

#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Functions of the malloc family, by the names that programs call. */
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
	"mallocx",
	"rallocx",
	"je_malloc",
	"je_calloc",
	"je_realloc",
	"je_mallocx",
	"je_rallocx",
	"je_aligned_alloc",
	"je_posix_memalign",
	"mi_malloc",
	"mi_calloc",
	"mi_zalloc",
	"mi_realloc",
	"mi_malloc_aligned",
	"tc_malloc",
	"tc_calloc",
	"tc_realloc",
	"tc_memalign",
};

/* How the file names of allocators and of the recorder begin. */
#define RECORDER "libhatftrace.so"
static const char *const libraries[] = {
	RECORDER,      "libjemalloc.so", "libtcmalloc",
	"libmimalloc", "libsnmalloc",	 "libhoard.so",
};

/*
 * How names of the standard libraries of C++ and Rust begin.  "__cxa_": the
 * functions of the C++ ABI, such as __cxa_allocate_exception() for 'throw'.
 */
static const char *const std_names[] = {
	"std::",    "__gnu_cxx::", "operator new",   "operator delete",
	"alloc::",  "core::",	   "hashbrown::",    "__rust_alloc",
	"__rdl_",   "__rg_",	   "__rust_realloc", "__cxxabiv1::",
	"<alloc::", "<core::",	   "<std::",	     "<hashbrown::",
	"__cxa_",
};

/* How the file names of the standard libraries of C and C++ begin. */
static const char *const std_libraries[] = {
	"libc.so.", "libc-2.",	    "libpthread.so.", "libpthread-2.",
	"libm.so.", "libstdc++.so", "libc++.so",      "libc++abi.so",
	"ld-linux", "ld-2.",	    "libc.musl-",     "ld-musl-",
};

static bool
begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/*
 * If the file name in 'path' begins with one of the 'count' names, return this
 * name, else NULL.
 */
static const char *
find_beginning(const char *path, const char *const *names, size_t count)
{
	const char *const slash = strrchr(path, '/');
	const char *const name = slash != NULL ? slash + 1 : path;

	for (size_t i = 0; i < count; i++)
		if (begins_with(name, names[i]))
			return names[i];
	return NULL;
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

const char *
hidden_frames_find_library(const char *object)
{
	return find_beginning(object, libraries, COUNT(libraries));
}

const char *
hidden_frames_find_std_library(const char *object)
{
	return find_beginning(object, std_libraries, COUNT(std_libraries));
}

bool
hidden_frames_is_recorder(const struct hatf_frame *frame)
{
	const char *const library =
		frame->object != NULL
			? hidden_frames_find_library(frame->object)
			: NULL;

	return library != NULL && strcmp(library, RECORDER) == 0;
}

bool
hidden_frames_is_allocator(const struct hatf_frame *frame)
{
	for (size_t i = 0; frame->function != NULL && i < COUNT(allocating);
	     i++)
		if (strcmp(frame->function, allocating[i]) == 0)
			return true;
	return frame->object != NULL &&
	       hidden_frames_find_library(frame->object) != NULL;
}

static bool
is_std_name(const char *name)
{
	for (size_t i = 0; i < COUNT(std_names); i++)
		if (begins_with(name, std_names[i]))
			return true;
	return false;
}

/*
 * Does the name of the type contain "::", as in "app::Set" or "&mut
 * app::Set<u8>"?  Ignore the arguments of the type: everything from the first
 * '<' on.
 */
static bool
has_path(const char *type, const char *end)
{
	for (; type != end && *type != '<'; type++)
		if (begins_with(type, "::"))
			return true;
	return false;
}

/*
 * Is a method of Rust, "<TYPE as TRAIT>::method", code of the standard library?
 * The answer is no if the program implements a trait of the library for its own
 * type, or its own trait for a type of the library.
 */
static bool
is_std_method(const char *name, size_t nbytes)
{
	const char *const as = memmem(name, nbytes, " as ", 4);
	const char *type = name + 1;

	if (as == NULL)
		return is_std_name(name);
	if (!is_std_name(as + 4))
		return false;
	type += strspn(type, "&*[(");
	if (begins_with(type, "mut "))
		type += 4;
	return is_std_name(type) || !has_path(type, as);
}

bool
hidden_frames_is_std(const struct hatf_frame *frame)
{
	struct function_name name;

	if (frame->object != NULL &&
	    hidden_frames_find_std_library(frame->object) != NULL)
		return true;
	if (frame->function == NULL)
		return false;
	name = function_name_find(frame->function);
	return name.text[0] == '<' ? is_std_method(name.text, name.nbytes)
				   : is_std_name(name.text);
}

/* Does the frame have this text instead of a function and an address? */
static bool
is_mark(const struct hatf_frame *frame, const char *text)
{
	return frame->address == 0 && frame->function != NULL &&
	       strcmp(frame->function, text) == 0;
}

bool
hidden_frames_is_cut_off(const struct hatf_frame *frame)
{
	return is_mark(frame, "[cut off]");
}

bool
hidden_frames_is_unknown_caller(const struct hatf_frame *frame)
{
	return is_mark(frame, "[unknown caller]");
}

bool
hidden_frames_is_missing(const struct hatf_frame *frame)
{
	return hidden_frames_is_cut_off(frame) ||
	       hidden_frames_is_unknown_caller(frame);
}

unsigned
hatf_frame_hidden(const struct hatf_frame *frame)
{
	return (hidden_frames_is_allocator(frame) ? HATF_FRAME_ALLOCATOR : 0u) |
	       (hidden_frames_is_std(frame) ? HATF_FRAME_STD : 0u) |
	       (hidden_frames_is_new(frame) ? HATF_FRAME_NEW : 0u) |
	       (hidden_frames_is_missing(frame) ? HATF_FRAME_MISSING : 0u);
}

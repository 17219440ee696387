/* SPDX-License-Identifier: MIT */
/* driver_calls.c - see driver_calls.h */
#include "tools/driver/driver_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/*
 * Store the address of the process's function 'name' in the function pointer at
 * 'to'.  If '*base' is NULL, set it to the address of the library that has this
 * function.  Return whether this function is in the library at '*base'.
 */
static bool
find_function(const char *name, void *to, void **base)
{
	void *const found = dlsym(RTLD_DEFAULT, name);
	Dl_info info;

	if (found == NULL || dladdr(found, &info) == 0)
		return false;
	if (*base == NULL)
		*base = info.dli_fbase;
	/*
	 * Copy the bytes, because ISO C does not allow a conversion from a
	 * pointer to data to a function pointer.  POSIX requires that the copy
	 * works.
	 */
	memcpy(to, &found, sizeof(found));
	return *base == info.dli_fbase;
}

const char *
driver_calls_find(struct driver_calls *calls, char *library, size_t cap)
{
	void *base = NULL;
	void *self;
	Dl_info info;

	if (!find_function("malloc", &calls->malloc, &base) ||
	    !find_function("calloc", &calls->calloc, &base) ||
	    !find_function("realloc", &calls->realloc, &base) ||
	    !find_function("free", &calls->free, &base))
		return "malloc, calloc, realloc and free belong to different "
		       "libraries";
	if (!find_function("memalign", &calls->memalign, &base) &&
	    !find_function("aligned_alloc", &calls->memalign, &base))
		return "the allocator has neither memalign nor aligned_alloc";
	if (!find_function("malloc_usable_size", &calls->usable_size, &base))
		calls->usable_size = NULL;
	memcpy(&self, &calls->malloc, sizeof(self));
	snprintf(library, cap, "%s",
		 dladdr(self, &info) != 0 ? info.dli_fname : "");
	return NULL;
}

bool
driver_calls_own(const char *name, void *to)
{
	void *base = NULL;
	void *(*allocate)(size_t);

	return find_function("malloc", &allocate, &base) &&
	       find_function(name, to, &base);
}

/*
 * Every block that a thread gets from the null allocator is at the address of
 * the thread's 'scratch'.  'scratch' fills cache lines of its own, because two
 * threads that share a line would increase the driver's own cost.
 */
static _Thread_local _Alignas(128) char scratch[128];

static void *
null_malloc(size_t nbytes)
{
	(void)nbytes;
	return scratch;
}

static void *
null_calloc(size_t count, size_t nbytes)
{
	(void)count, (void)nbytes;
	return scratch;
}

static void *
null_realloc(void *p, size_t nbytes)
{
	(void)p, (void)nbytes;
	return scratch;
}

static void *
null_memalign(size_t alignment, size_t nbytes)
{
	(void)alignment, (void)nbytes;
	return scratch;
}

static void
null_free(void *p)
{
	(void)p;
}

void
driver_calls_null(struct driver_calls *calls)
{
	*calls =
		(struct driver_calls){ null_malloc,   null_calloc, null_realloc,
				       null_memalign, null_free,   NULL };
}

/* SPDX-License-Identifier: MIT */
/* nested_calls.c - see nested_calls.h */

#include "preload/heaps/nested_calls.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "preload/heaps/patch_calls.h"
#include "preload/record/real.h"
#include "preload/sys/elf_dynamic.h"
#include "preload/sys/elf_lookup.h"

/* The allocator's functions, to which the functions below pass the calls. */
static struct real allocator;

/* How many calls of outer_NAME() are in progress in this thread. */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

/*
 * Define two functions for each function NAME: outer_NAME() replaces NAME in
 * 'real'; nested_NAME() is stored in the slots of the allocator's object.
 */
#define OUTER(type, name, parameters, arguments)   \
	static type outer_##name parameters        \
	{                                          \
		type result;                       \
                                                   \
		depth++;                           \
		result = allocator.name arguments; \
		depth--;                           \
		return result;                     \
	}
#define NESTED(type, name, parameters, arguments)                              \
	static type nested_##name parameters                                   \
	{                                                                      \
		return depth != 0 ? allocator.name arguments : name arguments; \
	}
#define BOTH(type, name, parameters, arguments)  \
	OUTER(type, name, parameters, arguments) \
	NESTED(type, name, parameters, arguments)

BOTH(void *, malloc, (size_t size), (size))
BOTH(void *, calloc, (size_t n, size_t size), (n, size))
BOTH(void *, realloc, (void *p, size_t size), (p, size))
BOTH(void *, memalign, (size_t alignment, size_t size), (alignment, size))
BOTH(int, posix_memalign, (void **p_ret, size_t alignment, size_t size),
     (p_ret, alignment, size))
BOTH(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
BOTH(void *, valloc, (size_t size), (size))
BOTH(void *, pvalloc, (size_t size), (size))

static void
outer_free(void *p)
{
	depth++;
	allocator.free(p);
	depth--;
}

static void
nested_free(void *p)
{
	if (depth != 0)
		allocator.free(p);
	else
		free(p);
}

#define ROW(name)                                       \
	{                                               \
#name, (void *)(uintptr_t)nested_##name \
	}

static const struct {
	const char *name;
	void *nested;
} functions[] = {
	ROW(malloc),   ROW(calloc),	    ROW(realloc),
	ROW(memalign), ROW(posix_memalign), ROW(aligned_alloc),
	ROW(valloc),   ROW(pvalloc),	    ROW(free),
};

/* From now on, call the allocator through the functions outer_NAME(). */
static void
count_depth(void)
{
	const bool has_early = real.free_any != real.free;

	allocator = real;
	real.malloc = outer_malloc;
	real.calloc = outer_calloc;
	real.realloc = outer_realloc;
	real.memalign = outer_memalign;
	real.posix_memalign = outer_posix_memalign;
	real.aligned_alloc = outer_aligned_alloc;
	real.valloc = outer_valloc;
	real.pvalloc = outer_pvalloc;
	real.free = outer_free;
	/*
	 * If there are early blocks, keep real.free_any(), which recognizes
	 * them, and passes other blocks to real.free().
	 */
	if (!has_early)
		real.free_any = outer_free;
}

/*
 * Change the slot if the object itself defines a function of the slot's name,
 * and if the slot holds our function or is not bound yet.
 */
static void
patch_slot(const struct patch_slot *slot, void *context)
{
	bool *const is_nested = context;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(functions[i].name, slot->name) != 0 ||
		    !elf_lookup_defines(slot->dynamic, slot->name))
			continue;
		if (*slot->at != elf_lookup_own(slot->name) &&
		    !patch_is_unbound(slot))
			continue;
		if (!*is_nested)
			count_depth();
		*is_nested = true;
		patch_write(slot, functions[i].nested);
	}
}

static int
visit(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct dynamic dynamic;

	(void)nbytes;
	if (!elf_dynamic_has(info, PT_LOAD, (uintptr_t)real_allocator))
		return 0;
	if (elf_dynamic_read(info, &dynamic))
		patch_each_slot(info, &dynamic, patch_slot, context);
	return 1;
}

/* Is the allocator one whose functions are known not to call one another? */
static bool
is_known(void)
{
	static const char *const markers[] = {
		"__libc_start_main", /* libc */
		"mallctl",	     /* jemalloc */
		"tc_malloc",	     /* tcmalloc */
		"mi_malloc",	     /* mimalloc */
	};

	for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
		if (elf_lookup_beside(real_allocator, markers[i]))
			return true;
	return false;
}

void
nested_calls_patch(void)
{
	bool is_nested = false;

	if (!is_known())
		dl_iterate_phdr(visit, &is_nested);
}

/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_arenas.h - map jemalloc's arenas to heaps of the trace
 *
 * An arena that the program makes by mallctl() is a heap.  jemalloc's own
 * arenas belong to malloc's heap, number 0.  This module also records the calls
 * of mallctl() that free all blocks of an arena.  It recognizes the calls of
 * mallctl() that allocate many blocks at once ("experimental.batch_alloc"), but
 * interpose_jemalloc.c records these calls.
 *
 * Any thread may call these functions.
 */
#ifndef JEMALLOC_ARENAS_H
#define JEMALLOC_ARENAS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/heaps/heap_calls.h"

/*
 * All numbers of arenas are below this number.  For jemalloc, this number and
 * larger numbers have special meanings.
 */
#define ARENAS_MAX 4096u

typedef int mallctl_fn(const char *, void *, size_t *, void *, size_t);
typedef int mallctlnametomib_fn(const char *, size_t *, size_t *);
typedef int mallctlbymib_fn(const size_t *, size_t, void *, size_t *, void *,
			    size_t);

/* The names of mallctl() that this module recognizes or uses itself. */
enum arenas_name {
	ARENAS_CREATE,
	ARENAS_EXTEND,
	ARENAS_CREATE_EXT,
	ARENAS_RESET,
	ARENAS_DESTROY,
	ARENAS_BATCH_ALLOC,
	ARENAS_LOOKUP,
	ARENAS_THREAD,
	ARENAS_NAME_COUNT
};

/*
 * Arenas of one copy of jemalloc.  interpose_jemalloc.c sets the first five
 * members.
 */
struct arenas {
	mallctl_fn *mallctl; /* jemalloc's real functions */
	mallctlnametomib_fn *mallctlnametomib;
	mallctlbymib_fn *mallctlbymib;
	/* ARENAS_MAX bytes; the address of byte n is the handle of arena n */
	const char *handles;
	heap_calls_of_fn *of_plain; /* function to pass to heap_calls_begin() */
	_Atomic int state; /* are 'mib', 'mib_count' and 'own_count' set? */
	/* the "mib" of each name: its numeric form, see jemalloc(3) */
	size_t mib[ARENAS_NAME_COUNT][3];
	/* lengths of the mibs; 0: jemalloc lacks the name */
	size_t mib_count[ARENAS_NAME_COUNT];
	unsigned own_count; /* number of jemalloc's own arenas */
	/* has the program made an arena? */
	_Atomic bool are_made;
	_Atomic bool is_making;
};

/* The arguments of mallctl(). */
struct arenas_args {
	void *old_value;
	size_t *old_nbytes;
	void *new_value;
	size_t new_nbytes;
};

/* A call of mallctl() in progress. */
struct arenas_act {
	/* ARENAS_NAME_COUNT: a name that this module ignores */
	enum arenas_name name;
	unsigned arena;
	struct pool *pool;
	struct heap_table_block *blocks;
};

/*
 * Call arenas_begin_name() before the real mallctl(), and arenas_begin_mib()
 * before the real mallctlbymib().
 */
struct arenas_act arenas_begin_name(struct arenas *a, const char *name);
struct arenas_act arenas_begin_mib(struct arenas *a, const size_t *mib,
				   size_t count);

/*
 * Call this after the real mallctl() or mallctlbymib(), which has returned
 * 'error' (0: success).
 */
void arenas_end(struct arenas *a, const struct arenas_act *act,
		const struct arenas_args *args, int error);

/*
 * Return the heap of the block 'p', which a function of jemalloc has just
 * returned, or NULL for malloc's heap.  'flags' is that function's argument
 * 'flags', or 0 if the function has no such argument.  'p' is NULL if the call
 * failed.
 */
struct pool *arenas_of(struct arenas *a, const void *p, int flags);

#endif /* JEMALLOC_ARENAS_H */

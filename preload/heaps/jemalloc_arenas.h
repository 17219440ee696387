/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_arenas.h - which of jemalloc's arenas are heaps of the trace
 *
 * Those that the program makes by mallctl().  jemalloc's own are malloc's heap,
 * 0. What mallctl() does to all blocks of an arena at once is recorded here.
 *
 * All may be called by any thread.
 */
#ifndef JEMALLOC_ARENAS_H
#define JEMALLOC_ARENAS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/heaps/heap_calls.h"

/* jemalloc has as many at most; its special numbers begin there. */
#define ARENAS_MAX 4096u

typedef int mallctl_fn(const char *, void *, size_t *, void *, size_t);
typedef int mallctlnametomib_fn(const char *, size_t *, size_t *);
typedef int mallctlbymib_fn(const size_t *, size_t, void *, size_t *, void *,
			    size_t);

/* The names that matter here. */
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

/* The arenas of one jemalloc; the first five are the owner's to set. */
struct arenas {
	mallctl_fn *mallctl; /* the real ones */
	mallctlnametomib_fn *mallctlnametomib;
	mallctlbymib_fn *mallctlbymib;
	const char *handles;	    /* ARENAS_MAX bytes, for their addresses */
	heap_calls_of_fn *of_plain; /* as heap_calls_begin() wants it */
	_Atomic int state;	    /* of what follows: is it known? */
	size_t mib[ARENAS_NAME_COUNT][3];
	size_t mib_count[ARENAS_NAME_COUNT]; /* 0: it has no such name */
	unsigned own_count;		     /* arenas it makes for itself */
	_Atomic bool are_made;		     /* the program has made one */
	_Atomic bool is_making;
};

/* The arguments of mallctl(). */
struct arenas_args {
	void *old_value;
	size_t *old_nbytes;
	void *new_value;
	size_t new_nbytes;
};

/* A mallctl() under way. */
struct arenas_act {
	enum arenas_name name; /* ARENAS_NAME_COUNT: none that matters */
	unsigned arena;
	struct pool *pool;
	struct heap_table_block *blocks;
};

/* It will be called. */
struct arenas_act arenas_begin_name(struct arenas *a, const char *name);
struct arenas_act arenas_begin_mib(struct arenas *a, const size_t *mib,
				   size_t count);

/* It has returned 'error'; 0: done. */
void arenas_end(struct arenas *a, const struct arenas_act *act,
		const struct arenas_args *args, int error);

/*
 * The heap of a block that a function has just returned, which was given
 * 'flags', or 0 if it takes none.  'p' may be NULL, of a call that failed.
 */
struct pool *arenas_of(struct arenas *a, const void *p, int flags);

#endif /* JEMALLOC_ARENAS_H */

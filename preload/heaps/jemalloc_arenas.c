/* SPDX-License-Identifier: MIT */
/*
 * jemalloc_arenas.c - see jemalloc_arenas.h; jemalloc(3) describes the names of
 * mallctl()
 */

#include "preload/heaps/jemalloc_arenas.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "preload/hatftrace.h"
#include "preload/record/record.h"

/* Values of 'state'. */
#define UNKNOWN 0
#define ASKING	1
#define KNOWN	2

static const char *const names[ARENAS_NAME_COUNT] = {
	[ARENAS_CREATE] = "arenas.create",
	[ARENAS_EXTEND] = "arenas.extend", /* only before jemalloc 5 */
	[ARENAS_CREATE_EXT] = "experimental.arenas_create_ext",
	[ARENAS_RESET] = "arena.0.reset",
	[ARENAS_DESTROY] = "arena.0.destroy",
	[ARENAS_BATCH_ALLOC] = "experimental.batch_alloc",
	[ARENAS_LOOKUP] = "arenas.lookup", /* from jemalloc 5.1 on */
	[ARENAS_THREAD] = "thread.arena",
};

/*
 * jemalloc has a numeric form of each name, a "mib".  In the mib of a name such
 * as "arena.0.reset", the arena's number is at this index.
 */
#define INDEX_AT 1

static bool
has_index(enum arenas_name name)
{
	return name == ARENAS_RESET || name == ARENAS_DESTROY;
}

static void
ask(struct arenas *a)
{
	size_t nbytes = sizeof(a->own_count);

	for (unsigned i = 0; i < ARENAS_NAME_COUNT; i++) {
		size_t n = sizeof(a->mib[i]) / sizeof(a->mib[i][0]);

		if (a->mallctlnametomib(names[i], a->mib[i], &n) == 0)
			a->mib_count[i] = n;
	}
	if (a->mallctl("opt.narenas", &a->own_count, &nbytes, NULL, 0) != 0)
		a->own_count = ARENAS_MAX;
}

/*
 * Ask jemalloc once for the mibs of 'names', and how many arenas jemalloc makes
 * for itself.  These queries make jemalloc allocate memory, so call this
 * function only within a call of the program to jemalloc.
 */
static void
get_ready(struct arenas *a)
{
	int state = UNKNOWN;

	/* All acquires in this function pair with the release below. */
	if (atomic_load_explicit(&a->state, memory_order_acquire) == KNOWN)
		return;
	if (atomic_compare_exchange_strong_explicit(&a->state, &state, ASKING,
						    memory_order_acquire,
						    memory_order_acquire)) {
		const int saved_errno = errno;

		ask(a);
		errno = saved_errno;
		atomic_store_explicit(&a->state, KNOWN, memory_order_release);
		return;
	}
	while (atomic_load_explicit(&a->state, memory_order_acquire) != KNOWN)
		sched_yield();
}

/* The heap of a block ----------------------------------------------------- */

/* Return the heap of the arena, or NULL.  'arena' may be any number. */
static struct pool *
find(const struct arenas *a, unsigned arena)
{
	return arena < ARENAS_MAX ? heap_table_find(a->handles + arena) : NULL;
}

static uint64_t
new_heap(unsigned arena)
{
	char name[16] = "arena.";
	char digits[10];
	size_t n = 0, at = strlen(name);

	do {
		digits[n++] = (char)('0' + arena % 10);
		arena /= 10;
	} while (arena != 0);
	while (n > 0 && at < sizeof(name) - 1)
		name[at++] = digits[--n];
	name[at] = '\0';
	return hatftrace_client_heap_create(name);
}

static void
add(struct arenas *a, unsigned arena)
{
	const void *handle;
	uint64_t number;

	if (arena >= ARENAS_MAX)
		return;
	handle = a->handles + arena;
	/*
	 * relaxed: a thread that has a block of an arena has synchronized with
	 * the thread that made the arena.
	 */
	if (!atomic_load_explicit(&a->are_made, memory_order_relaxed)) {
		heap_calls_begin(a->of_plain,
				 (const void *)(uintptr_t)a->mallctl);
		atomic_store_explicit(&a->are_made, true, memory_order_relaxed);
	}
	/*
	 * If an earlier arena had this number, delete its heap, because the
	 * recorder has missed the end of that arena.
	 */
	number = heap_table_delete(handle);
	if (number != 0)
		hatftrace_client_heap_destroy(number);
	number = new_heap(arena);
	if (heap_table_add(handle, number) == NULL)
		hatftrace_client_heap_destroy(number);
}

/*
 * The program has allocated from an arena that it named by number.  If the
 * recorder does not know the arena, add a heap for it, because the program may
 * have made the arena before the recorder intercepted its calls.  Ignore the
 * numbers below 'own_count', which are jemalloc's own arenas.  Ignore the
 * number 'own_count' itself, too, since it may belong to jemalloc's arena for
 * large blocks, which 'own_count' does not count.
 */
static void
meet(struct arenas *a, unsigned arena)
{
	get_ready(a);
	if (arena <= a->own_count || find(a, arena) != NULL)
		return;
	/* acquire here, release below: 'is_making' is a lock. */
	while (atomic_exchange_explicit(&a->is_making, true,
					memory_order_acquire))
		sched_yield();
	if (find(a, arena) == NULL)
		add(a, arena);
	atomic_store_explicit(&a->is_making, false, memory_order_release);
}

/*
 * Return the arena of 'p'.  jemalloc without "arenas.lookup" cannot find it, so
 * return the arena of the calling thread instead.  If the query fails, return
 * ARENAS_MAX.
 */
static unsigned
look_up(const struct arenas *a, const void *p)
{
	const enum arenas_name name = a->mib_count[ARENAS_LOOKUP] != 0
					      ? ARENAS_LOOKUP
					      : ARENAS_THREAD;
	const bool tells = name == ARENAS_LOOKUP;
	unsigned arena;
	size_t nbytes = sizeof(arena);

	return a->mallctlbymib(a->mib[name], a->mib_count[name], &arena,
			       &nbytes, tells ? &p : NULL,
			       tells ? sizeof(p) : 0) == 0
		       ? arena
		       : ARENAS_MAX;
}

/*
 * The number of the arena that the flags name (MALLOCX_ARENA), plus 1; 0 if the
 * flags name no arena.
 */
#define NAMED(flags) ((unsigned)(flags) >> 20)

struct pool *
arenas_of(struct arenas *a, const void *p, int flags)
{
	const unsigned named = NAMED(flags);
	struct pool *pool;

	if (named != 0 && p != NULL)
		meet(a, named - 1);
	/* relaxed: see add(). */
	if (!atomic_load_explicit(&a->are_made, memory_order_relaxed))
		return NULL;
	if (named != 0 && (p == NULL || a->mib_count[ARENAS_LOOKUP] == 0))
		return find(a, named - 1);
	if (p == NULL)
		return NULL;

	const int saved_errno = errno;

	get_ready(a);
	pool = find(a, look_up(a, p));
	errno = saved_errno;
	return pool;
}

/* Calls of mallctl() ------------------------------------------------------ */

/* Parse "arena.<i>.NAME".  Return false if 'name' has another form. */
static bool
split(const char *name, unsigned *arena_ret, const char **rest_ret)
{
	static const char begin[] = "arena.";
	const char *at = name + sizeof(begin) - 1;
	unsigned arena = 0;

	if (strncmp(name, begin, sizeof(begin) - 1) != 0 || *at < '0' ||
	    *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++)
		if (arena < ARENAS_MAX)
			arena = arena * 10 + (unsigned)(*at - '0');
	*arena_ret = arena;
	*rest_ret = at;
	return true;
}

static enum arenas_name
find_name(const char *name, unsigned *arena_ret)
{
	const char *rest;

	if (split(name, arena_ret, &rest)) {
		if (strcmp(rest, ".reset") == 0)
			return ARENAS_RESET;
		return strcmp(rest, ".destroy") == 0 ? ARENAS_DESTROY
						     : ARENAS_NAME_COUNT;
	}
	for (unsigned i = 0; i < ARENAS_NAME_COUNT; i++)
		if (strcmp(name, names[i]) == 0)
			return (enum arenas_name)i;
	return ARENAS_NAME_COUNT;
}

static enum arenas_name
find_mib(const struct arenas *a, const size_t *mib, size_t count)
{
	for (unsigned i = 0; i < ARENAS_NAME_COUNT; i++) {
		size_t same = 0;

		if (count == 0 || count != a->mib_count[i])
			continue;
		while (same < count &&
		       (mib[same] == a->mib[i][same] ||
			(same == INDEX_AT && has_index((enum arenas_name)i))))
			same++;
		if (same == count)
			return (enum arenas_name)i;
	}
	return ARENAS_NAME_COUNT;
}

/*
 * Begin a call that frees all blocks of an arena.  Once the real call has run,
 * another thread may get the memory of the blocks.  So record the frees of the
 * blocks, or the end of the heap, before the call.  If the call fails,
 * arenas_end() records the blocks as allocated again.
 */
static void
begin_end_of_all(const struct arenas *a, struct arenas_act *act)
{
	const void *p;
	size_t size;

	if (act->name == ARENAS_DESTROY && act->arena < ARENAS_MAX)
		act->pool = heap_table_hide_handle(a->handles + act->arena);
	else
		act->pool = find(a, act->arena);
	if (act->pool == NULL)
		return;

	const uint64_t number = heap_table_number(act->pool);

	act->blocks = heap_table_hide(act->pool);
	if (act->name == ARENAS_DESTROY) {
		hatftrace_client_heap_destroy(number);
		return;
	}
	for (const struct heap_table_block *b = act->blocks; b != NULL;) {
		b = heap_table_next(b, &p, &size);
		record_event(EVENT_HEAP_FREE, 0, (uintptr_t)p, number, 0);
	}
}

static void
record_again(const struct heap_table_block *blocks, uint64_t number)
{
	while (blocks != NULL) {
		uint64_t operand[4] = { 0, 0, number, 0 };
		const void *p;
		size_t size;

		blocks = heap_table_next(blocks, &p, &size);
		operand[0] = (uintptr_t)p;
		operand[1] = size;
		record_operands(EVENT_HEAP_ALLOC, 0, operand);
	}
}

static void
end_reset(const struct arenas_act *act, int error)
{
	if (error == 0) {
		heap_table_forget(act->pool, act->blocks);
		return;
	}
	record_again(act->blocks, heap_table_number(act->pool));
	heap_table_show(act->pool, act->blocks);
}

static void
end_destroy(const struct arenas_act *act, int error)
{
	uint64_t number;

	if (error == 0) {
		heap_table_bury(act->pool, act->blocks);
		return;
	}
	/*
	 * A trace never reuses a heap's number, so this heap needs a new one.
	 */
	number = new_heap(act->arena);
	record_again(act->blocks, number);
	heap_table_revive(act->pool, number, act->blocks);
}

static struct arenas_act
begin(const struct arenas *a, enum arenas_name name, unsigned arena)
{
	struct arenas_act act = { .name = name, .arena = arena };

	if (has_index(name) && heap_table_is_used())
		begin_end_of_all(a, &act);
	return act;
}

struct arenas_act
arenas_begin_name(struct arenas *a, const char *name)
{
	unsigned arena = 0;
	const enum arenas_name found = find_name(name, &arena);

	if (found != ARENAS_NAME_COUNT)
		get_ready(a);
	return begin(a, found, arena);
}

struct arenas_act
arenas_begin_mib(struct arenas *a, const size_t *mib, size_t count)
{
	enum arenas_name found;

	get_ready(a);
	found = find_mib(a, mib, count);
	return begin(a, found,
		     has_index(found) && mib[INDEX_AT] < ARENAS_MAX
			     ? (unsigned)mib[INDEX_AT]
			     : ARENAS_MAX);
}

void
arenas_end(struct arenas *a, const struct arenas_act *act,
	   const struct arenas_args *args, int error)
{
	switch (act->name) {
	case ARENAS_CREATE:
	case ARENAS_EXTEND:
	case ARENAS_CREATE_EXT:
		if (error == 0 && args->old_value != NULL &&
		    args->old_nbytes != NULL &&
		    *args->old_nbytes == sizeof(unsigned))
			add(a, *(const unsigned *)args->old_value);
		break;
	case ARENAS_RESET:
		if (act->pool != NULL)
			end_reset(act, error);
		break;
	case ARENAS_DESTROY:
		if (act->pool != NULL)
			end_destroy(act, error);
		break;
	default:
		break;
	}
}

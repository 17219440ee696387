/* SPDX-License-Identifier: MIT */
/*
 * groups.h - the figures of a census, by site, function, thread, ...
 *
 * A group is a line of a report: all stacks with the same site, for example.
 * In a trace without stacks, a thread and a size class stand for a site.
 */
#ifndef GROUPS_H
#define GROUPS_H

#include "tools/summary/census.h"
#include "tools/summary/site_names.h"

enum group_by {
	BY_SITE,
	BY_FUNCTION,
	BY_FILE,
	BY_MODULE,
	BY_STACK, /* each call stack by itself */
	BY_THREAD,
	BY_SIZE,
	BY_HEAP,
};

/* The group of what has counted nothing. */
#define GROUP_NONE UINT32_MAX

struct group {
	char *name; /* escaped */
	struct account sum;
	uint64_t
		number; /* id of the stack, thread or heap, or the size class */
	uint32_t stack_count;
};

struct groups {
	const struct census *census;
	enum group_by by;
	bool of_stacks; /* groups are of stacks, and not of lanes or heaps */
	struct group *rows;
	uint32_t count, cap;
	/* By row of stack, lane or heap. */
	uint32_t *group_of;
	uint32_t *slots; /* a hash table of the names, row plus 1 */
	size_t slot_count;
	struct seeded_hash hash;
};

/* What to sort by. */
enum group_key {
	KEY_PEAK,
	KEY_LIVE,
	KEY_ALLOCATED,
	KEY_ALLOCATIONS,
	KEY_TEMPORARY,
	KEY_MOVED,
	KEY_FREED,
};

/* Does the trace have any call stack? */
bool groups_has_stacks(const struct census *c);

/* Make the groups of a census that has ended.  False: no memory. */
bool groups_make(struct groups *g, const struct census *c,
		 struct site_names *names, enum group_by by);
void groups_free(struct groups *g);

/* The group of a live block, or GROUP_NONE. */
uint32_t groups_of_block(const struct groups *g, const struct live_block *block,
			 uint32_t heap);

/* What an account has of the kind that is sorted by. */
struct amount groups_amount(const struct census *c, const struct account *a,
			    enum group_key key);

/*
 * Return the rows of groups, those with the largest values first, and store how
 * many.  Unless 'all', leave out groups without blocks of this kind.  Rows with
 * the same value are in the order of their names.  The caller frees the array.
 * NULL: no memory.
 */
uint32_t *groups_sort(const struct groups *g, enum group_key key, bool all,
		      uint32_t *n_ret);

#endif /* GROUPS_H */

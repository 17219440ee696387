/* SPDX-License-Identifier: MIT */
/*
 * groups.h - the figures of a census, by site, function, thread, ...
 *
 * A group is what one line of a report is about: all stacks with the same site,
 * for example.  In a trace without stacks, each pair of a thread and a size
 * class stands for a site, function, file, module or stack.
 */
#ifndef GROUPS_H
#define GROUPS_H

#include "tools/summary/census.h"
#include "tools/summary/site_names.h"

/*
 * The first four values have the order of enum site_part (site_names.h),
 * because groups.c converts them to that enum.  stat.c adds its own values
 * after BY_HEAP.
 */
enum group_by {
	BY_SITE,
	BY_FUNCTION,
	BY_FILE,
	BY_MODULE,
	BY_STACK, /* each call stack is a group */
	BY_THREAD,
	BY_SIZE,
	BY_HEAP,
};

/* Stands for "no group": the account has counted no block. */
#define GROUP_NONE UINT32_MAX

struct group {
	char *name; /* escaped */
	struct account sum;
	/*
	 * id of the group's first stack, id of its thread or heap, or its size
	 * class; 0 if the group is a pair of a thread and a size class
	 */
	uint64_t number;
	/* number of stacks, lanes or heaps in the group */
	uint32_t stack_count;
};

struct groups {
	const struct census *census;
	enum group_by by;
	/*
	 * true: each group is a set of stacks; false: a set of lanes (census.h)
	 * or of heaps
	 */
	bool of_stacks;
	struct group *rows;
	uint32_t count, cap;
	/* Group of each stack, lane or heap, by its row. */
	uint32_t *group_of;
	/*
	 * hash table of the groups by name; a slot has the row of a group plus
	 * 1, or 0 if it is free
	 */
	uint32_t *slots;
	size_t slot_count;
	struct seeded_hash hash;
};

/* The figure by which groups_sort() sorts. */
enum group_key {
	KEY_PEAK,
	KEY_LIVE,
	KEY_ALLOCATED,
	KEY_ALLOCATIONS,
	KEY_TEMPORARY,
	KEY_MOVED,
	KEY_FREED,
};

/* Has the census counted a call with a defined stack? */
bool groups_has_stacks(const struct census *c);

/*
 * Has the census counted a block as allocated, or as live when the trace or the
 * window began?
 */
bool groups_has_blocks(const struct census *c);

/*
 * Make the groups of a census, after census_end().  Return false if there is no
 * memory.
 */
bool groups_make(struct groups *g, const struct census *c,
		 struct site_names *names, enum group_by by);
void groups_free(struct groups *g);

/* Return the group of a live block, or GROUP_NONE. */
uint32_t groups_of_block(const struct groups *g, const struct live_block *block,
			 uint32_t heap);

/*
 * Return the amount that 'key' selects in an account, such as its live blocks
 * and bytes.
 */
struct amount groups_amount(const struct census *c, const struct account *a,
			    enum group_key key);

/*
 * Return the number by which groups_sort() sorts: the bytes or, for some keys,
 * the count that groups_amount() returns.
 */
uint64_t groups_value(const struct census *c, const struct account *a,
		      enum group_key key);

/*
 * Return the rows of the groups, those with the largest values of 'key' first,
 * and set '*n_ret' to their number.  Of groups with equal values, those with
 * more live bytes come first.  If the live bytes are equal, too, sort by name.
 * Unless 'all' is set, omit the groups whose groups_amount() has no blocks.
 * The caller frees the array.  Return NULL if there is no memory.
 */
uint32_t *groups_sort(const struct groups *g, enum group_key key, bool all,
		      uint32_t *n_ret);

#endif /* GROUPS_H */

/* SPDX-License-Identifier: MIT */
/*
 * account.h - what one stack, thread, size class or heap has allocated
 *
 * What was live at the peak of the whole trace is exact, after one pass and in
 * O(1) a change.  The trace has an epoch, which a new peak increases.  Before a
 * account changes, it saves what is live if a peak has passed since its last
 * change:
 *
 *	event		1	2	3	4
 *	all live bytes	10	30	20	25	peak: 30, epoch 2
 *	this account	10	10	 0	 0
 *				|	saves 10 as at the peak, epoch is 2
 *				unchanged, epoch is 1
 *
 * account_at_peak() then also answers for accounts that have not changed since.
 */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks and the sum of their sizes. */
struct amount {
	uint64_t count, nbytes;
};

/* Two cache lines. */
struct account {
	struct amount live;
	struct amount saved; /* live when epoch 'epoch' began */
	uint64_t epoch;	     /* of the last change */
	uint64_t in_place;   /* reallocs that resized a block where it was */
	struct amount allocated; /* by reallocs, too */
	struct amount freed;	 /* by reallocs, too */
	struct amount temporary; /* see census.h */
	struct amount moved;	 /* reallocs; bytes that had to be copied */
	/* Sum of the lifetimes of freed blocks, in events and in time units. */
	uint64_t lifetime_events, lifetime_time;
};

static inline void
amount_add(struct amount *a, uint64_t nbytes)
{
	a->count++;
	a->nbytes += nbytes;
}

static inline void
amount_subtract(struct amount *a, uint64_t nbytes)
{
	a->count--;
	a->nbytes -= nbytes;
}

static inline void
amount_sum(struct amount *a, const struct amount *b)
{
	a->count += b->count;
	a->nbytes += b->nbytes;
}

/* To be called before 'live' changes. */
static inline void
account_touch(struct account *t, uint64_t epoch)
{
	if (t->epoch != epoch) {
		t->saved = t->live;
		t->epoch = epoch;
	}
}

/* What was live when the epoch began, which must be the trace's last one. */
static inline struct amount
account_at_peak(const struct account *t, uint64_t epoch)
{
	return t->epoch == epoch ? t->saved : t->live;
}

/* Add all of 'b' to 'a'; both count the peak of epoch 'epoch'. */
void account_sum(struct account *a, const struct account *b, uint64_t epoch);

/* Clear all counters but 'live': a window begins. */
void account_restart(struct account *t);

/* Tallies with the rows 0 to count - 1.  Begins as all zeros. */
struct account_list {
	struct account *rows; /* aligned to cache lines */
	uint32_t count, cap;
};

/* Make sure that 'row' exists; false if there is no memory. */
bool account_list_reach(struct account_list *list, uint32_t row);

void account_list_free(struct account_list *list);

#endif /* ACCOUNT_H */

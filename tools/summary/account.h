/* SPDX-License-Identifier: MIT */
/*
 * account.h - the allocations of one stack, thread, size class or heap
 *
 * One pass over the trace gives the exact live bytes that each account has at
 * the peak of the whole trace.  Each event takes only O(1) time.  The trace has
 * a number, its epoch, which each new peak increases.  If a peak has occurred
 * since an account's last change, the account saves its live bytes before its
 * next change:
 *
 * 	event		1	2	3	4
 * 	all live bytes	10	30	20	25	the peak is 30
 * 	trace's epoch	 2	 3	 3	 3	1 before event 1
 * 	this account	10	10	 0	 0	live bytes
 * 	its epoch	 1	 1	 3	 3	event 3: saves 10
 *
 * account_at_peak() also works for an account that has not changed since the
 * last peak.
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

/* The counters fill two cache lines. */
struct account {
	struct amount live;
	struct amount saved;	 /* live at the peak at which 'epoch' began */
	uint64_t epoch;		 /* epoch at the last change of 'live' */
	uint64_t in_place;	 /* reallocs that resized a block in place */
	struct amount allocated; /* by allocs and successful reallocs */
	struct amount freed;	 /* by frees and successful reallocs */
	/* blocks that the next call of their thread freed (see census.h) */
	struct amount temporary;
	/* reallocs that moved a block, and the bytes that they copied */
	struct amount moved;
	/*
	 * Sums of the known lifetimes of freed blocks: in events, and in time
	 * units.
	 */
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

/*
 * Save the live bytes if a peak has occurred since the last change.  Call this
 * before 'live' changes.
 */
static inline void
account_touch(struct account *t, uint64_t epoch)
{
	if (t->epoch != epoch) {
		t->saved = t->live;
		t->epoch = epoch;
	}
}

/*
 * Return what was live at the last peak of the whole trace.  'epoch' must be
 * the trace's current epoch, which began at that peak.
 */
static inline struct amount
account_at_peak(const struct account *t, uint64_t epoch)
{
	return t->epoch == epoch ? t->saved : t->live;
}

/* Add all counters of 'b' to those of 'a'.  'epoch' is the trace's epoch. */
void account_sum(struct account *a, const struct account *b, uint64_t epoch);

/* Clear all counters but 'live', because a window begins. */
void account_restart(struct account *t);

/*
 * An array of accounts, whose rows are 0 to count - 1.  A list of all zeros is
 * empty.
 */
struct account_list {
	struct account *rows; /* aligned to cache lines */
	uint32_t count, cap;
};

/* Make sure that 'row' exists; false if there is no memory. */
bool account_list_reach(struct account_list *list, uint32_t row);

void account_list_free(struct account_list *list);

#endif /* ACCOUNT_H */

/* SPDX-License-Identifier: MIT */
/*
 * history.h - the heap over time
 *
 * Two series along one axis, which is the time, or the number of events:
 *
 *   - spans: the figures of the whole heap in intervals of equal width, at most
 *     SPANS_MAX intervals;
 *   - points: the live bytes of each stack at the ends of intervals that are at
 *     least as wide as spans.  There are at most POINTS_MAX points, or
 *     FINE_POINTS_MAX if 'is_fine' is set.  A point lists only the stacks that
 *     have changed since the previous point.  Points may list lanes (census.h)
 *     instead of stacks.
 *
 * The length of the trace is known only at its end.  So the widths begin at 1.
 * Whenever there are too many spans or points, the history doubles their width
 * and merges pairs of adjacent ones.  A span or point without events takes no
 * memory, because nothing has changed in it.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "tools/summary/account.h"

#define SPANS_MAX  2048
#define POINTS_MAX 128
/* Maximum number of points of a history whose 'is_fine' is set. */
#define FINE_POINTS_MAX 1024

/*
 * Maximum number of changes in all points together, 16 bytes each.  A history
 * with POINTS_MIN or fewer points may have more changes.
 */
#define CHANGES_MAX (1u << 21)
#define POINTS_MIN  16

/* A part of the axis, from number * width to (number + 1) * width. */
struct span {
	uint64_t number;
	struct amount live; /* live at the end of the span */
	/*
	 * The most and the least live bytes in the span or, if 'by_count' is
	 * set, live blocks.
	 */
	uint64_t most, least;
	struct amount allocated;
	uint64_t free_count;
};

/* The new live amount of a stack. */
struct change {
	uint64_t nbytes; /* live bytes at the point */
	uint32_t count;
	uint32_t stack; /* row of the stack */
};

struct point {
	/*
	 * number of the interval, as in struct span, but with the width of
	 * points
	 */
	uint64_t number;
	struct change *changes;
	size_t change_count;
};

/* Begins as all zeros. */
struct history {
	bool by_count; /* 'most' and 'least' of spans count blocks */
	bool is_fine;  /* up to FINE_POINTS_MAX points */
	struct span spans[SPANS_MAX];
	size_t span_count;
	unsigned span_shift; /* log2 of the width of spans */
	struct point points[FINE_POINTS_MAX];
	size_t point_count;
	/* Log2 of the width of points, which are at least as wide as spans. */
	unsigned point_shift;
	size_t change_total;
	/*
	 * Ends of the current span and of the current point, in units of the
	 * axis.
	 */
	uint64_t span_end, point_end;
	/*
	 * a bit for each stack: have its live bytes changed since the last
	 * point?
	 */
	uint64_t *dirty;
	size_t dirty_words;
	bool no_memory;
};

/* Note that the live bytes of the stack in 'row' have changed. */
static inline void
history_mark(struct history *t, uint32_t row)
{
	t->dirty[row / 64] |= (uint64_t)1 << row % 64;
}

/*
 * Make room in 'dirty' for the stacks up to 'row'.  Return false if there is no
 * memory.
 */
bool history_reach(struct history *t, uint32_t row);

/*
 * Advance to 'at', the position of the next event on the axis.  'at' must be at
 * least 'span_end'.  'live' is the live amount of the whole heap before that
 * event, and 'stacks' are the accounts of the stacks or lanes.
 */
void history_advance(struct history *t, uint64_t at,
		     const struct account_list *stacks,
		     const struct amount *live);

/*
 * Return the live bytes or, with 'by_count', the live blocks: the number whose
 * maximum and minimum each span stores.
 */
static inline uint64_t
history_level(const struct history *t, const struct amount *live)
{
	return t->by_count ? live->count : live->nbytes;
}

/* Return the span of the current event, after history_advance(). */
static inline struct span *
history_now(struct history *t)
{
	return &t->spans[t->span_count - 1];
}

/* End the last span and point. */
void history_end(struct history *t, const struct account_list *stacks,
		 const struct amount *live);

/*
 * Forget all spans and points, and mark all stacks that have live blocks as
 * changed.
 */
void history_restart(struct history *t, const struct account_list *stacks);

void history_free(struct history *t);

#endif /* HISTORY_H */

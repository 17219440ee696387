/* SPDX-License-Identifier: MIT */
/*
 * history.h - the heap over time
 *
 * Two series along one axis, which is the time, or the number of events:
 *
 *   - spans: of the whole heap, at most SPANS_MAX of equal width;
 *   - points: what each stack has live at the end of a wider span, of which
 *     there are at most POINTS_MAX.  A point lists the stacks that have changed
 *     since the point before.  Instead of stacks, they may be of lanes
 *     (census.h).
 *
 * How long the trace is shows at its end only.  The widths begin at 1 and are
 * doubled, and neighbours are merged, whenever there are too many.  A span or
 * point without events takes no memory: nothing has changed in it.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "tools/summary/account.h"

#define SPANS_MAX  2048
#define POINTS_MAX 128
/* The same, of a history whose 'is_fine' is set. */
#define FINE_POINTS_MAX 1024

/*
 * Upper bound of what all points list together, unless there are POINTS_MIN
 * points only: 16 bytes each.
 */
#define CHANGES_MAX (1u << 21)
#define POINTS_MIN  16

/* From number * width to (number + 1) * width. */
struct span {
	uint64_t number;
	struct amount live; /* at its end */
	/* The most and the least bytes, or with 'by_count' blocks, in it. */
	uint64_t most, least;
	struct amount allocated;
	uint64_t free_count;
};

/* A stack that has changed. */
struct change {
	uint64_t nbytes; /* live at the point */
	uint32_t count;
	uint32_t stack; /* row */
};

struct point {
	uint64_t number; /* as in struct span, of the wider spans */
	struct change *changes;
	size_t change_count;
};

/* Begins as all zeros. */
struct history {
	bool by_count; /* spans have the most blocks */
	bool is_fine;  /* up to FINE_POINTS_MAX points */
	struct span spans[SPANS_MAX];
	size_t span_count;
	unsigned span_shift; /* log2 of the width */
	struct point points[FINE_POINTS_MAX];
	size_t point_count;
	unsigned point_shift; /* at least span_shift */
	size_t change_total;
	uint64_t span_end, point_end; /* of the current ones, in axis units */
	uint64_t *dirty; /* a bit for each stack that changed in this point */
	size_t dirty_words;
	bool no_memory;
};

/* Note that what the stack in 'row' has live changes. */
static inline void
history_mark(struct history *t, uint32_t row)
{
	t->dirty[row / 64] |= (uint64_t)1 << row % 64;
}

/* Make room for the marks of stacks up to 'row'; false: no memory. */
bool history_reach(struct history *t, uint32_t row);

/*
 * Go to 'at' on the axis, where the next event is; at least span_end.  The
 * state before the event is 'live' in all, and that of each stack in 'stacks'.
 */
void history_advance(struct history *t, uint64_t at,
		     const struct account_list *stacks,
		     const struct amount *live);

/* What the spans have the most and the least of. */
static inline uint64_t
history_level(const struct history *t, const struct amount *live)
{
	return t->by_count ? live->count : live->nbytes;
}

/* The span of the current event.  history_advance() has been called. */
static inline struct span *
history_now(struct history *t)
{
	return &t->spans[t->span_count - 1];
}

/* End the last span and point. */
void history_end(struct history *t, const struct account_list *stacks,
		 const struct amount *live);

/* Forget all spans and points, and note later what is live in all stacks. */
void history_restart(struct history *t, const struct account_list *stacks);

void history_free(struct history *t);

#endif /* HISTORY_H */

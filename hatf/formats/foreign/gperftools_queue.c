/* SPDX-License-Identifier: MIT */
/* gperftools_queue.c - see gperftools.h */
#include "hatf/formats/foreign/gperftools.h"

#include <stdlib.h>

static bool
is_before(const struct gperftools_thread *a, const struct gperftools_thread *b)
{
	return a->time != b->time ? a->time < b->time : a->id < b->id;
}

/* Move 't' up in the min-heap, from slot 'i' until its parent is earlier. */
static void
sift_up(struct gperftools_queue *q, size_t i, struct gperftools_thread *t)
{
	for (; i != 0 && is_before(t, q->threads[(i - 1) / 2]); i = (i - 1) / 2)
		q->threads[i] = q->threads[(i - 1) / 2];
	q->threads[i] = t;
}

/*
 * Move 't' down in the min-heap, from the first slot until both children are
 * later.
 */
static void
sift_down(struct gperftools_queue *q, struct gperftools_thread *t)
{
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= q->count)
			break;
		if (child + 1 < q->count &&
		    is_before(q->threads[child + 1], q->threads[child]))
			child++;
		if (!is_before(q->threads[child], t))
			break;
		q->threads[i] = q->threads[child];
		i = child;
	}
	q->threads[i] = t;
}

bool
gperftools_queue_add(struct gperftools_queue *q, struct gperftools_thread *t)
{
	if (q->count == q->cap) {
		const size_t cap = q->cap == 0 ? 16 : 2 * q->cap;
		struct gperftools_thread **const threads = reallocarray(
			q->threads, cap, sizeof(struct gperftools_thread *));

		if (threads == NULL)
			return false;
		q->threads = threads;
		q->cap = cap;
	}
	q->count++;
	sift_up(q, q->count - 1, t);
	return true;
}

void
gperftools_queue_update_first(struct gperftools_queue *q)
{
	sift_down(q, q->threads[0]);
}

void
gperftools_queue_drop_first(struct gperftools_queue *q)
{
	q->count--;
	if (q->count != 0)
		sift_down(q, q->threads[q->count]);
}

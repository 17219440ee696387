/* SPDX-License-Identifier: MIT */
/*
 * trial.c - see trial.h
 *
 * A technique leaves its result in the encoder and in the encoder's buffer.
 * trial_flush() keeps a copy of the best result so far.  Before each technique,
 * trial_flush() resets the encoder.  The technique then overwrites the buffer.
 */
#include "hatf/formats/ours/trial.h"

#include "hatf/deflate/deflate.h"

#include <stdlib.h>
#include <string.h>

/*
 * The techniques to try.  Each of them gave the smallest result for some
 * program.  After these, trial_flush() tries "online", the recorder's
 * placement.
 */
static const char *const names[] = { "small-size", "optimum", "best", "naive" };
#define TECHNIQUE_COUNT (sizeof(names) / sizeof(names[0]))

struct trial {
	struct optimum *optimum;
	const struct technique *techniques[TECHNIQUE_COUNT];
	struct gzip_best *squeeze;
	size_t member_cap;
	uint8_t *member; /* room for a gzip member: 'member_cap' bytes */
	/* contents of the buffer after the best technique so far */
	uint8_t *best;
};

struct trial *
trial_new(struct optimum *optimum, struct gzip_best *squeeze, size_t buf_nbytes)
{
	struct trial *const t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->optimum = optimum;
	t->squeeze = squeeze;
	for (size_t i = 0; i < TECHNIQUE_COUNT; i++)
		t->techniques[i] = technique_find(names[i]);
	t->member_cap = deflate_bound(buf_nbytes);
	t->member = malloc(t->member_cap);
	t->best = malloc(buf_nbytes);
	if (t->member != NULL && t->best != NULL)
		return t;
	trial_free(t);
	return NULL;
}

void
trial_free(struct trial *t)
{
	if (t == NULL)
		return;
	free(t->member);
	free(t->best);
	free(t);
}

/*
 * Write the records of the span, with the metadata of technique number 'n'.
 * Number TECHNIQUE_COUNT is "online".
 */
static void
flush(struct trial *t, struct encoder *e, size_t n)
{
	const struct place_planner planner = e->planner;

	if (n < TECHNIQUE_COUNT) {
		optimum_choose(t->optimum, t->techniques[n]);
	} else {
		e->planner.plan = place_span;
		e->planner.context = &e->place;
	}
	encoder_flush(e);
	e->planner = planner;
}

void
trial_flush(struct trial *t, struct encoder *e)
{
	const struct encoder before = *e;
	struct encoder after = *e;
	size_t least = SIZE_MAX;

	for (size_t i = 0; i <= TECHNIQUE_COUNT; i++) {
		*e = before;
		flush(t, e, i);

		const size_t nbytes = gzip_best_member(
			t->squeeze, e->buf, e->used, t->member, t->member_cap);

		if (nbytes >= least)
			continue;
		least = nbytes;
		after = *e;
		memcpy(t->best, e->buf, e->used);
	}
	*e = after;
	memcpy(e->buf, t->best, e->used);
}

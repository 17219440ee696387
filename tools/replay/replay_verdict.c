/* SPDX-License-Identifier: MIT */
/* replay_verdict.c - see replay_verdict.h */
#include "tools/replay/replay_verdict.h"

#include <math.h>

unsigned
verdict_best(const struct replay_runs *runs, enum replay_measure m)
{
	unsigned best = runs->count;

	for (unsigned i = 0; i < runs->count; i++)
		if (runs->columns[i].fault[0] == '\0' &&
		    (best == runs->count ||
		     runs->columns[i].measures[m].median <
			     runs->columns[best].measures[m].median))
			best = i;
	return best;
}

bool
verdict_is_equal(const struct replay_runs *runs, enum replay_measure m,
		 unsigned best, unsigned idx)
{
	const struct replay_spread *const a = &runs->columns[best].measures[m];
	const struct replay_spread *const b = &runs->columns[idx].measures[m];

	return runs->columns[idx].fault[0] == '\0' &&
	       (b->min <= a->max || b->median - a->median <= a->median / 100);
}

double
verdict_ratio(const struct replay_runs *runs, enum replay_measure m,
	      unsigned idx)
{
	const uint64_t first = runs->columns[0].measures[m].median;

	return first != 0 ? (double)runs->columns[idx].measures[m].median /
				    (double)first
			  : NAN;
}

double
verdict_spread(const struct replay_spread *s)
{
	return s->median != 0
		       ? (double)(s->max - s->min) / 2 / (double)s->median
		       : 0;
}

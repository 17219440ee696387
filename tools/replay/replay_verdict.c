/* SPDX-License-Identifier: MIT */
/* replay_verdict.c - see replay_verdict.h */
#include "tools/replay/replay_verdict.h"

#include "tools/ui/figure.h"
#include "tools/ui/message.h"

#include <math.h>

static bool
has_figures(const struct replay_runs *runs, unsigned idx)
{
	return runs->columns[idx].fault[0] == '\0';
}

bool
verdict_is_ranked(const struct replay_runs *runs, unsigned idx)
{
	if (!has_figures(runs, idx))
		return false;
	for (unsigned i = 0; i < runs->count; i++)
		if (has_figures(runs, i) &&
		    runs->columns[i].failed < runs->columns[idx].failed)
			return false;
	return true;
}

unsigned
verdict_report_unranked(const struct replay_runs *runs)
{
	unsigned count = 0;

	for (unsigned i = 0; i < runs->count; i++) {
		const struct replay_column *const c = &runs->columns[i];

		if (!has_figures(runs, i) || verdict_is_ranked(runs, i))
			continue;
		message_print("%s: %s call%s failed, more than with another "
			      "allocator",
			      c->allocator->label, figure_count(c->failed).text,
			      figure_plural(c->failed));
		count++;
	}
	return count;
}

unsigned
verdict_best(const struct replay_runs *runs, enum replay_measure m)
{
	unsigned best = runs->count;

	for (unsigned i = 0; i < runs->count; i++)
		if (verdict_is_ranked(runs, i) &&
		    (best == runs->count ||
		     runs->columns[i].measures[m].median <
			     runs->columns[best].measures[m].median))
			best = i;
	return best;
}

bool
verdict_equals(const struct replay_spread *a, const struct replay_spread *b)
{
	const uint64_t less = a->median < b->median ? a->median : b->median;
	const uint64_t more = a->median < b->median ? b->median : a->median;

	return (a->is_too_short && b->is_too_short) ||
	       (a->min <= b->max && b->min <= a->max) ||
	       more - less <= less / 100;
}

bool
verdict_is_equal(const struct replay_runs *runs, enum replay_measure m,
		 unsigned best, unsigned idx)
{
	return verdict_is_ranked(runs, idx) &&
	       verdict_equals(&runs->columns[best].measures[m],
			      &runs->columns[idx].measures[m]);
}

double
verdict_ratio(const struct replay_runs *runs, enum replay_measure m,
	      unsigned idx)
{
	const struct replay_spread *const first = &runs->columns[0].measures[m];
	const struct replay_spread *const s = &runs->columns[idx].measures[m];

	return first->median != 0 && !first->is_too_short && !s->is_too_short
		       ? (double)s->median / (double)first->median
		       : NAN;
}

double
verdict_live_ratio(const struct replay_runs *runs, unsigned idx)
{
	const struct replay_column *const c = &runs->columns[idx];
	const uint64_t live = runs->compiled->peak_nbytes;

	return live != 0 && c->failed == 0 && runs->touch == TOUCH_ALL
		       ? (double)c->measures[REPLAY_PEAK_RSS].median /
				 (double)live
		       : NAN;
}

double
verdict_spread(const struct replay_spread *s)
{
	return s->median != 0
		       ? (double)(s->max - s->min) / 2 / (double)s->median
		       : 0;
}

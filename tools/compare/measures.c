/* SPDX-License-Identifier: MIT */
/* measures.c - see measures.h */
#include "tools/compare/measures.h"

#include <stdio.h>
#include <string.h>

const char *const measure_words[MEASURE_COUNT + 1] = {
	"peak", "live", "allocated", "allocations", "temporary", NULL
};

const char *const measure_titles[MEASURE_COUNT] = { "peak", "live at end",
						    "allocated", "allocations",
						    "temporary" };

const char *
measure_word(const char *name)
{
	/* The limits of 'hatf check' have their own names for two measures. */
	static const char *const others[][2] = {
		{ "live-at-end", "live" },
		{ "allocs", "allocations" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i][0]) == 0)
			return others[i][1];
	return name;
}

struct measured
measure_account(const struct census *c, const struct account *a)
{
	return (struct measured){ {
		[MEASURE_PEAK] = account_at_peak(a, c->epoch).nbytes,
		[MEASURE_LIVE] = a->live.nbytes,
		[MEASURE_ALLOCATED] = a->allocated.nbytes,
		[MEASURE_ALLOCATIONS] = a->allocated.count,
		[MEASURE_TEMPORARY] = a->temporary.count,
	} };
}

void
measured_sum(struct measured *a, const struct measured *b)
{
	for (int i = 0; i < MEASURE_COUNT; i++)
		if (__builtin_add_overflow(a->values[i], b->values[i],
					   &a->values[i]))
			a->values[i] = UINT64_MAX;
}

struct figure
measure_figure(enum measure measure, uint64_t value)
{
	return measure_is_bytes(measure) ? figure_nbytes(value)
					 : figure_count(value);
}

struct figure
measure_growth(enum measure measure, uint64_t from, uint64_t to)
{
	struct figure f = { "0" };

	if (from != to)
		snprintf(f.text, sizeof(f.text), "%c%.30s",
			 to > from ? '+' : '-',
			 measure_figure(measure,
					to > from ? to - from : from - to)
				 .text);
	return f;
}

char *
measure_growth_sentence(enum measure measure, uint64_t from, uint64_t to,
			char *buf)
{
	static const char *const words[MEASURE_COUNT] = {
		"peak",	       "bytes live at the end", "bytes allocated",
		"allocations", "temporary blocks",
	};

	snprintf(buf, MEASURE_SENTENCE_NBYTES, "%s grew by %s, from %s to %s",
		 words[measure], measure_figure(measure, to - from).text,
		 measure_figure(measure, from).text,
		 measure_figure(measure, to).text);
	return buf;
}

struct figure
measure_ratio(uint64_t from, uint64_t to)
{
	struct figure f = { "" };

	if (from == to)
		return f;
	if (from == 0)
		return (struct figure){ "new" };
	if (to == 0)
		return (struct figure){ "gone" };
	if (to / from >= 3)
		snprintf(f.text, sizeof(f.text), "x %.1f",
			 (double)to / (double)from);
	else
		snprintf(f.text, sizeof(f.text), "%+.1f %%",
			 100 * ((double)to - (double)from) / (double)from);
	return f;
}

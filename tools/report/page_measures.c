/* SPDX-License-Identifier: MIT */
/* page_measures.c - see page_measures.h */
#include "tools/report/page_measures.h"

#include "tools/report/page_json.h"

typedef struct amount measure(const struct census *c, const struct account *a);

static struct amount
at_end(const struct census *c, const struct account *a)
{
	(void)c;
	return a->live;
}

static struct amount
allocated(const struct census *c, const struct account *a)
{
	(void)c;
	return a->allocated;
}

static struct amount
temporary(const struct census *c, const struct account *a)
{
	(void)c;
	return a->temporary;
}

static struct amount
moved(const struct census *c, const struct account *a)
{
	(void)c;
	return a->moved;
}

void
page_put_measures(struct out *o, const struct census *c,
		  const struct account *(*get)(const void *ctx, uint32_t row),
		  const void *ctx, uint32_t count)
{
	static const struct {
		const char *bytes, *blocks;
		measure *of;
	} measures[] = {
		{ "peakBytes", "peakBlocks", census_at_peak },
		{ "endBytes", "endBlocks", at_end },
		{ "allocBytes", "allocBlocks", allocated },
		{ "tempBytes", "tempBlocks", temporary },
		{ "movedBytes", "movedBlocks", moved },
	};

	for (size_t m = 0; m < 2 * sizeof(measures) / sizeof(measures[0]);
	     m++) {
		const bool is_bytes = m % 2 == 0;

		page_put_key(o, false,
			     is_bytes ? measures[m / 2].bytes
				      : measures[m / 2].blocks);
		out_str(o, "[");
		for (uint32_t i = 0; i < count; i++) {
			const struct amount a =
				measures[m / 2].of(c, get(ctx, i));

			if (i != 0)
				out_str(o, ",");
			out_u64(o, is_bytes ? a.nbytes : a.count);
		}
		out_str(o, "]");
	}
}

static double
part_of(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (double)part / (double)whole;
}

double
page_score(const struct census *c, const struct account *a)
{
	const struct amount at_peak = census_at_peak(c, a);
	const struct amount all = census_at_peak(c, &c->total);
	const struct account *const t = &c->total;
	const double parts[] = {
		part_of(at_peak.nbytes, all.nbytes),
		part_of(a->live.nbytes, t->live.nbytes),
		part_of(a->live.count, t->live.count),
		part_of(a->allocated.nbytes, t->allocated.nbytes),
		part_of(a->allocated.count, t->allocated.count),
		part_of(a->temporary.count, t->temporary.count),
		part_of(a->moved.nbytes, t->moved.nbytes),
	};
	double most = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] > most)
			most = parts[i];
	return most;
}

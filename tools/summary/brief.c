/* SPDX-License-Identifier: MIT */
/* brief.c - see brief.h */
#include "tools/summary/brief.h"

#include "tools/summary/show.h"
#include "tools/ui/message.h"

#include <stdio.h>
#include <stdlib.h>

/* ", 94 % of it by load (leaky.cc:15)", or "" if there is nothing. */
struct top_site {
	char text[1100];
};

static struct top_site
find_top(const struct groups *g, enum group_key key)
{
	const struct census *const c = g->census;
	const bool by_count = key == KEY_ALLOCATIONS;
	struct amount all, a;
	struct top_site top = { "" };
	uint32_t n;
	uint32_t *const order = groups_sort(g, key, false, &n);

	if (order == NULL || n == 0) {
		free(order);
		return top;
	}
	all = groups_amount(c, &c->total, key);
	a = groups_amount(c, &g->rows[order[0]].sum, key);
	snprintf(top.text, sizeof(top.text), ", %s of the %s by %s",
		 by_count ? show_part(a.count, all.count).text
			  : show_part(a.nbytes, all.nbytes).text,
		 by_count ? "blocks" : "bytes", g->rows[order[0]].name);
	free(order);
	return top;
}

static const char *
word_blocks(uint64_t count)
{
	return count == 1 ? "block" : "blocks";
}

static void
print_lines(const struct groups *sites)
{
	const struct census *const c = sites->census;
	const struct account *const t = &c->total;
	const struct amount at_peak = census_at_peak(c, t);

	message_print(
		"peak: %s in %s %s %s %s%s", figure_nbytes(at_peak.nbytes).text,
		figure_count(at_peak.count).text, word_blocks(at_peak.count),
		c->has_times ? "after" : "at", show_moment(c, &c->peak).text,
		find_top(sites, KEY_PEAK).text);
	message_print("live at the end: %s in %s %s%s",
		      figure_nbytes(t->live.nbytes).text,
		      figure_count(t->live.count).text,
		      word_blocks(t->live.count),
		      find_top(sites, KEY_LIVE).text);
	message_print("allocated: %s in %s %s, %s of them temporary%s",
		      figure_nbytes(t->allocated.nbytes).text,
		      figure_count(t->allocated.count).text,
		      word_blocks(t->allocated.count),
		      show_part(t->temporary.count, t->allocated.count).text,
		      find_top(sites, KEY_ALLOCATIONS).text);
}

bool
brief_print(const char *path)
{
	struct gather_options options = {
		.reading.struct_nbytes = sizeof(options.reading),
		.view.fold_std = true,
	};
	struct gathering *const g = gather_open(path, &options);
	struct groups sites = { 0 };
	bool ok = false;

	if (g == NULL)
		return false;
	if (groups_make(&sites, g->census, g->names, BY_SITE)) {
		const char *const advice = show_advice(g);

		print_lines(&sites);
		/* A trace without a block has nothing to get a site for. */
		if (advice != NULL && g->census->total.allocated.count != 0)
			message_print("%s", advice);
		ok = true;
	} else {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	}
	groups_free(&sites);
	gather_close(g);
	return ok;
}

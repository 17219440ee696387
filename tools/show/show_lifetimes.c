/* SPDX-License-Identifier: MIT */
/* show_lifetimes.c - see show_lifetimes.h */
#include "tools/show/show_lifetimes.h"

#include "tools/show/show.h"

#include <stdio.h>

/* Sum the blocks, of all sizes, whose lifetime is of class 'life'. */
static struct amount
sum_lifetimes(const struct census *c, unsigned life)
{
	struct amount sum = { 0, 0 };

	for (unsigned size = 0; size < CLASS_COUNT; size++)
		amount_sum(&sum, c->has_times
					 ? &c->lifetime_time[size][life]
					 : &c->lifetime_events[size][life]);
	return sum;
}

void
show_lifetimes(struct out *o, const struct census *c)
{
	uint64_t known = 0; /* blocks whose lifetime is known */
	char line[128];

	for (unsigned life = 0; life < CLASS_COUNT; life++)
		known += sum_lifetimes(c, life).count;
	snprintf(line, sizeof(line), "%11s %12s %7s  %s\n", "freed", "blocks",
		 "part", "lifetime");
	show_heading(o, line);
	for (unsigned life = 0; life < CLASS_COUNT; life++) {
		const struct amount sum = sum_lifetimes(c, life);

		if (sum.count == 0)
			continue;
		out_printf(o, "%11s", figure_nbytes(sum.nbytes).text);
		out_printf(o, " %12s", figure_count(sum.count).text);
		out_printf(o, " %7s  up to ", show_part(sum.count, known).text);
		out_printf(o, "%s\n",
			   show_distance(c, census_class_end(life)).text);
	}
	out_printf(o, "%11s", figure_nbytes(c->total.live.nbytes).text);
	out_printf(o, " %12s", figure_count(c->total.live.count).text);
	out_printf(o, " %7s  live at the end\n", "");
	if (c->has_times && c->tick_us != 0)
		out_printf(o,
			   "note: the clock of this trace has ticks of up to "
			   "%s: shorter lifetimes may look like 0; use 'hatf "
			   "record --clock us'\n",
			   figure_ns_to(c->tick_us * 1000, 1000000).text);
}

json_t *
show_json_lifetimes(const struct census *c)
{
	json_t *const list = json_array();

	for (unsigned life = 0; life < CLASS_COUNT; life++) {
		for (unsigned size = 0; size < CLASS_COUNT; size++) {
			const struct amount *const events =
				&c->lifetime_events[size][life];
			const struct amount *const times =
				&c->lifetime_time[size][life];

			if (events->count == 0 && times->count == 0)
				continue;
			json_array_append_new(
				list,
				json_pack(
					"{s:o, s:o, s:o, s:o, s:o}", "size_to",
					json_u64(census_class_end(size)),
					"events_to",
					json_u64(census_class_end(life)),
					"ns_to",
					show_json_ns(c, census_class_end(life)),
					"by_events", show_json_amount(events),
					"by_time", show_json_amount(times)));
		}
	}
	return list;
}

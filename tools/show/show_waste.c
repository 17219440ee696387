/* SPDX-License-Identifier: MIT */
/* show_waste.c - see show_waste.h */
#include "tools/show/show_waste.h"

#include <stdio.h>

/*
 * Sums over blocks: the bytes that they would take in an allocator, and the
 * bytes that the program asked for.
 */
struct need {
	uint64_t taken, nbytes;
};

static struct need
need_at_peak(const struct census *c, enum size_table table)
{
	return (struct need){ waste_at_peak(c->waste, table, c->epoch),
			      census_at_peak(c, &c->total).nbytes };
}

static struct need
need_at_end(const struct census *c, enum size_table table)
{
	return (struct need){ c->waste->sums[table].live,
			      c->total.live.nbytes };
}

static struct need
need_allocated(const struct census *c, enum size_table table)
{
	return (struct need){ c->waste->sums[table].allocated,
			      c->total.allocated.nbytes };
}

/*
 * The columns, with their names in text and in JSON, in the order of the
 * WASTE_... bits.
 */
static const struct {
	const char *title, *key;
	struct need (*get)(const struct census *c, enum size_table table);
} needs[] = {
	{ "at peak", "at_peak", need_at_peak },
	{ "at end", "at_end", need_at_end },
	{ "allocated", "allocated", need_allocated },
};
#define NEED_COUNT (sizeof(needs) / sizeof(needs[0]))

static void
print_line(struct out *o, const struct census *c, unsigned columns,
	   enum size_table table)
{
	for (size_t i = 0; i < NEED_COUNT; i++) {
		const struct need need = needs[i].get(c, table);
		const uint64_t wasted = need.taken - need.nbytes;

		if ((columns & 1u << i) == 0)
			continue;
		out_printf(o, "%11s", figure_nbytes(wasted).text);
		out_printf(o, " %7s ", show_part(wasted, need.taken).text);
	}
	out_printf(o, " %s\n", size_table_name(table));
}

void
show_waste(struct out *o, const struct census *c, unsigned columns)
{
	char line[128] = "\n";
	size_t used = 1;

	for (size_t i = 0; i < NEED_COUNT; i++)
		if ((columns & 1u << i) != 0)
			used += (size_t)snprintf(
				line + used, sizeof(line) - used, "%11s %7s ",
				needs[i].title, "part");
	snprintf(line + used, sizeof(line) - used,
		 " wasted by the size classes of\n");
	show_heading(o, line);
	for (unsigned i = 0; i < SIZE_TABLE_COUNT; i++)
		print_line(o, c, columns, (enum size_table)i);
}

json_t *
show_json_waste(const struct census *c)
{
	json_t *const object = json_object();

	for (unsigned table = 0; table < SIZE_TABLE_COUNT; table++) {
		json_t *const row = json_object();

		for (size_t i = 0; i < NEED_COUNT; i++) {
			const struct need need =
				needs[i].get(c, (enum size_table)table);

			json_object_set_new(
				row, needs[i].key,
				json_pack("{s:o, s:o}", "taken",
					  json_u64(need.taken), "wasted",
					  json_u64(need.taken - need.nbytes)));
		}
		json_object_set_new(
			object, size_table_name((enum size_table)table), row);
	}
	return object;
}

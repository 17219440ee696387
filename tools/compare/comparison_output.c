/* SPDX-License-Identifier: MIT */
/* comparison_output.c - see comparison_output.h */
#include "tools/compare/comparison_output.h"

#include "tools/show/show.h"
#include "tools/ui/figure.h"
#include "tools/ui/json.h"
#include "tools/ui/message.h"

#include <stdlib.h>
#include <string.h>

/* The measures that get a column in the table of rows. */
static const enum measure columns[] = { MEASURE_PEAK, MEASURE_LIVE,
					MEASURE_ALLOCATED, MEASURE_ALLOCATIONS,
					MEASURE_TEMPORARY };
#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

static const char *const verdict_words[] = { "same", "grew", "shrank" };

/* Return "grew", "shrank", or "" if nothing changed. */
static const char *
verdict_text(enum verdict verdict)
{
	return verdict == VERDICT_SAME ? "" : verdict_words[verdict];
}

/*
 * Return the growth of a measure; "" if the verdict is that it stayed the same.
 */
static struct figure
growth_text(const struct comparison_row *row, enum measure measure)
{
	const struct contrast *const k = &row->contrasts[measure];

	if (k->verdict == VERDICT_SAME)
		return (struct figure){ "" };
	return measure_growth(measure, k->old_side.median, k->new_side.median);
}

static const char *
mark(const struct comparison_row *row)
{
	if (row->is_new == row->is_gone)
		return "";
	return row->is_new ? "new" : "gone";
}

static uint32_t
shown_count(const struct comparison_view *view, uint32_t n)
{
	return view->top != 0 && n > view->top ? (uint32_t)view->top : n;
}

static uint32_t
changed_count(const struct comparison *c)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < c->count; i++)
		count += comparison_has_changed(&c->rows[i]);
	return count;
}

/* --------------------------------------------------------------------- text */

static void
print_side(struct out *o, const char *title, char *const *paths, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		out_str(o, i == 0 ? title : ", ");
		out_text(o, message_path(paths[i]));
	}
	out_str(o, "\n");
}

static void
print_sides(struct out *o, const struct comparison_view *view)
{
	print_side(o, "old: ", view->old_paths, view->old_path_count);
	print_side(o, "new: ", view->new_paths, view->new_path_count);
}

static void
print_total(struct out *o, const struct comparison *c, enum measure measure)
{
	const struct contrast *const k = &c->total.contrasts[measure];
	const uint64_t from = k->old_side.median, to = k->new_side.median;

	out_printf(o, "%-12s", measure_titles[measure]);
	out_printf(o, " %14s", measure_figure(measure, from).text);
	out_printf(o, " %14s", measure_figure(measure, to).text);
	out_printf(o, " %14s", measure_growth(measure, from, to).text);
	if (from != to)
		out_printf(o, " %9s  %s", measure_ratio(from, to).text,
			   verdict_text(k->verdict));
	out_str(o, "\n");
}

static void
print_row(struct out *o, const struct comparison_row *row)
{
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		out_printf(o, "%11s ", growth_text(row, columns[i]).text);
	out_printf(o, "%-4s ", mark(row));
	show_name(o, row->name, 65);
	out_str(o, "\n");
}

static void
print_found(void *ctx, const struct condition_term *term,
	    const struct comparison_row *row,
	    const struct condition_measures *measures)
{
	struct out *const o = ctx;
	char sentence[CONDITION_SENTENCE_NBYTES];

	out_str(o, "exceeded: ");
	out_text(o, term->text);
	out_printf(o, ": %s in ", condition_sentence(row, measures, sentence));
	out_str(o, row->name != NULL ? row->name : "the program");
	out_str(o, "\n");
}

static void
print_summary(struct out *o, const struct comparison *c,
	      const struct comparison_view *view, uint32_t left)
{
	const uint32_t changed = changed_count(c);

	if (left != 0)
		out_printf(o, "and %s more ('--top 0' prints all)\n",
			   figure_count(left).text);
	out_printf(o, "%s of ", figure_count(changed).text);
	out_printf(o, "%s %s%s changed\n", figure_count(c->count).text,
		   view->unit, figure_plural(c->count));
	if (!c->has_stacks && c->by == BY_SITE)
		out_str(o, "note: the traces have no call stacks; threads and "
			   "sizes stand for sites\n");
}

bool
comparison_print_text(struct out *o, const struct comparison *c,
		      const struct comparison_view *view)
{
	uint32_t n, shown;
	uint32_t *const order = comparison_sort(c, view->key, view->all, &n);
	char line[128];

	if (order == NULL)
		return false;
	shown = shown_count(view, n);
	print_sides(o, view);
	snprintf(line, sizeof(line), "\n%-12s %14s %14s %14s\n", "", "old",
		 "new", "growth");
	show_heading(o, line);
	for (int i = 0; i < MEASURE_COUNT; i++)
		print_total(o, c, (enum measure)i);
	snprintf(line, sizeof(line), "\n%11s %11s %11s %11s %11s      %s\n",
		 "at peak", "at end", "allocated", "allocations", "temporary",
		 view->unit);
	if (shown != 0)
		show_heading(o, line);
	else
		out_str(o, "\n");
	for (uint32_t i = 0; i < shown; i++)
		print_row(o, &c->rows[order[i]]);
	print_summary(o, c, view, n - shown);
	condition_check(view->condition, c, print_found, o);
	free(order);
	return true;
}

/* ----------------------------------------------------------------- Markdown */

/* Write text as code in a Markdown table.  Replace each '`' by "'". */
static void
out_code(struct out *o, const char *text)
{
	out_str(o, "`");
	for (; *text != '\0'; text++) {
		if (*text == '`')
			out_str(o, "'");
		else if (*text == '|')
			out_str(o, "\\|");
		else
			out_bytes(o, text, 1);
	}
	out_str(o, "`");
}

static void
mark_total(struct out *o, const struct comparison *c, enum measure measure)
{
	const struct contrast *const k = &c->total.contrasts[measure];
	const uint64_t from = k->old_side.median, to = k->new_side.median;

	out_printf(o, "| %s |", measure_titles[measure]);
	out_printf(o, " %s |", measure_figure(measure, from).text);
	out_printf(o, " %s |", measure_figure(measure, to).text);
	out_printf(o, " %s |", measure_growth(measure, from, to).text);
	out_printf(o, " %s | %s |\n", measure_ratio(from, to).text,
		   verdict_text(k->verdict));
}

static void
mark_row(struct out *o, const struct comparison_row *row)
{
	out_str(o, "| ");
	out_code(o, row->name);
	out_str(o, mark(row)[0] != '\0' ? " **" : "");
	out_str(o, mark(row));
	out_str(o, mark(row)[0] != '\0' ? "** |" : " |");
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		out_printf(o, " %s |", growth_text(row, columns[i]).text);
	out_str(o, "\n");
}

static void
mark_found(void *ctx, const struct condition_term *term,
	   const struct comparison_row *row,
	   const struct condition_measures *measures)
{
	struct out *const o = ctx;
	char sentence[CONDITION_SENTENCE_NBYTES];

	out_str(o, "- ");
	out_code(o, term->text);
	out_printf(o, ": %s in ", condition_sentence(row, measures, sentence));
	if (row->name != NULL)
		out_code(o, row->name);
	else
		out_str(o, "the program");
	out_str(o, "\n");
}

bool
comparison_print_markdown(struct out *o, const struct comparison *c,
			  const struct comparison_view *view)
{
	uint32_t n, shown;
	uint32_t *const order = comparison_sort(c, view->key, view->all, &n);

	if (order == NULL)
		return false;
	shown = shown_count(view, n);
	out_str(o, "| heap | old | new | growth | | |\n"
		   "|---|--:|--:|--:|--:|---|\n");
	for (int i = 0; i < MEASURE_COUNT; i++)
		mark_total(o, c, (enum measure)i);
	out_str(o, "\n");
	if (shown != 0)
		out_printf(o,
			   "| %s | at peak | at end | allocated | "
			   "allocations | temporary "
			   "|\n|---|--:|--:|--:|--:|--:|\n",
			   view->unit);
	for (uint32_t i = 0; i < shown; i++)
		mark_row(o, &c->rows[order[i]]);
	out_str(o, shown != 0 ? "\n" : "");
	print_summary(o, c, view, n - shown);
	out_str(o, "\n");
	condition_check(view->condition, c, mark_found, o);
	free(order);
	return true;
}

/* --------------------------------------------------------------------- JSON */

static json_t *
json_side(const struct verdict_side *side)
{
	return json_pack("{s:o, s:o, s:o}", "min", json_u64(side->min),
			 "median", json_u64(side->median), "max",
			 json_u64(side->max));
}

static json_t *
json_contrasts(const struct comparison_row *row)
{
	json_t *const object = json_object();

	for (int i = 0; i < MEASURE_COUNT; i++) {
		const struct contrast *const k = &row->contrasts[i];

		json_object_set_new(object, measure_words[i],
				    json_pack("{s:o, s:o, s:s}", "old",
					      json_side(&k->old_side), "new",
					      json_side(&k->new_side),
					      "verdict",
					      verdict_words[k->verdict]));
	}
	return object;
}

static json_t *
json_row(const struct comparison_row *row)
{
	json_t *const object = json_contrasts(row);

	json_object_set_new(object, "name", json_text(row->name));
	json_object_set_new(object, "new", json_boolean(row->is_new));
	json_object_set_new(object, "gone", json_boolean(row->is_gone));
	return object;
}

static json_t *
json_paths(char *const *paths, unsigned count)
{
	json_t *const list = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(list, json_text(message_path(paths[i])));
	return list;
}

static void
add_found(void *ctx, const struct condition_term *term,
	  const struct comparison_row *row,
	  const struct condition_measures *measures)
{
	json_t *const words = json_array();

	for (unsigned i = 0; i < measures->count; i++)
		json_array_append_new(
			words, json_string(measure_words[measures->list[i]]));
	json_array_append_new(ctx,
			      json_pack("{s:o, s:o, s:s, s:o}", "condition",
					json_text(term->text), "name",
					json_text(row->name), "measure",
					measure_words[measures->list[0]],
					"measures", words));
}

bool
comparison_print_json(struct out *o, const struct comparison *c,
		      const struct comparison_view *view)
{
	uint32_t n, shown;
	uint32_t *const order = comparison_sort(c, view->key, view->all, &n);
	json_t *const object = json_object();
	json_t *const rows = json_array();
	json_t *const found = json_array();

	if (order == NULL) {
		json_decref(object);
		json_decref(rows);
		json_decref(found);
		return false;
	}
	shown = shown_count(view, n);
	for (uint32_t i = 0; i < shown; i++)
		json_array_append_new(rows, json_row(&c->rows[order[i]]));
	free(order);
	condition_check(view->condition, c, add_found, found);
	json_object_set_new(object, "old",
			    json_paths(view->old_paths, view->old_path_count));
	json_object_set_new(object, "new",
			    json_paths(view->new_paths, view->new_path_count));
	json_object_set_new(object, "by", json_string(view->unit));
	json_object_set_new(object, "total", json_contrasts(&c->total));
	json_object_set_new(object, "row_count", json_u64(c->count));
	json_object_set_new(object, "changed_count",
			    json_u64(changed_count(c)));
	json_object_set_new(object, "rows", rows);
	json_object_set_new(object, "exceeded", found);
	return json_print(o, object, 8);
}

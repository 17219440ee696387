/* SPDX-License-Identifier: MIT */
/* table.c - see table.h */
#include "tools/ui/table.h"

#include "tools/ui/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell as text.  Its size suffices for three figures of 20 digits. */
#define CELL_NBYTES 96
/* Longer row names are truncated. */
#define NAME_NBYTES 64

static size_t
count_words(const char *const *words)
{
	size_t n = 0;

	while (words[n] != NULL)
		n++;
	return n;
}

static size_t
count_parts(const struct table *g)
{
	return g->parts == NULL ? 1 : count_words(g->parts);
}

struct table_row *
table_add(struct table *g, enum table_source source, const char *name)
{
	static struct table_row nowhere;
	struct table_row *row = &nowhere;

	if (g->row_count == g->cap) {
		const size_t cap = g->cap == 0 ? 16 : 2 * g->cap;
		struct table_row *const rows =
			reallocarray(g->rows, cap, sizeof(*rows));

		if (rows != NULL) {
			g->rows = rows;
			g->cap = cap;
		}
	}
	if (g->row_count < g->cap)
		row = &g->rows[g->row_count++];
	else
		g->no_memory = true;
	row->name = name;
	row->source = source;
	row->is_summary = false;
	for (size_t c = 0; c < TABLE_COLUMNS_MAX; c++)
		for (size_t p = 0; p < TABLE_PARTS_MAX; p++)
			row->figures[c][p] = NAN;
	return row;
}

struct table_row *
table_add_average(struct table *g, enum table_source source, const char *name)
{
	double sums[TABLE_COLUMNS_MAX][TABLE_PARTS_MAX] = { { 0 } };
	double count = 0;

	for (size_t i = 0; i < g->row_count; i++) {
		const struct table_row *const row = &g->rows[i];

		if (row->source != source || row->is_summary)
			continue;
		count++;
		/* If one value is NAN, the sum is NAN. */
		for (size_t c = 0; c < TABLE_COLUMNS_MAX; c++)
			for (size_t p = 0; p < TABLE_PARTS_MAX; p++)
				sums[c][p] += row->figures[c][p];
	}

	struct table_row *const average = table_add(g, source, name);

	average->is_summary = true;
	for (size_t c = 0; c < TABLE_COLUMNS_MAX && count > 0; c++)
		for (size_t p = 0; p < TABLE_PARTS_MAX; p++)
			average->figures[c][p] = sums[c][p] / count;
	return average;
}

/* --------------------------------------------------------- text, Markdown */

static size_t
put_figure(char *buf, size_t cap, double figure)
{
	const double size = fabs(figure);
	int n;

	if (isnan(figure))
		n = snprintf(buf, cap, "-");
	else
		n = snprintf(buf, cap, "%.*f",
			     size >= 999.5 ? 0 : (size >= 99.95 ? 1 : 2),
			     figure);
	return n < 0 ? 0 : (size_t)n;
}

/* Format a cell: "7.06 / 2.05", or a single '-' if all figures are NAN. */
static void
put_cell(char buf[CELL_NBYTES], const double *figures, size_t part_count)
{
	size_t used = 0, known = 0;

	for (size_t p = 0; p < part_count; p++)
		known += !isnan(figures[p]);
	if (known == 0)
		part_count = 1;
	for (size_t p = 0; p < part_count && used < CELL_NBYTES; p++) {
		if (p > 0)
			used += (size_t)snprintf(buf + used, CELL_NBYTES - used,
						 " / ");
		if (used < CELL_NBYTES)
			used += put_figure(buf + used, CELL_NBYTES - used,
					   figures[p]);
	}
}

static void
put_name(char buf[NAME_NBYTES], const struct table_row *row)
{
	char name[NAME_NBYTES];

	escape_text(row->name, name, sizeof(name));
	/* Replace '|', which would end a Markdown cell. */
	for (char *p = name; *p != '\0'; p++)
		if (*p == '|')
			*p = '!';
	snprintf(buf, NAME_NBYTES, "%s%.*s",
		 row->source == TABLE_PAPER ? "paper: " : "", NAME_NBYTES - 8,
		 name);
}

static const char *
row_title(const struct table *g)
{
	return g->row_title != NULL ? g->row_title : "program";
}

static void
find_widths(const struct table *g, size_t part_count, int *widths)
{
	char cell[CELL_NBYTES], name[NAME_NBYTES];

	widths[0] = (int)strlen(row_title(g));
	for (size_t c = 0; g->columns[c] != NULL; c++)
		widths[c + 1] = (int)strlen(g->columns[c]);
	for (size_t i = 0; i < g->row_count; i++) {
		put_name(name, &g->rows[i]);
		if ((int)strlen(name) > widths[0])
			widths[0] = (int)strlen(name);
		for (size_t c = 0; g->columns[c] != NULL; c++) {
			put_cell(cell, g->rows[i].figures[c], part_count);
			if ((int)strlen(cell) > widths[c + 1])
				widths[c + 1] = (int)strlen(cell);
		}
	}
}

static void
print_title(const struct table *g, struct out *o, bool markdown)
{
	out_printf(o, "\n%sTable %s: %s", markdown ? "### " : "", g->key,
		   g->title);
	if (g->unit != NULL)
		out_printf(o, ", %s", g->unit);
	if (g->parts != NULL)
		for (size_t p = 0; g->parts[p] != NULL; p++)
			out_printf(o, "%s%s", p == 0 ? " (" : " / ",
				   g->parts[p]);
	out_str(o, g->parts != NULL ? ")\n\n" : "\n\n");
}

static void
print_people(const struct table *g, struct out *o, bool markdown)
{
	const char *const edge = markdown ? "| " : "";
	const char *const between = markdown ? " | " : "  ";
	const char *const end = markdown ? " |\n" : "\n";
	const size_t part_count = count_parts(g);
	int widths[TABLE_COLUMNS_MAX + 1];
	char cell[CELL_NBYTES];

	find_widths(g, part_count, widths);
	print_title(g, o, markdown);
	out_printf(o, "%s%-*s", edge, widths[0], row_title(g));
	for (size_t c = 0; g->columns[c] != NULL; c++)
		out_printf(o, "%s%*s", between, widths[c + 1], g->columns[c]);
	out_str(o, end);
	if (markdown) {
		out_str(o, "|---|");
		for (size_t c = 0; g->columns[c] != NULL; c++)
			out_str(o, "---:|");
		out_str(o, "\n");
	}
	for (size_t i = 0; i < g->row_count; i++) {
		put_name(cell, &g->rows[i]);
		out_printf(o, "%s%-*s", edge, widths[0], cell);
		for (size_t c = 0; g->columns[c] != NULL; c++) {
			put_cell(cell, g->rows[i].figures[c], part_count);
			out_printf(o, "%s%*s", between, widths[c + 1], cell);
		}
		out_str(o, end);
	}
	if (g->note != NULL)
		out_printf(o, "\n%s\n", g->note);
}

/* -------------------------------------------------------------------- CSV */

/* Characters that some spreadsheet programs take for a separator or a quote. */
static const char csv_separators[] = ",;\"'";

/*
 * Write a field as in RFC 4180.  A byte that is not printable becomes \xHH.  So
 * does '=', '+', '-' or '@' at the start of the field, or after a separator or
 * quote, because a spreadsheet may take it for the start of a formula (FORMATS
 * "csv").
 */
static void
put_csv(struct out *o, const char *text)
{
	const bool quoted = strpbrk(text, csv_separators) != NULL;
	char before = ',', piece[ESCAPE_MAX_NBYTES];
	size_t n;

	if (quoted)
		out_str(o, "\"");
	while (*text != '\0') {
		const size_t taken = escape_next(
			(const uint8_t *)text, strlen(text), false, piece, &n);

		if (strchr(csv_separators, before) != NULL &&
		    strchr("=+-@", *text) != NULL) {
			out_printf(o, "\\x%02x", (unsigned char)*text);
		} else {
			if (*text == '"')
				out_str(o, "\"");
			out_bytes(o, piece, n);
		}
		before = text[taken - 1];
		text += taken;
	}
	if (quoted)
		out_str(o, "\"");
}

static void
print_csv(const struct table *g, struct out *o, const struct table_row *row)
{
	const size_t part_count = count_parts(g);

	for (size_t c = 0; g->columns[c] != NULL; c++) {
		const bool is_paper = row->source == TABLE_PAPER ||
				      (c > 0 && c == g->paper_column);

		for (size_t p = 0; p < part_count; p++) {
			const double figure = row->figures[c][p];

			out_printf(o, "%s,%s,", g->key,
				   is_paper ? "paper" : "measured");
			put_csv(o, row->name);
			out_str(o, ",");
			put_csv(o, g->columns[c]);
			out_str(o, ",");
			put_csv(o, g->parts != NULL ? g->parts[p] : "");
			if (isnan(figure))
				out_str(o, ",-\n");
			else
				out_printf(o, ",%.15g\n", figure);
		}
	}
}

void
table_print(const struct table *g, struct out *o, enum table_format format)
{
	if (format != TABLE_CSV) {
		print_people(g, o, format == TABLE_MARKDOWN);
		return;
	}
	for (size_t i = 0; i < g->row_count; i++)
		print_csv(g, o, &g->rows[i]);
}

void
table_free(struct table *g)
{
	free(g->rows);
	g->rows = NULL;
}

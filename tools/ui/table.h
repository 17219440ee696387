/* SPDX-License-Identifier: MIT */
/*
 * table.h - a table of figures, as text, Markdown or CSV
 *
 * A cell is one figure or up to TABLE_PARTS_MAX figures ("7.06 / 2.05").  A
 * figure that was not measured is NAN and is shown as '-'.  An average is NAN
 * if one of the figures averaged is NAN.
 */
#ifndef TABLE_H
#define TABLE_H

#include "tools/ui/out.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of columns of a table, and of figures in a cell. */
#define TABLE_COLUMNS_MAX 12
#define TABLE_PARTS_MAX	  3

/*
 * Header line of the CSV output.  The caller prints it before the first table.
 */
#define TABLE_CSV_HEADER "table,source,program,column,figure,value\n"

enum table_format {
	TABLE_TEXT,
	TABLE_MARKDOWN,
	TABLE_CSV, /* one line for each figure; see TABLE_CSV_HEADER */
};

enum table_source {
	TABLE_MEASURED,
	TABLE_PAPER,
};

struct table_row {
	const char *name; /* borrowed; untrusted */
	enum table_source source;
	bool is_summary; /* an average: excluded from other averages */
	double figures[TABLE_COLUMNS_MAX][TABLE_PARTS_MAX];
};

/*
 * The table borrows all pointers except 'rows'; what they point at must outlive
 * the table.
 */
struct table {
	const char *key;   /* number of the table, such as "4" */
	const char *title; /* shown after "Table 4: " */
	const char *unit;  /* unit of all figures, or NULL */
	const char *note;  /* note below the table, or NULL */
	/* header of the row names; NULL: "program" */
	const char *row_title;
	const char *const *columns; /* titles of the columns, ends in NULL */
	/*
	 * names of the figures in a cell, ending in NULL; 'parts' itself is
	 * NULL if a cell has one figure
	 */
	const char *const *parts;
	/*
	 * index of the column that has the figures of the HATF paper in every
	 * row; 0: no such column
	 */
	size_t paper_column;
	struct table_row *rows; /* the rows, owned by the table */
	size_t row_count, cap;
	bool no_memory; /* out of memory: rows are missing */
};

/*
 * Append a row whose figures are all NAN.  Return the row, valid until the next
 * row is added.  If out of memory, return a scratch row that is never printed.
 */
struct table_row *table_add(struct table *g, enum table_source source,
			    const char *name);

/*
 * Append a row with the averages of all rows of 'source' that are not averages.
 * Return the row as table_add() does.
 */
struct table_row *table_add_average(struct table *g, enum table_source source,
				    const char *name);

/* Print the table, after an empty line unless the format is CSV. */
void table_print(const struct table *g, struct out *o,
		 enum table_format format);

void table_free(struct table *g);

#endif /* TABLE_H */

/* SPDX-License-Identifier: MIT */
/*
 * table.h - a table of figures, as text, Markdown or CSV
 *
 * A cell is one figure or a few that belong together ("7.06 / 2.05").  What was
 * not measured is NAN and shows as '-', and so does an average that lacks a
 * figure: nothing is made up.
 */
#ifndef TABLE_H
#define TABLE_H

#include "tools/ui/out.h"

#include <stdbool.h>
#include <stddef.h>

/* The most columns, and figures a cell. */
#define TABLE_COLUMNS_MAX 11
#define TABLE_PARTS_MAX	  3

/* The line that CSV begins with; who prints the first table prints it. */
#define TABLE_CSV_HEADER "table,source,program,column,figure,value\n"

enum table_format {
	TABLE_TEXT,
	TABLE_MARKDOWN,
	TABLE_CSV, /* a line for each figure: see TABLE_CSV_HEADER */
};

enum table_source {
	TABLE_MEASURED,
	TABLE_PAPER,
};

struct table_row {
	const char *name; /* not ours; untrusted */
	enum table_source source;
	bool is_summary; /* an average: not part of the next one */
	double figures[TABLE_COLUMNS_MAX][TABLE_PARTS_MAX];
};

/* The pointers are the caller's, and stay. */
struct table {
	const char *key;	    /* "4" */
	const char *title;	    /* what follows "Table 4: " */
	const char *unit;	    /* of all figures, or NULL */
	const char *note;	    /* below the table, or NULL */
	const char *row_title;	    /* of the names; NULL: "program" */
	const char *const *columns; /* ends in NULL */
	const char *const *parts;   /* likewise; NULL: a cell is one figure */
	size_t paper_column;	    /* the paper's in any row; 0: none */
	struct table_row *rows;	    /* owned */
	size_t row_count, cap;
	bool no_memory; /* rows are missing */
};

/* Append a row without figures.  Returns it, valid until the next call; without
 * memory a place to write to that is thrown away. */
struct table_row *table_add(struct table *g, enum table_source source,
			    const char *name);

/* Append the averages of all rows of 'source'; returns the row as above. */
struct table_row *table_add_average(struct table *g, enum table_source source,
				    const char *name);

/* Print the table; it begins with an empty line unless it is CSV. */
void table_print(const struct table *g, struct out *o,
		 enum table_format format);

void table_free(struct table *g);

#endif /* TABLE_H */

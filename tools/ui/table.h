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
#define GRID_COLUMNS_MAX 11
#define GRID_PARTS_MAX	 3

/* The line that CSV begins with; who prints the first grid prints it. */
#define GRID_CSV_HEADER "table,source,program,column,figure,value\n"

enum grid_format {
	GRID_TEXT,
	GRID_MARKDOWN,
	GRID_CSV, /* a line for each figure: see GRID_CSV_HEADER */
};

enum grid_source {
	GRID_MEASURED,
	GRID_PAPER,
};

struct grid_row {
	const char *name; /* not ours; untrusted */
	enum grid_source source;
	bool is_summary; /* an average: not part of the next one */
	double figures[GRID_COLUMNS_MAX][GRID_PARTS_MAX];
};

/* The pointers are the caller's, and stay. */
struct grid {
	const char *key;	    /* "4" */
	const char *title;	    /* what follows "Table 4: " */
	const char *unit;	    /* of all figures, or NULL */
	const char *note;	    /* below the table, or NULL */
	const char *row_title;	    /* of the names; NULL: "program" */
	const char *const *columns; /* ends in NULL */
	const char *const *parts;   /* likewise; NULL: a cell is one figure */
	size_t paper_column;	    /* the paper's in any row; 0: none */
	struct grid_row *rows;	    /* owned */
	size_t row_count, cap;
	bool no_memory; /* rows are missing */
};

/* Append a row without figures.  Returns it, valid until the next call; without
 * memory a place to write to that is thrown away. */
struct grid_row *grid_add(struct grid *g, enum grid_source source,
			  const char *name);

/* Append the averages of all rows of 'source'; returns the row as above. */
struct grid_row *grid_average(struct grid *g, enum grid_source source,
			      const char *name);

/* Print the table; it begins with an empty line unless it is CSV. */
void grid_print(const struct grid *g, struct out *o, enum grid_format format);

void grid_free(struct grid *g);

#endif /* TABLE_H */

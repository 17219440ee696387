/* SPDX-License-Identifier: MIT */
/* comparison_output.h - print a comparison as text, Markdown or JSON */
#ifndef COMPARISON_OUTPUT_H
#define COMPARISON_OUTPUT_H

#include "tools/compare/comparison.h"
#include "tools/compare/condition.h"
#include "tools/ui/out.h"

/* What to print. */
struct comparison_view {
	enum measure key; /* measure to sort by; MEASURE_COUNT: by weight */
	uint64_t top;	  /* number of rows; 0: all */
	bool all;	  /* show unchanged rows, too */
	const char *unit; /* what a row is, such as "site" */
	/* Files and directories as the user named them; borrowed. */
	char **old_paths, **new_paths;
	unsigned old_path_count, new_path_count;
	const struct condition *condition;
};

/* Print the comparison.  Each function returns false if there is no memory. */
bool comparison_print_text(struct out *o, const struct comparison *comparison,
			   const struct comparison_view *view);
bool comparison_print_markdown(struct out *o,
			       const struct comparison *comparison,
			       const struct comparison_view *view);
bool comparison_print_json(struct out *o, const struct comparison *comparison,
			   const struct comparison_view *view);

#endif /* COMPARISON_OUTPUT_H */

/* SPDX-License-Identifier: MIT */
/* diff.c - hatf diff: compare the heap of two builds, by call site */
#include "tools/commands/commands.h"
#include "tools/compare/comparison_output.h"
#include "tools/limits/run_list.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_BY,
	OPT_SORT,
	OPT_TOP,
	OPT_ALL,
	OPT_FAIL_ON,
	OPT_FLOOR,
	OPT_SPREAD,
	OPT_MARKDOWN,
	OPT_JSON,
	OPT_RAW_STACKS,
	OPT_WRAPPER,
	OPT_JOBS,
	OPT_NO_PARENT,
};

static const struct opt options[] = {
	{ "by", 'b', "WHAT",
	  "print a line for each site (default), function, file,\n"
	  "module, thread, size or heap" },
	{ "sort", 's', "KEY",
	  "sort by growth in peak, live, allocated, allocations\n"
	  "or temporary (default: by the largest of these)" },
	{ "top", 'n', "N", "print the first N lines (default 20, 0: all)" },
	{ "all", 'a', NULL, "also print unchanged rows" },
	{ "fail-on", 'f', "EXPR",
	  "exit with status 3 if the growth exceeds a limit:\n"
	  "'peak>5%', 'site.live>64K', 'new.allocated>1M', 'any'" },
	{ "floor", 'F', "PERCENT",
	  "ignore differences up to PERCENT of the old value\n"
	  "(default 1)" },
	{ "spread", 'S', "FACTOR",
	  "with several runs, ignore differences up to FACTOR times\n"
	  "the spread among the runs of a side (default 1)" },
	{ "markdown", 'm', NULL, "print Markdown, for a pull request" },
	{ "json", 'j', NULL, "print one JSON object" },
	{ "raw-stacks", 'R', NULL,
	  "show all frames: a site may then be in an allocator\n"
	  "or in the standard library of C, C++ or Rust" },
	{ "wrapper", '\0', "GLOB",
	  "hide functions that match GLOB, such as 'xmalloc': the\n"
	  "site is their caller; may be given more than once" },
	{ "jobs", 'w', "N",
	  "decompress the input with N more threads (default 0)" },
	{ "no-parent", 'p', NULL,
	  "do not read the trace of a forked child's parent" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf diff",
	"[OPTIONS] OLD NEW\n       hatf diff [OPTIONS] OLD... -- NEW...",
	"Compare traces of a program before and after a change: peak, bytes\n"
	"live at the end, bytes allocated, allocations and temporary blocks, "
	"of\n"
	"the whole program and of each call site.  A site is a function and "
	"its\n"
	"source file, so that lines and addresses may move.  With several "
	"traces\nper side, only differences that exceed the spread of the runs "
	"count as\nchanges.\n",
	"Exit status: 0 if all traces are complete, 1 if a trace cannot be\n"
	"read, 2 for wrong usage, 3 if a limit of --fail-on is exceeded, 4 if "
	"a\n"
	"trace is incomplete.\n",
	false,
	options
};

/* BY_STACK is missing, because two traces have no common names for stacks. */
static const char *const by_words[] = { "site",	  "function", "file", "module",
					"thread", "size",     "heap", NULL };
static const enum group_by ways[] = { BY_SITE,	 BY_FUNCTION, BY_FILE,
				      BY_MODULE, BY_THREAD,   BY_SIZE,
				      BY_HEAP };

enum form {
	FORM_TEXT,
	FORM_MARKDOWN,
	FORM_JSON,
};

/* The options. */
struct ask {
	unsigned by; /* what a row is: an index in by_words */
	enum form form;
	struct condition condition;
	struct verdict_options verdict;
	struct comparison_view view;
	struct gather_options gathering;
	/* for each wrapper: has it matched a frame of any trace? */
	bool has_matched[STACK_VIEW_WRAPPERS_MAX];
};

static bool
take_key(struct ask *ask, const char *value)
{
	unsigned idx;

	if (!opt_parse_choice("--sort", measure_word(value), measure_words,
			      &idx))
		return false;
	ask->view.key = (enum measure)idx;
	return true;
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;

	switch (idx) {
	case OPT_BY:
		return opt_parse_choice("--by", value, by_words, &ask->by);
	case OPT_SORT:
		return take_key(ask, value);
	case OPT_TOP:
		return opt_parse_u64("--top", value, &ask->view.top);
	case OPT_FAIL_ON:
		return condition_parse(&ask->condition, "--fail-on", value);
	case OPT_FLOOR:
		if (!opt_parse_decimal("--floor", value, 100,
				       &ask->verdict.floor))
			return false;
		ask->verdict.floor /= 100;
		return true;
	case OPT_SPREAD:
		return opt_parse_decimal("--spread", value, 1000,
					 &ask->verdict.spread_factor);
	case OPT_MARKDOWN:
	case OPT_JSON:
		ask->form = idx == OPT_JSON ? FORM_JSON : FORM_MARKDOWN;
		return true;
	case OPT_WRAPPER:
		return stack_view_add_wrapper(&ask->gathering.view, "--wrapper",
					      value);
	case OPT_JOBS:
		return opt_parse_jobs(value, &ask->gathering.reading.jobs);
	default:
		ask->view.all |= idx == OPT_ALL;
		ask->gathering.view.is_raw |= idx == OPT_RAW_STACKS;
		ask->gathering.no_parent |= idx == OPT_NO_PARENT;
		return true;
	}
}

/* Add one file.  Return the exit status. */
static int
add_file(struct comparison *c, const char *path,
	 const struct gather_options *how)
{
	struct gathering *const g = gather_open(path, how);
	const char *fault;
	int exit_status = EXIT_FINE;

	if (g == NULL)
		return EXIT_BAD_INPUT;
	fault = g->fault != NULL ? g->fault : scan_unknown_start(&g->scan);
	if (fault != NULL) {
		message_print("%s: %s", message_path(path), fault);
		exit_status = EXIT_INCOMPLETE;
	}
	if (!comparison_add(c, g)) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		exit_status = EXIT_BAD_INPUT;
	}
	gather_close(g);
	return exit_status;
}

/* Add the segments of one process as one trace.  Return the exit status. */
static int
add_segments(struct comparison *c, const struct run_traces *run,
	     const struct ask *ask)
{
	struct gather_options how = ask->gathering;
	struct comparison segments;
	int exit_status = EXIT_FINE;

	/*
	 * Do not read the parent's trace, because blocks that the process
	 * inherited would count once for each segment.
	 */
	how.no_parent = true;
	comparison_init(&segments, c->by, 0, (unsigned)run->path_count);
	segments.merges_threads = c->merges_threads;
	for (size_t i = 0; i < run->path_count; i++) {
		const int status = add_file(&segments, run->paths[i], &how);

		if (status != EXIT_FINE)
			exit_status = status;
		if (status == EXIT_BAD_INPUT)
			break;
	}
	if (exit_status != EXIT_BAD_INPUT &&
	    !comparison_add_segments(c, &segments)) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		exit_status = EXIT_BAD_INPUT;
	}
	comparison_fini(&segments);
	return exit_status;
}

static void
count_found(void *ctx, const struct condition_term *term,
	    const struct comparison_row *row,
	    const struct condition_measures *measures)
{
	(void)ctx, (void)term, (void)row, (void)measures;
}

/* Print the comparison.  Return false if there is no memory. */
static bool
print(const struct comparison *c, const struct ask *ask)
{
	struct out *const o = out_stdout();

	switch (ask->form) {
	case FORM_JSON:
		return comparison_print_json(o, c, &ask->view);
	case FORM_MARKDOWN:
		return comparison_print_markdown(o, c, &ask->view);
	default:
		return comparison_print_text(o, c, &ask->view);
	}
}

/*
 * If the rows are places in the source, all traces or none must have call
 * stacks.  If this is not so, print a message and return false.
 */
static bool
agree_on_stacks(const struct comparison *c)
{
	if (c->by == BY_THREAD || c->by == BY_SIZE || c->by == BY_HEAP ||
	    !c->has_stacks || !c->lacks_stacks)
		return true;
	message_print("some of the traces have call stacks, others have none: "
		      "compare them by '--by size' or '--by thread'");
	return false;
}

/*
 * If the rows are places in the source, print a line for each wrapper that has
 * matched no frame.
 */
static void
report_wrappers(const struct comparison *c, const struct ask *ask)
{
	/*
	 * Flush now, to keep the order of the lines if stdout and stderr are
	 * the same file.
	 */
	out_flush(out_stdout());
	if (c->by <= BY_STACK)
		stack_view_report_all_wrappers(&ask->gathering.view);
}

/* Read all traces, print the comparison, and return the exit status. */
static int
compare(struct comparison *c, const struct run_list *runs,
	const struct ask *ask)
{
	int exit_status = EXIT_FINE;

	for (size_t i = 0; i < runs->count; i++) {
		const struct run_traces *const run = &runs->list[i];
		const int status = run->is_rotated ? add_segments(c, run, ask)
						   : add_file(c, run->paths[0],
							      &ask->gathering);

		if (status == EXIT_BAD_INPUT)
			return status;
		if (status != EXIT_FINE)
			exit_status = status;
	}
	if (!agree_on_stacks(c) || !comparison_judge(c, &ask->verdict) ||
	    !print(c, ask))
		return EXIT_BAD_INPUT;
	report_wrappers(c, ask);
	if (exit_status == EXIT_FINE &&
	    condition_check(&ask->condition, c, count_found, NULL) != 0)
		exit_status = EXIT_EXCEEDED;
	return exit_status;
}

/* Find the runs of both sides and compare them.  Return the exit status. */
static int
compare_runs(const struct ask *ask)
{
	const struct comparison_view *const view = &ask->view;
	struct run_list runs = { .list = NULL };
	struct comparison comparison;
	int exit_status = EXIT_BAD_INPUT;
	size_t old_count = 0;
	bool ok = run_list_find(&runs, view->old_paths, view->old_path_count);

	if (ok) {
		old_count = runs.count;
		ok = run_list_find(&runs, view->new_paths,
				   view->new_path_count);
	}
	if (ok && runs.count > COMPARISON_TRACES_MAX) {
		exit_status = opt_complain(&page, "more than %d runs",
					   COMPARISON_TRACES_MAX);
	} else if (ok) {
		comparison_init(&comparison, ways[ask->by], (unsigned)old_count,
				(unsigned)(runs.count - old_count));
		comparison.merges_threads = true;
		exit_status = compare(&comparison, &runs, ask);
		comparison_fini(&comparison);
	}
	run_list_free(&runs);
	return exit_status;
}

/*
 * Parse the options, the OLD traces and the NEW traces.  getopt_long() would
 * lose the position of "--", so give it only the arguments before "--".  Return
 * false if the command must end with exit status '*exit_ret'.
 */
static bool
take_arguments(int argc, char **argv, struct ask *ask, int *exit_ret)
{
	struct comparison_view *const view = &ask->view;
	int divider = 1, first;

	while (divider < argc && strcmp(argv[divider], "--") != 0)
		divider++;
	first = opt_parse(&page, divider, argv, take_option, ask, exit_ret);
	if (first < 0)
		return false;
	view->old_paths = argv + first;
	view->old_path_count = (unsigned)(divider - first);
	if (divider < argc) {
		view->new_paths = argv + divider + 1;
		view->new_path_count = (unsigned)(argc - divider - 1);
	} else if (view->old_path_count > 2) {
		*exit_ret = opt_complain(
			&page,
			"'--' must separate the old traces from the new ones");
		return false;
	} else if (view->old_path_count == 2) {
		/* Without "--", two operands are one trace for each side. */
		view->old_path_count = view->new_path_count = 1;
		view->new_paths = view->old_paths + 1;
	}
	if (view->old_path_count != 0 && view->new_path_count != 0)
		return true;
	*exit_ret = opt_complain(&page, "an OLD and a NEW trace are needed");
	return false;
}

int
command_diff(int argc, char **argv)
{
	struct ask ask = {
		/*
		 * Hide the standard library, so that sites are the program's
		 * own functions.
		 */
		.gathering.view.fold_std = true,
		.gathering.reading.struct_nbytes =
			sizeof(ask.gathering.reading),
		.verdict = { .floor = 0.01,
			     .total_floor = 0.001,
			     .spread_factor = 1 },
		.view = { .key = MEASURE_COUNT, .top = 20 },
	};
	int exit_status;

	ask.gathering.view.has_matched = ask.has_matched;
	if (!take_arguments(argc, argv, &ask, &exit_status))
		return exit_status;
	ask.view.unit = by_words[ask.by];
	ask.view.condition = &ask.condition;
	return out_finish(out_stdout(), compare_runs(&ask));
}

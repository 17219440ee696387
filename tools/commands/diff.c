/* SPDX-License-Identifier: MIT */
/* diff.c - hatf diff: compare the heap of two builds, by call site */
#include "tools/commands/commands.h"
#include "tools/compare/comparison_output.h"
#include "tools/limits/processes.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
	  "or temporary (default: the largest change of any)" },
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
	  "or in the standard library of C++ or Rust" },
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
	"traces\nper side, only differences above their spread count as "
	"changes.\n",
	"Exit status: 0 if all traces are complete, 1 if a trace cannot be\n"
	"read, 2 for wrong usage, 3 if a limit of --fail-on is exceeded, 4 if "
	"a\n"
	"trace is incomplete.\n",
	false,
	options
};

/* No BY_STACK: two traces have no common names for stacks. */
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
	unsigned by; /* index in by_words */
	enum form form;
	struct condition condition;
	struct verdict_options verdict;
	struct comparison_view view;
	struct gather_options gathering;
};

static bool
take_key(struct ask *ask, const char *value)
{
	unsigned idx;

	if (!opt_parse_choice("--sort", value, measure_words, &idx))
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

/* Add one file.  Return its exit status. */
static int
add_file(struct comparison *c, const char *path,
	 const struct gather_options *how)
{
	struct gathering *const g = gather_open(path, how);
	int exit_status = EXIT_FINE;

	if (g == NULL)
		return EXIT_BAD_INPUT;
	if (g->fault != NULL) {
		message_print("%s: %s", message_path(path), g->fault);
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
add_segments(struct comparison *c, const struct process *process,
	     const struct ask *ask)
{
	struct gather_options how = ask->gathering;
	struct comparison segments;
	int exit_status = EXIT_FINE;

	/*
	 * Do not read the parent's trace: blocks that the process inherited
	 * would count once for each segment.
	 */
	how.no_parent = true;
	comparison_init(&segments, c->by, 0, (unsigned)process->path_count);
	for (size_t i = 0; i < process->path_count; i++) {
		const int status = add_file(&segments, process->paths[i], &how);

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

/* Add a file, or a directory with one trace.  Return the exit status. */
static int
add_trace(struct comparison *c, const char *path, const struct ask *ask)
{
	struct processes processes = { .list = NULL };
	struct stat st;
	char *operand;
	int exit_status = EXIT_BAD_INPUT;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return add_file(c, path, &ask->gathering);
	operand = strdup(path);
	if (operand == NULL)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	else if (!processes_find(&processes, &operand, 1))
		exit_status = EXIT_BAD_INPUT; /* reported */
	else if (processes.count != 1)
		message_print("%s: traces of %zu processes: name the trace of "
			      "one",
			      message_path(path), processes.count);
	else
		exit_status = add_segments(c, &processes.list[0], ask);
	processes_free(&processes);
	free(operand);
	return exit_status;
}

static void
count_found(void *ctx, const struct condition_term *term,
	    const struct comparison_row *row, enum measure measure)
{
	(void)ctx, (void)term, (void)row, (void)measure;
}

/* Read all traces, print the comparison, and return the exit status. */
static int
compare(struct comparison *c, const struct ask *ask)
{
	struct out *const o = out_stdout();
	const unsigned n = c->old_count + c->new_count;
	int exit_status = EXIT_FINE;
	bool ok;

	for (unsigned i = 0; i < n; i++) {
		const int status = add_trace(c, ask->view.paths[i], ask);

		if (status == EXIT_BAD_INPUT)
			return status;
		if (status != EXIT_FINE)
			exit_status = status;
	}
	if (!comparison_judge(c, &ask->verdict))
		return EXIT_BAD_INPUT;
	if (ask->form == FORM_JSON)
		ok = comparison_print_json(o, c, &ask->view);
	else if (ask->form == FORM_MARKDOWN)
		ok = comparison_print_markdown(o, c, &ask->view);
	else
		ok = comparison_print_text(o, c, &ask->view);
	if (!ok)
		return EXIT_BAD_INPUT;
	if (exit_status == EXIT_FINE &&
	    condition_check(&ask->condition, c, count_found, NULL) != 0)
		exit_status = EXIT_EXCEEDED;
	return exit_status;
}

/* The traces to compare. */
struct operands {
	/* paths of the old traces, then of the new traces */
	const char **paths;
	int old_count, new_count;
};

/*
 * Check the number of traces on each side, and list their paths.  Return the
 * exit status.
 */
static int
list_operands(struct operands *all, char **old_paths, char **new_paths)
{
	const int n = all->old_count + all->new_count;

	if (all->old_count <= 0 || all->new_count <= 0)
		return opt_complain(&page, "an OLD and a NEW trace are needed");
	if (n > COMPARISON_TRACES_MAX)
		return opt_complain(&page, "more than %d traces",
				    COMPARISON_TRACES_MAX);
	all->paths = calloc((size_t)n, sizeof(*all->paths));
	if (all->paths == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	for (int i = 0; i < all->old_count; i++)
		all->paths[i] = old_paths[i];
	for (int i = 0; i < all->new_count; i++)
		all->paths[all->old_count + i] = new_paths[i];
	return EXIT_FINE;
}

/*
 * Parse the arguments: the options, OLD... and NEW... getopt_long() would lose
 * the position of "--", so give it only the arguments before "--".  Return
 * false if the command must end with exit status '*exit_ret'.
 */
static bool
take_arguments(int argc, char **argv, struct ask *ask, struct operands *all,
	       int *exit_ret)
{
	int divider = 1, first;

	while (divider < argc && strcmp(argv[divider], "--") != 0)
		divider++;
	first = opt_parse(&page, divider, argv, take_option, ask, exit_ret);
	if (first < 0)
		return false;
	all->old_count = divider - first;
	all->new_count = argc - divider - 1;
	if (divider == argc && all->old_count > 2) {
		*exit_ret = opt_complain(
			&page,
			"'--' must separate the old traces from the new ones");
		return false;
	}
	if (divider == argc) {
		/* Without "--", two operands are one trace for each side. */
		divider = first;
		all->new_count = all->old_count - 1;
		all->old_count = all->old_count > 0;
	}
	*exit_ret = list_operands(all, argv + first, argv + divider + 1);
	return all->paths != NULL;
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
	struct operands all = { .paths = NULL };
	struct comparison comparison;
	int exit_status;

	if (!take_arguments(argc, argv, &ask, &all, &exit_status))
		return exit_status;
	ask.view.paths = all.paths;
	ask.view.unit = by_words[ask.by];
	ask.view.condition = &ask.condition;
	comparison_init(&comparison, ways[ask.by], (unsigned)all.old_count,
			(unsigned)all.new_count);
	exit_status = compare(&comparison, &ask);
	comparison_fini(&comparison);
	free(all.paths);
	return out_finish(out_stdout(), exit_status);
}

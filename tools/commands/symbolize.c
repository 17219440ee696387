/* SPDX-License-Identifier: MIT */
/* symbolize.c - hatf symbolize: add the names of functions to a trace */
#include "hatf/hatf.h"
#include "tools/commands/commands.h"
#include "tools/symbols/symbol_lookup.h"
#include "tools/symbols/symbolize_trace.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"

#include <errno.h>
#include <string.h>

enum {
	OPT_OUT,
	OPT_DEBUG_DIR,
	OPT_DEBUGINFOD,
};

static const struct opt options[] = {
	{ "output", 'o', "FILE", "write to FILE; TRACE stays as it is" },
	{ "debug-dir", 'd', "DIR",
	  "also search DIR for debug files and missing programs" },
	{ "debuginfod", 'i', NULL,
	  "ask the servers of $DEBUGINFOD_URLS for debug files" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf symbolize",
	"[OPTIONS] TRACE...",
	"Add functions, files and lines to the frames of call stacks, and add\n"
	"frames for inlined functions.  The names come from the programs and\n"
	"libraries that were recorded, and from separate debug files.\n"
	"Afterwards the trace needs none of these files.\n"
	"Each TRACE is replaced, unless -o names another file.  A TRACE that "
	"is\n"
	"damaged or has no end is not replaced.\n",
	"A line on standard error names each program or library for which\n"
	"functions or lines are missing, with the reason and its build id.\n"
	"Exit status: 0 if all is well, also if events were lost, 1 if a "
	"trace\n"
	"is damaged or has no end, 2 for wrong usage.\n",
	false,
	options
};

struct symbolize {
	const char *out; /* path of -o; NULL: replace the trace */
	struct symbol_lookup_options lookup;
};

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct symbolize *const s = ctx;

	switch (idx) {
	case OPT_OUT:
		s->out = value;
		return true;
	case OPT_DEBUG_DIR:
		s->lookup.debug_dir = value;
		return true;
	default:
		s->lookup.use_debuginfod = true;
		return true;
	}
}

static void
print_counts(const char *path, const struct expand_counts *counts)
{
	struct out *const o = out_stdout();

	out_printf(o, "%s: %s frame%s looked up, ", message_path(path),
		   figure_count(counts->frames).text,
		   figure_plural(counts->frames));
	out_printf(o, "%s with a function, ", figure_count(counts->named).text);
	out_printf(o, "%s with a source file, ",
		   figure_count(counts->located).text);
	out_printf(o, "%s inlined function%s added\n",
		   figure_count(counts->inlined).text,
		   figure_plural(counts->inlined));
}

/* Add names to the frames of one trace. */
static int
symbolize(const struct symbolize *s, const char *path,
	  struct symbol_lookup *lookup)
{
	struct expand_counts counts;
	int exit_status;

	if (s->out == NULL && strcmp(path, "-") == 0) {
		message_print("standard input cannot be replaced: use -o");
		return EXIT_USAGE;
	}
	exit_status = s->out != NULL
			      ? symbolize_trace(path, s->out, lookup, &counts)
			      : symbolize_trace_in_place(path, lookup, false,
							 &counts);
	if (exit_status == EXIT_FINE &&
	    (s->out == NULL || strcmp(s->out, "-") != 0))
		print_counts(path, &counts);
	return exit_status;
}

int
command_symbolize(int argc, char **argv)
{
	struct symbolize s = { .out = NULL };
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &s, &exit_status);
	struct symbol_lookup *lookup;

	if (first < 0)
		return exit_status;
	if (first == argc || (s.out != NULL && argc - first != 1))
		return opt_complain(&page,
				    s.out != NULL ? "-o needs exactly one TRACE"
						  : "a TRACE is missing");
	lookup = symbol_lookup_open(&s.lookup);
	if (lookup == NULL) {
		message_print(
			"%s",
			errno == ENOSYS
				? "this hatf was built without libdw, which "
				  "finds the names"
				: hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	for (int i = first; i < argc; i++) {
		const int status = symbolize(&s, argv[i], lookup);

		if (status > exit_status)
			exit_status = status;
	}
	symbol_lookup_report(lookup, NULL);
	symbol_lookup_close(lookup);
	return out_finish(out_stdout(), exit_status);
}

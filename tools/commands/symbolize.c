/* SPDX-License-Identifier: MIT */
/* symbolize.c - hatf symbolize: put the names of functions into a trace */
#include "hatf/hatf.h"
#include "tools/commands/commands.h"
#include "tools/symbols/expand.h"
#include "tools/symbols/symbol_lookup.h"
#include "tools/trace/rewrite.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	OPT_OUT,
	OPT_DEBUG_DIR,
	OPT_DEBUGINFOD,
};

static const struct opt options[] = {
	{ "output", 'o', "FILE", "write to FILE; TRACE stays as it is" },
	{ "debug-dir", 'd', "DIR", "look for separate debug files here, too" },
	{ "debuginfod", 'i', NULL,
	  "ask the servers of $DEBUGINFOD_URLS for debug files" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf symbolize",
	"[OPTIONS] TRACE...",
	"Give the frames of call stacks their functions, files and lines,\n"
	"also of functions that were inlined, from the programs and\n"
	"libraries that were recorded and from separate debug files.\n"
	"Afterwards the trace needs none of these files.\n"
	"Each TRACE is replaced, unless there is a FILE.\n",
	"A line on standard error names each program or library of which\n"
	"something is missing, with its build id.\n"
	"Exit status: 0 if all is well, 1 if a trace is bad or incomplete,\n"
	"2 for wrong usage.\n",
	false,
	options
};

struct symbolize {
	const char *out; /* NULL: in place */
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

static enum hatf_status
write_expanded(void *context, const struct hatf_record *rec,
	       struct hatf_writer *writer)
{
	return expand_write(context, rec, writer);
}

static void
print_counts(const char *path, const struct expand *e)
{
	struct out *const o = out_stdout();
	struct expand_counts counts;

	expand_get_counts(e, &counts);
	out_printf(o, "%s: %s frames looked up, ", message_path(path),
		   figure_count(counts.frames).text);
	out_printf(o, "%s with a function, ", figure_count(counts.named).text);
	out_printf(o, "%s with a line, ", figure_count(counts.located).text);
	out_printf(o, "%s inlined functions added\n",
		   figure_count(counts.inlined).text);
}

/* Does the trace need no compression? */
static bool
is_plain(const char *path)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	const char *compression;
	struct stat st;

	/* A pipe can be read only once. */
	if (strcmp(path, "-") == 0 || stat(path, &st) != 0 ||
	    !S_ISREG(st.st_mode) ||
	    hatf_reader_open(path, NULL, &reader, NULL) != HATF_OK)
		return hatf_format_of_path(path, &compression) != NULL &&
		       compression == NULL;
	hatf_reader_get_stats(reader, &stats);
	hatf_reader_close(reader);
	return !stats.compressed;
}

/* Write 'path' as 'out', with names. */
static int
write_symbolized(const char *path, const char *out,
		 struct symbol_lookup *lookup, bool *is_written_ret)
{
	struct rewrite r = {
		.in = path,
		.out = out,
		.options = { .format = "hatf", .plain = is_plain(path) },
		.write = write_expanded,
	};
	struct expand *e;
	uint64_t new_id;
	int exit_status;

	*is_written_ret = false;
	if (!expand_find_new_id(path, &new_id)) {
		message_print("%s: no ids are left for new frames",
			      message_path(path));
		return EXIT_BAD_INPUT;
	}
	e = expand_open(lookup, new_id);
	if (e == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	r.context = e;
	exit_status = rewrite_trace(&r);
	*is_written_ret = r.is_written;
	if (r.is_written && strcmp(out, "-") != 0 && exit_status == EXIT_FINE)
		print_counts(path, e);
	expand_close(e);
	return exit_status;
}

/* Replace 'path' by itself with names; it stays as it is if that fails. */
static int
replace(const char *path, struct symbol_lookup *lookup)
{
	bool is_written;
	char *out;
	int exit_status;

	if (strcmp(path, "-") == 0) {
		message_print("standard input cannot be replaced: use -o");
		return EXIT_USAGE;
	}
	if (asprintf(&out, "%s.%ld.tmp", path, (long)getpid()) < 0) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	exit_status = write_symbolized(path, out, lookup, &is_written);
	/* The rest of a damaged trace may still be of use to somebody. */
	if (is_written && exit_status != EXIT_FINE) {
		message_print("%s: left as it is; use -o to write what can be "
			      "read",
			      message_path(path));
		is_written = false;
	}
	if (is_written && rename(out, path) != 0) {
		message_print("%s: %s", message_path(path), strerror(errno));
		exit_status = EXIT_BAD_INPUT;
		is_written = false;
	}
	if (!is_written)
		unlink(out);
	free(out);
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
	bool is_written;

	if (first < 0)
		return exit_status;
	if (first == argc || (s.out != NULL && argc - first != 1))
		return opt_complain(&page, s.out != NULL ? "-o is for one TRACE"
							 : "a TRACE is wanted");
	lookup = symbol_lookup_open(&s.lookup);
	if (lookup == NULL) {
		message_print("%s", errno == ENOSYS
					    ? "this build has no libdw"
					    : hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	for (int i = first; i < argc; i++) {
		const int status =
			s.out != NULL ? write_symbolized(argv[i], s.out, lookup,
							 &is_written)
				      : replace(argv[i], lookup);

		if (status > exit_status)
			exit_status = status;
	}
	symbol_lookup_report(lookup);
	symbol_lookup_close(lookup);
	return out_finish(out_stdout(), exit_status);
}

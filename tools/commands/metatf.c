/* SPDX-License-Identifier: MIT */
/* metatf.c - hatf metatf: describe trace formats, read traces by a description
 */
#include "hatf/metatf/dtd_print.h"
#include "hatf/metatf/trace/mtf_reader.h"
#include "tools/commands/commands.h"
#include "tools/metatf/generate.h"
#include "tools/metatf/record_print.h"
#include "tools/metatf/trace_file.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"
#include "tools/ui/output_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_DIALECT,
	OPT_DTD,
	OPT_JSON,
	OPT_ALL,
	OPT_LANG,
	OPT_OUTPUT,
	OPT_EVENTS,
};

static const struct opt options[] = {
	{ "dialect", 'd', "VERSION",
	  "print: the dialect, 1.0, 1.1 or 1.2 (default: that of\n"
	  "the DTD)" },
	{ "dtd", 't', "FILE",
	  "dump: use this DTD, not the one in the trace or the\n"
	  "one that the trace's header names" },
	{ "json", 'j', NULL, "dump: print one JSON object for each record" },
	{ "all", 'a', NULL, "dump: also print metadata and section records" },
	{ "lang", 'l', "LANGUAGE",
	  "gen: language of the code, c (default) or python" },
	{ "output", 'o', "FOLDER",
	  "gen: folder of the new files (default: the current one)" },
	{ "events", 'e', NULL,
	  "gen: also write NAME_events.h, with which a traced\n"
	  "program puts its own events into the trace" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf metatf",
	"[OPTIONS] ACTION FILE",
	"Meta-TF is a language for trace formats: a DTD describes the records\n"
	"and fields of a trace.  ACTION is\n"
	"\n"
	"  check   check a DTD, and report parts of it that have no effect\n"
	"  print   write a DTD in its canonical form\n"
	"  dump    print the records of a trace, one per line\n"
	"  gen     make a reader and writer from a DTD: NAME.h and NAME.c, or\n"
	"          NAME.py\n",
	"See metatf(5) for the language.\n"
	"Exit status: 0 if all is well, 1 for bad input, 2 for wrong usage.\n",
	false,
	options
};

/* The options. */
struct ask {
	bool has_dialect;
	unsigned dialect;
	const char *dtd;
	bool json, all, events;
	const char *language, *folder;
};

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	static const char *const dialects[] = { "1.0", "1.1", "1.2", NULL };
	static const char *const languages[] = { "c", "python", NULL };
	struct ask *const ask = ctx;

	switch (idx) {
	case OPT_DIALECT:
		ask->has_dialect = true;
		return opt_parse_choice("--dialect", value, dialects,
					&ask->dialect);
	case OPT_DTD:
		ask->dtd = value;
		return true;
	case OPT_LANG:
		ask->language = value;
		return opt_parse_word("--lang", value, languages);
	case OPT_OUTPUT:
		ask->folder = value;
		return true;
	default:
		ask->json |= idx == OPT_JSON;
		ask->all |= idx == OPT_ALL;
		ask->events |= idx == OPT_EVENTS;
		return true;
	}
}

static int
check(const struct ask *ask, const char *path)
{
	struct dtd_file d = { .has_notes = true };
	const bool ok = dtd_file_open(&d, path);

	(void)ask;
	if (ok)
		printf("%s: Meta-TF %s, correct\n", message_path(path),
		       dtd_dialect_name(d.dtd->dialect));
	dtd_file_close(&d);
	return ok ? EXIT_FINE : EXIT_BAD_INPUT;
}

static int
print(const struct ask *ask, const char *path)
{
	struct dtd_file d = { 0 };
	struct dtd_error err;
	bool ok = dtd_file_open(&d, path);

	if (ok && !dtd_print(stdout, d.dtd,
			     ask->has_dialect ? (enum dtd_dialect)ask->dialect
					      : d.dtd->dialect,
			     &err)) {
		message_print(
			"%s: this DTD cannot be expressed in Meta-TF %s: %s",
			message_path(path),
			dtd_dialect_name((enum dtd_dialect)ask->dialect),
			err.text);
		ok = false;
	}
	dtd_file_close(&d);
	return ok ? EXIT_FINE : EXIT_BAD_INPUT;
}

static int
dump(const struct ask *ask, const char *path)
{
	struct out *const o = out_stdout();
	struct trace_file t;
	struct mtf_record r;
	bool ok = trace_file_open(&t, path, ask->dtd);

	while (ok && !out_failed(o) && mtf_reader_next(t.reader, &r)) {
		const bool is_shown = ask->all || r.type->role == ROLE_DATA ||
				      r.type->role == ROLE_COMMENT;

		if (is_shown && ask->json)
			record_print_json(o, &r);
		else if (is_shown)
			record_print_text(o, &r);
	}
	if (ok)
		ok = !trace_file_complain(&t);
	if (ok && t.header.record_count == MTF_UNFINISHED) {
		message_print("%s: the trace is incomplete: its writer did not "
			      "finish it",
			      t.path);
		ok = false;
	}
	trace_file_close(&t);
	return out_finish(o, ok ? EXIT_FINE : EXIT_BAD_INPUT);
}

typedef void generator(FILE *f, const struct generation *g);

/*
 * May a generated file replace the one at 'path'?  Return false if 'hatf metatf
 * gen' did not write the file at 'path', which may be the user's own source
 * file with the same base name as the DTD.
 */
static bool
may_replace(const char *path)
{
	char head[1024];
	FILE *const f = fopen(path, "re");
	size_t n;

	if (f == NULL)
		return true;
	n = fread(head, 1, sizeof(head), f);
	fclose(f);
	return n == 0 || memmem(head, n, GENERATED_BY, strlen(GENERATED_BY));
}

/* Write FOLDER/NAMESUFFIX.  On failure print a message and return false. */
static bool
write_generated(const struct ask *ask, const struct generation *g,
		const char *suffix, generator *generate)
{
	char path[PATH_MAX];
	char *text = NULL;
	size_t nbytes = 0;
	FILE *const f = open_memstream(&text, &nbytes);
	bool ok = f != NULL;

	if (ok) {
		generate(f, g);
		ok = !ferror(f);
		ok = fclose(f) == 0 && ok;
	}
	if (!ok)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	snprintf(path, sizeof(path), "%s/%s%s", ask->folder, g->name, suffix);
	if (ok && !may_replace(path)) {
		message_print("%s: not replaced, because 'hatf metatf gen' did "
			      "not write it",
			      path);
		ok = false;
	}
	ok = ok && output_file_write(path, text, nbytes);
	if (ok)
		printf("%s\n", path);
	free(text);
	return ok;
}

static int
gen(const struct ask *ask, const char *path)
{
	struct dtd_file d = { 0 };
	char name[120];
	bool ok = dtd_file_open(&d, path);
	const struct generation g = { name, d.dtd, d.schema };

	generate_name(message_path(path), name, sizeof(name));
	if (ok && strcmp(ask->language, "python") == 0)
		ok = write_generated(ask, &g, ".py", generate_python);
	else if (ok)
		ok = write_generated(ask, &g, ".h", generate_c_header) &&
		     write_generated(ask, &g, ".c", generate_c_code) &&
		     (!ask->events ||
		      write_generated(ask, &g, "_events.h", generate_events));
	dtd_file_close(&d);
	return ok ? EXIT_FINE : EXIT_BAD_INPUT;
}

static const struct action {
	const char *name;
	int (*run)(const struct ask *ask, const char *path);
} actions[] = {
	{ "check", check },
	{ "print", print },
	{ "dump", dump },
	{ "gen", gen },
};

int
command_metatf(int argc, char **argv)
{
	struct ask ask = { .language = "c", .folder = "." };
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &ask, &exit_status);

	if (first < 0)
		return exit_status;
	if (argc - first != 2)
		return opt_complain(&page, "an ACTION and a FILE are needed");
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(argv[first], actions[i].name) != 0)
			continue;
		exit_status = actions[i].run(&ask, argv[first + 1]);
		if (fflush(stdout) != 0 && errno != EPIPE) {
			message_print("standard output: %s", strerror(errno));
			exit_status = EXIT_BAD_INPUT;
		}
		return exit_status;
	}
	return opt_complain(&page, "'%s' is no ACTION", argv[first]);
}

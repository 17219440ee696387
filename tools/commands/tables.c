/* SPDX-License-Identifier: MIT */
/* tables.c - hatf tables: print the paper's tables for the given traces */
#include "tools/commands/commands.h"
#include "tools/measure/samples.h"
#include "tools/paper/report.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNS_DEFAULT	3
#define RECORDS_DEFAULT 1000000

enum {
	OPT_FORMAT,
	OPT_RUNS,
	OPT_RECORDS,
	OPT_JOBS,
	OPT_CSV,
};

static const struct opt options[] = {
	{ "format", 'f', "FORMAT", "text (the default), markdown or csv" },
	{ "runs", 'r', "N",
	  "make each measurement of time N times and print the\n"
	  "median (default 3); 0: do not measure time" },
	{ "records", 'n', "N",
	  "measure times with the first N records of a trace\n"
	  "(default 1000000)" },
	{ "jobs", 'w', "N",
	  "find sizes with N threads (default: one for each CPU);\n"
	  "times are always taken with one thread" },
	{ "csv", 'c', "FILE",
	  "also write the figures to FILE as CSV; with '-', write\n"
	  "only the CSV, to standard output" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf tables",
	"[OPTIONS] TRACE...",
	"For these traces, print tables 3 to 8 of the paper that defines "
	"HATF,\n"
	"beside the paper's own figures: what the programs did, the\n"
	"bytes that each encoding takes for a record, and the time to read\n"
	"and write one.  Three more tables show where the bytes of whole\n"
	"traces go, the time to read whole traces, and the ratios of the\n"
	"averages.\n"
	"TRACE is in any format, compressed or not; '-' is standard input.\n",
	"'-' stands for a figure that could not be determined.\n"
	"Exit status: 0 if all is well, 1 if a trace cannot be read or is\n"
	"incomplete, 2 for wrong usage.\n",
	false,
	options
};

struct tables {
	struct report report;
	enum table_format format;
	uint64_t runs, jobs;
	const char *csv_path; /* path of --csv; NULL: none */
	bool failed;
};

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	static const char *const formats[] = { "text", "markdown", "csv",
					       NULL };
	struct tables *const t = ctx;

	switch (idx) {
	case OPT_FORMAT:
		if (!opt_parse_word("--format", value, formats))
			return false;
		for (unsigned i = 0; formats[i] != NULL; i++)
			if (strcmp(value, formats[i]) == 0)
				t->format = (enum table_format)i;
		return true;
	case OPT_RUNS:
		return opt_parse_u64("--runs", value, &t->runs);
	case OPT_RECORDS:
		return opt_parse_u64("--records", value, &t->report.timed_max);
	case OPT_JOBS:
		return opt_parse_u64("--jobs", value, &t->jobs);
	default:
		t->csv_path = value;
		return true;
	}
}

/* Return "python3" for "traces/python3.hatf.gz"; NULL if out of memory. */
static char *
make_name(const char *path)
{
	static const char *const ends[] = { ".gz", ".hatf" };
	const char *const slash = strrchr(path, '/');
	char *const name = strdup(strcmp(path, "-") == 0 ? "stdin"
				  : slash != NULL	 ? slash + 1
							 : path);

	for (size_t i = 0; name != NULL && i < 2; i++) {
		const size_t end = strlen(ends[i]), len = strlen(name);

		if (len > end && strcmp(name + len - end, ends[i]) == 0)
			name[len - end] = '\0';
	}
	return name;
}

/*
 * Measure one trace.  Report errors; a figure that could not be measured is
 * shown as "-".
 */
static void
measure(struct tables *t, struct measured *m, const struct spool *trace)
{
	struct excerpt x;

	if (!table3_take(&m->table3, trace))
		t->failed = true;
	if (!sizing_take(&m->sizing, trace, (unsigned)t->jobs))
		t->failed = true;
	reread_take(&m->reread, trace, t->report.runs);
	if (!excerpt_take(&x, trace,
			  t->report.runs == 0 ? 0 : t->report.timed_max)) {
		t->failed = true;
		return;
	}
	if (!timing_take(&m->timing, &x, t->report.runs, trace->path))
		t->failed = true;
	excerpt_free(&x);
}

/* Add a trace.  A trace that cannot be read at all gets no row. */
static void
take_trace(struct tables *t, const char *path)
{
	struct measured *const m = &t->report.traces[t->report.count];
	struct hatf_reader *reader;
	struct hatf_error err;
	struct spool trace;

	if (!spool_open(&trace, path)) {
		t->failed = true;
		return;
	}
	if (spool_reader(&trace, 0, &reader, &err) != HATF_OK) {
		message_error(path, &err);
		t->failed = true;
	} else {
		hatf_reader_close(reader);
		m->name = make_name(path);
		if (m->name != NULL) {
			measure(t, m, &trace);
			t->report.count++;
		} else {
			message_print("%s", hatf_status_text(HATF_NO_MEMORY));
			t->failed = true;
		}
	}
	spool_close(&trace);
}

/* Does the file start like the output of write_csv()? */
static bool
is_ours(int fd)
{
	static const char want[] = TABLE_CSV_HEADER;
	char got[sizeof(want) - 1];
	const ssize_t n = pread(fd, got, sizeof(got), 0);

	return n == (ssize_t)sizeof(got) && memcmp(got, want, sizeof(got)) == 0;
}

/*
 * May the figures be written to 't->csv_path'?  If not, print an error message
 * and return false.  For example, if a user types "--csv *.hatf.gz" and forgets
 * the name of the CSV file, the path is that of the first trace, which must not
 * be overwritten.
 */
static bool
may_write_csv(const struct tables *t, char **paths, size_t count)
{
	const char *const path = t->csv_path;
	struct stat st, trace;
	bool is_fine;
	int fd;

	/*
	 * A new file overwrites nothing.  If it cannot be created, write_csv()
	 * will report this.
	 */
	if (stat(path, &st) != 0)
		return true;
	for (size_t i = 0; i < count; i++) {
		const bool is_known = strcmp(paths[i], "-") == 0
					      ? fstat(STDIN_FILENO, &trace) == 0
					      : stat(paths[i], &trace) == 0;

		if (is_known && trace.st_dev == st.st_dev &&
		    trace.st_ino == st.st_ino) {
			opt_complain(&page, "--csv: '%s' is one of the TRACEs",
				     path);
			return false;
		}
	}
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	is_fine = fd >= 0 && is_ours(fd);
	if (fd >= 0)
		close(fd);
	if (!is_fine)
		opt_complain(
			&page,
			"--csv: '%s' exists, and 'hatf tables' did not write "
			"it: give another name",
			path);
	return is_fine;
}

/* Write the figures to a file, in addition to the printed tables. */
static bool
write_csv(const struct report *r, const char *path)
{
	struct out *const o = calloc(1, sizeof(*o));
	struct hatf_error err;
	bool is_fine = false;

	if (o == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	if (hatf_file_create(path, &o->fd, &err) != HATF_OK) {
		o->sys_errno = err.sys_errno;
	} else {
		is_fine = report_print(r, TABLE_CSV, o);
		out_flush(o);
		if (close(o->fd) != 0 && o->sys_errno == 0)
			o->sys_errno = errno;
	}
	if (o->sys_errno != 0)
		message_print("%s: %s", path, strerror(o->sys_errno));
	is_fine = is_fine && o->sys_errno == 0;
	free(o);
	return is_fine;
}

/* Print the tables and write the file of --csv. */
static void
print_report(struct tables *t)
{
	if (t->report.count == 0)
		return;
	if (!report_print(&t->report, t->format, out_stdout()))
		t->failed = true;
	if (t->csv_path != NULL && !write_csv(&t->report, t->csv_path))
		t->failed = true;
}

static int
print_tables(struct tables *t, char **paths, size_t count)
{
	t->report.traces = calloc(count, sizeof(*t->report.traces));
	if (t->report.traces == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	for (size_t i = 0; i < count; i++)
		take_trace(t, paths[i]);
	print_report(t);
	for (size_t i = 0; i < t->report.count; i++)
		free(t->report.traces[i].name);
	free(t->report.traces);
	return out_finish(out_stdout(), t->failed ? EXIT_BAD_INPUT : EXIT_FINE);
}

int
command_tables(int argc, char **argv)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct tables t = {
		.report.timed_max = RECORDS_DEFAULT,
		.runs = RUNS_DEFAULT,
		.jobs = cpus < 1 ? 1 : (uint64_t)cpus,
	};
	int exit_status;
	const int first =
		opt_parse(&page, argc, argv, take_option, &t, &exit_status);

	if (first < 0)
		return exit_status;
	if (first == argc)
		return opt_complain(&page, "a TRACE is missing");
	if (t.runs > SAMPLES_MAX)
		return opt_complain(&page, "--runs must be at most %d",
				    SAMPLES_MAX);
	if (t.jobs == 0)
		return opt_complain(&page, "--jobs must be at least 1");
	if (t.csv_path != NULL && strcmp(t.csv_path, "-") == 0) {
		t.csv_path = NULL;
		t.format = TABLE_CSV;
	}
	if (t.csv_path != NULL &&
	    !may_write_csv(&t, argv + first, (size_t)(argc - first)))
		return EXIT_USAGE;
	if (t.jobs > UINT16_MAX)
		t.jobs = UINT16_MAX;
	t.report.runs = (unsigned)t.runs;
	return print_tables(&t, argv + first, (size_t)(argc - first));
}

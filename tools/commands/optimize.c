/* SPDX-License-Identifier: MIT */
/* optimize.c - hatf optimize: write the same trace in a smaller file */
#include "hatf/hatf.h"
#include "tools/commands/commands.h"
#include "tools/trace/rewrite.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Records per batch. */
#define BATCH 512

/* Bytes copied at a time. */
#define COPY_NBYTES (1 << 20)

enum {
	OPT_JOBS,
	OPT_LEVEL,
	OPT_PLACEMENT,
	OPT_PLAIN,
};

static const struct opt options[] = {
	{ "jobs", 'w', "N",
	  "decompress the input with N more threads (default 0)" },
	{ "level", 'l', "N", "compress with level N, 1 (fast) to 12 (small)" },
	{ "placement", 'm', "NAME",
	  "how to place the metadata (default smallest)" },
	{ "plain", 'p', NULL,
	  "do not compress (default if OUT's name ends in .hatf)" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf optimize",
	"[OPTIONS] IN OUT",
	"Write the trace IN as OUT, in HATF, with metadata that makes the\n"
	"file as small as possible, and print the bytes before and after.\n"
	"NAME is online (as the recorder does it), optimum (the fewest\n"
	"bytes before compression), smallest (for each block the fewest\n"
	"bytes after compression), or a technique of the paper that defines\n"
	"HATF: naive, small-size, same-size, combined-size, base-offset-1,\n"
	"base-offset-2, best-base-offset, stride, or best.\n"
	"'-' is standard input or output; if OUT is '-', nothing is\n"
	"printed.\n",
	"If OUT would be larger than IN, --placement smallest copies IN to\n"
	"OUT, provided that IN is a complete HATF file, and that both files\n"
	"are compressed or neither is.\n"
	"If IN is incomplete, OUT is marked as incomplete.\n"
	"Exit status: 0 if all is well, 1 if the trace is bad or\n"
	"incomplete, 2 for wrong usage.\n",
	false,
	options
};

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct rewrite *const r = ctx;
	uint64_t n;

	switch (idx) {
	case OPT_JOBS:
		return opt_parse_jobs(value, &r->reading.jobs);
	case OPT_LEVEL:
		if (!opt_parse_u64("--level", value, &n))
			return false;
		if (n < 1 || n > 12) {
			opt_complain(&page, "--level must be 1 to 12");
			return false;
		}
		r->options.level = (int)n;
		return true;
	case OPT_PLACEMENT:
		return opt_parse_placement(value, &r->options.placement);
	default:
		r->options.plain = true;
		return true;
	}
}

static void
print_nbytes(const char *what, uint64_t before, uint64_t after)
{
	struct out *const o = out_stdout();

	out_printf(o, "%-6s %s bytes before, ", what,
		   figure_count(before).text);
	out_printf(o, "%s after", figure_count(after).text);
	if (before != 0)
		out_printf(o, " (%.1f %%)",
			   100 * (double)after / (double)before);
	out_str(o, "\n");
}

/*
 * Read all of OUT to get its statistics, which contain its size.  Return false
 * if OUT is "-", is not a regular file or cannot be opened.
 */
static bool
measure(const struct rewrite *r, struct hatf_reader_stats *stats_ret)
{
	static struct hatf_record records[BATCH];
	struct hatf_reader *reader;
	struct hatf_error err;
	struct stat st;
	size_t n;

	if (strcmp(r->out, "-") == 0 || stat(r->out, &st) != 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	if (hatf_reader_open(r->out, &r->reading, &reader, &err) != HATF_OK) {
		message_error(r->out, &err);
		return false;
	}
	while (hatf_reader_read(reader, records, BATCH, &n) == HATF_OK)
		;
	hatf_reader_get_stats(reader, stats_ret);
	hatf_reader_close(reader);
	return true;
}

/* Would a copy of IN be valid as OUT, and smaller? */
static bool
is_input_better(const struct rewrite *r,
		const struct hatf_reader_stats *written)
{
	struct stat in, out;

	return strcmp(r->in, "-") != 0 && stat(r->in, &in) == 0 &&
	       S_ISREG(in.st_mode) && stat(r->out, &out) == 0 &&
	       strcmp(r->read_format, "hatf") == 0 && r->read.complete &&
	       r->read.compressed == written->compressed &&
	       (r->read.compression == NULL ||
		strcmp(r->read.compression, "gzip") == 0) &&
	       in.st_size < out.st_size &&
	       r->read.file_nbytes == (uint64_t)in.st_size;
}

static bool
copy_bytes(int in, int out)
{
	ssize_t n;

	do
		n = sendfile(out, in, NULL, COPY_NBYTES);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n == 0;
}

/* Copy IN to OUT.  On failure print an error message and return false. */
static bool
copy_input(const struct rewrite *r)
{
	const int in = open(r->in, O_RDONLY | O_CLOEXEC);
	struct hatf_error err = { .sys_errno = errno };
	int out = -1;
	bool is_fine =
		in >= 0 && hatf_file_create(r->out, &out, &err) == HATF_OK;

	if (is_fine && !copy_bytes(in, out)) {
		is_fine = false;
		err.sys_errno = errno;
	}
	if (!is_fine)
		message_print("%s: %s", message_path(in >= 0 ? r->out : r->in),
			      strerror(err.sys_errno));
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return is_fine;
}

/*
 * Is 'path' a compressed file although its name has the suffix of an
 * uncompressed file?
 */
static bool
is_compressed_unsaid(const char *path)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct stat st;
	const char *compression;
	const char *const format = hatf_format_of_path(path, &compression);

	/* Do not try a pipe, because its bytes can be read only once. */
	if (format == NULL || compression != NULL || stat(path, &st) != 0 ||
	    !S_ISREG(st.st_mode) ||
	    hatf_reader_open(path, NULL, &reader, NULL) != HATF_OK)
		return false;
	hatf_reader_get_stats(reader, &stats);
	hatf_reader_close(reader);
	return stats.compressed;
}

int
command_optimize(int argc, char **argv)
{
	struct rewrite r = {
		.options = { .format = "hatf", .placement = "smallest" },
	};
	struct hatf_reader_stats written = { .struct_nbytes = sizeof(written) };
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &r, &exit_status);
	const char *format, *compression;

	if (first < 0)
		return exit_status;
	if (argc - first != 2)
		return opt_complain(&page, "IN and OUT are needed");
	r.in = argv[first];
	r.out = argv[first + 1];
	format = hatf_format_of_path(r.out, &compression);
	if (format != NULL && strcmp(format, "hatf") != 0)
		return opt_complain(
			&page, "'%s' implies a format other than HATF", r.out);
	r.options.plain |= format != NULL && compression == NULL &&
			   !is_compressed_unsaid(r.in);
	exit_status = rewrite_trace(&r);
	if (!r.is_written || !measure(&r, &written))
		return exit_status;
	/* If the user chose another placement, keep OUT, whatever its size. */
	if (strcmp(r.options.placement, "smallest") == 0 &&
	    is_input_better(&r, &written)) {
		if (!copy_input(&r))
			return EXIT_BAD_INPUT;
		message_print("%s: cannot be made smaller: %s is a copy of it",
			      message_path(r.in), message_path(r.out));
		written = r.read;
	}
	print_nbytes("HATF", r.read.hatf_nbytes, written.hatf_nbytes);
	print_nbytes("file", r.read.file_nbytes, written.file_nbytes);
	return out_finish(out_stdout(), exit_status);
}

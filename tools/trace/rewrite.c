/* SPDX-License-Identifier: MIT */
/* rewrite.c - see rewrite.h */
#include "tools/trace/rewrite.h"

#include "tools/trace/cutoff.h"
#include "tools/trace/kept_fields.h"
#include "tools/trace/name_hint.h"
#include "tools/trace/trailer.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"
#include "tools/ui/output_file.h"
#include "tools/ui/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Records per batch. */
#define BATCH 512

#define KEEPS_ALL ((1u << HATF_KEEPS_COUNT) - 1)

/* First line of the header comment. */
static const char header_kind[] = "HATF 1.0\n";

/* First line of a comment about the clock (FORMAT.md, "Times"). */
static const char clock_kind[] = "HATF clock\n";

struct run {
	struct rewrite *r;
	struct hatf_reader *reader;
	struct hatf_writer *writer;
	struct progress progress;
	uint64_t record_count;
	bool bare; /* the output has no header and no trailer */
	bool cut;  /* the source is incomplete, and this was reported */
	struct hatf_format format; /* format of the output */
	/* fields of the source; collected only if the output drops some */
	struct kept_fields keeping;
	struct hatf_record records[BATCH];
};

/*
 * Return the name of the output for messages.  Without an output path, the
 * output will replace the input.
 */
static const char *
out_name(const struct rewrite *r)
{
	if (r->out == NULL)
		return r->in;
	return strcmp(r->out, "-") == 0 ? "standard output" : r->out;
}

static void
speak_out(const struct rewrite *r, const struct hatf_error *err)
{
	char text[512];

	/* Ignore EPIPE, because the reader of a pipe may close it early. */
	if (err->status == HATF_IO && err->sys_errno == EPIPE)
		return;
	hatf_error_text(err, text, sizeof(text));
	message_print("%s: %s", out_name(r), text);
}

/* Is the record a comment that begins with 'kind'? */
static bool
is_comment(const struct hatf_record *rec, const char *kind)
{
	const size_t nbytes = strlen(kind);

	return rec->tag == HATF_COMMENT && rec->attributes_nbytes >= nbytes &&
	       memcmp(rec->attributes, kind, nbytes) == 0;
}

/* Remove the line that begins with 'start' from the header, if there is one. */
static void
drop_line(char *header, const char *start)
{
	const size_t nbytes = strlen(start);

	for (char *line = header; *line != '\0';) {
		char *const end = strchrnul(line, '\n');
		const char *const next = end + (*end != '\0');

		if (strncmp(line, start, nbytes) == 0) {
			memmove(line, next, strlen(next) + 1);
			return;
		}
		line = end + (*end != '\0');
	}
}

/*
 * Return a copy of 'header' that says that the trace has no times.  Free
 * 'header'.  Return NULL if there is no memory.
 */
static char *
header_without_times(char *header)
{
	char *timeless = NULL;

	drop_line(header, "clock=");
	drop_line(header, "unit=");
	if (asprintf(&timeless, "%sclock=off\nunit=none\n", header) < 0)
		timeless = NULL;
	free(header);
	return timeless;
}

/*
 * Return header lines for a source in a foreign format: the lines of its own
 * header, and the name of the format.
 */
static char *
foreign_header(const struct hatf_reader *reader, unsigned drop)
{
	char *header;

	if (asprintf(&header, "source=%s\n%s", hatf_reader_format(reader),
		     hatf_reader_header_lines(reader)) < 0)
		return NULL;
	return (drop & HATF_DROP_TIME) != 0 ? header_without_times(header)
					    : header;
}

char *
rewrite_header(const struct hatf_record *first, unsigned drop)
{
	const size_t kind_nbytes = strlen(header_kind);
	char *header, *more;

	if (!is_comment(first, header_kind))
		return strdup("");
	header = strndup((const char *)first->attributes + kind_nbytes,
			 first->attributes_nbytes - kind_nbytes);
	if (header == NULL)
		return NULL;
	/*
	 * Attributes mark the carried blocks.  Without attributes, carried
	 * blocks look like ordinary events, so remove the lines that count
	 * carried blocks.
	 */
	if ((drop & HATF_DROP_ATTRIBUTES) != 0) {
		drop_line(header, "carried=");
		drop_line(header, "carried_bytes=");
	}
	if ((drop & HATF_DROP_TIME) != 0)
		header = header_without_times(header);
	if (header == NULL || (drop & HATF_DROP_HEAP) == 0 ||
	    asprintf(&more, "%sheaps=dropped\n", header) < 0)
		return header;
	free(header);
	return more;
}

/*
 * Return a copy of 'header' for an output that lacks some blocks.  The copy
 * says so, and omits the lines that are true only for all blocks together.
 * Free 'header'.  Return NULL if there is no memory.
 */
static char *
header_of_filtered(char *header)
{
	char *filtered = NULL;

	if (header == NULL)
		return NULL;
	drop_line(header, "carried=");
	drop_line(header, "carried_bytes=");
	drop_line(header, "parent_event_exact=");
	drop_line(header, "live=");
	drop_line(header, "filtered=");
	if (asprintf(&filtered, "%slive=unknown\nfiltered=1\n", header) < 0)
		filtered = NULL;
	free(header);
	return filtered;
}

/*
 * Open the writer.  The first of the 'n' records in run->records may be the
 * header.  Return EXIT_FINE if the writer is open, otherwise the exit status.
 */
static int
open_writer(struct run *run, size_t n)
{
	struct hatf_writer_options *const o = &run->r->options;
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_error err = { .status = HATF_NO_MEMORY };
	int exit_status = EXIT_FINE;
	char *header;

	hatf_reader_get_stats(run->reader, &stats);
	if (stats.foreign)
		header = foreign_header(run->reader, o->drop);
	else
		header = n > 0 ? rewrite_header(run->records, o->drop)
			       : strdup("");
	if (run->r->is_filtered)
		header = header_of_filtered(header);
	if (run->r->edit_header != NULL)
		header = run->r->edit_header(run->r->context, run->reader,
					     header);
	/*
	 * A source in HATF that has no header of ours does not state whether it
	 * is complete.  In this case, write no header and no trailer, because a
	 * trailer would say whether the output is complete.  But if a first
	 * copy has found that the source is truncated (see is_silent()), write
	 * both: the trailer then says that the trace is incomplete.  Foreign
	 * formats have their own marks of completeness.
	 */
	run->bare = !stats.ours && !stats.foreign && !run->cut;
	o->bare = run->bare;
	o->header = header;
	if (header == NULL ||
	    hatf_writer_open(run->r->out, o, &run->writer, &err) != HATF_OK) {
		exit_status = EXIT_BAD_INPUT;
		if (err.status == HATF_BAD_OPTION) {
			message_print("--%s does not apply to format %s",
				      err.field, o->format);
			exit_status = EXIT_USAGE;
		} else {
			speak_out(run->r, &err);
		}
	}
	free(header);
	o->header = NULL;
	return exit_status;
}

static void
show_progress(struct run *run)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	if (!run->progress.enabled)
		return;
	hatf_reader_get_stats(run->reader, &stats);
	progress_update(&run->progress, stats.file_nbytes, run->record_count);
}

static enum hatf_status
write_records(struct run *run, size_t n)
{
	const struct rewrite *const r = run->r;
	enum hatf_status status = HATF_OK;

	if (r->write == NULL)
		return hatf_writer_write(run->writer, run->records, n);
	for (size_t i = 0; i < n && status == HATF_OK; i++)
		status = r->write(r->context, &run->records[i], run->writer);
	if (status == HATF_NO_MEMORY)
		message_print("%s", hatf_status_text(status));
	return status;
}

/*
 * Remove the comments about the clock from the 'n' records in run->records, if
 * the output has no times.  Return how many records remain.
 */
static size_t
drop_clocks(struct run *run, size_t n)
{
	size_t kept = 0;

	if ((run->r->options.drop & HATF_DROP_TIME) == 0)
		return n;
	for (size_t i = 0; i < n; i++)
		if (!is_comment(&run->records[i], clock_kind))
			run->records[kept++] = run->records[i];
	return kept;
}

/*
 * Copy all records, of which the first 'n' are in run->records already.  Return
 * the status with which reading ended, or HATF_OK if writing failed first.
 */
static enum hatf_status
copy(struct run *run, size_t n)
{
	enum hatf_status status;

	for (;;) {
		const size_t kept = drop_clocks(run, n);

		if (write_records(run, kept) != HATF_OK)
			return HATF_OK;
		run->record_count += n;
		if (run->format.keeps != KEEPS_ALL)
			kept_fields_note(&run->keeping, run->records, kept);
		show_progress(run);
		status = hatf_reader_read(run->reader, run->records, BATCH, &n);
		if (status != HATF_OK)
			return status;
	}
}

/*
 * Is the source complete?  If not, report this, but not again when the source
 * is copied a second time.
 */
static bool
judge_source(const struct run *run, enum hatf_status status)
{
	const char *const path = run->r->in;
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	if (run->cut)
		return false;
	hatf_reader_get_stats(run->reader, &stats);
	if (status != HATF_END) {
		cutoff_report(path, hatf_reader_error(run->reader));
		return false;
	}
	if (stats.complete || run->r->is_told)
		return stats.complete;
	if (stats.lost_count != 0)
		message_print("%s: %" PRIu64
			      " events were lost while recording",
			      message_path(path), stats.lost_count);
	else
		message_print("%s: the trace says that it is not complete",
			      message_path(path));
	return false;
}

/*
 * Return the end of a warning about a sampled source: a text that says what
 * becomes of the samples.  Return "" if the output says that it is sampled.
 */
static const char *
fate_of_samples(const struct hatf_format *format)
{
	if ((format->keeps & HATF_KEEPS_ATTRIBUTES) ||
	    strcmp(format->name, "memtrace") == 0)
		return "";
	/*
	 * A format that libhatf can write, but not read, has sums instead of
	 * calls.  The sums of a sampled source are estimates.
	 */
	return format->reads ? "; the output does not say that it is sampled"
			     : "; the output contains estimates for all blocks";
}

/*
 * Warn if the source is sampled, because a sampled trace looks like a full one.
 */
static void
report_sampling(const struct run *run)
{
	const double rate = hatf_reader_sample_rate(run->reader);

	if (rate < 1)
		message_print(
			"%s: the trace is sampled (about %s allocated words): "
			"it has only the blocks that contain a sampled word%s",
			message_path(run->r->in), figure_part(rate).text,
			fate_of_samples(&run->format));
}

/*
 * Warn about events that the source has in an impossible order, because the
 * output has the same order.
 */
static void
report_disorder(const struct run *run)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	hatf_reader_get_stats(run->reader, &stats);
	if (stats.disorder_count == 0)
		return;
	message_print(
		"%s: %" PRIu64
		" call%s in an impossible order (first at record "
		"%" PRIu64 ", offset 0x%" PRIx64 ": %s); see 'hatf verify'",
		message_path(run->r->in), stats.disorder_count,
		figure_plural(stats.disorder_count), stats.disorder_record,
		stats.disorder_offset, stats.disorder);
}

/*
 * Warn if the source's format rounds sizes, and the output has another format.
 */
static void
report_rounding(const struct run *run)
{
	const char *const name = hatf_reader_format(run->reader);
	struct hatf_format f = { .struct_nbytes = sizeof(f) };

	hatf_format_find(name, &f);
	if ((f.keeps & HATF_KEEPS_SIZE) == 0 &&
	    strcmp(f.name, run->format.name) != 0)
		message_print("%s: sizes are rounded up to words, the unit of "
			      "format %s",
			      message_path(run->r->in), f.name);
}

/* Print the warnings about the source. */
static void
report_source(struct run *run, bool complete)
{
	const char *const advice = name_hint_find(run->reader);

	report_sampling(run);
	report_rounding(run);
	if (advice != NULL)
		message_print("%s: names of functions: %s",
			      message_path(run->r->in), advice);
	/*
	 * Report disorder only for a complete source, because the calls that
	 * seem to be missing in a truncated source may have been cut off.
	 */
	if (complete)
		report_disorder(run);
}

/*
 * Write to 'list' each kind of thing that the format of the output cannot
 * express, and how often things of this kind occurred.
 */
static void
list_losses(const struct hatf_writer *writer, char *list, size_t nbytes)
{
	struct hatf_loss loss;
	size_t used = 0;

	list[0] = '\0';
	for (unsigned i = 0; hatf_writer_get_loss(writer, i, &loss); i++)
		if (loss.count != 0 && used < nbytes)
			used += (size_t)snprintf(list + used, nbytes - used,
						 "%s%s (%" PRIu64 ")",
						 used == 0 ? "" : ", ",
						 loss.text, loss.count);
}

static int
rewrite_reader(struct run *run)
{
	struct hatf_error err;
	enum hatf_status status;
	bool complete = false;
	char losses[512];
	int exit_status;
	size_t n;

	status = hatf_reader_read(run->reader, run->records, BATCH, &n);
	if (run->r->begin != NULL && !run->r->begin(run->r->context))
		return EXIT_BAD_INPUT;
	exit_status = open_writer(run, n);
	if (exit_status != EXIT_FINE)
		return exit_status;
	run->format.struct_nbytes = sizeof(run->format);
	hatf_format_find(run->r->options.format, &run->format);
	/*
	 * With --tags sequence, the output contains numbers instead of
	 * addresses, so report addresses as dropped.
	 */
	if (run->r->options.sequence_tags &&
	    strcmp(run->format.name, "hummingbird") == 0)
		run->format.keeps &= ~(unsigned)HATF_KEEPS_ADDRESS;
	progress_begin(&run->progress, run->r->in, false);
	if (status == HATF_OK)
		status = copy(run, n);
	progress_end(&run->progress);
	if (status != HATF_OK)
		complete = judge_source(run, status);
	run->cut = !complete;
	run->r->is_whole =
		status == HATF_END && trailer_can_be_copied(run->reader);
	if (!complete)
		hatf_writer_set_incomplete(run->writer);
	list_losses(run->writer, losses, sizeof(losses));
	if (hatf_writer_close(run->writer, &err) != HATF_OK) {
		speak_out(run->r, &err);
		return EXIT_BAD_INPUT;
	}
	run->r->is_written = true;
	/*
	 * Unlike other foreign formats, mtrc has a trailer of its own, which
	 * can say that the trace is incomplete.
	 */
	if (!complete && run->format.foreign &&
	    strcmp(run->format.name, "mtrc") != 0)
		message_print("%s: format %s cannot express that the trace is "
			      "incomplete",
			      out_name(run->r), run->format.name);
	report_source(run, complete);
	kept_fields_report(out_name(run->r), &run->format,
			   kept_fields_dropped(&run->keeping, &run->format,
					       run->r->options.drop));
	if (losses[0] != '\0')
		message_print("%s: left out: %s", out_name(run->r), losses);
	hatf_reader_get_stats(run->reader, &run->r->read);
	run->r->read_format = hatf_reader_format(run->reader);
	return complete ? EXIT_FINE : EXIT_BAD_INPUT;
}

/* Open the source and copy it. */
static int
rewrite_once(struct run *run, struct rewrite *r)
{
	struct hatf_error err;
	int exit_status = EXIT_BAD_INPUT;

	run->r = r;
	run->record_count = 0;
	r->is_written = false;
	if (hatf_reader_open(r->in, &r->reading, &run->reader, &err) !=
	    HATF_OK) {
		message_error(r->in, &err);
		return EXIT_BAD_INPUT;
	}
	if (r->reading.format != NULL &&
	    strcmp(r->reading.format, hatf_reader_format(run->reader)) != 0)
		message_print(
			"%s: the format is %s, not %s", message_path(r->in),
			hatf_reader_format(run->reader), r->reading.format);
	else
		exit_status = rewrite_reader(run);
	hatf_reader_close(run->reader);
	return exit_status;
}

/*
 * Must the source be copied once more?  Yes, if the source is truncated, but
 * the output, without a header and a trailer, does not say so.  The second copy
 * has a header and a trailer, and the trailer says that the trace is
 * incomplete.  Source and output must be regular files, because both files are
 * opened twice.
 */
static bool
is_silent(const struct run *run)
{
	struct stat in, out;

	return run->r->out != NULL && run->r->is_written && run->bare &&
	       run->cut && !run->format.foreign && stat(run->r->in, &in) == 0 &&
	       S_ISREG(in.st_mode) && stat(run->r->out, &out) == 0 &&
	       S_ISREG(out.st_mode) && strcmp(run->r->in, "-") != 0 &&
	       strcmp(run->r->out, "-") != 0;
}

int
rewrite_trace(struct rewrite *r)
{
	struct run *const run = calloc(1, sizeof(*run));
	int exit_status;

	if (r->out != NULL && output_file_overwrites(r->out, r->in)) {
		message_print("%s: input and output are the same file",
			      message_path(r->in));
		free(run);
		return EXIT_USAGE;
	}
	if (run == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	r->reading.struct_nbytes = sizeof(r->reading);
	r->options.struct_nbytes = sizeof(r->options);
	r->read.struct_nbytes = sizeof(r->read);
	exit_status = rewrite_once(run, r);
	if (is_silent(run))
		exit_status = rewrite_once(run, r);
	free(run);
	return exit_status;
}

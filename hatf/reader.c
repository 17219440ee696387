/* SPDX-License-Identifier: MIT */
/*
 * reader.c - turn a file, pipe or descriptor into records (hatf_reader)
 *
 * This is the part of the reader that all formats share; see
 * formats/common/format.h.  It opens the file, detects the format, counts the
 * records and passes the comments to 'framing' (framing.h).  It keeps an error
 * until the records before the error have been delivered.
 */
#include "hatf/reader.h"
#include "hatf/base/sized.h"
#include "hatf/create_file.h"
#include "hatf/formats/common/disorder.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/common/sampling.h"
#include "hatf/formats/not_traces.h"
#include "hatf/hatf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct hatf_reader {
	struct source source;
	const struct format *format;
	/* true: open() of the format was called, so close() must be called. */
	bool opened;
	/* descriptor that hatf_reader_close() closes; -1: none */
	int own_fd;
	/* HATF_OK, or the result of every further hatf_reader_read() */
	enum hatf_status status;
	/*
	 * The first record, if it was read to find the header and is not yet
	 * returned.
	 */
	struct hatf_record first;
	bool has_first;
	/* if 'watches' is set, counts calls that are out of order */
	struct disorder disorder;
	bool watches;
};

/*
 * Pass a comment to 'framing'.  'left' is the number of records that have been
 * read but not counted: the comment and the records after it.  Return false if
 * reading must end before the comment.
 */
static bool
note_comment(struct source *s, const struct hatf_record *comment, size_t left)
{
	const struct framing_position position = {
		.record_count = s->tally.record_count,
		.event_count = s->tally.event_count,
		.end = s->tally.record_count + 1,
	};
	const char *field = NULL;
	const enum hatf_status status =
		framing_note(&s->framing, comment, &position, &field);

	if (status == HATF_OK)
		return true;
	source_stop(s, status, field);
	s->err.offset = comment->offset;
	/*
	 * In a format of lines, each record is one line.  The line in 's->err'
	 * is the one after the 'left' records, so go back to the line of the
	 * comment.
	 */
	if (s->line != 0)
		s->err.line -= left;
	return false;
}

/* Count the records, for a format that does not count them itself. */
static size_t
note_records(struct source *s, const struct hatf_record *records, size_t n)
{
	const char *field = NULL;

	for (size_t i = 0; i < n; i++) {
		if (records[i].tag == HATF_COMMENT &&
		    !note_comment(s, &records[i], n - i))
			return i;
		tally_note(&s->tally, &records[i]);
	}
	/* An error concerns the record after the counted records. */
	s->err.record = s->tally.record_count;
	if (s->err.status == HATF_END &&
	    framing_end(&s->framing, s->tally.record_count, &field) != HATF_END)
		source_stop(s, HATF_NO_TRAILER, NULL);
	return n;
}

static size_t
read_more(struct hatf_reader *reader, struct hatf_record *records, size_t max)
{
	struct source *const s = &reader->source;
	const uint64_t number = s->tally.record_count;
	size_t n = reader->format->source->read(s, records, max);

	if (!reader->format->owns_framing)
		n = note_records(s, records, n);
	for (size_t i = 0; reader->watches && i < n; i++)
		if (!disorder_note(&reader->disorder, &records[i],
				   number + i)) {
			source_stop(s, HATF_NO_MEMORY, NULL);
			return i;
		}
	return n;
}

enum hatf_status
hatf_reader_read(struct hatf_reader *reader, struct hatf_record *records,
		 size_t max, size_t *n_ret)
{
	struct source *const s = &reader->source;
	size_t n = 0;

	if (reader->has_first && max != 0) {
		records[n++] = reader->first;
		reader->has_first = false;
	} else if (s->err.status == HATF_OK && max != 0) {
		n = read_more(reader, records, max);
	}
	if (n == 0)
		reader->status = s->err.status;
	*n_ret = n;
	return n > 0 ? HATF_OK : reader->status;
}

/* ------------------------------------------------------------------ opening */

/*
 * Read the first record, because it may be the header, for which the caller may
 * ask as soon as the reader is open.  Fail if the file turns out not to be a
 * trace: for example, if the first line of a text format is wrong, or if a file
 * in a text format of this project has no records.  Also fail if there is no
 * memory for the header.  The first hatf_reader_read() reports all other
 * failures.
 */
static enum hatf_status
read_first(struct hatf_reader *reader)
{
	struct source *const s = &reader->source;

	s->framing.foreign = true;
	reader->has_first = read_more(reader, &reader->first, 1) != 0;
	if (s->header != NULL)
		s->header[s->header_nbytes] = '\0';
	if (s->header != NULL &&
	    !comment_lines_set(&s->framing.header, s->header, s->header_nbytes))
		return source_stop(s, HATF_NO_MEMORY, NULL);
	if (!reader->has_first && s->err.status == HATF_NOT_HATF)
		return HATF_NOT_HATF;
	if (reader->has_first || s->line == 0)
		return HATF_OK;
	if (s->err.status == HATF_END && reader->format->foreign)
		return HATF_OK;
	if (s->err.status == HATF_END)
		return source_stop(s, HATF_NOT_HATF, NULL);
	if (s->line != 1 || s->window.input.status == HATF_TRUNCATED)
		return HATF_OK;
	if (s->err.status == HATF_TRUNCATED)
		return source_stop(s, HATF_NOT_HATF, "line");
	/*
	 * A file whose first line is too long is not a trace.  Any other limit
	 * concerns a later record, and hatf_reader_read() reports it.
	 */
	if (s->err.status == HATF_LIMIT && strcmp(s->err.field, "line") != 0)
		return HATF_OK;
	if (s->err.status == HATF_BAD_FIELD || s->err.status == HATF_LIMIT)
		return s->err.status = HATF_NOT_HATF;
	return HATF_OK;
}

/*
 * Should the reader use the format that the caller named, whatever the content
 * is?  It should if the content cannot show this format.  This is so for
 * formats with 'by_name', and for HATF, which has no magic number (its
 * 'recognize' is NULL).
 */
static bool
is_named(const struct format *named)
{
	return named != NULL && (named->by_name || named->recognize == NULL);
}

/*
 * Detect whether the file is a trace, and in which format, and open the trace.
 * Use the format that the caller named only if is_named() is true.
 */
static enum hatf_status
recognize(struct hatf_reader *reader)
{
	struct source *const s = &reader->source;
	const size_t nbytes =
		input_window_fill(&s->window, FORMAT_PREFIX_NBYTES);
	const enum hatf_status end = s->window.input.status;
	const char *not_a_trace;
	enum hatf_status status;

	if (nbytes == 0 && end == HATF_END)
		return source_stop(s, HATF_NOT_HATF, NULL);
	if (nbytes == 0 && end == HATF_IO)
		return source_stop(s, HATF_IO, NULL);
	s->is_named = is_named(reader->format);
	not_a_trace = s->is_named
			      ? NULL
			      : not_traces_recognize(s->window.next, nbytes);
	if (not_a_trace != NULL)
		return source_stop(s, HATF_NOT_READ, not_a_trace);
	/*
	 * Detect the format even if the compressed data is damaged, because the
	 * file may be a trace, and the error must then name the damage.
	 */
	if (!s->is_named)
		reader->format = format_recognize(s->window.next, nbytes);
	reader->opened = true;
	status = reader->format->source->open(s);
	reader->watches = (s->flags & HATF_READER_DISORDER) != 0 &&
			  reader->format->disorderly;
	if (status == HATF_OK && !reader->format->owns_framing)
		status = read_first(reader);
	return status;
}

/*
 * Set '*format_ret' to the format with this name, or to NULL if 'name' is NULL.
 * Return false if there is no format of that name, or if the library cannot
 * read it.
 */
static bool
find_source(const char *name, const struct format **format_ret)
{
	*format_ret = name == NULL ? NULL : format_find(name);
	return name == NULL ||
	       (*format_ret != NULL && (*format_ret)->source != NULL);
}

/* Return the name of an option with an invalid value, or NULL. */
static const char *
bad_option(const struct hatf_reader_options *o)
{
	const unsigned flags = HATF_READER_METADATA |
			       HATF_READER_SEQUENCE_TAGS |
			       HATF_READER_DISORDER | HATF_READER_FOUND;
	const struct format *format;

	if ((o->flags & ~flags) != 0)
		return "flags";
	if (o->jobs > HATF_READER_JOBS_MAX)
		return "jobs";
	if (o->reserved != 0)
		return "reserved";
	return find_source(o->format, &format) ? NULL : "format";
}

static enum hatf_status
fail(struct hatf_error *err, enum hatf_status status, const char *field)
{
	*err = (struct hatf_error){ .status = status, .field = field };
	return status;
}

/*
 * Store the descriptor to read from in '*fd_ret'.  If this function opens
 * 'path', the reader owns the descriptor.
 */
static enum hatf_status
open_path(struct hatf_reader *reader, const char *path,
	  const struct hatf_reader_options *o, int *fd_ret,
	  struct hatf_error *err)
{
	enum hatf_status status = HATF_OK;

	*fd_ret = path == NULL ? o->fd : STDIN_FILENO;
	if (path == NULL || strcmp(path, "-") == 0)
		return HATF_OK;
	if ((o->flags & HATF_READER_FOUND) != 0)
		status = hatf_file_open_found(path, fd_ret, err);
	else if ((*fd_ret = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)) < 0)
		status = file_fail(err);
	if (status == HATF_OK)
		reader->own_fd = *fd_ret;
	return status;
}

/* Begin to read from the descriptor 'fd', and detect the format. */
static enum hatf_status
begin(struct hatf_reader *reader, int fd, const struct hatf_reader_options *o)
{
	struct source *const s = &reader->source;
	const enum hatf_status status =
		input_window_init(&s->window, fd, o->jobs);

	s->flags = o->flags;
	if (status == HATF_NO_LIBRARY)
		return source_stop(s, status,
				   input_compression(&s->window.input));
	if (status != HATF_OK)
		return source_stop(s, status, NULL);
	find_source(o->format, &reader->format);
	return recognize(reader);
}

enum hatf_status
hatf_reader_open(const char *path, const struct hatf_reader_options *options,
		 struct hatf_reader **reader_ret, struct hatf_error *err)
{
	struct hatf_reader_options o;
	struct hatf_error ignored;
	struct hatf_reader *reader;
	enum hatf_status status;
	int fd;

	if (err == NULL)
		err = &ignored;
	if (!sized_take(&o, sizeof(o), options))
		return fail(err, HATF_BAD_OPTION, "struct_nbytes");
	if (bad_option(&o) != NULL)
		return fail(err, HATF_BAD_OPTION, bad_option(&o));
	reader = calloc(1, sizeof(*reader));
	if (reader == NULL)
		return fail(err, HATF_NO_MEMORY, NULL);
	reader->own_fd = -1;
	disorder_init(&reader->disorder);
	status = open_path(reader, path, &o, &fd, err);
	if (status != HATF_OK) {
		free(reader);
		return status;
	}
	status = begin(reader, fd, &o);
	*err = reader->source.err;
	if (status != HATF_OK) {
		hatf_reader_close(reader);
		return status;
	}
	*err = (struct hatf_error){ .status = HATF_OK };
	*reader_ret = reader;
	return HATF_OK;
}

enum hatf_status
reader_open_fd(int fd, struct hatf_reader **reader_ret)
{
	const struct hatf_reader_options options = {
		.struct_nbytes = sizeof(options),
		.fd = fd,
	};

	return hatf_reader_open(NULL, &options, reader_ret, NULL);
}

void
hatf_reader_close(struct hatf_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->opened && reader->format->source->close != NULL)
		reader->format->source->close(&reader->source);
	disorder_fini(&reader->disorder);
	input_window_fini(&reader->source.window);
	framing_fini(&reader->source.framing);
	free(reader->source.header);
	if (reader->own_fd >= 0)
		close(reader->own_fd);
	free(reader);
}

/* ---------------------------------------------------------------- questions */

int
reader_fd(const struct hatf_reader *reader)
{
	return reader->source.window.input.fd;
}

const char *
hatf_reader_format(const struct hatf_reader *reader)
{
	return reader->format->name;
}

const struct hatf_error *
hatf_reader_error(const struct hatf_reader *reader)
{
	static const struct hatf_error none;

	return reader->status == HATF_END ? &none : &reader->source.err;
}

/* Is the last record read so far a trailer? */
static bool
is_at_trailer(const struct hatf_reader *reader)
{
	const struct source *const s = &reader->source;

	return framing_at_trailer(&s->framing, reader->format->owns_framing
						       ? s->offset
						       : s->tally.record_count);
}

const char *
hatf_reader_header(const struct hatf_reader *reader, const char *key)
{
	return comment_lines_find(&reader->source.framing.header, key);
}

const char *
hatf_reader_trailer(const struct hatf_reader *reader, const char *key)
{
	if (!is_at_trailer(reader))
		return NULL;
	return comment_lines_find(&reader->source.framing.trailer, key);
}

const char *
hatf_reader_header_lines(const struct hatf_reader *reader)
{
	const char *const lines = reader->source.header;

	if (!reader->format->foreign)
		return NULL;
	return lines == NULL ? "" : lines;
}

double
hatf_reader_sample_rate(const struct hatf_reader *reader)
{
	const double rate =
		sampling_rate(hatf_reader_header(reader, "sample_rate"));

	return rate == 0 ? 1 : rate;
}

/* Was the program already running when the trace began? */
static bool
is_late(const struct hatf_reader *reader)
{
	const char *const start = hatf_reader_header(reader, "start");

	return start != NULL && strcmp(start, "late") == 0;
}

void
hatf_reader_get_stats(const struct hatf_reader *reader,
		      struct hatf_reader_stats *stats_ret)
{
	const struct source *const s = &reader->source;
	const struct framing *const f = &s->framing;

	struct hatf_reader_stats stats = {
		.file_nbytes = input_consumed(&s->window.input),
		.hatf_nbytes = s->offset,
		.block_count = f->block_count,
		.lost_count = f->lost_count,
		.compressed = s->window.input.compressed,
		.compression = input_compression(&s->window.input),
		.ours = f->ours,
		.foreign = reader->format->foreign,
		.complete = f->complete && (!f->ours || is_at_trailer(reader)),
	};
	/*
	 * If the recorder was started late, it did not see all blocks.  A free
	 * of an unknown block then does not show that the order is wrong.
	 */
	if (reader->disorder.count != 0 && !is_late(reader)) {
		stats.disorder_count = reader->disorder.count;
		stats.disorder = hatf_violation_text(reader->disorder.what);
		stats.disorder_record = reader->disorder.record;
		stats.disorder_offset = reader->disorder.offset;
	}
	memcpy(stats.record_count, s->tally.tag_count,
	       sizeof(stats.record_count));
	sized_give(stats_ret, &stats, sizeof(stats));
}

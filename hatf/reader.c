/* SPDX-License-Identifier: MIT */
/*
 * reader.c - hatf_reader: a file, pipe or descriptor into records
 *
 * Bytes go from 'input' into a window of fixed size, and 'decoder' turns what is
 * in the window into records, in place.  The window only moves when a call has
 * nothing to deliver yet, so attributes stay valid until the next call:
 *
 *	window         next                 end            WINDOW_NBYTES
 *	| decoded      | to be decoded      | room         |
 *
 * 'framing' looks at each comment, for our own traces make claims there.
 */
#include "decoder.h"
#include "framing.h"
#include "hatf.h"
#include "input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Holds the longest record, and enough of the usual ones that moving the piece of
 * one at the end costs nothing.  More would leave the second-level cache.
 */
#define WINDOW_NBYTES (256 * 1024)
_Static_assert(WINDOW_NBYTES > DECODER_RECORD_MAX_NBYTES,
	       "a record that does not fit could never be decoded");

/*
 * A trace without our header is believed to be one if this many records, or all
 * that there are, can be decoded.  One byte in 21 is a tag, so other files pass
 * the first record now and then, and practically never this many.
 */
#define PROBE_COUNT 8

struct hatf_reader {
	struct input input;
	struct decoder decoder;
	struct framing framing;
	uint8_t *window;
	const uint8_t *next, *end;
	int own_fd;		 /* closed with the reader; -1: none */
	enum hatf_status status; /* HATF_OK, or what every call returns */
	struct hatf_error err;
};

/* Describe what happened at the record that would be decoded next. */
static void
describe(const struct hatf_reader *reader, enum hatf_status status,
	 const char *field, struct hatf_error *err)
{
	*err = (struct hatf_error){
		.status = status,
		.sys_errno = status == HATF_IO ? reader->input.sys_errno : 0,
		.offset = reader->decoder.offset,
		.file_offset = input_consumed(&reader->input),
		.record = reader->decoder.record_count,
		.field = field,
	};
}

/* No call goes on from here. */
static void
stop(struct hatf_reader *reader, enum hatf_status status, const char *field)
{
	reader->status = status;
	if (status != HATF_END)
		describe(reader, status, field, &reader->err);
}

/* There are no more bytes than those in the window. */
static void
stop_at_end(struct hatf_reader *reader)
{
	const size_t left = (size_t)(reader->end - reader->next);
	enum hatf_status status = reader->input.status;
	const char *field = NULL;

	if (left == 0 && status == HATF_END)
		status = framing_end(&reader->framing, &reader->decoder);
	else if (status == HATF_END)
		status = HATF_TRUNCATED;
	if (left != 0 && status == HATF_TRUNCATED)
		field = decoder_cut_field(&reader->decoder, reader->next, left);
	stop(reader, status, field);
}

/*
 * Move what is left to the front of the window and read on behind it.  False if
 * there is nothing more to read.
 */
static bool
refill(struct hatf_reader *reader)
{
	const size_t left = (size_t)(reader->end - reader->next);
	size_t got;

	/* Or no progress would look like the end: a record always fits. */
	assert(left < WINDOW_NBYTES);
	if (left != 0 && reader->next != reader->window)
		memmove(reader->window, reader->next, left);
	reader->next = reader->window;
	got = input_read(&reader->input, reader->window + left,
			 WINDOW_NBYTES - left);
	reader->end = reader->window + left + got;
	return got != 0;
}

/* Let 'framing' see a comment; false if that ends the reading. */
static bool
note_comment(struct hatf_reader *reader, const struct hatf_record *comment)
{
	const char *field = NULL;
	const enum hatf_status status = framing_note(&reader->framing, comment,
						     &reader->decoder, &field);

	if (status == HATF_OK)
		return true;
	stop(reader, status, field);
	/* The record at fault is the comment, and it has been counted. */
	reader->err.offset = comment->offset;
	reader->err.record--;
	return false;
}

enum hatf_status
hatf_reader_read(struct hatf_reader *reader, struct hatf_record *records,
		 size_t max, size_t *n_ret)
{
	struct decoder *const d = &reader->decoder;
	size_t n = 0;

	while (n < max && reader->status == HATF_OK) {
		n += decoder_decode(d, &reader->next, reader->end, records + n,
				    max - n);
		if (d->stop == DECODER_COMMENT) {
			if (!note_comment(reader, &records[n - 1]))
				n--;
		} else if (d->stop == DECODER_BAD) {
			stop(reader, d->status, d->field);
		} else if (d->stop == DECODER_MORE) {
			if (n > 0)
				break; /* the window must stay */
			if (!refill(reader))
				stop_at_end(reader);
		}
	}
	*n_ret = n;
	return n > 0 ? HATF_OK : reader->status;
}

/* ------------------------------------------------------------------ opening */

static bool
is_blank(const struct hatf_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (records[i].tag != HATF_ALLOC || records[i].size != 0 ||
		    records[i].address != 0)
			return false;
	return true;
}

/*
 * Decode the first records on trial.  Returns NULL if they are HATF, or are cut
 * off in a way that decoding will report; else the field that is not.  'trial'
 * is left where decoding ended.
 */
static const char *
probe(struct hatf_reader *reader, struct decoder *trial)
{
	struct hatf_record records[PROBE_COUNT];

	for (;;) {
		const uint8_t *next = reader->next;
		size_t n = 0;

		*trial = reader->decoder;
		trial->want_metadata = true;
		do
			n += decoder_decode(trial, &next, reader->end,
					    records + n, PROBE_COUNT - n);
		while (trial->stop == DECODER_COMMENT && n < PROBE_COUNT);
		if (trial->stop == DECODER_BAD)
			return trial->field;
		/* A file of zeros would pass as failed calls of malloc(0). */
		if (n == PROBE_COUNT && is_blank(records, n))
			return "size";
		if (trial->stop != DECODER_MORE || n == PROBE_COUNT)
			return NULL;
		/* A window full of legal records, long ones, will do. */
		if (reader->end - reader->next == WINDOW_NBYTES)
			return NULL;
		if (refill(reader))
			continue;
		/* A first record that a plain file cuts off is no record. */
		if (n == 0 && reader->input.status == HATF_END)
			return decoder_cut_field(trial, next,
						 (size_t)(reader->end - next));
		return NULL;
	}
}

/* Decode the header, the first record, if there is all of it. */
static void
read_header(struct hatf_reader *reader)
{
	struct hatf_record header;
	size_t n;

	reader->framing.ours = true;
	do {
		n = decoder_decode(&reader->decoder, &reader->next, reader->end,
				   &header, 1);
	} while (n == 0 && refill(reader));
	if (n == 0)
		return;
	note_comment(reader, &header);
	/* The caller is to get it as the first record: decode it again. */
	decoder_init(&reader->decoder, reader->decoder.want_metadata);
	reader->next -= 1 + 2 + header.attributes_nbytes;
}

/* Is it a trace?  If not, '*err' says why. */
static enum hatf_status
recognise(struct hatf_reader *reader, struct hatf_error *err)
{
	const size_t header_nbytes = 16; /* more than framing_is_ours() wants */
	struct decoder trial;
	const char *field;

	while ((size_t)(reader->end - reader->next) < header_nbytes)
		if (!refill(reader))
			break;
	if (reader->next == reader->end) {
		const enum hatf_status status = reader->input.status;

		describe(reader, status == HATF_END ? HATF_NOT_HATF : status,
			 NULL, err);
		/* Compressed data that is damaged may have been a trace. */
		return status == HATF_END || status == HATF_IO ? err->status
							       : HATF_OK;
	}
	if (framing_is_ours(reader->next,
			    (size_t)(reader->end - reader->next))) {
		read_header(reader);
		return HATF_OK;
	}
	field = probe(reader, &trial);
	if (field == NULL)
		return HATF_OK;
	describe(reader, HATF_NOT_HATF, field, err);
	err->offset = trial.offset;
	err->record = trial.record_count;
	return HATF_NOT_HATF;
}

/* Open with 'fd', which is closed with the reader if 'owns'. */
static enum hatf_status
open_reader(int fd, bool owns, unsigned flags, struct hatf_reader **reader_ret,
	    struct hatf_error *err)
{
	struct hatf_reader *const reader = calloc(1, sizeof(*reader));
	enum hatf_status status;

	*err = (struct hatf_error){ .status = HATF_NO_MEMORY };
	if (reader == NULL) {
		if (owns)
			close(fd);
		return HATF_NO_MEMORY;
	}
	reader->own_fd = owns ? fd : -1;
	decoder_init(&reader->decoder, (flags & HATF_READ_METADATA) != 0);
	status = input_init(&reader->input, fd);
	if (status != HATF_OK) {
		describe(reader, status, NULL, err);
		goto out_close_reader;
	}
	reader->window = malloc(WINDOW_NBYTES);
	if (reader->window == NULL) {
		status = HATF_NO_MEMORY;
		goto out_close_reader;
	}
	reader->next = reader->end = reader->window;
	status = recognise(reader, err);
	if (status != HATF_OK)
		goto out_close_reader;
	*err = (struct hatf_error){ .status = HATF_OK };
	*reader_ret = reader;
	return HATF_OK;

out_close_reader:
	hatf_reader_close(reader);
	return status;
}

enum hatf_status
hatf_reader_open_fd(int fd, unsigned flags, struct hatf_reader **reader_ret,
		    struct hatf_error *err)
{
	struct hatf_error ignored;

	return open_reader(fd, false, flags, reader_ret,
			   err == NULL ? &ignored : err);
}

enum hatf_status
hatf_reader_open(const char *path, unsigned flags,
		 struct hatf_reader **reader_ret, struct hatf_error *err)
{
	struct hatf_error ignored;
	int fd;

	if (strcmp(path, "-") == 0)
		return hatf_reader_open_fd(STDIN_FILENO, flags, reader_ret,
					   err);
	if (err == NULL)
		err = &ignored;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		*err = (struct hatf_error){ .status = HATF_IO,
					    .sys_errno = errno };
		return HATF_IO;
	}
	return open_reader(fd, true, flags, reader_ret, err);
}

void
hatf_reader_close(struct hatf_reader *reader)
{
	if (reader == NULL)
		return;
	input_fini(&reader->input);
	framing_fini(&reader->framing);
	free(reader->window);
	if (reader->own_fd >= 0)
		close(reader->own_fd);
	free(reader);
}

/* ---------------------------------------------------------------- questions */

const struct hatf_error *
hatf_reader_error(const struct hatf_reader *reader)
{
	return &reader->err;
}

/* Is the last record read so far a trailer? */
static bool
is_at_trailer(const struct hatf_reader *reader)
{
	return reader->framing.trailer_end != 0 &&
	       reader->framing.trailer_end == reader->decoder.offset;
}

const char *
hatf_reader_header(const struct hatf_reader *reader, const char *key)
{
	return lines_find(&reader->framing.header, key);
}

const char *
hatf_reader_trailer(const struct hatf_reader *reader, const char *key)
{
	if (!is_at_trailer(reader))
		return NULL;
	return lines_find(&reader->framing.trailer, key);
}

void
hatf_reader_get_stats(const struct hatf_reader *reader,
		      struct hatf_reader_stats *stats_ret)
{
	const struct framing *const f = &reader->framing;

	*stats_ret = (struct hatf_reader_stats){
		.file_nbytes = input_consumed(&reader->input),
		.hatf_nbytes = reader->decoder.offset,
		.block_count = f->block_count,
		.lost_count = f->lost_count,
		.compressed = reader->input.compressed,
		.ours = f->ours,
		.complete = f->complete && (!f->ours || is_at_trailer(reader)),
	};
	memcpy(stats_ret->record_count, reader->decoder.tag_count,
	       sizeof(stats_ret->record_count));
}

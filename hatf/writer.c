/* SPDX-License-Identifier: MIT */
/*
 * writer.c - hatf_writer: write records into a file
 *
 * This is the part of the writer that all formats share; see
 * formats/common/format.h.  It opens the file, checks and counts the records,
 * and removes the fields that the options drop.
 */
#include "hatf/base/sized.h"
#include "hatf/codec/hatf_record.h"
#include "hatf/formats/common/format.h"
#include "hatf/hatf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const char trailer_kind[] = "HATF end";

/* To omit fields, the writer copies this many records at a time. */
#define BATCH 64

#define DROP_ALL                                                         \
	((unsigned)(HATF_DROP_TIME | HATF_DROP_THREAD | HATF_DROP_HEAP | \
		    HATF_DROP_ATTRIBUTES | HATF_DROP_COMMENTS))

struct hatf_writer {
	struct sink sink;
	const struct format *format;
	bool fd_is_ours;
	/*
	 * the trace begins with a header comment and ends with a trailer
	 * comment
	 */
	bool framed;
	/*
	 * The header comment, to be written before the first record.  NULL: the
	 * header comment has been written, or there is none.
	 */
	char *header;
	size_t header_nbytes;
};

/* ----------------------------------------------------------------- writing */

/* Copy a failure of the output file to s->err, unless s->err is set already. */
static enum hatf_status
check_out(struct sink *s)
{
	if (s->err.status == HATF_OK && s->out.status != HATF_OK)
		sink_fail(s, s->out.status, NULL);
	return s->err.status;
}

/* Let the format write records that need no change. */
static enum hatf_status
put(struct hatf_writer *w, const struct hatf_record *records, size_t n)
{
	struct sink *const s = &w->sink;

	if (n == 0 || s->err.status != HATF_OK)
		return s->err.status;
	w->format->sink->write(s, records, n);
	if (!w->format->compresses)
		s->offset = outfile_offset(&s->out);
	if (check_out(s) == HATF_OK && !w->format->owns_framing)
		sink_count(s, records, n);
	return s->err.status;
}

static enum hatf_status
put_comment(struct hatf_writer *w, const char *text, size_t nbytes)
{
	const struct hatf_record comment = {
		.tag = HATF_COMMENT,
		.attributes = (const uint8_t *)text,
		.attributes_nbytes = (uint32_t)nbytes,
	};

	return put(w, &comment, 1);
}

static void
put_header(struct hatf_writer *w)
{
	if (w->header == NULL)
		return;
	put_comment(w, w->header, w->header_nbytes);
	free(w->header);
	w->header = NULL;
}

/* Does the comment begin with the line 'kind'? */
static bool
is_kind(const struct hatf_record *rec, const char *kind)
{
	const size_t nbytes = strlen(kind);

	return hatf_record_comment_starts(rec, kind) &&
	       (rec->attributes_nbytes == nbytes ||
		rec->attributes[nbytes] == '\n');
}

/* Is this a comment that the writer makes itself? */
static bool
is_framing(const struct hatf_record *rec)
{
	return is_kind(rec, "HATF 1.0") || is_kind(rec, "HATF block") ||
	       is_kind(rec, "HATF sum") || is_kind(rec, trailer_kind);
}

/*
 * Is this a comment that contains the stacks of many records (FORMAT "Columns
 * of stacks")?  The writer omits such a comment, because the reader has added
 * the stacks to the attributes of the records.
 */
static bool
is_column(const struct hatf_record *rec)
{
	return is_kind(rec, "HATF stacks");
}

/* Is this a "HATF lost" comment that every reader would refuse? */
static bool
is_bad_loss(const struct hatf_record *rec)
{
	uint64_t lost;

	return framing_is_loss(rec) &&
	       !text_find_u64((const char *)rec->attributes,
			      rec->attributes_nbytes, "count", &lost);
}

/* Does this comment define a frame or a stack? */
static bool
is_definition(const struct hatf_record *rec)
{
	return is_kind(rec, "HATF frame") || is_kind(rec, "HATF stack");
}

/*
 * If the writer must refuse the record, return the name of the invalid part,
 * else NULL.
 */
static const char *
fault(const struct hatf_writer *w, const struct hatf_record *rec)
{
	if (rec->tag > HATF_COMMENT)
		return "tag";
	if (rec->attributes_nbytes > UINT16_MAX)
		return "attributes";
	return rec->tag == HATF_COMMENT && w->framed && is_bad_loss(rec)
		       ? "count"
		       : NULL;
}

/* Does the writer omit the whole record? */
static bool
is_left_out(const struct hatf_writer_options *o, const struct hatf_record *rec)
{
	switch (rec->tag) {
	case HATF_COMMENT:
		if ((o->drop & (HATF_DROP_COMMENTS | HATF_DROP_ATTRIBUTES)) !=
			    0 &&
		    (o->drop & (is_definition(rec) ? HATF_DROP_ATTRIBUTES
						   : HATF_DROP_COMMENTS)) != 0)
			return true;
		return is_column(rec) || (!o->bare && is_framing(rec));
	case HATF_CREATE_THREAD:
	case HATF_DESTROY_THREAD:
		return (o->drop & HATF_DROP_THREAD) != 0;
	case HATF_CREATE_HEAP:
	case HATF_DESTROY_HEAP:
		return (o->drop & HATF_DROP_HEAP) != 0;
	default:
		return false;
	}
}

static void
drop_fields(struct hatf_record *rec, unsigned drop)
{
	if (drop & HATF_DROP_TIME)
		rec->time = 0;
	if (drop & HATF_DROP_THREAD)
		rec->thread = 0;
	if (drop & HATF_DROP_HEAP)
		rec->heap = 0;
	if ((drop & HATF_DROP_ATTRIBUTES) && rec->tag != HATF_COMMENT)
		rec->attributes_nbytes = 0;
}

/* Write copies of records without the fields to be omitted. */
static void
put_dropping(struct hatf_writer *w, const struct hatf_record *records, size_t n)
{
	struct hatf_record batch[BATCH];

	while (n != 0) {
		const size_t count = n < BATCH ? n : BATCH;

		memcpy(batch, records, count * sizeof(*records));
		for (size_t i = 0; i < count; i++)
			drop_fields(&batch[i], w->sink.options.drop);
		put(w, batch, count);
		records += count;
		n -= count;
	}
}

/*
 * Note a record that is not written.  If the record is a trailer, keep its
 * lines: the writer's own trailer repeats some of them.
 */
static void
note_left_out(struct hatf_writer *w, const struct hatf_record *rec)
{
	if (!is_kind(rec, trailer_kind))
		return;
	if (!comment_lines_set(&w->sink.trailer, (const char *)rec->attributes,
			       rec->attributes_nbytes))
		sink_fail(&w->sink, HATF_NO_MEMORY, NULL);
}

enum hatf_status
hatf_writer_write(struct hatf_writer *w, const struct hatf_record *records,
		  size_t n)
{
	const struct hatf_writer_options *const o = &w->sink.options;
	const unsigned fields = o->drop & ~(unsigned)HATF_DROP_COMMENTS;
	const char *field = NULL;

	put_header(w);
	/*
	 * Pass on whole runs of records.  Copy them only if fields of the
	 * records must be omitted.
	 */
	while (n != 0 && w->sink.err.status == HATF_OK) {
		size_t run = 0;

		while (run < n && (field = fault(w, &records[run])) == NULL &&
		       !is_left_out(o, &records[run]))
			run++;
		if (fields != 0)
			put_dropping(w, records, run);
		else
			put(w, records, run);
		records += run;
		n -= run;
		if (n == 0 || field != NULL)
			break;
		note_left_out(w, records);
		records++;
		n--;
	}
	if (field != NULL && w->sink.err.status == HATF_OK)
		sink_fail(&w->sink, HATF_BAD_RECORD, field);
	return w->sink.err.status;
}

void
hatf_writer_set_incomplete(struct hatf_writer *w)
{
	w->sink.options.incomplete = true;
}

bool
hatf_writer_get_loss(const struct hatf_writer *w, unsigned idx,
		     struct hatf_loss *loss_ret)
{
	static const char *const texts[SINK_LOSS_COUNT] = {
		[SINK_LOSS_FREE] = "frees of unknown blocks",
		[SINK_LOSS_FAILED] = "failed calls",
		[SINK_LOSS_PLACE] = "call sites without names",
		[SINK_LOSS_NAME] = "ends of long names",
		[SINK_LOSS_DEFINITION] = "malformed definitions of stacks",
	};

	if (idx >= SINK_LOSS_COUNT)
		return false;
	*loss_ret = (struct hatf_loss){ texts[idx], w->sink.losses[idx] };
	return true;
}

const struct hatf_error *
hatf_writer_error(const struct hatf_writer *w)
{
	return &w->sink.err;
}

/* ------------------------------------------------------ opening and closing */

/* Prepare the header, unless the format makes it by itself. */
static enum hatf_status
make_header(struct hatf_writer *w)
{
	struct text t;

	if (!w->framed || w->format->owns_framing)
		return HATF_OK;
	w->header = malloc(UINT16_MAX);
	if (w->header == NULL)
		return sink_fail(&w->sink, HATF_NO_MEMORY, NULL);
	text_init(&t, w->header, UINT16_MAX);
	if (!sink_header(&w->sink, &t))
		return sink_fail(&w->sink, HATF_LIMIT, "header");
	w->header_nbytes = t.used;
	return HATF_OK;
}

/*
 * Find the compression that the options choose.  Return false if the name of
 * the compression is unknown, or if the format compresses in its own way and
 * cannot use this compression.
 */
static bool
find_compression(const struct format *format,
		 const struct hatf_writer_options *o, enum frame_kind *kind_ret)
{
	*kind_ret = FRAME_NONE;
	if (o->plain || o->compression == NULL ||
	    strcmp(o->compression, "gzip") == 0)
		return true;
	if (strcmp(o->compression, frame_kind_name(FRAME_ZSTD)) == 0)
		*kind_ret = FRAME_ZSTD;
	else if (strcmp(o->compression, frame_kind_name(FRAME_LZ4)) == 0)
		*kind_ret = FRAME_LZ4;
	return *kind_ret != FRAME_NONE && !format->compresses;
}

/* Prepare everything but the output file. */
static enum hatf_status
prepare(struct hatf_writer *w, const struct hatf_writer_options *options)
{
	struct sink *const s = &w->sink;
	enum hatf_status status;

	s->out.fd = -1;
	if (!sized_take(&s->options, sizeof(s->options), options))
		return sink_fail(s, HATF_BAD_OPTION, "struct_nbytes");
	if ((s->options.drop & ~DROP_ALL) != 0)
		return sink_fail(s, HATF_BAD_OPTION, "drop");
	w->format = format_find(s->options.format);
	if (w->format == NULL || w->format->sink == NULL)
		return sink_fail(s, HATF_BAD_OPTION, "format");
	/*
	 * A foreign format has none of our headers, blocks and trailers, so
	 * ignore 'bare'.
	 */
	if (w->format->foreign)
		s->options.bare = false;
	w->framed = !s->options.bare && !w->format->foreign;

	const bool compressed = !w->format->compresses && !s->options.plain;
	const int level = s->options.level;
	enum frame_kind kind;

	if (!find_compression(w->format, &s->options, &kind))
		return sink_fail(s, HATF_BAD_OPTION, "compression");
	if (compressed && (level < 0 || level > OUTFILE_LEVEL_MAX))
		return sink_fail(s, HATF_BAD_OPTION, "level");
	status = outfile_init(&s->out, compressed, kind, level);
	if (status != HATF_OK)
		return sink_fail(s, status,
				 status == HATF_NO_LIBRARY
					 ? frame_kind_name(kind)
					 : NULL);
	if (w->format->sink->open != NULL)
		status = w->format->sink->open(s);
	if (status == HATF_OK)
		status = make_header(w);
	s->options.header = NULL;
	return status;
}

static void
writer_free(struct hatf_writer *w)
{
	if (w->format != NULL && w->format->sink != NULL &&
	    w->format->sink->close != NULL)
		w->format->sink->close(&w->sink);
	outfile_fini(&w->sink.out);
	comment_lines_fini(&w->sink.trailer);
	free(w->header);
	free(w);
}

/*
 * Set the descriptor to write to.  If this function opens 'path', the writer
 * owns the descriptor.
 */
static enum hatf_status
open_path(struct hatf_writer *w, const char *path)
{
	struct outfile *const out = &w->sink.out;
	struct hatf_error err;

	out->fd = path == NULL ? w->sink.options.fd : STDOUT_FILENO;
	if (path == NULL || strcmp(path, "-") == 0)
		return HATF_OK;
	if (hatf_file_create(path, &out->fd, &err) != HATF_OK) {
		out->sys_errno = err.sys_errno;
		return sink_fail(&w->sink, HATF_IO, NULL);
	}
	w->fd_is_ours = true;
	return HATF_OK;
}

enum hatf_status
hatf_writer_open(const char *path, const struct hatf_writer_options *options,
		 struct hatf_writer **writer_ret, struct hatf_error *err)
{
	struct hatf_writer *const w = calloc(1, sizeof(*w));
	enum hatf_status status;

	if (w == NULL) {
		if (err != NULL)
			*err = (struct hatf_error){ .status = HATF_NO_MEMORY };
		return HATF_NO_MEMORY;
	}
	if (path != NULL && strcmp(path, "-") != 0)
		w->sink.path = path;
	status = prepare(w, options);
	w->sink.path = NULL;
	if (status == HATF_OK)
		status = open_path(w, path);
	if (err != NULL)
		*err = w->sink.err;
	if (status == HATF_OK)
		*writer_ret = w;
	else
		writer_free(w);
	return status;
}

/*
 * Write the header comment, unless it has been written.  Write the trailer,
 * unless the format makes the trailer by itself.  Then write what the format
 * and the output file have buffered.
 */
static void
finish(struct hatf_writer *w)
{
	struct sink *const s = &w->sink;
	char buf[SINK_TRAILER_MAX];
	struct text t;

	put_header(w);
	if (w->framed && !w->format->owns_framing) {
		text_init(&t, buf, sizeof(buf));
		sink_trailer(s, &t);
		put_comment(w, buf, t.used);
	}
	if (s->err.status == HATF_OK && w->format->sink->finish != NULL)
		w->format->sink->finish(s);
	if (s->err.status == HATF_OK)
		outfile_finish(&s->out);
	check_out(s);
}

enum hatf_status
hatf_writer_close(struct hatf_writer *w, struct hatf_error *err)
{
	enum hatf_status status;

	if (w == NULL)
		return HATF_OK;
	if (w->sink.err.status == HATF_OK)
		finish(w);
	if (w->fd_is_ours && close(w->sink.out.fd) != 0 &&
	    w->sink.err.status == HATF_OK) {
		w->sink.out.sys_errno = errno;
		sink_fail(&w->sink, HATF_IO, NULL);
	}
	status = w->sink.err.status;
	if (err != NULL)
		*err = w->sink.err;
	writer_free(w);
	return status;
}

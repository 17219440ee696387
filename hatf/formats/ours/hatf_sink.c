/* SPDX-License-Identifier: MIT */
/*
 * hatf_sink.c - write records as HATF
 *
 * The current trace block is in a buffer.  When the trace block has
 * BLOCK_NBYTES, the sink ends it and writes it to the file.  If the trace is
 * compressed, each trace block becomes one gzip member.  A bare trace has no
 * header, no block comments and no trailer.
 *
 * The encoder's planner (place.h) chooses the metadata.  With the default
 * planner, a bare trace is not divided into trace blocks: after each write to
 * the file, the encoder continues without repeating metadata.  Any other
 * planner chooses the metadata of a whole trace block at once, and decides
 * where trace blocks end.  Each trace block then has all of its metadata, also
 * in a bare trace.
 */
#include "hatf/formats/common/format.h"

#include "hatf/codec/encoder.h"
#include "hatf/deflate/deflate.h"
#include "hatf/formats/ours/trial.h"
#include "hatf/io/gzip_best.h"
#include "hatf/optimum/optimum.h"

#include <stdlib.h>

/*
 * The length of a trace block, in bytes: small enough for seeking, but large
 * compared with a compressor's window of 32 KiB.
 */
#define BLOCK_NBYTES (256 * 1024)

struct hatf {
	struct encoder encoder;
	/* NULL: use the encoder's default planner */
	struct place_planner *planner;
	struct place_planner offline;
	bool in_block;
	size_t buf_nbytes;
	/* the encoder's buffer, 'buf_nbytes' bytes */
	uint8_t *buf;
	void *span; /* memory for the encoder's span */
	/* the encoder's column of stacks; NULL if the trace is bare */
	struct stack_column *column;
	/* deflate_bound(buf_nbytes) bytes; NULL if there is no compression */
	uint8_t *member;
	/* the compressor; NULL if there is no compression */
	struct gzip_best *squeeze;
	/* the placement is "smallest" (TECHNIQUE_SMALLEST) */
	bool smallest;
	/*
	 * tries several placements; NULL: one planner places the metadata
	 */
	struct trial *trial;
};

/* Write all records of the encoder's span into the buffer. */
static void
flush_span(struct hatf *h)
{
	if (h->trial != NULL)
		trial_flush(h->trial, &h->encoder);
	else
		encoder_flush(&h->encoder);
}

/*
 * Write the buffer to the file, as one gzip member if the trace is compressed.
 * Also end the trace block, unless the trace is bare and the planner is the
 * default.
 */
static enum hatf_status
flush(struct sink *s)
{
	struct hatf *const h = s->ctx;
	struct encoder *const e = &h->encoder;

	flush_span(h);
	s->tally.record_count += encoder_end(e);
	if (e->used == 0)
		return HATF_OK;
	if (s->options.plain) {
		outfile_bytes(&s->out, e->buf, e->used);
	} else {
		const size_t nbytes =
			gzip_best_member(h->squeeze, e->buf, e->used, h->member,
					 deflate_bound(h->buf_nbytes));

		outfile_bytes(&s->out, h->member, nbytes);
	}
	/* Write the bytes to the file now; do not wait until s->out is full. */
	outfile_drain(&s->out);
	encoder_reset(e);
	s->offset = e->stream_nbytes;
	h->in_block = s->options.bare && h->planner == NULL && h->in_block;
	return s->out.status;
}

/* If no trace block is open, begin one for 'rec'. */
static void
open_block(struct sink *s, const struct hatf_record *rec)
{
	struct hatf *const h = s->ctx;
	/*
	 * A comment has no time of its own, so use the time of the previous
	 * record.
	 */
	const uint64_t time =
		rec->tag == HATF_COMMENT ? s->last_time : rec->time;

	if (h->in_block)
		return;
	h->in_block = true;
	if (s->options.bare) {
		encoder_begin_bare(&h->encoder);
		return;
	}
	encoder_begin(&h->encoder, s->tally.event_count, time);
	s->tally.record_count++;
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct hatf *const h = s->ctx;
	struct encoder *const e = &h->encoder;

	for (size_t i = 0; i < n; i++) {
		open_block(s, &records[i]);
		encoder_put(e, &records[i]);
		sink_count(s, &records[i], 1);
		if (encoder_is_full(e, BLOCK_NBYTES) && flush(s) != HATF_OK)
			break;
	}
	s->offset = e->stream_nbytes + e->used;
	return s->out.status;
}

/*
 * Put the header comment.  Return false if the lines in s->options.header are
 * too long.
 */
static bool
put_header(struct sink *s)
{
	struct hatf *const h = s->ctx;
	/*
	 * Build the text at the end of the empty buffer.  The encoder copies it
	 * to the start of the buffer, where the copy cannot overlap the text.
	 */
	char *const scratch = (char *)h->buf + h->buf_nbytes - UINT16_MAX;
	struct text t;

	text_init(&t, scratch, UINT16_MAX);
	if (!sink_header(s, &t) ||
	    !encoder_comment(&h->encoder, scratch, t.used))
		return false;
	s->tally.record_count++;
	return true;
}

static void
put_trailer(struct sink *s)
{
	struct hatf *const h = s->ctx;
	struct encoder *const e = &h->encoder;
	char buf[SINK_TRAILER_MAX];
	struct text t;

	flush_span(h);
	s->tally.record_count += encoder_end_column(e);
	text_init(&t, buf, sizeof(buf));
	sink_trailer(s, &t);
	text_line_u64(&t, "hatf_bytes", e->stream_nbytes + e->used);
	encoder_trailer(e, &t);
}

static enum hatf_status
finish(struct sink *s)
{
	if (!s->options.bare)
		put_trailer(s);
	return flush(s);
}

static int
level(const struct sink *s)
{
	return s->options.level == 0 ? GZIP_BEST_LEVEL_DEFAULT
				     : s->options.level;
}

static enum hatf_status
allocate(struct sink *s)
{
	struct hatf *const h = s->ctx;
	const struct place_planner *const planner = h->planner;

	/*
	 * The buffer must have room for BLOCK_NBYTES, for the records that the
	 * encoder may append to a buffer of that length, for a block comment or
	 * trailer, and for the column of stacks.
	 */
	h->buf_nbytes = BLOCK_NBYTES + encoder_room_nbytes(planner) +
			ENCODER_RECORD_MAX_NBYTES + ENCODER_COLUMN_NBYTES;
	h->buf = malloc(h->buf_nbytes);
	h->span = malloc(encoder_memory_nbytes(planner));
	if (h->buf == NULL || h->span == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	encoder_init(&h->encoder, h->buf, h->buf_nbytes, planner, h->span);
	if (!s->options.bare) {
		/*
		 * calloc() gives zeroed pages, which take memory only when a
		 * record has a stack.
		 */
		h->column = calloc(1, sizeof(*h->column));
		if (h->column == NULL)
			return sink_fail(s, HATF_NO_MEMORY, NULL);
		encoder_use_column(&h->encoder, h->column);
	}
	/*
	 * In a compressed trace, each gzip member already has a checksum.  The
	 * encoder adds no comments to a bare trace, and thus no checksums.
	 */
	h->encoder.has_sums = s->options.plain && !s->options.bare;
	if (s->options.plain)
		return HATF_OK;
	h->member = malloc(deflate_bound(h->buf_nbytes));
	h->squeeze = gzip_best_open(level(s));
	if (h->member == NULL || h->squeeze == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	if (!h->smallest)
		return HATF_OK;
	h->trial = trial_new(h->offline.context, h->squeeze, h->buf_nbytes);
	return h->trial != NULL ? HATF_OK : sink_fail(s, HATF_NO_MEMORY, NULL);
}

/* Prepare the placement that the caller chose. */
static enum hatf_status
choose_planner(struct sink *s)
{
	const char *const name = s->options.placement;
	struct hatf *const h = s->ctx;

	if (name == NULL || strcmp(name, "online") == 0)
		return HATF_OK;

	/*
	 * Use "optimum" in place of "smallest".  Without compression, the
	 * result of "optimum" is always the smallest.  With compression,
	 * "optimum" is one of the placements that the trial compares.
	 */
	h->smallest = strcmp(name, TECHNIQUE_SMALLEST) == 0;

	const struct technique *const technique =
		technique_find(h->smallest ? "optimum" : name);

	if (technique == NULL)
		return sink_fail(s, HATF_BAD_OPTION, "placement");
	h->planner = &h->offline;
	h->offline.plan = optimum_span;
	h->offline.records = OPTIMUM_SPAN;
	h->offline.changes = OPTIMUM_SPAN;
	h->offline.is_span_block = true;
	h->offline.context = optimum_new(technique);
	if (h->offline.context == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	return HATF_OK;
}

static enum hatf_status
open_sink(struct sink *s)
{
	struct hatf *const h = calloc(1, sizeof(*h));
	enum hatf_status status;

	if (h == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = h;
	if (level(s) < GZIP_BEST_LEVEL_MIN || level(s) > GZIP_BEST_LEVEL_MAX)
		return sink_fail(s, HATF_BAD_OPTION, "level");
	status = choose_planner(s);
	if (status == HATF_OK)
		status = allocate(s);
	if (status != HATF_OK)
		return status;
	if (!s->options.bare && !put_header(s))
		return sink_fail(s, HATF_LIMIT, "header");
	return HATF_OK;
}

static void
close_sink(struct sink *s)
{
	struct hatf *const h = s->ctx;

	if (h == NULL)
		return;
	trial_free(h->trial);
	optimum_free(h->offline.context);
	free(h->buf);
	free(h->span);
	free(h->column);
	free(h->member);
	gzip_best_close(h->squeeze);
	free(h);
}

const struct sink_ops hatf_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};

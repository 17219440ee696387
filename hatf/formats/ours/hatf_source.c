/* SPDX-License-Identifier: MIT */
/*
 * hatf_source.c - read records from HATF: the decoder on the window
 *
 * The records are decoded in place in the window.  The decoder counts the
 * records and stops at each comment, so that s->framing (framing.h) gets the
 * comment before anything after it is decoded.
 */
#include "hatf/codec/crc32c.h"
#include "hatf/decoder/decoder.h"
#include "hatf/decoder/stack_entries.h"
#include "hatf/formats/common/format.h"

#include <stdlib.h>

/*
 * The decoder must be the first member, because some functions take s->ctx as a
 * 'struct decoder'.
 */
struct hatf_in {
	struct decoder decoder;
	/*
	 * Checksum of the bytes before 'summed', a position in the window.  If
	 * the trace block has had a comment with a checksum, the bytes begin
	 * after the latest such comment, else at the start of the trace block.
	 * Valid only if 'has_sums' is set.
	 */
	uint32_t sum;
	const uint8_t *summed;
	bool has_sums;
	/* NULL: the trace has had no column of stacks so far */
	struct stack_entries *entries;
	/*
	 * Copies of the attributes of the latest records, each with a stack
	 * from the column appended.
	 */
	uint8_t *items;
	size_t items_nbytes, items_cap;
};

_Static_assert(INPUT_WINDOW_NBYTES > DECODER_RECORD_MAX_NBYTES,
	       "the longest record must fit into the window");

/*
 * Accept a file without a header as HATF if its first PROBE_COUNT records can
 * be decoded, or all its records if the file has fewer.  One byte value in 21
 * is a tag, so one record can sometimes be decoded in a file of another format,
 * but practically never this many records.
 */
#define PROBE_COUNT 8

/* A comment begins with its tag (1 byte) and its length (2 bytes). */
#define COMMENT_HEAD_NBYTES (1 + 2)

/*
 * In a binary file with small numbers among zeros, more than PROBE_COUNT valid
 * records may come before the first invalid one.  If one of the first PROBE_MAX
 * records is invalid, treat the file as a damaged trace only if the records
 * before the invalid one make sense.
 */
#define PROBE_MAX 64

/* Stop reading at the first record that the decoder has not decoded. */
static void
stop(struct source *s, enum hatf_status status, const char *field)
{
	const struct decoder *const d = s->ctx;

	s->offset = d->offset;
	s->tally.record_count = d->record_count;
	source_stop(s, status, field);
}

/* Stop reading because the input has no more bytes than those in the window. */
static void
stop_at_end(struct source *s)
{
	const struct decoder *const d = s->ctx;
	const size_t left = input_window_left(&s->window);
	enum hatf_status status = s->window.input.status;
	const char *field = NULL;

	if (left == 0 && status == HATF_END)
		status = framing_end(&s->framing, d->offset, &field);
	else if (status == HATF_END)
		status = HATF_TRUNCATED;
	if (left != 0 && status == HATF_TRUNCATED)
		field = decoder_cut_field(d, s->window.next, left);
	stop(s, status, field);
}

/* Add the bytes of the window up to 'end' to the checksum. */
static void
sum_up_to(struct hatf_in *in, const uint8_t *end)
{
	if (in->has_sums)
		in->sum = crc32c_add(in->sum, in->summed,
				     (size_t)(end - in->summed));
	in->summed = end;
}

/* Restart the checksum at 'start', a position in the window. */
static void
restart_sum(struct hatf_in *in, const uint8_t *start)
{
	in->sum = 0;
	in->summed = start;
}

/*
 * A checksum in a comment covers the bytes before the digits of this checksum.
 * If the comment contains a checksum, check it.  If the comment begins a trace
 * block other than the first, restart the computed checksum.  Return false if
 * the checksum in the comment is wrong, or if the comment has no checksum
 * although framing_is_sum() says that it ends a trace block.
 */
static bool
check_sum(struct source *s, const struct hatf_record *comment)
{
	struct hatf_in *const in = s->ctx;
	const char *digits;

	if (!in->has_sums)
		return true;
	if (framing_is_block(comment) && s->framing.block_count != 0) {
		restart_sum(in, comment->attributes - COMMENT_HEAD_NBYTES);
		return true;
	}
	digits = framing_find_sum(comment);
	if (digits == NULL)
		return !framing_is_sum(comment);
	sum_up_to(in, (const uint8_t *)digits);
	if (!framing_sum_is(digits, in->sum))
		return false;
	restart_sum(in, comment->attributes + comment->attributes_nbytes);
	return true;
}

/* Begin to read a column of stacks. */
static enum hatf_status
begin_column(struct hatf_in *in, const struct hatf_record *comment)
{
	if (in->entries == NULL)
		in->entries = malloc(sizeof(*in->entries));
	if (in->entries == NULL)
		return HATF_NO_MEMORY;
	return stack_entries_begin(in->entries, comment) ? HATF_OK
							 : HATF_BAD_COMMENT;
}

/*
 * If the comment contains a column of stacks, begin the column.  If the comment
 * begins a trace block, end the current column.
 */
static enum hatf_status
note_column(struct source *s, const struct hatf_record *comment)
{
	struct hatf_in *const in = s->ctx;

	if (s->framing.ours && stack_entries_is_column(comment))
		return begin_column(in, comment);
	if (in->entries != NULL && framing_is_block(comment))
		in->entries->is_active = false;
	return HATF_OK;
}

/*
 * Reserve memory for copies of the attributes of 'max' records, each with a
 * stack appended.  Without the stacks, these attributes are in the window, so
 * they take at most INPUT_WINDOW_NBYTES.
 *
 * If there is no memory, stop reading and return false.  Also return false if
 * in->items is too small, but contains attributes of records that the present
 * call of read_records() has already read; the call must then return these
 * records.
 */
static bool
reserve_items(struct source *s, size_t max)
{
	struct hatf_in *const in = s->ctx;
	const size_t cap =
		INPUT_WINDOW_NBYTES + max * STACK_ENTRIES_ITEM_NBYTES;

	if (in->items_cap >= cap)
		return true;
	if (in->items_nbytes != 0)
		return false;
	free(in->items);
	in->items_cap = 0;
	in->items = malloc(cap);
	if (in->items == NULL) {
		stop(s, HATF_NO_MEMORY, NULL);
		return false;
	}
	in->items_cap = cap;
	return true;
}

/*
 * For each record, append its stack from the column to the record's attributes.
 */
static void
add_stacks(struct hatf_in *in, struct hatf_record *records, size_t n)
{
	for (size_t i = 0; i < n && in->entries->is_active; i++) {
		const uint32_t stack =
			records[i].tag < HATF_COMMENT
				? stack_entries_next(in->entries, &records[i])
				: 0;

		if (stack != 0)
			in->items_nbytes += stack_entries_append(
				&records[i], stack,
				in->items + in->items_nbytes);
	}
}

/*
 * Check the checksum of a comment, pass the comment to s->framing, and begin or
 * end a column of stacks.  If one of these steps fails, stop reading with an
 * error at this comment, and return false.
 */
static bool
note_comment(struct source *s, const struct hatf_record *comment)
{
	const struct decoder *const d = s->ctx;
	/*
	 * Subtract 1, because the decoder's count already includes the comment.
	 */
	const struct framing_position position = {
		.record_count = d->record_count - 1,
		.event_count = d->event_count,
		.end = d->offset,
	};
	const char *field = "crc32c";
	enum hatf_status status = HATF_BAD_COMMENT;

	if (check_sum(s, comment))
		status = framing_note(&s->framing, comment, &position, &field);
	if (status == HATF_OK) {
		field = "stacks";
		status = note_column(s, comment);
	}
	if (status == HATF_OK)
		return true;
	stop(s, status, field);
	s->err.offset = comment->offset;
	s->err.record--;
	return false;
}

/* Copy the position and the counts of the decoder to the source. */
static void
update_counts(struct source *s)
{
	const struct decoder *const d = s->ctx;

	s->offset = d->offset;
	s->tally.record_count = d->record_count;
	memcpy(s->tally.tag_count, d->tag_count, sizeof(d->tag_count));
}

/*
 * Read more into the window, as input_window_more() does.  First add the
 * decoded bytes to the checksum, because input_window_more() overwrites them.
 */
static bool
read_on(struct source *s)
{
	struct hatf_in *const in = s->ctx;
	bool is_more;

	sum_up_to(in, s->window.next);
	is_more = input_window_more(&s->window);
	in->summed = s->window.next;
	return is_more;
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct hatf_in *const in = s->ctx;
	struct decoder *const d = &in->decoder;
	size_t n = 0, count;

	in->items_nbytes = 0;
	while (n < max && s->err.status == HATF_OK) {
		const bool has_column =
			in->entries != NULL && in->entries->is_active;

		if (has_column && !reserve_items(s, max))
			break;
		count = decoder_decode(d, &s->window.next, s->window.end,
				       records + n, max - n);
		if (has_column)
			add_stacks(in, records + n, count);
		n += count;
		if (d->stop == DECODER_COMMENT) {
			if (!note_comment(s, &records[n - 1]))
				n--;
		} else if (d->stop == DECODER_BAD) {
			stop(s, d->status, d->field);
		} else if (d->stop == DECODER_MORE) {
			if (n > 0)
				/*
				 * Stop, because the records point into the
				 * window, which read_on() would move.
				 */
				break;
			if (!read_on(s))
				stop_at_end(s);
		}
	}
	update_counts(s);
	return n;
}

/* ------------------------------------------------------------------ opening */

/* Are most of the records allocs, frees and reallocs that have no address? */
static bool
lacks_blocks(const struct hatf_record *records, size_t n)
{
	size_t blockless_count = 0;

	for (size_t i = 0; i < n; i++)
		blockless_count += records[i].tag <= HATF_REALLOC_FREE &&
				   records[i].address == 0 &&
				   records[i].old_address == 0;
	return blockless_count > n / 2;
}

/*
 * Does a record free or resize a block that one of the records before it
 * allocated?
 */
static bool
has_pair(const struct hatf_record *records, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct hatf_record *const r = &records[i];
		const uint64_t address =
			r->tag == HATF_FREE ? r->address : r->old_address;

		if (r->tag > HATF_REALLOC_FREE || address == 0)
			continue;
		for (size_t k = 0; k < i; k++)
			if (records[k].tag <= HATF_REALLOC_FREE &&
			    records[k].tag != HATF_FREE &&
			    records[k].address == address)
				return true;
	}
	return false;
}

/*
 * Is one of these records implausible so early in a trace?  A record is
 * implausible if it is an alloc, free or realloc without an address, is a
 * realloc whose addresses belong to another tag (FORMAT "Realloc"), or ends a
 * thread or heap.
 */
static bool
has_misfit(const struct hatf_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct hatf_record *const r = &records[i];
		const bool begins = r->tag == HATF_REALLOC_ALLOC_FREE ||
				    r->tag == HATF_REALLOC_ALLOC;
		const bool ends = r->tag == HATF_REALLOC_ALLOC_FREE ||
				  r->tag == HATF_REALLOC_FREE;

		if (lacks_blocks(r, 1) || r->tag == HATF_DESTROY_THREAD ||
		    r->tag == HATF_DESTROY_HEAP ||
		    ((begins || ends) && (begins != (r->address != 0) ||
					  ends != (r->old_address != 0))))
			return true;
	}
	return false;
}

/*
 * Decode more records after the first 'n'.  Return NULL if they look like HATF,
 * else the name of the invalid field.
 */
static const char *
probe_further(struct source *s, struct decoder *trial, const uint8_t *next,
	      struct hatf_record *records, size_t n)
{
	do
		n += decoder_decode(trial, &next, s->window.end, records + n,
				    PROBE_MAX - n);
	while (trial->stop == DECODER_COMMENT && n < PROBE_MAX);
	if (has_pair(records, n))
		return NULL;
	if (trial->stop == DECODER_BAD && has_misfit(records, n))
		return trial->field;
	return lacks_blocks(records, n) ? "size" : NULL;
}

/*
 * Decode the first records on trial.  Return NULL if they are HATF.  Also
 * return NULL if the trace is truncated after its first record, or if its
 * compressed data is damaged, because read_records() reports this later.  Else
 * return the name of the invalid field.  Afterwards, 'trial' has the position
 * at which decoding ended.
 */
static const char *
probe(struct source *s, struct decoder *trial)
{
	struct hatf_record records[PROBE_MAX];
	struct input_window *const w = &s->window;

	for (;;) {
		const uint8_t *next = w->next;
		size_t n = 0;

		decoder_init(trial, true);
		do
			n += decoder_decode(trial, &next, w->end, records + n,
					    PROBE_COUNT - n);
		while (trial->stop == DECODER_COMMENT && n < PROBE_COUNT);
		if (trial->stop == DECODER_BAD)
			return trial->field;
		/*
		 * Without this check, a file of zeros would be accepted as
		 * failed calls of malloc(0).
		 */
		if (n == PROBE_COUNT && lacks_blocks(records, n))
			return "size";
		if (n == PROBE_COUNT)
			return probe_further(s, trial, next, records, n);
		if (trial->stop != DECODER_MORE)
			return NULL;
		/* A whole window of valid records proves that this is HATF. */
		if (input_window_left(w) == INPUT_WINDOW_NBYTES)
			return NULL;
		if (input_window_more(w))
			continue;
		/*
		 * Refuse a file that ends inside its first record.  But if the
		 * compressed data is damaged or truncated, accept the file,
		 * because read_records() reports the damage.
		 */
		if (n == 0 && w->input.status == HATF_END)
			return decoder_cut_field(trial, next,
						 (size_t)(w->end - next));
		return NULL;
	}
}

/* Decode the header, which is the first record, if the input has all of it. */
static void
read_header(struct source *s)
{
	struct hatf_in *const in = s->ctx;
	struct decoder *const d = &in->decoder;
	struct input_window *const w = &s->window;
	const char *const compression = input_compression(&w->input);
	struct hatf_record header;
	size_t n;

	s->framing.ours = true;
	do {
		n = decoder_decode(d, &w->next, w->end, &header, 1);
	} while (n == 0 && input_window_more(w));
	if (n == 0) {
		in->summed = w->next;
		return;
	}
	note_comment(s, &header);
	/*
	 * The caller also gets the header as the first record, so prepare to
	 * decode it again.
	 */
	decoder_init(d, d->want_metadata);
	w->next -= COMMENT_HEAD_NBYTES + header.attributes_nbytes;
	in->summed = w->next;
	/*
	 * In a gzip file, do not check the checksums in comments, because the
	 * input checks the checksum of each gzip member.
	 */
	in->has_sums = compression == NULL || strcmp(compression, "gzip") != 0;
	update_counts(s);
}

static enum hatf_status
open_source(struct source *s)
{
	struct hatf_in *const in = malloc(sizeof(*in));
	struct decoder trial;
	const char *field;

	if (in == NULL)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	s->ctx = in;
	decoder_init(&in->decoder, (s->flags & HATF_READER_METADATA) != 0);
	in->has_sums = false;
	in->entries = NULL;
	in->items = NULL;
	in->items_cap = 0;
	restart_sum(in, s->window.next);
	if (framing_is_ours(s->window.next, input_window_left(&s->window))) {
		read_header(s);
		return HATF_OK;
	}
	/*
	 * Records that make no sense are still valid HATF, so accept them if
	 * the caller named the format.
	 */
	field = s->is_named ? NULL : probe(s, &trial);
	if (field == NULL)
		return HATF_OK;
	s->offset = trial.offset;
	s->tally.record_count = trial.record_count;
	return source_stop(s, HATF_NOT_HATF, field);
}

static void
close_source(struct source *s)
{
	struct hatf_in *const in = s->ctx;

	if (in == NULL)
		return;
	free(in->entries);
	free(in->items);
	free(in);
}

const struct source_ops hatf_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

/* SPDX-License-Identifier: MIT */
/*
 * framing.c - see framing.h
 */
#include "hatf/formats/common/framing.h"

#include "hatf/codec/bytes.h"
#include "hatf/codec/comment_text.h"

#include <string.h>

#define HEADER "HATF 1.0"

/* The text of a comment. */
struct note {
	const char *text;
	size_t nbytes;
};

/* Does the comment begin with the line 'kind'? */
static bool
is_kind(const struct note *note, const char *kind)
{
	const size_t nbytes = strlen(kind);

	return note->nbytes >= nbytes &&
	       memcmp(note->text, kind, nbytes) == 0 &&
	       (note->nbytes == nbytes || note->text[nbytes] == '\n');
}

/* Does the comment have a line with this key, and is its value 'want'? */
static bool
agrees(const struct note *note, const char *key, uint64_t want)
{
	uint64_t n;

	return text_find_u64(note->text, note->nbytes, key, &n) && n == want;
}

bool
framing_is_ours(const uint8_t *bytes, size_t nbytes)
{
	const size_t text = 1 + 2; /* bytes before the text: tag and length */

	return nbytes >= text + strlen(HEADER) && bytes[0] == HATF_COMMENT &&
	       memcmp(bytes + text, HEADER, strlen(HEADER)) == 0 &&
	       (nbytes == text + strlen(HEADER) ||
		get_be16(bytes + 1) == strlen(HEADER) ||
		bytes[text + strlen(HEADER)] == '\n');
}

bool
framing_is_loss(const struct hatf_record *comment)
{
	const struct note note = { (const char *)comment->attributes,
				   comment->attributes_nbytes };

	return is_kind(&note, "HATF lost");
}

static bool
has_kind(const struct hatf_record *comment, const char *kind)
{
	const struct note note = { (const char *)comment->attributes,
				   comment->attributes_nbytes };

	return is_kind(&note, kind);
}

bool
framing_is_block(const struct hatf_record *comment)
{
	return has_kind(comment, "HATF block");
}

bool
framing_is_sum(const struct hatf_record *comment)
{
	return has_kind(comment, "HATF sum");
}

const char *
framing_find_sum(const struct hatf_record *comment)
{
	static const char key[] = "\ncrc32c=";
	const size_t nbytes = sizeof(key) - 1 + FRAMING_SUM_NBYTES;
	const char *line;

	if (comment->attributes_nbytes < nbytes ||
	    (!framing_is_sum(comment) && !has_kind(comment, "HATF end")))
		return NULL;
	line = (const char *)comment->attributes + comment->attributes_nbytes -
	       nbytes;
	return memcmp(line, key, sizeof(key) - 1) == 0 ? line + sizeof(key) - 1
						       : NULL;
}

bool
framing_sum_is(const char *digits, uint32_t sum)
{
	uint8_t want[FRAMING_SUM_NBYTES];

	crc32c_write(sum, want);
	want[CRC32C_DIGITS] = '\n';
	return memcmp(digits, want, sizeof(want)) == 0;
}

/* Does a record other than a comment follow the latest trace block? */
static bool
has_strays(const struct framing *framing)
{
	return framing->block_count != 0 &&
	       framing->data_end > framing->block_end;
}

/*
 * Remember the position of a comment in a trace of ours.  The comment extends
 * from 'offset' to 'end'.
 */
static void
note_position(struct framing *framing, uint64_t offset, uint64_t end)
{
	if (offset != framing->comment_end)
		framing->data_end = offset;
	framing->comment_end = end;
}

static const char *
note_block(struct framing *framing, const struct note *note, uint64_t offset,
	   const struct framing_position *position)
{
	/*
	 * The first trace block begins at the start of the stream, before its
	 * block comment.
	 */
	const uint64_t start = framing->block_count == 0 ? 0 : offset;
	uint64_t nbytes;

	if (!agrees(note, "block", framing->block_count))
		return "block";
	if (!agrees(note, "record", position->record_count))
		return "record";
	if (!agrees(note, "event", position->event_count))
		return "event";
	/*
	 * Between the previous trace block and this one, only comments are
	 * allowed.
	 */
	if (offset < framing->block_end || has_strays(framing) ||
	    !text_find_u64(note->text, note->nbytes, "bytes", &nbytes) ||
	    __builtin_add_overflow(start, nbytes, &framing->block_end) ||
	    framing->block_end < position->end)
		return "bytes";
	framing->block_count++;
	return NULL;
}

static const char *
note_lost(struct framing *framing, const struct note *note)
{
	uint64_t n;

	if (!text_find_u64(note->text, note->nbytes, "count", &n))
		return "count";
	framing->lost_count += n;
	/*
	 * If the sum overflows, use the largest number, because a sum that
	 * wraps around would look small.
	 */
	if (framing->lost_count < n)
		framing->lost_count = UINT64_MAX;
	return NULL;
}

static const char *
note_end(struct framing *framing, const struct note *note, uint64_t offset,
	 const struct framing_position *position)
{
	if (!agrees(note, "events", position->event_count))
		return "events";
	if (!agrees(note, "records", position->record_count))
		return "records";
	if (!framing->foreign && !agrees(note, "hatf_bytes", offset))
		return "hatf_bytes";
	framing->complete = agrees(note, "complete", 1) &&
			    agrees(note, "lost", 0) && framing->lost_count == 0;
	framing->trailer_end = position->end;
	return NULL;
}

/*
 * Can the comment be the header?  In HATF, nothing may precede the header, not
 * even metadata.
 */
static bool
is_first(const struct framing *framing, const struct hatf_record *comment,
	 const struct framing_position *position)
{
	return framing->foreign ? position->record_count == 0
				: comment->offset == 0;
}

/*
 * Is the comment a trailer that states its own position, although the trace has
 * no header?  If so, the header of the trace has been removed or changed.
 */
static bool
lacks_header(const struct framing *framing, const struct note *note,
	     uint64_t offset)
{
	return !framing->foreign && is_kind(note, "HATF end") &&
	       agrees(note, "hatf_bytes", offset);
}

/* Remember the lines of the header, the first comment of a trace of ours. */
static enum hatf_status
note_header(struct framing *framing, const struct note *note)
{
	/*
	 * The source of HATF passes the header twice: when it opens the trace,
	 * and as the first record.  Keep the lines of the first time, because
	 * callers may have pointers to values in these lines.
	 */
	if (framing->header.buf != NULL)
		return HATF_OK;
	framing->ours = true;
	return comment_lines_set(&framing->header, note->text, note->nbytes)
		       ? HATF_OK
		       : HATF_NO_MEMORY;
}

enum hatf_status
framing_note(struct framing *framing, const struct hatf_record *comment,
	     const struct framing_position *position, const char **field_ret)
{
	const struct note note = { (const char *)comment->attributes,
				   comment->attributes_nbytes };
	const char *field = NULL;

	if (is_first(framing, comment, position) && is_kind(&note, HEADER))
		return note_header(framing, &note);
	if (!framing->ours) {
		*field_ret = HEADER;
		return lacks_header(framing, &note, comment->offset)
			       ? HATF_BAD_COMMENT
			       : HATF_OK;
	}
	note_position(framing, comment->offset, position->end);
	if (framing_is_block(comment)) {
		if (!framing->foreign)
			field = note_block(framing, &note, comment->offset,
					   position);
	} else if (framing_is_loss(comment))
		field = note_lost(framing, &note);
	else if (is_kind(&note, HEADER))
		/*
		 * Reject a second header, because only the first comment may be
		 * a header.
		 */
		field = HEADER;
	else if (is_kind(&note, "HATF end")) {
		field = note_end(framing, &note, comment->offset, position);
		if (field == NULL && !comment_lines_set(&framing->trailer,
							note.text, note.nbytes))
			return HATF_NO_MEMORY;
	}
	*field_ret = field;
	return field == NULL ? HATF_OK : HATF_BAD_COMMENT;
}

enum hatf_status
framing_end(struct framing *framing, uint64_t end, const char **field_ret)
{
	if (!framing->ours) {
		framing->complete = true;
		return HATF_END;
	}
	if (!framing_at_trailer(framing, end))
		return HATF_NO_TRAILER;
	if (framing->foreign ||
	    (framing->block_end <= end && !has_strays(framing)))
		return HATF_END;
	*field_ret = "bytes";
	return HATF_BAD_COMMENT;
}

void
framing_fini(struct framing *framing)
{
	comment_lines_fini(&framing->header);
	comment_lines_fini(&framing->trailer);
}

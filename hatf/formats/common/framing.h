/* SPDX-License-Identifier: MIT */
/*
 * framing.h - check what our own comments say about a trace
 *
 * A trace by this project begins with a header comment.  Each trace block
 * begins with a comment that states its position.  The last record is a trailer
 * comment with the totals (FORMAT "Comments of this project").  These comments
 * show whether a piece is missing: the reader compares their positions and
 * totals with what it has read.  A block comment or a trailer that contradicts
 * the records is an error.
 *
 * Comments of a trace without a header are ignored.  Exception: in HATF, a
 * trailer that correctly states its own position is an error, because it shows
 * that the header was removed or changed.  In formats other than HATF, block
 * comments and numbers of bytes are ignored.  Only one thread may use a 'struct
 * framing'.  Zero it before use.
 */
#ifndef HATF_FRAMING_H
#define HATF_FRAMING_H

#include "hatf/codec/crc32c.h"
#include "hatf/hatf.h"
#include "hatf/io/comment_lines.h"

struct framing {
	bool ours; /* the trace is ours: its first record is a header */
	/*
	 * In a trace of ours: the trailer says that the trace is complete, and
	 * no comment says that events were lost.  In other traces: the end was
	 * reached.
	 */
	bool complete;
	struct comment_lines header;
	/* lines of the latest trailer ("HATF end") */
	struct comment_lines trailer;
	/* position after the latest trailer; 0: none */
	uint64_t trailer_end;
	uint64_t block_count;
	/*
	 * offset at which the latest trace block ends, according to its comment
	 */
	uint64_t block_end;
	/*
	 * 'comment_end' is the offset at which the latest comment ends.
	 * 'data_end' is the offset at which the last other record before this
	 * comment ends.
	 */
	uint64_t comment_end, data_end;
	uint64_t lost_count; /* number of lost events so far */
	/* The caller sets this flag if the trace is not in HATF. */
	bool foreign;
};

/* The position of a comment in the trace. */
struct framing_position {
	uint64_t record_count; /* number of data records before the comment */
	uint64_t event_count;  /* number of logical events before the comment */
	/*
	 * Position after the comment.  In HATF, it is an offset in the stream;
	 * in other formats, it is any number that increases from record to
	 * record.
	 */
	uint64_t end;
};

/*
 * Is a stream that begins with these bytes a HATF trace with a header?  The
 * bytes may be only a part of the header.
 */
bool framing_is_ours(const uint8_t *bytes, size_t nbytes);

/*
 * framing_is_block() returns whether the comment begins a trace block.
 * framing_is_sum() returns whether the comment ends a trace block and contains
 * the checksum of the block (FORMAT "Sums").
 */
bool framing_is_block(const struct hatf_record *comment);
bool framing_is_sum(const struct hatf_record *comment);

/*
 * framing_find_sum() returns a pointer to the checksum in a sum or trailer
 * comment: FRAMING_SUM_NBYTES bytes, the digits and a newline.  It returns NULL
 * if the comment has no checksum.  framing_sum_is() returns whether such bytes,
 * at 'digits', state the checksum 'sum'.
 */
#define FRAMING_SUM_NBYTES (CRC32C_DIGITS + 1) /* digits and a newline */
const char *framing_find_sum(const struct hatf_record *comment);
bool framing_sum_is(const char *digits, uint32_t sum);

/* Does the comment report lost events?  Their number is in its line "count". */
bool framing_is_loss(const struct hatf_record *comment);

/*
 * Check the comment at 'position', and remember what it says.  Errors:
 * HATF_BAD_COMMENT, with the invalid key in '*field_ret' (static);
 * HATF_NO_MEMORY.
 */
enum hatf_status framing_note(struct framing *framing,
			      const struct hatf_record *comment,
			      const struct framing_position *position,
			      const char **field_ret);

/*
 * Check the end of the stream: a record ends at 'end', and none follows.
 * Return HATF_NO_TRAILER if the trace is ours and its last record is not a
 * trailer.  In HATF, also check the position of the last trace block, which its
 * comment states.  If the block ends after 'end', or if records other than
 * comments follow the block, return HATF_BAD_COMMENT, with '*field_ret' as in
 * framing_note().  Otherwise return HATF_END.
 */
enum hatf_status framing_end(struct framing *framing, uint64_t end,
			     const char **field_ret);

/* Is the last record before 'end' a trailer? */
static inline bool
framing_at_trailer(const struct framing *framing, uint64_t end)
{
	return framing->trailer_end != 0 && framing->trailer_end == end;
}

/* Free the lines of the header and the trailer. */
void framing_fini(struct framing *framing);

#endif /* HATF_FRAMING_H */

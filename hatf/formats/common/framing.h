/* SPDX-License-Identifier: MIT */
/*
 * framing.h - check the claims that our own comments make about a trace
 *
 * A trace by this project begins with a header comment.  Each block begins with
 * a comment that states its position.  The last record is a trailer comment
 * with the totals (FORMAT "Comments of this project").  These comments reveal a
 * missing piece, so every number that a reader can know is compared: a block or
 * a trailer that contradicts the records is an error.
 *
 * Comments of a trace without a header are ignored, and so are claims about
 * bytes of HATF where the trace is in another format.  One thread uses a
 * 'struct framing'; all 0 at the start.
 */
#ifndef HATF_FRAMING_H
#define HATF_FRAMING_H

#include "hatf/codec/crc32c.h"
#include "hatf/hatf.h"
#include "hatf/io/comment_lines.h"

struct framing {
	bool ours;     /* the first record is a header */
	bool complete; /* the trailer says so, and no event was lost */
	struct comment_lines header;
	struct comment_lines trailer; /* lines of the last "HATF end" */
	uint64_t trailer_end;	      /* position after that comment; 0: none */
	uint64_t block_count;
	uint64_t block_end; /* offset at which the last block claims to end */
	/*
	 * Offsets: end of the last comment, and end of the last record that is
	 * not a comment.
	 */
	uint64_t comment_end, data_end;
	uint64_t lost_count; /* events */
	bool foreign;	     /* set by the caller: not a HATF stream */
};

/* The position of a comment in the trace. */
struct framing_position {
	uint64_t record_count; /* data records before it */
	uint64_t event_count;  /* logical events before it */
	/*
	 * Position after the comment, larger for each record.  In HATF: bytes
	 * of the stream; in other formats: any such number.
	 */
	uint64_t end;
};

/*
 * Return true if these first bytes of a stream begin a header.  They may end
 * within it.
 */
bool framing_is_ours(const uint8_t *bytes, size_t nbytes);

/*
 * Return true if the comment begins a block, or ends one with its checksum
 * (FORMAT "Sums").
 */
bool framing_is_block(const struct hatf_record *comment);
bool framing_is_sum(const struct hatf_record *comment);

/*
 * framing_find_sum() returns the FRAMING_SUM_NBYTES of the checksum in a sum or
 * trailer comment, or NULL if it has none. framing_sum_is() returns true if
 * those digits are the text of 'sum'.
 */
#define FRAMING_SUM_NBYTES (CRC32C_DIGITS + 1) /* and a newline */
const char *framing_find_sum(const struct hatf_record *comment);
bool framing_sum_is(const char *digits, uint32_t sum);

/*
 * Return true if the comment reports lost events; its line "count" has their
 * number.
 */
bool framing_is_loss(const struct hatf_record *comment);

/*
 * Note a comment at 'position'.  Errors: HATF_BAD_COMMENT, with the offending
 * key in '*field_ret' (static); HATF_NO_MEMORY.
 */
enum hatf_status framing_note(struct framing *framing,
			      const struct hatf_record *comment,
			      const struct framing_position *position,
			      const char **field_ret);

/*
 * Check the end of the stream, at 'end', where a record ends.  Returns
 * HATF_END; HATF_NO_TRAILER if the trace is ours and its last record is not a
 * trailer; HATF_BAD_COMMENT, with '*field_ret' as from framing_note(), if the
 * last block cannot end there.
 */
enum hatf_status framing_end(struct framing *framing, uint64_t end,
			     const char **field_ret);

/* Return true if the last record before 'end' is a trailer. */
static inline bool
framing_at_trailer(const struct framing *framing, uint64_t end)
{
	return framing->trailer_end != 0 && framing->trailer_end == end;
}

/* Free the header and the trailer. */
void framing_fini(struct framing *framing);

#endif /* HATF_FRAMING_H */

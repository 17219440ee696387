/* SPDX-License-Identifier: MIT */
/*
 * framing.h - what the comments of our own traces claim, held against the trace
 *
 * A trace by this project begins with a header comment, each block with a comment
 * that says where in the trace it is, and its last record is a trailer with the
 * totals (FORMAT "Comments of this project").  They are what makes it visible
 * that a piece is missing, so every number that a reader can know is compared:
 * a block or trailer that contradicts what was read is an error.
 *
 * Comments of a trace without the header are left alone, and so are claims about
 * bytes of HATF where the trace is in another format.
 */
#ifndef HATF_FRAMING_H
#define HATF_FRAMING_H

#include "hatf/codec/crc32c.h"
#include "hatf/hatf.h"
#include "hatf/io/comment_lines.h"

struct framing {
	bool ours;     /* the first record is a header */
	bool complete; /* the trailer says so, and nothing was lost */
	struct comment_lines header;
	struct comment_lines trailer; /* of the last "HATF end" */
	uint64_t trailer_end;	      /* place after that comment; 0: none */
	uint64_t block_count;
	uint64_t block_end; /* offset where the last block says it ends */
	/* Offsets: where the last comment ended, and where the last record that
	 * is no comment ended. */
	uint64_t comment_end, data_end;
	uint64_t lost_count; /* events */
	bool foreign;	     /* set by the caller: this is no HATF stream */
};

/* Where in the trace a comment stands. */
struct framing_place {
	uint64_t record_count; /* data records before it */
	uint64_t event_count;  /* logical events before it */
	/* After it: grows with each record; bytes of the stream if that is HATF. */
	uint64_t end;
};

/*
 * Do these bytes, the first of a stream, begin a header?  They need not hold all
 * of it.
 */
bool framing_is_ours(const uint8_t *bytes, size_t nbytes);

/* Does the comment begin a block, or end one with its sum (FORMAT "Sums")? */
bool framing_is_block(const struct hatf_record *comment);
bool framing_is_sum(const struct hatf_record *comment);

/*
 * The FRAMING_SUM_NBYTES with the sum in a comment of that kind or a trailer;
 * NULL:  it has none.  framing_sum_is(): are they the text of this sum?
 */
#define FRAMING_SUM_NBYTES (CRC32C_DIGITS + 1) /* and a newline */
const char *framing_find_sum(const struct hatf_record *comment);
bool framing_sum_is(const char *digits, uint32_t sum);

/* Does the comment say that events were lost?  Its line "count" tells how many. */
bool framing_is_loss(const struct hatf_record *comment);

/*
 * Take note of a comment at 'place'.  Errors: HATF_BAD_COMMENT, with '*field_ret'
 * the key at fault (static); HATF_NO_MEMORY.
 */
enum hatf_status framing_note(struct framing *framing,
			      const struct hatf_record *comment,
			      const struct framing_place *place,
			      const char **field_ret);

/*
 * The stream ends at 'end', where a record ends.  HATF_END; HATF_NO_TRAILER if
 * the trace is ours and its last record is no trailer; HATF_BAD_COMMENT and
 * '*field_ret', as by framing_note(), if its last block cannot end there.
 */
enum hatf_status framing_end(struct framing *framing, uint64_t end,
			     const char **field_ret);

/* Is the last record before 'end' a trailer? */
static inline bool
framing_at_trailer(const struct framing *framing, uint64_t end)
{
	return framing->trailer_end != 0 && framing->trailer_end == end;
}

void framing_fini(struct framing *framing);

#endif /* HATF_FRAMING_H */

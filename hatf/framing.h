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
 * Comments of a trace without the header are left alone.
 */
#ifndef HATF_FRAMING_H
#define HATF_FRAMING_H

#include "decoder.h"
#include "hatf.h"
#include "lines.h"

struct framing {
	bool ours;     /* the first record is a header */
	bool complete; /* the trailer says so, and nothing was lost */
	struct lines header;
	struct lines trailer; /* of the last "HATF end" */
	uint64_t trailer_end; /* offset after that comment; 0: none */
	uint64_t block_count;
	uint64_t block_end;  /* offset where the last block says it ends */
	uint64_t lost_count; /* events */
};

/*
 * Do these bytes, the first of a stream, begin a header?  They need not hold all
 * of it.
 */
bool framing_is_ours(const uint8_t *bytes, size_t nbytes);

/*
 * Take note of a comment that 'd' has just decoded.  Errors: HATF_BAD_COMMENT,
 * with '*field_ret' the key at fault (static); HATF_NO_MEMORY.
 */
enum hatf_status framing_note(struct framing *framing,
			      const struct hatf_record *comment,
			      const struct decoder *d, const char **field_ret);

/*
 * The stream ends here, where a record ends.  HATF_END, or HATF_NO_TRAILER if the
 * trace is ours and its last record is no trailer.
 */
enum hatf_status framing_end(struct framing *framing, const struct decoder *d);

void framing_fini(struct framing *framing);

#endif /* HATF_FRAMING_H */

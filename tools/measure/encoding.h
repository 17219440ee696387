/* SPDX-License-Identifier: MIT */
/*
 * encoding.h - the encodings that the tables compare
 *
 * Each is a format and, for HATF, a placement of metadata.  All but the last
 * table show the content that the paper's traces have: tags, sizes and addresses
 * of allocs, frees and reallocs, nothing else.
 */
#ifndef ENCODING_H
#define ENCODING_H

#include "tools/trace/spool.h"

/* The first TIMED_COUNT are those of tables 4 to 6, in the paper's order. */
enum encoding {
	ENCODING_BINARY,
	ENCODING_ASCII,
	ENCODING_NAIVE,
	ENCODING_BEST,
	ENCODING_SPLIT,
	ENCODING_SPLITADDR,
	ENCODING_ONLINE,
	ENCODING_OPTIMUM,
	ENCODING_SMALL_SIZE,
	ENCODING_SAME_SIZE,
	ENCODING_COMBINED_SIZE,
	ENCODING_BASE_OFFSET_1,
	ENCODING_BASE_OFFSET_2,
	ENCODING_BEST_BASE_OFFSET,
	ENCODING_STRIDE,
	ENCODING_LITERAL,
	ENCODING_XML,
	/* HATF (best), measured in two pieces: splitting.h. */
	ENCODING_BEST_SPLIT,
};
#define ENCODING_COUNT (ENCODING_BEST_SPLIT + 1)
#define TIMED_COUNT    (ENCODING_OPTIMUM + 1)

/* That of gzip, for every encoding alike. */
#define ENCODING_LEVEL 6

/* What to write, beside which encoding. */
enum encoding_flags {
	ENCODING_PACKED = 1, /* compressed, at ENCODING_LEVEL */
	ENCODING_WHOLE = 2,  /* every field and record, not the paper's */
	ENCODING_FAST = 4,   /* compressed at the library's own level */
	ENCODING_BARE = 8,   /* no header, blocks and trailer */
};

/* Is it HATF with a placement of its own? */
bool encoding_is_placed(enum encoding e);

/*
 * Open a writer on 'fd', which stays the caller's.  'first' is the trace's first
 * record, which may be a header; NULL: none.  HATF_BAD_OPTION: there is no such format,
 * placement or level.
 */
enum hatf_status encoding_open(enum encoding e, unsigned flags, int fd,
			       const struct hatf_record *first,
			       struct hatf_writer **writer_ret,
			       struct hatf_error *err);

/*
 * Write the trace in an encoding to 'fd', as far as it can be read, and as 'hatf
 * convert' would: with what its header says, and as complete as it is.  May run
 * in any thread; says nothing.
 */
enum hatf_status encoding_write(const struct spool *trace, enum encoding e,
				unsigned flags, int fd, struct hatf_error *err);

/*
 * The same, but only the length is wanted; 'fd' is of spool_memory(), and what
 * is written to it is thrown away on the way.
 */
enum hatf_status encoding_measure(const struct spool *trace, enum encoding e,
				  unsigned flags, int fd, uint64_t *nbytes_ret,
				  struct hatf_error *err);

/* Say why an encoding could not be written or read; HATF_BAD_OPTION is no news. */
void encoding_complain(const char *path, enum encoding e,
		       const struct hatf_error *err);

#endif /* ENCODING_H */

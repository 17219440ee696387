/* SPDX-License-Identifier: MIT */
/*
 * encoding.h - the encodings that the tables compare
 *
 * An encoding is a format and, for HATF, a placement of metadata.  Tables 4 to
 * 8 show traces with the same content as the paper's traces: only tags, sizes
 * and addresses of allocs, frees and reallocs.
 */
#ifndef ENCODING_H
#define ENCODING_H

#include "tools/trace/spool.h"

/*
 * The first ENCODING_TIMED_COUNT encodings are the columns of tables 5 and 6:
 * the columns of the paper except ASCII/Perl, in the paper's order, then HATF
 * (online) and HATF (optimum).
 */
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
	ENCODING_METATF_SPLITADDR,
	/* HATF (best), measured as two streams (see splitting.h) */
	ENCODING_BEST_SPLIT,
};
#define ENCODING_COUNT	     (ENCODING_BEST_SPLIT + 1)
#define ENCODING_TIMED_COUNT (ENCODING_OPTIMUM + 1)

/* Compression level of ENCODING_COMPRESSED: gzip's default level. */
#define ENCODING_LEVEL 6

/* How to write an encoding. */
enum encoding_flags {
	ENCODING_COMPRESSED = 1, /* compressed, at ENCODING_LEVEL */
	/* all fields and records, not only those of the paper's traces */
	ENCODING_WHOLE = 2,
	ENCODING_FAST = 4, /* compressed at the library's default level */
	/* without header, trailer and "block" comments */
	ENCODING_BARE = 8,
};

/* Is the encoding in format HATF, so that it has a placement of metadata? */
bool encoding_is_placed(enum encoding e);

/*
 * Open a writer on 'fd', which remains the caller's.  'first' is the first
 * record of the trace, or NULL.  If this record is a header, the output gets
 * this header.  The caller closes '*writer_ret'.  Errors: HATF_BAD_OPTION if
 * the library lacks the format, placement or level; HATF_NO_MEMORY; HATF_IO.
 */
enum hatf_status encoding_open(enum encoding e, unsigned flags, int fd,
			       const struct hatf_record *first,
			       struct hatf_writer **writer_ret,
			       struct hatf_error *err);

/*
 * Write the readable part of the trace to 'fd' in an encoding.  Like 'hatf
 * convert', keep the header, and mark the output as incomplete if the trace is
 * incomplete.  'flags' are enum encoding_flags.  Return HATF_OK even if the
 * trace is damaged; on any other error, return the error, with its details in
 * '*err'.  Thread-safe; prints nothing.
 */
enum hatf_status encoding_write(const struct spool *trace, enum encoding e,
				unsigned flags, int fd, struct hatf_error *err);

/*
 * Like encoding_write(), but also set '*nbytes_ret' to the length of the
 * output; on an error leave '*nbytes_ret' unchanged.  'fd' must come from
 * spool_memory(); this function releases the memory of 'fd' while it writes.
 */
enum hatf_status encoding_measure(const struct spool *trace, enum encoding e,
				  unsigned flags, int fd, uint64_t *nbytes_ret,
				  struct hatf_error *err);

/*
 * Print why an encoding could not be written or read.  Print nothing for
 * HATF_BAD_OPTION, which means an unsupported encoding.
 */
void encoding_report_error(const char *path, enum encoding e,
			   const struct hatf_error *err);

#endif /* ENCODING_H */

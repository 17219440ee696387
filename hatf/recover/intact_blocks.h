/* SPDX-License-Identifier: MIT */
/*
 * intact_blocks.h - how much of a trace file is there, by its blocks
 *
 * For recovery, of a file that should be longer: power has failed, or a copy was
 * cut off.  What follows the last whole block is of no use, and what comes before it
 * can be read as it is.  The file is untrusted: each number in it is held against
 * the others, as by any reader.
 */
#ifndef HATF_INTACT_BLOCKS_H
#define HATF_INTACT_BLOCKS_H

#include "hatf/hatf.h"

/* A trace up to the end of its last whole block. */
struct intact_blocks {
	uint64_t file_nbytes;
	uint64_t stream_nbytes; /* uncompressed */
	uint64_t block_count, record_count, event_count, lost_count;
	uint64_t time;	  /* of the last record */
	bool has_trailer; /* it ends with one, and so does the file */
};

/*
 * Does a block of the trace end at 'offset' in the file, as the blocks before it have
 * their lengths?  Only the last one is looked into, if it is compressed.  Offset 0 is
 * an end.
 */
bool intact_blocks_end_at(int fd, uint64_t offset);

/*
 * Read the file from its start and see what is left of it.  Errors: HATF_IO,
 * HATF_NO_MEMORY, HATF_TRUNCATED: not even one block.  The trace has to be one of
 * this project.
 */
enum hatf_status intact_blocks_read(int fd, struct intact_blocks *ret);

#endif /* HATF_INTACT_BLOCKS_H */

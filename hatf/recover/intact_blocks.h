/* SPDX-License-Identifier: MIT */
/*
 * intact_blocks.h - find how much of a trace file is intact, by its blocks
 *
 * For recovery of a file that should be longer: the power failed, or a copy was
 * cut short.  Whatever follows the last whole block is useless; everything
 * before it can be read as it is.  The file is untrusted: each number in it is
 * checked against the others, as in any reader.  One thread at a
 * time may use a file descriptor.
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
	bool has_trailer; /* a trailer ends the trace and the file */
};

/*
 * Return true if a block of the trace ends at 'offset' in the file, according
 * to the lengths of the blocks before it.  Checks the contents only of the last
 * one, and only if it is compressed.  Offset 0 is an end.
 */
bool intact_blocks_end_at(int fd, uint64_t offset);

/*
 * Read the file from its start and find how much is intact.  The trace must be
 * one of this project.  Errors: HATF_IO; HATF_NO_MEMORY; HATF_TRUNCATED: there
 * is not even one whole block.
 */
enum hatf_status intact_blocks_read(int fd, struct intact_blocks *ret);

#endif /* HATF_INTACT_BLOCKS_H */

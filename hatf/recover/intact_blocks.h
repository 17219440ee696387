/* SPDX-License-Identifier: MIT */
/*
 * intact_blocks.h - find how much of a trace file is intact, by its blocks
 *
 * A trace file may be truncated, for example by a power failure or because it
 * is an incomplete copy.  Recovery then keeps the bytes up to the end of the
 * last complete block; the bytes after it are useless.  The file is untrusted,
 * so these functions check every number in the file.  Only one thread at a time
 * may use a file descriptor.
 */
#ifndef HATF_INTACT_BLOCKS_H
#define HATF_INTACT_BLOCKS_H

#include "hatf/hatf.h"

/* A trace up to the end of its last complete block. */
struct intact_blocks {
	uint64_t file_nbytes;
	uint64_t stream_nbytes; /* uncompressed length of the blocks */
	uint64_t block_count, record_count, event_count, lost_count;
	uint64_t time;	  /* time of the last record that is not a comment */
	bool has_trailer; /* the file ends with the trailer of the trace */
};

/*
 * Does a block of the trace end at 'offset' in the file?  Add up the lengths of
 * the blocks to find out.  If the trace is compressed, also check the contents
 * of the block that ends at 'offset', but of no other block.  Return true for
 * offset 0.
 */
bool intact_blocks_end_at(int fd, uint64_t offset);

/*
 * Read the file from its start, and find how much of it is intact.  The trace
 * must have block comments (FORMAT "Trace blocks").  Errors: HATF_IO;
 * HATF_NO_MEMORY; HATF_TRUNCATED: no block is intact.
 */
enum hatf_status intact_blocks_read(int fd, struct intact_blocks *ret);

#endif /* HATF_INTACT_BLOCKS_H */

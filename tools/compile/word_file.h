/* SPDX-License-Identifier: MIT */
/*
 * word_file.h - write the file of a compiled trace (replay_words.h)
 *
 * The file is temporary and has no name.  It is in $TMPDIR or /tmp.  Memory
 * holds a mapping of the last chunk of each stream, and 4 bytes for each chunk.
 *
 * Used by one thread at a time.  Functions that fail return false; the error is
 * in errno.
 */
#ifndef WORD_FILE_H
#define WORD_FILE_H

#include "tools/driver/replay_words.h"

#include <stdbool.h>
#include <stddef.h>

struct word_stream {
	uint64_t *words; /* the stream's last chunk, mapped */
	size_t used;	 /* number of words used in the last chunk */
	/*
	 * the last word is a single call that can become the first one of a
	 * pair
	 */
	bool has_half;
	uint64_t offset;  /* offset of the last chunk in the file */
	uint32_t *chunks; /* numbers of all chunks of the stream */
	uint32_t chunk_count, chunk_cap;
	/*
	 * number of threads that WORD_CREATE begins for the stream; 0 for
	 * stream 0, which the initial thread runs
	 */
	uint32_t lives;
	bool is_live; /* the stream's last thread has not ended */
};

struct word_file {
	int fd;
	uint64_t chunk_count;
	struct word_stream *streams;
	uint32_t stream_count, stream_cap;
};

/* Begin a file without streams. */
bool word_file_open(struct word_file *f);

/* Add a stream with the next number. */
bool word_file_add_stream(struct word_file *f);

/*
 * Append 'n' words, at most WORDS_MAX, to a stream.  Store the offset of the
 * first of these words in '*offset_ret'.
 */
bool word_file_put(struct word_file *f, uint32_t stream, const uint64_t *words,
		   size_t n, uint64_t *offset_ret);

/*
 * Append a call that fits into a pair.  Set '*offset_ret' to the offset of the
 * word that contains the call, plus 1 if the call is the second one of a pair.
 */
bool word_file_put_half(struct word_file *f, uint32_t stream, uint64_t word,
			uint64_t *offset_ret);

/*
 * Mark that a call of 'stream' hands its slot over.  'offset' is the value that
 * '*offset_ret' got when the call was written.
 */
bool word_file_hand_over(struct word_file *f, uint32_t stream, uint64_t offset);

/* End the streams, and write the index and the header. */
bool word_file_finish(struct word_file *f, uint64_t slot_count);

/* Free the memory and close the descriptor. */
void word_file_close(struct word_file *f);

#endif /* WORD_FILE_H */

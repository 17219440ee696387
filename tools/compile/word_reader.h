/* SPDX-License-Identifier: MIT */
/*
 * word_reader.h - read a stream of a compiled trace, word by word
 *
 * This reader is for code that need not be fast.  The driver has a reader of
 * its own.
 */
#ifndef WORD_READER_H
#define WORD_READER_H

#include "tools/compile/word_file.h"

/* A call or a control word, with the words that follow it. */
struct word_item {
	enum word_kind kind;
	bool hands, waits;
	uint32_t number; /* slot; for WORD_CREATE, the stream */
	uint64_t size, alignment;
	/*
	 * If 'waits', the turn to wait for.  For WORD_CREATE, how many threads
	 * the stream has had before; for WORD_THREAD, the ID of the thread.
	 */
	uint64_t turn;
};

struct word_reader {
	const struct word_file *file;
	uint32_t stream, chunk_idx;
	const uint64_t *next;
	/* the next call is the second one in the word that was read last */
	bool has_second;
	uint64_t words[REPLAY_CHUNK_WORDS];
};

/* Begin to read a stream.  On failure set errno and return false. */
bool word_reader_open(struct word_reader *r, const struct word_file *f,
		      uint32_t stream);

/*
 * Read the next item; WORD_END is the last one.  On failure set errno and
 * return false.
 */
bool word_reader_next(struct word_reader *r, struct word_item *item_ret);

/*
 * Return where the next item is in its chunk, counted in halves of words.  The
 * second call of a pair is in the second half of its word.
 */
size_t word_reader_half(const struct word_reader *r);

#endif /* WORD_READER_H */

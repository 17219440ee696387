/* SPDX-License-Identifier: MIT */
/*
 * word_reader.h - read a stream of a compiled trace, word by word
 *
 * For those that need no speed: the driver has a reader of its own.
 */
#ifndef WORD_READER_H
#define WORD_READER_H

#include "tools/compile/word_file.h"

/* A word with what follows it. */
struct word_item {
	enum word_kind kind;
	bool hands, waits;
	uint32_t number; /* slot; of WORD_CREATE, the stream */
	uint64_t size, alignment;
	uint64_t turn; /* with 'waits'; of WORD_CREATE, the life */
};

struct word_reader {
	const struct word_file *file;
	uint32_t stream, chunk_idx;
	const uint64_t *next;
	uint64_t words[REPLAY_CHUNK_WORDS];
};

/* Begin with a stream; false with errno. */
bool word_reader_open(struct word_reader *r, const struct word_file *f,
		      uint32_t stream);

/* Read the next word; false with errno.  WORD_END is the last one. */
bool word_reader_next(struct word_reader *r, struct word_item *item_ret);

#endif /* WORD_READER_H */

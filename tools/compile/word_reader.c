/* SPDX-License-Identifier: MIT */
/* word_reader.c - see word_reader.h */
#include "tools/compile/word_reader.h"

#include <errno.h>
#include <unistd.h>

static bool
read_chunk(struct word_reader *r)
{
	const struct word_stream *const s = &r->file->streams[r->stream];
	ssize_t n;

	if (r->chunk_idx == s->chunk_count) {
		errno = EINVAL;
		return false;
	}
	n = pread(r->file->fd, r->words, sizeof(r->words),
		  (off_t)(s->chunks[r->chunk_idx++] * REPLAY_CHUNK_NBYTES));
	r->next = r->words;
	if (n >= 0 && n != (ssize_t)sizeof(r->words))
		errno = EIO;
	return n == (ssize_t)sizeof(r->words);
}

bool
word_reader_open(struct word_reader *r, const struct word_file *f,
		 uint32_t stream)
{
	r->file = f;
	r->stream = stream;
	r->chunk_idx = 0;
	return read_chunk(r);
}

bool
word_reader_next(struct word_reader *r, struct word_item *item)
{
	uint64_t word = *r->next++;

	if ((word & WORD_KIND_MASK) == WORD_NEXT) {
		if (!read_chunk(r))
			return false;
		word = *r->next++;
	}
	*item = (struct word_item){
		.kind = (enum word_kind)(word & WORD_KIND_MASK),
		.hands = (word & WORD_HANDS) != 0,
		.waits = (word & WORD_WAITS) != 0,
		.number = (uint32_t)(word >> WORD_SLOT_SHIFT & WORD_SLOT_MAX),
		.size = word >> WORD_SIZE_SHIFT,
	};
	if (item->kind == WORD_CREATE || item->kind == WORD_THREAD)
		item->turn = *r->next++;
	if (!word_is_call(word))
		return true;
	if (item->size == WORD_BIG_SIZE)
		item->size = *r->next++;
	if (item->kind == WORD_MEMALIGN)
		item->alignment = *r->next++;
	if ((word & WORD_OLD) != 0)
		r->next++;
	if (item->waits)
		item->turn = *r->next++;
	return true;
}

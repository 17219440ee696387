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
	r->has_second = false;
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

size_t
word_reader_half(const struct word_reader *r)
{
	const size_t next = (size_t)(r->next - r->words) * 2;

	return r->has_second ? next - 1 : next;
}

/*
 * Store the next word.  If the next call is in a pair, store this call as a
 * lone word.
 */
static bool
take_word(struct word_reader *r, uint64_t *word_ret)
{
	if (r->has_second) {
		r->has_second = false;
		*word_ret = word_of_pair(r->next[-1], 1);
		return true;
	}
	if ((*r->next & (WORD_LONE | WORD_KIND_MASK)) ==
		    (WORD_LONE | WORD_NEXT) &&
	    !read_chunk(r))
		return false;
	*word_ret = *r->next++;
	if ((*word_ret & WORD_LONE) == 0) {
		r->has_second = true;
		*word_ret = word_of_pair(*word_ret, 0);
	}
	return true;
}

bool
word_reader_next(struct word_reader *r, struct word_item *item)
{
	uint64_t word;

	if (!take_word(r, &word))
		return false;
	*item = (struct word_item){
		.kind = (enum word_kind)(word & WORD_KIND_MASK),
		.hands = (word & WORD_HANDS) != 0,
		.waits = (word & WORD_WAITS) != 0,
		.number = word_slot(word),
		.size = word_size(word),
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

/* SPDX-License-Identifier: MIT */
/* word_file.c - see word_file.h */
#include "tools/compile/word_file.h"

#include "tools/trace/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool
word_file_open(struct word_file *f)
{
	*f = (struct word_file){ .chunk_count = 1 };
	f->fd = spool_temporary();
	return f->fd >= 0;
}

static void
unmap_chunk(struct word_stream *s)
{
	if (s->words != NULL)
		munmap(s->words, REPLAY_CHUNK_NBYTES);
	s->words = NULL;
}

void
word_file_close(struct word_file *f)
{
	for (uint32_t i = 0; i < f->stream_count; i++) {
		unmap_chunk(&f->streams[i]);
		free(f->streams[i].chunks);
	}
	free(f->streams);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct word_file){ .fd = -1 };
}

/* Append a chunk to the file, and continue a stream in this chunk. */
static bool
begin_chunk(struct word_file *f, struct word_stream *s)
{
	const uint64_t offset = f->chunk_count * REPLAY_CHUNK_NBYTES;
	void *map;

	if (s->chunk_count == s->chunk_cap) {
		const uint32_t cap = s->chunk_cap + s->chunk_cap / 2 + 4;
		uint32_t *const grown =
			realloc(s->chunks, cap * sizeof(*grown));

		if (grown == NULL)
			return false;
		s->chunks = grown;
		s->chunk_cap = cap;
	}
	/*
	 * Allocate the chunk on the disk now, because on a full disk, a write
	 * to a mapped hole would raise SIGBUS.
	 */
	errno = posix_fallocate(f->fd, (off_t)offset, REPLAY_CHUNK_NBYTES);
	if (errno != 0)
		return false;
	map = mmap(NULL, REPLAY_CHUNK_NBYTES, PROT_READ | PROT_WRITE,
		   MAP_SHARED, f->fd, (off_t)offset);
	if (map == MAP_FAILED)
		return false;
	unmap_chunk(s);
	s->words = map;
	s->used = 0;
	s->offset = offset;
	s->chunks[s->chunk_count++] = (uint32_t)f->chunk_count++;
	return true;
}

bool
word_file_add_stream(struct word_file *f)
{
	if (f->stream_count == f->stream_cap) {
		const uint32_t cap = f->stream_cap * 2 + 4;
		struct word_stream *const grown =
			realloc(f->streams, cap * sizeof(*grown));

		if (grown == NULL)
			return false;
		f->streams = grown;
		f->stream_cap = cap;
	}
	f->streams[f->stream_count] = (struct word_stream){ .lives = 0 };
	if (!begin_chunk(f, &f->streams[f->stream_count])) {
		free(f->streams[f->stream_count].chunks);
		return false;
	}
	f->stream_count++;
	return true;
}

bool
word_file_put(struct word_file *f, uint32_t stream, const uint64_t *words,
	      size_t n, uint64_t *offset_ret)
{
	struct word_stream *const s = &f->streams[stream];

	/* Leave room in each chunk for a last word, WORD_NEXT or WORD_END. */
	if (s->used + n >= REPLAY_CHUNK_WORDS) {
		s->words[s->used] = WORD_NEXT | WORD_CONTROL;
		if (!begin_chunk(f, s))
			return false;
	}
	*offset_ret = s->offset + s->used * sizeof(*words);
	memcpy(s->words + s->used, words, n * sizeof(*words));
	s->used += n;
	s->has_half = false;
	return true;
}

bool
word_file_put_half(struct word_file *f, uint32_t stream, uint64_t word,
		   uint64_t *offset_ret)
{
	struct word_stream *const s = &f->streams[stream];
	uint64_t *const last = s->words + s->used - 1;

	/*
	 * Make a pair of this call and the previous one, unless
	 * word_file_hand_over() has set WORD_SLOW in the previous one.
	 */
	if (s->has_half && (*last & WORD_SLOW) == 0) {
		*last = word_pair(*last, word);
		*offset_ret = s->offset + (s->used - 1) * sizeof(word) + 1;
		s->has_half = false;
		return true;
	}
	if (!word_file_put(f, stream, &word, 1, offset_ret))
		return false;
	s->has_half = true;
	return true;
}

bool
word_file_hand_over(struct word_file *f, uint32_t stream, uint64_t offset)
{
	struct word_stream *const s = &f->streams[stream];
	const uint8_t flags = WORD_SLOW | ((offset & 1) != 0 ? WORD_HANDS_SECOND
							     : WORD_HANDS);
	const uint64_t place = offset & ~UINT64_C(1);
	uint8_t byte;

	if (place >= s->offset && place - s->offset < REPLAY_CHUNK_NBYTES) {
		s->words[(place - s->offset) / sizeof(*s->words)] |= flags;
		return true;
	}
	/*
	 * Change only the byte at 'place'.  This is the lowest byte of the
	 * word, which contains the flags.
	 */
	if (pread(f->fd, &byte, 1, (off_t)place) != 1)
		return false;
	byte |= flags;
	return pwrite(f->fd, &byte, 1, (off_t)place) == 1;
}

/* Write 'nbytes' at '*offset' and advance '*offset'. */
static bool
write_at(int fd, const void *bytes, size_t nbytes, uint64_t *offset)
{
	const char *next = bytes;

	while (nbytes > 0) {
		const ssize_t n = pwrite(fd, next, nbytes, (off_t)*offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		next += n;
		nbytes -= (size_t)n;
		*offset += (uint64_t)n;
	}
	return true;
}

static bool
write_index(const struct word_file *f, uint64_t offset)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < f->stream_count; i++) {
		const struct word_stream *const s = &f->streams[i];
		const struct replay_stream row = { first, s->chunk_count,
						   s->lives, s->is_live };

		if (!write_at(f->fd, &row, sizeof(row), &offset))
			return false;
		first += s->chunk_count;
	}
	for (uint32_t i = 0; i < f->stream_count; i++) {
		const struct word_stream *const s = &f->streams[i];

		if (!write_at(f->fd, s->chunks,
			      s->chunk_count * sizeof(*s->chunks), &offset))
			return false;
	}
	return true;
}

bool
word_file_finish(struct word_file *f, uint64_t slot_count)
{
	struct replay_header header = {
		.slot_count = slot_count,
		.stream_count = f->stream_count,
		.index_chunk = f->chunk_count,
	};
	uint64_t offset = 0;

	for (uint32_t i = 0; i < f->stream_count; i++) {
		struct word_stream *const s = &f->streams[i];

		header.number_count += s->chunk_count;
		header.parked_count += i > 0 && s->is_live;
		s->words[s->used] = WORD_END | WORD_CONTROL;
	}
	return write_index(f, f->chunk_count * REPLAY_CHUNK_NBYTES) &&
	       write_at(f->fd, &header, sizeof(header), &offset);
}

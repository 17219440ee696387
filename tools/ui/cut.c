/* SPDX-License-Identifier: MIT */
/* cut.c - see cut.h */
#include "tools/ui/cut.h"

#include "tools/ui/escape.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Length of "...0123456789abcdef...". */
#define MARK_NBYTES 22

/* Does the byte belong to a UTF-8 character, without being its first byte? */
static bool
is_inner_byte(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t
cut_before(const char *text, size_t at)
{
	for (unsigned i = 0; i < 3 && at > 0 && is_inner_byte(text[at]); i++)
		at--;
	return at;
}

size_t
cut_after(const char *text, size_t at)
{
	for (unsigned i = 0; i < 3 && is_inner_byte(text[at]); i++)
		at++;
	return at;
}

/* -------------------------------------------------------------------- a cut */

/*
 * The buffer has two parts: the head keeps the start of the text; the ring
 * keeps the last bytes of the rest of the text.  Return the size of the head.
 */
static size_t
head_nbytes(const struct cut *c)
{
	return (c->cap - 1 - MARK_NBYTES) / 2;
}

void
cut_begin(struct cut *c, char *buf, size_t cap)
{
	/* The hash is FNV-1a. */
	*c = (struct cut){
		.buf = buf,
		.cap = cap,
		.hash = UINT64_C(0xcbf29ce484222325),
	};
}

void
cut_bytes(struct cut *c, const char *bytes, size_t nbytes)
{
	const size_t head = head_nbytes(c), ring = c->cap - 1 - head;

	for (size_t i = 0; i < nbytes; i++) {
		const size_t at = c->nbytes++;

		c->hash ^= (unsigned char)bytes[i];
		c->hash *= UINT64_C(0x100000001b3);
		c->buf[at < head ? at : head + (at - head) % ring] = bytes[i];
	}
}

void
cut_escaped(struct cut *c, const char *text, size_t nbytes)
{
	while (nbytes > 0) {
		char piece[ESCAPE_MAX_NBYTES];
		size_t n;
		const size_t taken = escape_next((const uint8_t *)text, nbytes,
						 false, piece, &n);

		cut_bytes(c, piece, n);
		text += taken;
		nbytes -= taken;
	}
}

static void
reverse(char *bytes, size_t nbytes)
{
	for (size_t i = 0; i < nbytes / 2; i++) {
		const char c = bytes[i];

		bytes[i] = bytes[nbytes - 1 - i];
		bytes[nbytes - 1 - i] = c;
	}
}

/*
 * Return the length of the head, without its last character if that character
 * is truncated.
 */
static size_t
whole_head(const struct cut *c)
{
	const size_t head = head_nbytes(c);
	const size_t last = cut_before(c->buf, head - 1);
	const unsigned char first = (unsigned char)c->buf[last];
	const size_t nbytes = first < 0xc0   ? 1
			      : first < 0xe0 ? 2
			      : first < 0xf0 ? 3
					     : 4;

	return last + nbytes > head ? last : head;
}

char *
cut_end(struct cut *c)
{
	const size_t head = head_nbytes(c), ring = c->cap - 1 - head;
	char *const tail = c->buf + head;
	char mark[MARK_NBYTES + 1];
	size_t oldest, end, from;

	if (c->nbytes < c->cap) {
		c->buf[c->nbytes] = '\0';
		return c->buf;
	}
	/* Rotate the ring, so that its oldest byte becomes its first byte. */
	oldest = (c->nbytes - head) % ring;
	reverse(tail, oldest);
	reverse(tail + oldest, ring - oldest);
	reverse(tail, ring);
	tail[ring] = '\0';
	/* The mark replaces the first bytes of the ring. */
	snprintf(mark, sizeof(mark), "...%016" PRIx64 "...", c->hash);
	end = whole_head(c);
	from = cut_after(c->buf, head + MARK_NBYTES);
	memcpy(c->buf + end, mark, MARK_NBYTES);
	memmove(c->buf + end + MARK_NBYTES, c->buf + from,
		strlen(c->buf + from) + 1);
	return c->buf;
}

/* SPDX-License-Identifier: MIT */
/* protobuf.c - see protobuf.h */
#include "hatf/formats/profiles/protobuf.h"

#include <stdlib.h>
#include <string.h>

/* How a field is encoded (its wire type). */
enum {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2
};

/* The longest varint, in bytes. */
#define VARINT_MAX 10

static bool
reserve(struct protobuf *m, size_t nbytes)
{
	size_t cap = m->cap == 0 ? 256 : m->cap;
	uint8_t *buf;

	if (nbytes <= m->cap - m->used)
		return true;
	while (cap - m->used < nbytes)
		cap *= 2;
	buf = realloc(m->buf, cap);
	if (buf == NULL) {
		m->failed = true;
		return false;
	}
	m->buf = buf;
	m->cap = cap;
	return true;
}

void
protobuf_put_varint(struct protobuf *m, uint64_t n)
{
	if (!reserve(m, VARINT_MAX))
		return;
	for (; n >= 0x80; n >>= 7)
		m->buf[m->used++] = (uint8_t)(n | 0x80);
	m->buf[m->used++] = (uint8_t)n;
}

void
protobuf_put_number(struct protobuf *m, unsigned field, uint64_t n)
{
	if (n == 0)
		return;
	protobuf_put_varint(m, field << 3 | WIRE_VARINT);
	protobuf_put_varint(m, n);
}

void
protobuf_put_bytes(struct protobuf *m, unsigned field, const void *bytes,
		   size_t nbytes)
{
	protobuf_put_varint(m, field << 3 | WIRE_BYTES);
	protobuf_put_varint(m, nbytes);
	if (nbytes == 0 || !reserve(m, nbytes))
		return;
	memcpy(m->buf + m->used, bytes, nbytes);
	m->used += nbytes;
}

void
protobuf_put_message(struct protobuf *m, unsigned field, struct protobuf *part)
{
	protobuf_put_bytes(m, field, part->buf, part->used);
	m->failed |= part->failed;
	part->used = 0;
}

void
protobuf_append(struct protobuf *m, struct protobuf *part)
{
	m->failed |= part->failed;
	if (part->used != 0 && reserve(m, part->used)) {
		memcpy(m->buf + m->used, part->buf, part->used);
		m->used += part->used;
	}
	part->used = 0;
}

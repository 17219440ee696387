/* SPDX-License-Identifier: MIT */
/*
 * address_stream.h - the addresses of a trace as a stream of their own
 *
 * FORMAT "Addresses".  Most addresses come again and again, so each different one
 * of a group stands in a table, and the stream has their numbers: gzip finds
 * again a number of two bytes, or makes something of the high and the low bytes
 * of all numbers apart, better than it does with addresses.
 */
#ifndef HATF_ADDRESS_STREAM_H
#define HATF_ADDRESS_STREAM_H

#include "hatf/formats/ours/group.h"

/* Addresses of a group, as written. */
#define ADDRESS_STREAM_MAX ((size_t)1 << 18)

/* How a piece stores the numbers, behind the table. */
enum address_stream_form {
	ADDRESS_STREAM_PLANES = 1,  /* all high bytes, ..., all low bytes */
	ADDRESS_STREAM_NUMBERS = 2, /* number by number */
};

/* A bit more: the table has 4 bytes an entry, which count from the base. */
#define ADDRESS_STREAM_NARROW 4u

/* The bytes of a number below 'table_count'. */
static inline unsigned
address_stream_width(uint32_t table_count)
{
	return table_count <= 1u << 8 ? 1 : table_count <= 1u << 16 ? 2 : 3;
}

/* ---------------------------------------------------------------- reading */

struct address_stream {
	enum address_stream_form form;
	unsigned width;	       /* bytes of a number */
	size_t count, next;    /* addresses: in the piece, taken */
	const uint8_t *stored; /* behind the table */
	uint64_t *table;
	size_t table_cap;
};

/*
 * Begin with a piece, which must stay.  Returns NULL or which part of it is
 * illegal, a name of FORMAT.md, or "" if there is no memory.  '*a' is all 0 at
 * first, and needs address_stream_fini().
 */
const char *address_stream_load(struct address_stream *a,
				const struct piece *piece);

/* The next 'n', which must be left. */
void address_stream_take(struct address_stream *a, uint64_t *out, size_t n);

static inline size_t
address_stream_left(const struct address_stream *a)
{
	return a->count - a->next;
}

void address_stream_fini(struct address_stream *a);

/* ---------------------------------------------------------------- writing */

struct address_stream_writer {
	size_t count;
	uint64_t base;	  /* that of the group before */
	uint64_t *values; /* ADDRESS_STREAM_MAX */
	uint32_t *numbers;
	uint64_t *table;
	uint32_t *slots; /* hash table: number + 1; 0: free */
	uint8_t *stored; /* the piece */
};

/* Errors: HATF_NO_MEMORY.  Needs address_stream_writer_fini() whatever the result. */
enum hatf_status address_stream_writer_init(struct address_stream_writer *l);
void address_stream_writer_fini(struct address_stream_writer *l);

/* Write them as stream 'stream' of the group, and forget them. */
void address_stream_writer_put(struct address_stream_writer *l, struct sink *s,
			       struct pack *pack, unsigned stream);

#endif /* HATF_ADDRESS_STREAM_H */

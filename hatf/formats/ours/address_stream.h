/* SPDX-License-Identifier: MIT */
/*
 * address_stream.h - the addresses of a trace as a stream of their own
 *
 * See FORMATS "Addresses".  Most addresses recur again and again.  So a table
 * has each address of a group once, and the stream has indices into the table,
 * called numbers.  gzip compresses numbers better than addresses.  There are
 * two ways to store the numbers.  If they are stored one after the other, gzip
 * finds repeated numbers.  If all high bytes are stored before all low bytes,
 * gzip finds repetition among the high bytes and among the low bytes.
 *
 * Only one thread may use a stream or a writer.
 */
#ifndef HATF_ADDRESS_STREAM_H
#define HATF_ADDRESS_STREAM_H

#include "hatf/formats/ours/group.h"

/* Maximum number of addresses that a writer puts into a group. */
#define ADDRESS_STREAM_MAX ((size_t)1 << 18)

/* How a piece stores the numbers (table indices), which follow the table. */
enum address_stream_form {
	/* all high bytes first, all low bytes last */
	ADDRESS_STREAM_PLANES = 1,
	ADDRESS_STREAM_NUMBERS = 2, /* one number after the other */
};

/*
 * If this bit of the form is set, a table entry is an offset of 4 bytes from
 * the base of the piece.  If not, a table entry is an address of 8 bytes.
 */
#define ADDRESS_STREAM_NARROW 4u

/*
 * Return how many bytes an index into a table of 'table_count' entries takes.
 */
static inline unsigned
address_stream_width(uint32_t table_count)
{
	return table_count <= 1u << 8 ? 1 : table_count <= 1u << 16 ? 2 : 3;
}

/* ---------------------------------------------------------------- reading */

/* The addresses of one group that is being read. */
struct address_stream {
	enum address_stream_form form;
	unsigned width; /* bytes of a table index */
	/* Number of addresses in the piece; index of the next address. */
	size_t count, next;
	const uint8_t *stored; /* the table indices, as the piece stores them */
	uint64_t *table;
	size_t table_cap;
};

/*
 * Begin to read a piece, whose bytes must stay in memory until all addresses
 * are read.  Return NULL if the piece is valid, or if the group has no address
 * piece.  Otherwise return the name that FORMATS.md gives to the invalid part
 * (static), or "" if memory runs out.  Zero '*a' before the first call.  Call
 * address_stream_fini() after the last call.
 */
const char *address_stream_load(struct address_stream *a,
				const struct piece *piece);

/* Store the next 'n' addresses in 'out'.  At least 'n' must be left. */
void address_stream_take(struct address_stream *a, uint64_t *out, size_t n);

/* Return how many addresses of the piece are left. */
static inline size_t
address_stream_left(const struct address_stream *a)
{
	return a->count - a->next;
}

/* Free the table.  The caller still owns the piece. */
void address_stream_fini(struct address_stream *a);

/* ---------------------------------------------------------------- writing */

/* The addresses of one group, which are collected and then written. */
struct address_stream_writer {
	size_t count;
	/* the base chosen for the previous group; 0: none yet */
	uint64_t base;
	uint64_t *values; /* room for ADDRESS_STREAM_MAX addresses */
	uint32_t *numbers;
	uint64_t *table;
	/*
	 * hash table of addresses; a used slot has 1 plus the index of its
	 * address in 'table', a free slot has 0
	 */
	uint32_t *slots;
	uint8_t *stored; /* memory for the piece */
};

/*
 * Initialize a writer.  Errors: HATF_NO_MEMORY.  Call
 * address_stream_writer_fini() whatever the result.
 */
enum hatf_status address_stream_writer_init(struct address_stream_writer *l);
void address_stream_writer_fini(struct address_stream_writer *l);

/*
 * Write the addresses as stream number 'stream' of the group, then remove them
 * from the writer.  Errors are in s->out.
 */
void address_stream_writer_put(struct address_stream_writer *l, struct sink *s,
			       struct gzip_members *pack, unsigned stream);

#endif /* HATF_ADDRESS_STREAM_H */

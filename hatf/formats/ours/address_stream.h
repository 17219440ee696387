/* SPDX-License-Identifier: MIT */
/*
 * address_stream.h - the addresses of a trace as a stream of their own
 *
 * See FORMATS "Addresses".  Most addresses recur again and again, so a table
 * has each different address of a group once, and the stream has indices into
 * the table, called numbers. gzip compresses these better than addresses: it
 * finds repeated numbers of two bytes, and repetition among the high bytes and
 * the low bytes of all numbers where those are stored apart.
 *
 * One thread uses a stream or a writer.
 */
#ifndef HATF_ADDRESS_STREAM_H
#define HATF_ADDRESS_STREAM_H

#include "hatf/formats/ours/group.h"

/* Maximum number of addresses that a writer puts into a group. */
#define ADDRESS_STREAM_MAX ((size_t)1 << 18)

/* How a piece stores the numbers, after the table. */
enum address_stream_form {
	ADDRESS_STREAM_PLANES = 1,  /* all high bytes, ..., all low bytes */
	ADDRESS_STREAM_NUMBERS = 2, /* number by number */
};

/*
 * Form bit: a table entry is a 4-byte offset from the base, instead of 8 bytes.
 */
#define ADDRESS_STREAM_NARROW 4u

/* Return the bytes of a number in a table of 'table_count' entries. */
static inline unsigned
address_stream_width(uint32_t table_count)
{
	return table_count <= 1u << 8 ? 1 : table_count <= 1u << 16 ? 2 : 3;
}

/* ---------------------------------------------------------------- reading */

/* The addresses of one group, being read. */
struct address_stream {
	enum address_stream_form form;
	unsigned width;	       /* bytes of a number */
	size_t count, next;    /* addresses: in the piece; taken so far */
	const uint8_t *stored; /* the numbers, after the table */
	uint64_t *table;
	size_t table_cap;
};

/*
 * Begin to read a piece, which must remain valid.  Returns NULL; the name in
 * FORMATS.md of an invalid part, a static string; or "" if memory is short.
 * '*a' must be all 0 at first.  Call address_stream_fini() in the end.
 */
const char *address_stream_load(struct address_stream *a,
				const struct piece *piece);

/* Write the next 'n' addresses to 'out'.  At least 'n' must be left. */
void address_stream_take(struct address_stream *a, uint64_t *out, size_t n);

/* Return how many addresses of the piece are left. */
static inline size_t
address_stream_left(const struct address_stream *a)
{
	return a->count - a->next;
}

/* Free the table; the piece is the caller's. */
void address_stream_fini(struct address_stream *a);

/* ---------------------------------------------------------------- writing */

/* The addresses of one group, being collected for writing. */
struct address_stream_writer {
	size_t count;
	uint64_t base;	  /* of the last group written */
	uint64_t *values; /* ADDRESS_STREAM_MAX addresses */
	uint32_t *numbers;
	uint64_t *table;
	uint32_t *slots; /* hash table: number + 1; 0: free */
	uint8_t *stored; /* the piece */
};

/*
 * Errors: HATF_NO_MEMORY.  Call address_stream_writer_fini() whatever the
 * result.
 */
enum hatf_status address_stream_writer_init(struct address_stream_writer *l);
void address_stream_writer_fini(struct address_stream_writer *l);

/*
 * Write the addresses as stream 'stream' of the group, then clear the list.
 * Errors are in s->out.
 */
void address_stream_writer_put(struct address_stream_writer *l, struct sink *s,
			       struct gzip_members *pack, unsigned stream);

#endif /* HATF_ADDRESS_STREAM_H */

/* SPDX-License-Identifier: MIT */
/* splitting.c - see splitting.h */
#include "tools/measure/splitting.h"

#include "tools/measure/feeder.h"
#include "tools/measure/stored.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BATCH 256

/* Size in bytes of each buffer: one has the input of zlib, one its output. */
#define PIECE_NBYTES 65536

/* Value for deflateInit2(): write a gzip file. */
#define GZIP_WINDOW_BITS (16 + MAX_WBITS)
#define MEMORY_LEVEL	 8

/* One of the two streams. */
struct piece {
	z_stream z;
	size_t used;
	uint8_t in[PIECE_NBYTES], out[PIECE_NBYTES];
};

struct splitting {
	struct piece addresses, rest;
	struct stored stored;
	struct hatf_record records[BATCH];
};

static bool
begin_piece(struct piece *p)
{
	return deflateInit2(&p->z, ENCODING_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS,
			    MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
}

/* Compress the buffer; count the result and discard it. */
static void
compress_gathered(struct piece *p, int flush)
{
	p->z.next_in = p->in;
	p->z.avail_in = (uInt)p->used;
	do {
		p->z.next_out = p->out;
		p->z.avail_out = sizeof(p->out);
		deflate(&p->z, flush);
	} while (p->z.avail_out == 0);
	p->used = 0;
}

static void
put(struct piece *p, const void *bytes, size_t nbytes)
{
	const uint8_t *next = bytes;

	while (nbytes > 0) {
		const size_t room = sizeof(p->in) - p->used;
		const size_t n = nbytes < room ? nbytes : room;

		memcpy(p->in + p->used, next, n);
		p->used += n;
		next += n;
		nbytes -= n;
		if (p->used == sizeof(p->in))
			compress_gathered(p, Z_NO_FLUSH);
	}
}

/* Append the low 'nbytes' bytes of 'n', big-endian. */
static void
put_number(struct piece *p, uint64_t n, uint64_t nbytes)
{
	uint8_t bytes[8];

	for (uint64_t i = nbytes; i-- > 0; n >>= 8)
		bytes[i] = (uint8_t)n;
	put(p, bytes, nbytes);
}

static void
put_metadata(struct splitting *s, const struct hatf_metadata *m)
{
	const uint8_t head[] = { HATF_METADATA, m->op, m->field, m->argument };
	const uint64_t nbytes = stored_note(&s->stored, m);

	put(&s->rest, head, sizeof(head));
	if (nbytes > 4)
		put_number(&s->rest, m->value, 8);
	if (nbytes > 12)
		put_number(&s->rest, m->stride, 8);
}

static void
put_comment(struct splitting *s, const struct hatf_record *rec)
{
	put_number(&s->rest, HATF_COMMENT, 1);
	put_number(&s->rest, rec->attributes_nbytes, 2);
	put(&s->rest, rec->attributes, rec->attributes_nbytes);
}

static void
put_address(struct splitting *s, const struct hatf_record *rec,
	    uint64_t address)
{
	const struct stored *const st = &s->stored;
	const uint64_t nbytes = stored_nbytes(st, HATF_FIELD_ADDRESS, rec);
	const bool is_offset =
		st->interpretation[HATF_FIELD_ADDRESS] == HATF_BASE_OFFSET;

	put_number(nbytes >= 4 ? &s->addresses : &s->rest,
		   is_offset ? address - st->value[HATF_FIELD_ADDRESS]
			     : address,
		   nbytes);
}

/*
 * Append the tag, size and addresses of a data record.  The stream has no other
 * fields, because it is written without ENCODING_WHOLE.
 */
static void
put_data(struct splitting *s, const struct hatf_record *rec)
{
	put_number(&s->rest, rec->tag, 1);
	if (stored_count(rec->tag, HATF_FIELD_SIZE) != 0)
		put_number(&s->rest, rec->size,
			   stored_nbytes(&s->stored, HATF_FIELD_SIZE, rec));
	if (stored_count(rec->tag, HATF_FIELD_ADDRESS) == 2)
		put_address(s, rec, rec->old_address);
	if (stored_count(rec->tag, HATF_FIELD_ADDRESS) != 0)
		put_address(s, rec, rec->address);
}

static enum hatf_status
split(struct splitting *s, struct hatf_reader *reader)
{
	enum hatf_status status;
	size_t n;

	while ((status = hatf_reader_read(reader, s->records, BATCH, &n)) ==
	       HATF_OK)
		for (size_t i = 0; i < n; i++) {
			const struct hatf_record *const rec = &s->records[i];

			if (rec->tag == HATF_METADATA)
				put_metadata(s, &rec->metadata);
			else if (rec->tag == HATF_COMMENT)
				put_comment(s, rec);
			else
				put_data(s, rec);
		}
	compress_gathered(&s->addresses, Z_FINISH);
	compress_gathered(&s->rest, Z_FINISH);
	return status;
}

/*
 * Measure both streams.  Their plain lengths must add up to the length of the
 * original stream.
 */
static void
measure(struct splitting *s, struct feeder *f, uint64_t nbytes_ret[2])
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	enum hatf_status status;

	stored_init(&s->stored);
	status = split(s, f->reader);
	hatf_reader_get_stats(f->reader, &stats);
	if (feeder_close(f, status) != HATF_OK)
		return;
	nbytes_ret[0] = s->addresses.z.total_in + s->rest.z.total_in;
	nbytes_ret[1] = s->addresses.z.total_out + s->rest.z.total_out;
	if (nbytes_ret[0] != stats.hatf_nbytes)
		f->err.status = f->status = HATF_BAD_METADATA;
}

enum hatf_status
splitting_measure(const struct spool *trace, uint64_t nbytes_ret[2],
		  struct hatf_error *err)
{
	struct splitting *const s = calloc(1, sizeof(*s));
	struct feeder f = { .status = HATF_NO_MEMORY };

	if (s != NULL && begin_piece(&s->addresses) && begin_piece(&s->rest) &&
	    feeder_open(&f, trace, ENCODING_BEST, ENCODING_FAST,
			HATF_READER_METADATA))
		measure(s, &f, nbytes_ret);
	if (s != NULL) {
		deflateEnd(&s->addresses.z);
		deflateEnd(&s->rest.z);
	}
	free(s);
	*err = f.err;
	err->status = f.status;
	return f.status;
}

/* SPDX-License-Identifier: MIT */
/*
 * group.c - see group.h
 */
#include "hatf/formats/ours/group.h"

#include "hatf/codec/bytes.h"
#include "hatf/deflate/deflate.h"
#include "hatf/io/inflate.h"

#include <stdlib.h>

/*
 * The fields of the two kinds of headers, by offset in bytes:
 *
 *	group   0  records   4  pieces         5  reserved
 *	piece   0  stream    1  form           2  packing   3  reserved
 *		4  length    8  stored length  12  base
 */
enum {
	HEADER_NBYTES = 8,
	PIECE_HEADER_NBYTES = 20,
};

enum packing {
	PACKING_NONE = 0,
	PACKING_GZIP = 1,
};

/* The fields of a piece's header. */
struct header {
	unsigned stream, form, packing;
	uint32_t nbytes, stored_nbytes;
	uint64_t base;
};

/* ---------------------------------------------------------------- reading */

enum hatf_status
group_open(struct source *s, struct group *g)
{
	memset(g, 0, sizeof(*g));
	s->window.next += GROUP_MAGIC_NBYTES;
	g->end_offset = GROUP_MAGIC_NBYTES;
	g->inflate = inflate_open();
	return g->inflate == NULL ? HATF_NO_MEMORY : HATF_OK;
}

void
group_fini(struct group *g)
{
	inflate_close(g->inflate);
	free(g->packed);
	for (unsigned i = 0; i < GROUP_STREAM_MAX; i++)
		free(g->piece[i].bytes);
}

/* Stop with an error.  Return false. */
static bool
fail(struct source *s, enum hatf_status status, const char *field)
{
	source_stop(s, status, field);
	return false;
}

/*
 * Read until the window has at least 'nbytes' bytes.  Return false if the file
 * ends earlier.
 */
static bool
need(struct source *s, size_t nbytes, const char *field)
{
	const size_t left = input_window_fill(&s->window, nbytes);

	if (left >= nbytes)
		return true;
	source_stop_at_end(s, 1, field);
	return false;
}

/*
 * Copy 'nbytes' bytes of the input, even if they do not fit into the window at
 * once.  Return false if the file ends earlier.
 */
static bool
copy(struct source *s, uint8_t *to, size_t nbytes)
{
	struct input_window *const w = &s->window;

	while (nbytes != 0) {
		size_t n;

		if (!need(s, 1, "piece"))
			return false;
		n = input_window_left(w) < nbytes ? input_window_left(w)
						  : nbytes;
		memcpy(to, w->next, n);
		w->next += n;
		to += n;
		nbytes -= n;
	}
	return true;
}

/*
 * Make '*buf' at least 'nbytes' long.  Its contents may be lost.  Return false
 * after an error.
 */
static bool
reserve(struct source *s, uint8_t **buf, size_t *cap, size_t nbytes)
{
	if (nbytes <= *cap)
		return true;
	free(*buf);
	*buf = malloc(nbytes);
	*cap = *buf == NULL ? 0 : nbytes;
	return *buf != NULL || fail(s, HATF_NO_MEMORY, NULL);
}

static bool
read_packed(struct source *s, struct group *g, struct piece *piece,
	    const struct header *h)
{
	/*
	 * The functions of inflate.h read the header and the trailer of a
	 * member without checking the member's length.  Refuse a member that is
	 * shorter than header and trailer together.
	 */
	const size_t header_nbytes = INFLATE_HEADER_NBYTES + 8;

	if (h->stored_nbytes < header_nbytes)
		return fail(s, HATF_BAD_COMPRESSION, "piece");
	if (!reserve(s, &g->packed, &g->packed_cap, h->stored_nbytes) ||
	    !copy(s, g->packed, h->stored_nbytes))
		return false;
	if (inflate_member_nbytes(g->packed) != h->stored_nbytes ||
	    inflate_data_nbytes(g->packed, h->stored_nbytes) != h->nbytes ||
	    !inflate_member(g->inflate, g->packed, h->stored_nbytes,
			    piece->bytes, h->nbytes))
		return fail(s, HATF_BAD_COMPRESSION, "piece");
	return true;
}

static bool
read_header(struct source *s, struct header *h)
{
	const uint8_t *p;

	if (!need(s, PIECE_HEADER_NBYTES, "piece"))
		return false;
	p = s->window.next;
	*h = (struct header){ .stream = p[0],
			      .form = p[1],
			      .packing = p[2],
			      .nbytes = get_be32(p + 4),
			      .stored_nbytes = get_be32(p + 8),
			      .base = get_be64(p + 12) };
	if (p[3] != 0)
		return fail(s, HATF_BAD_FIELD, "reserved");
	s->window.next += PIECE_HEADER_NBYTES;
	return true;
}

/* Return the name of an invalid field of a header, or NULL. */
static const char *
check_header(const struct header *h, unsigned first_stream,
	     unsigned stream_count)
{
	if (h->stream < first_stream || h->stream >= stream_count)
		return "stream";
	if (h->form == 0)
		return "form";
	if (h->packing > PACKING_GZIP)
		return "packing";
	if (h->nbytes > GROUP_PIECE_MAX)
		return "length";
	if (h->packing == PACKING_NONE
		    ? h->stored_nbytes != h->nbytes
		    : h->stored_nbytes > deflate_bound(h->nbytes))
		return "stored length";
	return NULL;
}

static bool
read_piece(struct source *s, struct group *g, unsigned *first_stream,
	   unsigned stream_count)
{
	struct header h;
	struct piece *piece;
	const char *field;

	if (!read_header(s, &h))
		return false;
	field = check_header(&h, *first_stream, stream_count);
	if (field != NULL)
		return fail(s, HATF_BAD_FIELD, field);
	*first_stream = h.stream + 1;
	piece = &g->piece[h.stream];
	if (!reserve(s, &piece->bytes, &piece->cap,
		     h.nbytes + GROUP_SLACK_NBYTES))
		return false;
	memset(piece->bytes + h.nbytes, 0, GROUP_SLACK_NBYTES);
	piece->form = h.form;
	piece->base = h.base;
	piece->nbytes = h.nbytes;
	g->end_offset += PIECE_HEADER_NBYTES + h.nbytes;
	return h.packing == PACKING_NONE ? copy(s, piece->bytes, h.nbytes)
					 : read_packed(s, g, piece, &h);
}

/*
 * Stop reading after the empty group, which ends a trace.  If bytes follow this
 * group, stop with an error.  Always return false.
 */
static bool
end_groups(struct source *s)
{
	if (input_window_fill(&s->window, 1) == 0)
		source_stop_at_end(s, 0, NULL);
	else
		source_stop(s, HATF_BAD_FIELD, "group");
	return false;
}

bool
group_read(struct source *s, struct group *g, unsigned stream_count)
{
	const uint8_t *p;
	unsigned piece_count;
	unsigned first_stream = 0;

	if (!need(s, HEADER_NBYTES, "group"))
		return false;
	p = s->window.next;
	g->record_count = get_be32(p);
	piece_count = p[4];
	if (p[5] != 0 || p[6] != 0 || p[7] != 0)
		return fail(s, HATF_BAD_FIELD, "reserved");
	if (g->record_count > GROUP_RECORDS_MAX)
		return fail(s, HATF_BAD_FIELD, "records");
	if ((g->record_count == 0) != (piece_count == 0))
		return fail(s, HATF_BAD_FIELD, "pieces");
	s->window.next += HEADER_NBYTES;
	g->offset = s->offset;
	g->end_offset = s->offset + HEADER_NBYTES;
	if (piece_count == 0) {
		s->offset = g->end_offset;
		return end_groups(s);
	}
	for (unsigned i = 0; i < stream_count; i++)
		g->piece[i].nbytes = g->piece[i].form = 0;
	for (unsigned i = 0; i < piece_count; i++)
		if (!read_piece(s, g, &first_stream, stream_count))
			return false;
	return input_may_unpack(&s->window.input, g->end_offset) ||
	       fail(s, HATF_LIMIT, "group");
}

/* ---------------------------------------------------------------- writing */

void
group_put_header(struct sink *s, uint32_t record_count, unsigned piece_count)
{
	uint8_t header[HEADER_NBYTES] = { 0 };

	put_be32(header, record_count);
	header[4] = (uint8_t)piece_count;
	outfile_bytes(&s->out, header, sizeof(header));
	s->offset += sizeof(header);
}

void
group_put_piece(struct sink *s, struct gzip_members *pack, unsigned stream,
		unsigned form, uint64_t base, const uint8_t *bytes,
		size_t nbytes)
{
	uint8_t header[PIECE_HEADER_NBYTES] = { (uint8_t)stream, (uint8_t)form,
						PACKING_NONE, 0 };
	const uint8_t *stored = bytes;
	size_t stored_nbytes = nbytes;

	if (!s->options.plain) {
		const size_t packed_nbytes =
			gzip_members_pack(pack, group_level(s), bytes, nbytes);

		if (packed_nbytes != 0 && packed_nbytes < nbytes) {
			header[2] = PACKING_GZIP;
			stored = pack->bytes;
			stored_nbytes = packed_nbytes;
		}
	}
	put_be32(header + 4, (uint32_t)nbytes);
	put_be32(header + 8, (uint32_t)stored_nbytes);
	put_be64(header + 12, base);
	outfile_bytes(&s->out, header, sizeof(header));
	outfile_bytes(&s->out, stored, stored_nbytes);
	s->offset += sizeof(header) + nbytes;
}

int
group_level(const struct sink *s)
{
	return s->options.level == 0 ? OUTFILE_LEVEL_DEFAULT : s->options.level;
}

enum hatf_status
group_check_level(struct sink *s)
{
	if (s->options.level < 0 || s->options.level > OUTFILE_LEVEL_MAX)
		return sink_fail(s, HATF_BAD_OPTION, "level");
	return HATF_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * modules.c - see modules.h
 */
#include "hatf/formats/common/modules.h"

#include "hatf/codec/hatf_record.h"
#include "hatf/formats/common/textio.h"

#include <stdlib.h>
#include <string.h>

static const char kind[] = "HATF object\n";

/* Longest name with its NUL; longer ones are ignored. */
#define NAME_MAX_NBYTES 4096

void
modules_init(struct modules *m)
{
	*m = (struct modules){ .pieces = { .count = 0 } };
	names_init(&m->texts, UINT32_MAX, HATF_FRAME_TEXTS_MAX);
}

void
modules_fini(struct modules *m)
{
	names_fini(&m->texts);
	free(m->pieces.rows);
}

void
modules_clear(struct modules *m)
{
	m->pieces.count = 0;
}

/* Return how many pieces end at or before 'address'. */
static size_t
count_before(const struct modules *m, uint64_t address)
{
	const struct module *const pieces = m->pieces.rows;
	size_t first = 0, count = m->pieces.count;

	while (count != 0) {
		const size_t half = count / 2;

		if (pieces[first + half].end <= address) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first;
}

const struct module *
modules_find(const struct modules *m, uint64_t address)
{
	const struct module *const pieces = m->pieces.rows;
	const size_t place = count_before(m, address);

	if (place == m->pieces.count || pieces[place].start > address)
		return NULL;
	return &pieces[place];
}

static enum hatf_status
keep_text(struct modules *m, const char *text, const char **text_ret)
{
	enum hatf_status status;
	uint32_t number;

	*text_ret = NULL;
	if (text == NULL || text[0] == '\0')
		return HATF_OK;
	status = names_put(&m->texts, text, strlen(text), &number);
	if (status == HATF_OK)
		*text_ret = names_get(&m->texts, number);
	return status;
}

/*
 * Return true if the same piece is present.  Its names must be those in
 * 'texts'.
 */
static bool
has_piece(const struct modules *m, const struct module *piece)
{
	const struct module *const found = modules_find(m, piece->start);

	return found != NULL && found->start == piece->start &&
	       found->end == piece->end && found->base == piece->base &&
	       found->offset == piece->offset &&
	       found->object == piece->object &&
	       found->build_id == piece->build_id;
}

enum hatf_status
modules_add(struct modules *m, const struct module *piece)
{
	struct module kept = *piece;
	enum hatf_status status = keep_text(m, piece->object, &kept.object);
	struct module *pieces;
	size_t place;

	if (status == HATF_OK)
		status = keep_text(m, piece->build_id, &kept.build_id);
	if (status != HATF_OK || kept.object == NULL || has_piece(m, &kept))
		return status;
	if (m->pieces.count == MODULE_MAX)
		return HATF_LIMIT;
	place = count_before(m, kept.end);
	if (rows_add(&m->pieces, sizeof(*pieces)) == NULL)
		return HATF_NO_MEMORY;
	pieces = m->pieces.rows;
	memmove(pieces + place + 1, pieces + place,
		(m->pieces.count - 1 - place) * sizeof(*pieces));
	pieces[place] = kept;
	return HATF_OK;
}

void
modules_describe(const struct module *piece, struct text *t)
{
	text_str(t, kind);
	text_line(t, "object", piece->object, strlen(piece->object));
	text_line_hex(t, "base", piece->base);
	text_line_hex(t, "address", piece->start);
	text_line_u64(t, "size", piece->end - piece->start);
	text_line_hex(t, "offset", piece->offset);
	if (piece->build_id != NULL)
		text_line(t, "build_id", piece->build_id,
			  strlen(piece->build_id));
}

/* Copy the value of 'key' to 'buf', or "" if it is missing or too long. */
static void
find_name(const struct hatf_record *rec, const char *key, char *buf)
{
	const ptrdiff_t nbytes =
		text_find((const char *)rec->attributes, rec->attributes_nbytes,
			  key, buf, NAME_MAX_NBYTES);

	if (nbytes < 0 || nbytes >= NAME_MAX_NBYTES)
		buf[0] = '\0';
}

enum hatf_status
modules_note(struct modules *m, const struct hatf_record *rec)
{
	char object[NAME_MAX_NBYTES], build_id[NAME_MAX_NBYTES];
	struct module piece = { .object = object, .build_id = build_id };
	uint64_t size;

	if (!record_begins(rec, kind))
		return HATF_OK;
	find_name(rec, "object", object);
	find_name(rec, "build_id", build_id);
	if (!textio_find_number(rec, "base", &piece.base) ||
	    !textio_find_number(rec, "address", &piece.start) ||
	    !textio_find_number(rec, "size", &size) ||
	    !textio_find_number(rec, "offset", &piece.offset) ||
	    __builtin_add_overflow(piece.start, size, &piece.end))
		return HATF_OK;
	return modules_add(m, &piece) == HATF_NO_MEMORY ? HATF_NO_MEMORY
							: HATF_OK;
}

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
	*m = (struct modules){ .mappings = { .count = 0 } };
	string_table_init(&m->texts, UINT32_MAX, HATF_FRAME_TEXTS_MAX);
}

void
modules_fini(struct modules *m)
{
	string_table_fini(&m->texts);
	free(m->mappings.rows);
}

void
modules_clear(struct modules *m)
{
	m->mappings.count = 0;
}

/* Return how many mappings end at or before 'address'. */
static size_t
count_before(const struct modules *m, uint64_t address)
{
	const struct module *const mappings = m->mappings.rows;
	size_t first = 0, count = m->mappings.count;

	while (count != 0) {
		const size_t half = count / 2;

		if (mappings[first + half].end <= address) {
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
	const struct module *const mappings = m->mappings.rows;
	const size_t idx = count_before(m, address);

	if (idx == m->mappings.count || mappings[idx].start > address)
		return NULL;
	return &mappings[idx];
}

static enum hatf_status
keep_text(struct modules *m, const char *text, const char **text_ret)
{
	enum hatf_status status;
	uint32_t number;

	*text_ret = NULL;
	if (text == NULL || text[0] == '\0')
		return HATF_OK;
	status = string_table_put(&m->texts, text, strlen(text), &number);
	if (status == HATF_OK)
		*text_ret = string_table_get(&m->texts, number);
	return status;
}

/*
 * Return true if the same mapping is present.  Its names must be those in
 * 'texts'.
 */
static bool
has_mapping(const struct modules *m, const struct module *mapping)
{
	const struct module *const found = modules_find(m, mapping->start);

	return found != NULL && found->start == mapping->start &&
	       found->end == mapping->end && found->base == mapping->base &&
	       found->offset == mapping->offset &&
	       found->object == mapping->object &&
	       found->build_id == mapping->build_id;
}

enum hatf_status
modules_add(struct modules *m, const struct module *mapping)
{
	struct module kept = *mapping;
	enum hatf_status status = keep_text(m, mapping->object, &kept.object);
	struct module *mappings;
	size_t idx;

	if (status == HATF_OK)
		status = keep_text(m, mapping->build_id, &kept.build_id);
	if (status != HATF_OK || kept.object == NULL || has_mapping(m, &kept))
		return status;
	if (m->mappings.count == MODULE_MAX)
		return HATF_LIMIT;
	idx = count_before(m, kept.end);
	if (rows_add(&m->mappings, sizeof(*mappings)) == NULL)
		return HATF_NO_MEMORY;
	mappings = m->mappings.rows;
	memmove(mappings + idx + 1, mappings + idx,
		(m->mappings.count - 1 - idx) * sizeof(*mappings));
	mappings[idx] = kept;
	return HATF_OK;
}

void
modules_describe(const struct module *mapping, struct text *t)
{
	text_str(t, kind);
	text_line(t, "object", mapping->object, strlen(mapping->object));
	text_line_hex(t, "base", mapping->base);
	text_line_hex(t, "address", mapping->start);
	text_line_u64(t, "size", mapping->end - mapping->start);
	text_line_hex(t, "offset", mapping->offset);
	if (mapping->build_id != NULL)
		text_line(t, "build_id", mapping->build_id,
			  strlen(mapping->build_id));
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
	struct module mapping = { .object = object, .build_id = build_id };
	uint64_t size;

	if (!hatf_record_comment_starts(rec, kind))
		return HATF_OK;
	find_name(rec, "object", object);
	find_name(rec, "build_id", build_id);
	if (!textio_find_number(rec, "base", &mapping.base) ||
	    !textio_find_number(rec, "address", &mapping.start) ||
	    !textio_find_number(rec, "size", &size) ||
	    !textio_find_number(rec, "offset", &mapping.offset) ||
	    __builtin_add_overflow(mapping.start, size, &mapping.end))
		return HATF_OK;
	return modules_add(m, &mapping) == HATF_NO_MEMORY ? HATF_NO_MEMORY
							  : HATF_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * modules.c - see modules.h
 */
#include "hatf/containers/modules.h"

#include "hatf/codec/hatf_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = "HATF object\n";

/*
 * Upper limit of the length of a name with its NUL; a longer name is ignored.
 */
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
 * Does 'm' contain a mapping that equals 'mapping'?  The names of 'mapping'
 * must be stored in 'texts', because this function compares only the pointers
 * to the names.
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

/* Replace the 'old_count' mappings from index 'idx' on by one mapping. */
static void
put_at(struct modules *m, size_t idx, size_t old_count,
       const struct module *mapping)
{
	struct module *const mappings = m->mappings.rows;
	const size_t after = idx + old_count;

	memmove(mappings + idx + 1, mappings + after,
		(m->mappings.count - after) * sizeof(*mappings));
	mappings[idx] = *mapping;
	m->mappings.count = m->mappings.count + 1 - old_count;
}

enum hatf_status
modules_add(struct modules *m, const struct module *mapping)
{
	struct module kept = *mapping;
	enum hatf_status status = keep_text(m, mapping->object, &kept.object);
	const struct module *mappings;
	size_t idx, old_count = 0;

	if (status == HATF_OK)
		status = keep_text(m, mapping->build_id, &kept.build_id);
	if (status != HATF_OK || kept.object == NULL ||
	    kept.start >= kept.end || has_mapping(m, &kept))
		return status;
	/* Reserve memory before taking pointers, because the array may move. */
	if (rows_add(&m->mappings, sizeof(*mappings)) == NULL)
		return HATF_NO_MEMORY;
	m->mappings.count--;
	mappings = m->mappings.rows;
	idx = count_before(m, kept.start);
	while (idx + old_count < m->mappings.count &&
	       mappings[idx + old_count].start < kept.end)
		old_count++;
	if (m->mappings.count - old_count == MODULE_MAX)
		return HATF_LIMIT;
	put_at(m, idx, old_count, &kept);
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

/*
 * Read a number, decimal or hexadecimal with "0x".  Return false if it is
 * missing or malformed.
 */
static bool
find_number(const struct hatf_record *rec, const char *key, uint64_t *n_ret)
{
	char value[24], *end;
	const ptrdiff_t nbytes =
		text_find((const char *)rec->attributes, rec->attributes_nbytes,
			  key, value, sizeof(value));

	if (nbytes <= 0 || nbytes >= (ptrdiff_t)sizeof(value) ||
	    value[0] < '0' || value[0] > '9')
		return false;
	errno = 0;
	*n_ret = strtoull(value, &end, strncmp(value, "0x", 2) == 0 ? 16 : 10);
	return errno == 0 && *end == '\0';
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
	if (!find_number(rec, "base", &mapping.base) ||
	    !find_number(rec, "address", &mapping.start) ||
	    !find_number(rec, "size", &size) ||
	    __builtin_add_overflow(mapping.start, size, &mapping.end))
		return HATF_OK;
	/*
	 * If the recorder did not know the offset, the line "offset=" is
	 * missing.  The offset is then 0.
	 */
	if (!find_number(rec, "offset", &mapping.offset))
		mapping.offset = 0;
	return modules_add(m, &mapping) == HATF_NO_MEMORY ? HATF_NO_MEMORY
							  : HATF_OK;
}

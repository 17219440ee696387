/* SPDX-License-Identifier: MIT */
/* mtf_reader.c - see mtf_reader.h */
#include "hatf/metatf/trace/mtf_reader.h"

#include "hatf/metatf/trace/mtf_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------- errors */

const struct mtf_error *
mtf_reader_error(const struct mtf_reader *r)
{
	return r->err.has_failed ? &r->err : NULL;
}

/* ------------------------------------------------------------------ records */

/* Enter the section that a section record announced. */
static bool
enter_section(struct mtf_reader *r, unsigned number)
{
	const struct schema_section *const section =
		schema_section(r->schema, number);
	const struct mtf_section_entry *const entry =
		mtf_header_section(r->header, number);
	struct cursor *c;

	if (section == NULL || number == SCHEMA_GLOBAL)
		return FAIL(r, "section %u is not defined", number);
	c = &r->sections[section - r->schema->sections];
	if (c->is_open)
		return FAIL(r, "section '%.60s' occurs twice", section->name);
	if (entry == NULL && (section->is_plain || r->header->is_compressed))
		return FAIL(r, "the header does not list section '%.60s'",
			    section->name);
	if (entry != NULL && entry->start != byte_source_position(&r->outer))
		return FAIL(r,
			    "section '%.60s' does not start where the header "
			    "says",
			    section->name);
	if (!cursor_open(r, c, section, entry))
		return false;
	r->current = c;
	r->is_between = false;
	return true;
}

/*
 * Leave the current section, which the header lists, and continue in the file
 * after the end of the section.
 */
static bool
leave_section(struct mtf_reader *r)
{
	const struct mtf_section_entry *const entry = mtf_header_section(
		r->header, r->current->state.section->number);
	const uint64_t end = entry->start + entry->nbytes;

	byte_source_fini(&r->current->own);
	r->current->has_own = false;
	r->current = &r->sections[0];
	r->is_between = true;
	byte_source_fini(&r->outer);
	return byte_source_init(&r->outer, r->fd, end, r->file_nbytes - end,
				false) ||
	       reader_no_memory(r);
}

/*
 * Must the reader leave the current section?  It must if the header lists the
 * section, and if the section has ended or is a column.  The reader reads a
 * column elsewhere: through the cursor in 'columns', when other records take
 * numbers from the column.
 */
static bool
is_over(const struct mtf_reader *r)
{
	const struct cursor *const c = r->current;

	return c->has_own &&
	       (r->is_column[c->state.section - r->schema->sections] ||
		cursor_is_at_end(c));
}

/*
 * Read each compressed column to its end, to check its data.  The other records
 * may have taken only some of the column's numbers.
 */
static bool
drain_columns(struct mtf_reader *r)
{
	for (uint32_t i = 0; i < r->schema->section_count; i++) {
		struct cursor *const c = &r->columns[i];

		if (r->header->is_compressed && c->has_own &&
		    !byte_source_drain(&c->own))
			return reader_fail_source(r, &c->own);
	}
	return true;
}

/*
 * Check after the last record that the trace is complete, and if not, record an
 * error.  Always return false, because there is no further record.
 */
static bool
finish(struct mtf_reader *r)
{
	const struct byte_source *const s = r->current->source;

	r->position = byte_source_position(s);
	r->type = NULL;
	if (s->has_failed)
		return reader_fail_source(r, s);
	if (!drain_columns(r))
		return false;
	if (r->header->is_cut)
		return FAIL(r, "the file is truncated: its header states "
			       "longer sections");
	if (r->header->record_count != MTF_UNFINISHED &&
	    r->header->record_count != r->record_count)
		return FAIL(r,
			    "the trace has %llu records, but its header states "
			    "%llu",
			    (unsigned long long)r->record_count,
			    (unsigned long long)r->header->record_count);
	return false;
}

/*
 * A record that takes no byte of its section and no number of a column could
 * repeat forever in a plain section (one without tags).  Refuse more than
 * MTF_MAX_EMPTY such records in a row.
 */
static bool
check_progress(struct mtf_reader *r, const struct cursor *c)
{
	if (byte_source_position(c->source) != r->position)
		r->empty_count = 0;
	else if (++r->empty_count > MTF_MAX_EMPTY)
		return FAIL(r,
			    "section '%.60s': more than %zu records in a row "
			    "have no bytes",
			    c->state.section->name, MTF_MAX_EMPTY);
	return true;
}

/* Read the fields after the tag. */
static bool
read_record(struct mtf_reader *r, struct cursor *c)
{
	if (r->is_between && r->type->role != ROLE_SECTION &&
	    r->type->role != ROLE_COMMENT)
		return FAIL(r, "expected a section record after a section");
	if (r->type->role != ROLE_METADATA)
		return reader_read_fields(r, c) &&
		       (!c->state.section->is_plain || check_progress(r, c));
	return reader_add_value(r, (struct mtf_value){ r->type->tag, NULL }) &&
	       reader_read_metadata(r, c);
}

bool
mtf_reader_next(struct mtf_reader *r, struct mtf_record *record)
{
	struct cursor *c;

	if (r->err.has_failed)
		return false;
	while (is_over(r))
		if (!leave_section(r))
			return false;
	c = r->current;
	if (cursor_is_at_end(c))
		return finish(r);
	r->position = byte_source_position(c->source);
	r->value_count = r->byte_count = r->repeat_count = 0;
	r->has_bytes = false;
	if (!reader_read_tag(r, c) || !read_record(r, c) ||
	    !reader_count(r,
			  1 + r->value_count + r->repeat_count + r->byte_count))
		return false;
	if (r->has_bytes)
		reader_fix_bytes(r);
	*record = (struct mtf_record){
		.section = c->state.section,
		.type = r->type,
		.values = r->values,
		.value_count = r->value_count,
		.position = r->position,
		.index = r->record_count,
	};
	r->record_count += r->type->role == ROLE_DATA;
	return r->type->role != ROLE_SECTION ||
	       enter_section(r, (unsigned)r->values[1].number);
}

/* ------------------------------------------------------------------ opening */

struct mtf_reader *
mtf_reader_open(int fd, const struct mtf_header *h, const struct schema *schema)
{
	struct mtf_reader *const r = calloc(1, sizeof(*r));
	struct stat st;

	if (r == NULL)
		return NULL;
	r->fd = fd;
	r->header = h;
	r->schema = schema;
	r->file_nbytes = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	r->packed_nbytes = r->file_nbytes;
	r->sections = calloc(schema->section_count, sizeof(*r->sections));
	r->columns = calloc(schema->section_count, sizeof(*r->columns));
	r->is_column = calloc(schema->section_count, sizeof(*r->is_column));
	if (r->sections == NULL || r->columns == NULL || r->is_column == NULL ||
	    h->start > r->file_nbytes ||
	    !byte_source_init(&r->outer, fd, h->start,
			      r->file_nbytes - h->start, false) ||
	    !cursor_open(r, &r->sections[0], &schema->sections[0], NULL)) {
		mtf_reader_close(r);
		return NULL;
	}
	r->current = &r->sections[0];
	for (uint32_t i = 0; i < schema->section_count; i++)
		r->is_column[i] = schema->sections[i].is_column;
	return r;
}

void
mtf_reader_close(struct mtf_reader *r)
{
	if (r == NULL)
		return;
	for (uint32_t i = 0; i < r->schema->section_count; i++) {
		if (r->sections != NULL)
			cursor_close(&r->sections[i]);
		if (r->columns != NULL)
			cursor_close(&r->columns[i]);
	}
	byte_source_fini(&r->outer);
	free(r->sections);
	free(r->columns);
	free(r->is_column);
	free(r->values);
	free(r->bytes);
	free(r);
}

void
mtf_reader_limit(struct mtf_reader *r, uint64_t nbytes)
{
	r->packed_nbytes = nbytes;
}

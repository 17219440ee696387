/* SPDX-License-Identifier: MIT */
/* mtf_reader.c - see mtf_reader.h */
#include "hatf/metatf/trace/mtf_reader.h"

#include "hatf/metatf/trace/byte_source.h"
#include "hatf/metatf/trace/field_state.h"
#include "hatf/metatf/trace/record_plan.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A section that is being read. */
struct cursor {
	struct section_state state;
	struct byte_source own;	    /* of a section with an entry */
	struct byte_source *source; /* where its bytes come from */
	bool is_open, has_own;
	bool is_busy; /* an element of it is being read */
	/* Of a column: what follows the element that was read last. */
	uint64_t skipped_count;
	bool is_held; /* stride 0: the element stays */
	uint64_t held;
	const struct schema_record *by_tag[UINT8_MAX + 1];
	struct record_plan *plans; /* of each record */
};

struct mtf_reader {
	int fd;
	const struct mtf_header *header;
	const struct schema *schema;
	struct mtf_error err;
	uint64_t file_nbytes;
	struct byte_source outer; /* what is in no section of the header */
	struct cursor *sections, *columns; /* as schema->sections */
	bool *is_column;
	struct cursor *current;
	bool is_between; /* after a section: only another one can follow */
	uint64_t record_count;
	/* The record that is being read. */
	const struct schema_record *type;
	uint64_t position;
	struct mtf_value *values;
	size_t value_count, value_capacity;
	size_t repeat_count;
	bool has_bytes;
	uint8_t *bytes;
	size_t byte_count, byte_capacity;
	uint64_t last[SCHEMA_MAX_FIELDS]; /* the last value of each field */
};

/* ------------------------------------------------------------------- errors */

const struct mtf_error *
mtf_reader_error(const struct mtf_reader *r)
{
	return r->err.has_failed ? &r->err : NULL;
}

static bool
no_memory(struct mtf_reader *r)
{
	return mtf_fail(&r->err, MTF_NOWHERE, MTF_NOWHERE, "no memory");
}

#define FAIL(r, ...) \
	mtf_fail(&(r)->err, (r)->position, (r)->record_count, __VA_ARGS__)

/* A source has ended inside a record, or has failed. */
static bool
fail_source(struct mtf_reader *r, const struct byte_source *s)
{
	const char *const name = r->type != NULL ? r->type->name : "record";

	if (s->has_failed)
		return FAIL(r, "%s",
			    s->failure != NULL ? s->failure : strerror(errno));
	return FAIL(r, "%.60s: the trace ends in this record", name);
}

/* ------------------------------------------------------------------ numbers */

/* Read a stored number of 'width' bytes. */
static inline bool
read_stored(struct mtf_reader *r, struct byte_source *s, unsigned width,
	    uint64_t *stored_ret)
{
	const bool is_big = r->header->byte_order == MTF_BIG_ENDIAN;
	uint64_t word;

	if (width == 0) {
		*stored_ret = 0;
		return true;
	}
	if ((size_t)(s->end - s->next) < sizeof(word)) {
		if (!byte_source_need(s, width))
			return fail_source(r, s);
		*stored_ret = mtf_get(s->next, width, r->header->byte_order);
		s->next += width;
		return true;
	}
	memcpy(&word, s->next, sizeof(word));
	s->next += width;
	*stored_ret =
		is_big ? be64toh(word) >> (64 - 8 * width)
		       : le64toh(word) << (64 - 8 * width) >> (64 - 8 * width);
	return true;
}

static bool read_element(struct mtf_reader *r, const struct field_state *f,
			 uint64_t *number_ret);

/* Read a number, stored or not. */
static inline bool
read_number(struct mtf_reader *r, struct cursor *c, const struct field_state *f,
	    uint64_t *number_ret)
{
	uint64_t stored = 0;

	if (f->kind == FIELD_ELEMENT)
		return read_element(r, f, number_ret);
	if (!read_stored(r, c->source, f->width, &stored))
		return false;
	*number_ret = field_decode(&c->state, f, stored);
	c->state.previous[f->history] = *number_ret;
	return true;
}

/* ------------------------------------------------------------------- values */

/* Make room for a value. */
static bool
add_value(struct mtf_reader *r, struct mtf_value value)
{
	if (r->value_count == r->value_capacity) {
		const size_t capacity =
			r->value_capacity == 0 ? 64 : 2 * r->value_capacity;
		struct mtf_value *bigger;

		if (r->value_count == MTF_MAX_VALUES)
			return FAIL(r, "%.60s: more than %zu values",
				    r->type->name, MTF_MAX_VALUES);
		bigger = realloc(r->values, capacity * sizeof(*bigger));
		if (bigger == NULL)
			return no_memory(r);
		r->values = bigger;
		r->value_capacity = capacity;
	}
	r->values[r->value_count++] = value;
	return true;
}

/* Make room for 'nbytes' bytes. */
static bool
grow_bytes(struct mtf_reader *r, uint64_t nbytes)
{
	size_t capacity = r->byte_capacity == 0 ? 4096 : r->byte_capacity;
	uint8_t *bigger;

	if (nbytes > MTF_MAX_RECORD_NBYTES - r->byte_count)
		return FAIL(r, "%.60s: more than %zu bytes", r->type->name,
			    MTF_MAX_RECORD_NBYTES);
	while (capacity < r->byte_count + nbytes)
		capacity *= 2;
	if (capacity == r->byte_capacity)
		return true;
	bigger = realloc(r->bytes, capacity);
	if (bigger == NULL)
		return no_memory(r);
	r->bytes = bigger;
	r->byte_capacity = capacity;
	return true;
}

/*
 * Append bytes to r->bytes, piece by piece, so that a length without the bytes
 * takes no memory.
 */
static bool
append_bytes(struct mtf_reader *r, struct cursor *c, uint64_t nbytes)
{
	uint64_t left = nbytes;

	while (left != 0) {
		const size_t piece = left < 65536 ? (size_t)left : 65536;

		if (nbytes > MTF_MAX_RECORD_NBYTES || !grow_bytes(r, piece))
			return FAIL(r, "%.60s: more than %zu bytes",
				    r->type->name, MTF_MAX_RECORD_NBYTES);
		if (!byte_source_copy(c->source, r->bytes + r->byte_count,
				      piece))
			return fail_source(r, c->source);
		r->byte_count += piece;
		left -= piece;
	}
	return true;
}

/* Read bytes.  The value gets its pointer when the record is complete. */
static bool
read_bytes(struct mtf_reader *r, struct cursor *c, const struct field_state *f)
{
	const uint64_t nbytes = f->width_from != SCHEMA_NO_FIELD
					? r->last[f->width_from]
					: f->bytes_width;
	const size_t begin = r->byte_count;

	/* Not NULL; see fix_bytes(). */
	r->has_bytes = true;
	return append_bytes(r, c, nbytes) &&
	       add_value(r, (struct mtf_value){ nbytes,
						(const uint8_t *)(begin + 1) });
}

/* The bytes have their place: give the values their pointers. */
static void
fix_bytes(struct mtf_reader *r)
{
	static const uint8_t empty[1];

	for (size_t i = 0; i < r->value_count; i++) {
		struct mtf_value *const v = &r->values[i];

		if (v->bytes != NULL)
			v->bytes = r->bytes == NULL
					   ? empty
					   : r->bytes + (uintptr_t)v->bytes - 1;
	}
}

/* Check a value that the DTD gives. */
static bool
check_value(struct mtf_reader *r, const struct schema_field *f, uint64_t number)
{
	const uint64_t want = f->value_from != SCHEMA_NO_FIELD
				      ? r->last[f->value_from]
				      : f->value;

	if (number == want)
		return true;
	return FAIL(r, "%.60s: field '%.60s' is %llu, not %llu", r->type->name,
		    f->name, (unsigned long long)number,
		    (unsigned long long)want);
}

static bool
read_field(struct mtf_reader *r, struct cursor *c, uint32_t idx)
{
	const struct schema_field *const f = &r->type->fields[idx];
	const struct field_state *const state =
		&c->state.fields[r->type->first_field + idx];
	uint64_t number;

	if (state->kind == FIELD_BYTES)
		return read_bytes(r, c, state);
	if (f->is_tag)
		number = r->type->tag; /* was read */
	else if (!read_number(r, c, state, &number))
		return false;
	r->last[idx] = number;
	return (!f->has_value || f->is_tag || check_value(r, f, number)) &&
	       add_value(r, (struct mtf_value){ number, NULL });
}

/* Read the fields of some steps. */
static bool
read_steps(struct mtf_reader *r, struct cursor *c, uint32_t first, uint32_t end)
{
	const struct schema_step *const steps = r->type->steps;

	for (uint32_t i = first; i < end; i++) {
		const struct schema_step *const step = &steps[i];

		if (step->kind == STEP_FIELD) {
			if (!read_field(r, c, step->field))
				return false;
		} else if (step->kind == STEP_REPEAT) {
			const uint64_t count = r->last[step->field];

			if (count > MTF_MAX_VALUES - r->repeat_count)
				return FAIL(r, "%.60s: more than %zu values",
					    r->type->name, MTF_MAX_VALUES);
			r->repeat_count += count;
			for (uint64_t n = 0; n < count; n++)
				if (!read_steps(r, c, i + 1, step->end))
					return false;
			i = step->end - 1;
		}
	}
	return true;
}

/* -------------------------------------------------------------------- plans */

/* Read the bytes of a record that is read by a plan. */
static bool
plan_bytes(struct mtf_reader *r, struct cursor *c, const struct plan_op *op)
{
	const struct field_state *const f = op->state;
	struct mtf_value *const v = &r->values[op->field];

	v->number = f->width_from != SCHEMA_NO_FIELD
			    ? r->values[f->width_from].number
			    : f->bytes_width;
	v->bytes = (const uint8_t *)(r->byte_count + 1);
	r->has_bytes = true;
	return append_bytes(r, c, v->number);
}

/* Bytes of a plan have a place, or are none. */
static void
fix_plan_bytes(struct mtf_reader *r, const struct record_plan *p)
{
	for (uint32_t i = 0; i < p->op_count; i++) {
		struct mtf_value *const v = &r->values[p->ops[i].field];

		if (v->bytes != NULL)
			v->bytes = r->bytes == NULL
					   ? plan_no_bytes
					   : r->bytes + (uintptr_t)v->bytes - 1;
	}
}

static inline bool
plan_number(struct mtf_reader *r, struct cursor *c, const struct plan_op *op)
{
	const struct field_state *const f = op->state;
	uint64_t *const number = &r->values[op->field].number;
	uint64_t stored = 0;

	if (f->kind == FIELD_BYTES)
		return plan_bytes(r, c, op);
	if (f->kind == FIELD_ELEMENT)
		return read_element(r, f, number);
	if (!read_stored(r, c->source, f->width, &stored))
		return false;
	*number = f->add + ((stored ^ f->sign) - f->sign);
	if (op->is_observed) {
		uint64_t *const previous = &c->state.previous[f->history];

		*number += f->keep & *previous;
		*previous = *number;
	}
	return true;
}

/* Read the fields of a record that nothing in it is repeated. */
static bool
read_by_plan(struct mtf_reader *r, struct cursor *c,
	     const struct record_plan *p)
{
	const size_t count = r->type->field_count;

	while (r->value_capacity < count)
		if (!add_value(r, (struct mtf_value){ 0, NULL }))
			return false;
	memcpy(r->values, p->values, count * sizeof(*p->values));
	r->value_count = count;
	for (uint32_t i = 0; i < p->op_count; i++)
		if (!plan_number(r, c, &p->ops[i]))
			return false;
	if (r->has_bytes)
		fix_plan_bytes(r, p);
	r->has_bytes = false;
	return true;
}

/* Read the fields of a data record. */
static bool
read_fields(struct mtf_reader *r, struct cursor *c)
{
	struct record_plan *const p =
		&c->plans[r->type - c->state.section->records];

	if (p->version != c->state.version &&
	    !record_plan_make(p, &c->state, r->type))
		return no_memory(r);
	return p->is_simple ? read_by_plan(r, c, p)
			    : read_steps(r, c, 0, r->type->step_count);
}

/* ------------------------------------------------------------------ cursors */

static void
close_cursor(struct cursor *c)
{
	if (c->has_own)
		byte_source_fini(&c->own);
	for (uint32_t i = 0;
	     c->plans != NULL && i < c->state.section->record_count; i++)
		record_plan_fini(&c->plans[i]);
	free(c->plans);
	section_state_fini(&c->state);
	*c = (struct cursor){ 0 };
}

/* Begin to read a section; 'entry' NULL: its bytes come from 'outer'. */
static bool
open_cursor(struct mtf_reader *r, struct cursor *c,
	    const struct schema_section *section,
	    const struct mtf_section_entry *entry)
{
	if (!section_state_init(&c->state, section))
		return no_memory(r);
	c->plans = calloc(section->record_count + 1, sizeof(*c->plans));
	if (c->plans == NULL) {
		section_state_fini(&c->state);
		return no_memory(r);
	}
	c->is_open = true;
	c->source = &r->outer;
	for (uint32_t i = section->record_count; i-- != 0;)
		if (section->records[i].tag <= UINT8_MAX)
			c->by_tag[section->records[i].tag] =
				&section->records[i];
	if (entry == NULL)
		return true;
	if (!byte_source_init(&c->own, r->fd, entry->start, entry->nbytes,
			      r->header->is_compressed))
		return no_memory(r);
	c->has_own = true;
	c->source = &c->own;
	return true;
}

/* Has a section no more bytes? */
static bool
is_at_end(const struct cursor *c)
{
	return !byte_source_need(c->source, 1) && !c->source->has_failed;
}

/* Read a tag and set r->type. */
static bool
read_tag(struct mtf_reader *r, struct cursor *c)
{
	uint64_t tag = 0;

	r->type = NULL;
	if (c->state.section->is_plain) {
		r->type = &c->state.section->records[0];
		return true;
	}
	if (!read_stored(r, c->source, r->schema->tag_width, &tag))
		return false;
	r->type = tag <= UINT8_MAX ? c->by_tag[tag]
				   : schema_record(c->state.section, tag);
	return r->type != NULL ||
	       FAIL(r, "no record of section '%.60s' has tag %llu",
		    c->state.section->number == SCHEMA_GLOBAL
			    ? "global"
			    : c->state.section->name,
		    (unsigned long long)tag);
}

/* ----------------------------------------------------------------- metadata */

/* Read an argument of a metadata record. */
static bool
read_argument(struct mtf_reader *r, struct cursor *c, bool is_signed,
	      uint64_t *value_ret)
{
	const bool is_32_bit = r->header->class == MTF_32_BIT;

	if (!read_stored(r, c->source, is_32_bit ? 4 : 8, value_ret))
		return false;
	if (is_32_bit && is_signed)
		*value_ret = (uint64_t)(int64_t)(int32_t)*value_ret;
	return add_value(r, (struct mtf_value){ *value_ret, NULL });
}

/* Read and carry out a metadata record whose tag was read. */
static bool
read_metadata(struct mtf_reader *r, struct cursor *c)
{
	const unsigned widths[3] = { r->schema->tag_width, 1, 1 };
	uint64_t head[3] = { 0 }, args[2] = { 0, 0 };
	const struct schema_record *record;
	const char *why;

	for (unsigned i = 0; i < 3; i++)
		if (!read_stored(r, c->source, widths[i], &head[i]) ||
		    !add_value(r, (struct mtf_value){ head[i], NULL }))
			return false;
	if (head[2] > DTD_SECTION_STRIDE)
		return FAIL(r, "metadata: there is no property %u",
			    (unsigned)head[2]);
	for (unsigned i = 0; i < metadata_argument_count((unsigned)head[2]);
	     i++)
		if (!read_argument(r, c, i == 1, &args[i]))
			return false;
	record = schema_record(c->state.section, head[0]);
	if (record == NULL || record->role != ROLE_DATA)
		return FAIL(r, "metadata: no data record has tag %llu",
			    (unsigned long long)head[0]);
	why = section_state_set(&c->state, r->schema, record, (uint32_t)head[1],
				(unsigned)head[2], args);
	return why == NULL || FAIL(r, "metadata for '%.60s', field %u: %s",
				   record->name, (unsigned)head[1], why);
}

/* ----------------------------------------------------------------- elements */

static struct cursor *
column(struct mtf_reader *r, uint64_t number)
{
	const struct schema_section *const section =
		schema_section(r->schema, (unsigned)number);
	const struct mtf_section_entry *const entry =
		mtf_header_section(r->header, (unsigned)number);
	struct cursor *const c = &r->columns[section - r->schema->sections];

	if (c->is_open)
		return c;
	if (entry == NULL) {
		FAIL(r, "the header does not list section '%.60s'",
		     section->name);
		return NULL;
	}
	r->is_column[section - r->schema->sections] = true;
	return open_cursor(r, c, section, entry) ? c : NULL;
}

/* Read the next number of a column, past its comments and metadata. */
static bool
next_element(struct mtf_reader *r, struct cursor *c, uint64_t *number_ret)
{
	const struct schema_record *const data = &c->state.section->records[0];
	const struct schema_record *const type = r->type;
	const size_t value_count = r->value_count;
	const size_t byte_count = r->byte_count;
	bool ok;

	do {
		if (is_at_end(c))
			return FAIL(r, "section '%.60s' has no more numbers",
				    c->state.section->name);
		ok = read_tag(r, c);
		if (ok && r->type->role == ROLE_METADATA)
			ok = read_metadata(r, c);
		else if (ok && r->type->role == ROLE_COMMENT)
			ok = read_steps(r, c, 1, r->type->step_count);
		else if (ok && r->type != data)
			ok = FAIL(r, "a section record inside a section");
		r->value_count = value_count;
		r->byte_count = byte_count;
	} while (ok && r->type != data);
	r->type = type;
	return ok &&
	       read_number(r, c,
			   &c->state.fields[data->first_field + data->has_tag],
			   number_ret);
}

/* Read the number of a field that takes it from a column. */
static bool
read_element(struct mtf_reader *r, const struct field_state *f,
	     uint64_t *number_ret)
{
	struct cursor *const c = column(r, f->args[0]);
	bool ok = true;

	if (c == NULL)
		return false;
	if (c->is_busy)
		return FAIL(r, "section '%.60s' takes numbers from itself",
			    c->state.section->name);
	c->is_busy = true;
	while (ok && c->skipped_count != 0 && !c->is_held) {
		c->skipped_count--;
		ok = next_element(r, c, number_ret);
	}
	if (c->is_held)
		*number_ret = c->held;
	else
		ok = ok && next_element(r, c, number_ret);
	c->is_held = f->args[1] == 0;
	c->held = *number_ret;
	c->skipped_count = c->is_held ? 0 : f->args[1] - 1;
	c->is_busy = false;
	return ok;
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
		return FAIL(r, "section '%.60s' comes twice", section->name);
	if (entry == NULL && (section->is_plain || r->header->is_compressed))
		return FAIL(r, "the header does not list section '%.60s'",
			    section->name);
	if (entry != NULL && entry->start != byte_source_position(&r->outer))
		return FAIL(r,
			    "section '%.60s' does not start where the header "
			    "says",
			    section->name);
	if (!open_cursor(r, c, section, entry))
		return false;
	r->current = c;
	r->is_between = false;
	return true;
}

/* Go on after the section that has ended. */
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
	       no_memory(r);
}

/* Is the current section one that has ended, or a column? */
static bool
is_over(const struct mtf_reader *r)
{
	const struct cursor *const c = r->current;

	return c->has_own &&
	       (r->is_column[c->state.section - r->schema->sections] ||
		is_at_end(c));
}

/* After the last record. */
static bool
finish(struct mtf_reader *r)
{
	const struct byte_source *const s = r->current->source;

	r->position = byte_source_position(s);
	r->type = NULL;
	if (s->has_failed)
		return fail_source(r, s);
	if (r->header->is_cut)
		return FAIL(r, "the file ends before its sections do");
	if (r->header->record_count != MTF_UNFINISHED &&
	    r->header->record_count != r->record_count)
		return FAIL(r,
			    "the trace has %llu records, its header says "
			    "%llu",
			    (unsigned long long)r->record_count,
			    (unsigned long long)r->header->record_count);
	return false;
}

/* Read the fields after the tag. */
static bool
read_record(struct mtf_reader *r, struct cursor *c)
{
	if (r->is_between && r->type->role != ROLE_SECTION &&
	    r->type->role != ROLE_COMMENT)
		return FAIL(r, "expected a section record after a section");
	if (r->type->role != ROLE_METADATA)
		return read_fields(r, c);
	return add_value(r, (struct mtf_value){ r->type->tag, NULL }) &&
	       read_metadata(r, c);
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
	if (is_at_end(c))
		return finish(r);
	r->position = byte_source_position(c->source);
	r->value_count = r->byte_count = r->repeat_count = 0;
	r->has_bytes = false;
	if (!read_tag(r, c) || !read_record(r, c))
		return false;
	if (r->has_bytes)
		fix_bytes(r);
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
	r->sections = calloc(schema->section_count, sizeof(*r->sections));
	r->columns = calloc(schema->section_count, sizeof(*r->columns));
	r->is_column = calloc(schema->section_count, sizeof(*r->is_column));
	if (r->sections == NULL || r->columns == NULL || r->is_column == NULL ||
	    h->start > r->file_nbytes ||
	    !byte_source_init(&r->outer, fd, h->start,
			      r->file_nbytes - h->start, false) ||
	    !open_cursor(r, &r->sections[0], &schema->sections[0], NULL)) {
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
			close_cursor(&r->sections[i]);
		if (r->columns != NULL)
			close_cursor(&r->columns[i]);
	}
	byte_source_fini(&r->outer);
	free(r->sections);
	free(r->columns);
	free(r->is_column);
	free(r->values);
	free(r->bytes);
	free(r);
}

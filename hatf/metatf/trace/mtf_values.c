/* SPDX-License-Identifier: MIT */
/* mtf_values.c - read the fields of a record, see mtf_cursor.h */
#include "hatf/metatf/trace/mtf_cursor.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ numbers */

static bool read_element(struct mtf_reader *r, const struct field_state *f,
			 uint64_t *number_ret);

/* Read a number, or compute it if it is not stored. */
static inline bool
read_number(struct mtf_reader *r, struct cursor *c, const struct field_state *f,
	    uint64_t *number_ret)
{
	uint64_t stored = 0;

	if (f->kind == FIELD_ELEMENT)
		return read_element(r, f, number_ret);
	if (!reader_read_stored(r, c->source, f->width, &stored))
		return false;
	*number_ret = field_decode(&c->state, f, stored);
	c->state.previous[f->history] = *number_ret;
	return true;
}

/* ------------------------------------------------------------------- limits */

/*
 * A small file can have very many values: values of default, delta or repeated
 * fields may take no bytes, and a compressed section expands.  Without a limit,
 * such a file could keep a reader busy for days.  Count records, values and
 * bytes of strings as items.  A file may have ITEMS_FREE items, or ITEMS_RATIO
 * items for each byte of the file, whichever is more.
 */
#define ITEMS_FREE  ((uint64_t)1 << 28)
#define ITEMS_RATIO 20000

bool
reader_count(struct mtf_reader *r, uint64_t n)
{
	r->item_count += n;
	return r->item_count <= ITEMS_FREE ||
	       r->item_count / ITEMS_RATIO <= r->packed_nbytes ||
	       FAIL(r, MTF_TOO_MANY);
}

/* ------------------------------------------------------------------- values */

bool
reader_add_value(struct mtf_reader *r, struct mtf_value value)
{
	if (r->value_count == r->value_capacity) {
		const size_t capacity =
			r->value_capacity == 0 ? 64 : 2 * r->value_capacity;
		struct mtf_value *bigger;

		if (r->value_count == MTF_MAX_VALUES)
			return FAIL(r,
				    "record '%.60s' has more than %zu values",
				    r->type->name, MTF_MAX_VALUES);
		bigger = realloc(r->values, capacity * sizeof(*bigger));
		if (bigger == NULL)
			return reader_no_memory(r);
		r->values = bigger;
		r->value_capacity = capacity;
	}
	r->values[r->value_count++] = value;
	return true;
}

/* Make room for 'nbytes' more bytes in r->bytes. */
static bool
grow_bytes(struct mtf_reader *r, uint64_t nbytes)
{
	size_t capacity = r->byte_capacity == 0 ? 4096 : r->byte_capacity;
	uint8_t *bigger;

	if (nbytes > MTF_MAX_RECORD_NBYTES - r->byte_count)
		return FAIL(r, "record '%.60s' has more than %zu bytes",
			    r->type->name, MTF_MAX_RECORD_NBYTES);
	while (capacity < r->byte_count + nbytes)
		capacity *= 2;
	if (capacity == r->byte_capacity)
		return true;
	bigger = realloc(r->bytes, capacity);
	if (bigger == NULL)
		return reader_no_memory(r);
	r->bytes = bigger;
	r->byte_capacity = capacity;
	return true;
}

/*
 * Append 'nbytes' bytes of the section to r->bytes in pieces, and make room for
 * one piece at a time.  So if the trace states a length greater than the rest
 * of the section, the reader does not allocate memory for the whole length.
 */
static bool
append_bytes(struct mtf_reader *r, struct cursor *c, uint64_t nbytes)
{
	uint64_t left = nbytes;

	while (left != 0) {
		const size_t piece = left < 65536 ? (size_t)left : 65536;

		if (nbytes > MTF_MAX_RECORD_NBYTES || !grow_bytes(r, piece))
			return FAIL(r, "record '%.60s' has more than %zu bytes",
				    r->type->name, MTF_MAX_RECORD_NBYTES);
		if (!byte_source_copy(c->source, r->bytes + r->byte_count,
				      piece))
			return reader_fail_source(r, c->source);
		r->byte_count += piece;
		left -= piece;
	}
	return true;
}

/*
 * Read the bytes of a field.  reader_fix_bytes() sets the pointer of the value
 * when the record is complete.
 */
static bool
read_bytes(struct mtf_reader *r, struct cursor *c, const struct field_state *f)
{
	const uint64_t nbytes = f->width_from != SCHEMA_NO_FIELD
					? r->last[f->width_from]
					: f->bytes_width;
	const size_t begin = r->byte_count;

	/*
	 * In place of a pointer, store the offset of the bytes in r->bytes,
	 * plus 1.  reader_fix_bytes() replaces this number by the pointer.
	 */
	r->has_bytes = true;
	return append_bytes(r, c, nbytes) &&
	       reader_add_value(
		       r, (struct mtf_value){ nbytes,
					      (const uint8_t *)(begin + 1) });
}

void
reader_fix_bytes(struct mtf_reader *r)
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

/* Check a value against the value that the DTD gives. */
static bool
check_value(struct mtf_reader *r, const struct schema_field *f, uint64_t number)
{
	const uint64_t want = f->value_from != SCHEMA_NO_FIELD
				      ? r->last[f->value_from]
				      : f->value;

	if (number == want)
		return true;
	return FAIL(r, "%.60s: field '%.60s' is %llu, but must be %llu",
		    r->type->name, f->name, (unsigned long long)number,
		    (unsigned long long)want);
}

static bool
read_field(struct mtf_reader *r, struct cursor *c, uint32_t idx)
{
	const struct schema_field *const f = &r->type->fields[idx];
	const struct field_state *const state =
		&c->state.fields[r->type->first_field + idx];
	uint64_t number = 0;

	if (state->kind == FIELD_BYTES)
		return read_bytes(r, c, state);
	if (f->is_tag)
		number = r->type->tag; /* the caller has read the tag */
	else if (!read_number(r, c, state, &number))
		return false;
	r->last[idx] = number;
	return (!f->has_value || f->is_tag || check_value(r, f, number)) &&
	       reader_add_value(r, (struct mtf_value){ number, NULL });
}

/* Read the fields of the steps 'first' to 'end' - 1. */
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
				return FAIL(r,
					    "record '%.60s' has more than %zu "
					    "values",
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

/* Like read_bytes(), for an operation of a plan. */
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

/*
 * Like reader_fix_bytes(), for the values that the operations of a plan have
 * read.  Fields that are always empty have their pointers from p->values.
 */
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
	uint64_t *number;
	uint64_t stored = 0;

	if (f->kind == FIELD_BYTES)
		return plan_bytes(r, c, op);
	if (f->kind == FIELD_ELEMENT) {
		/*
		 * read_element() may move r->values, so do not set 'number'
		 * before this call.
		 */
		if (!read_element(r, f, &stored))
			return false;
		r->values[op->field].number = stored;
		return true;
	}
	if (!reader_read_stored(r, c->source, f->width, &stored))
		return false;
	number = &r->values[op->field].number;
	*number = f->add + ((stored ^ f->sign) - f->sign);
	if (op->is_observed) {
		uint64_t *const previous = &c->state.previous[f->history];

		*number += f->keep & *previous;
		*previous = *number;
	}
	return true;
}

/* Read the fields of a record by its plan 'p'.  p->is_simple must be true. */
static bool
read_by_plan(struct mtf_reader *r, struct cursor *c,
	     const struct record_plan *p)
{
	const size_t count = r->type->field_count;

	while (r->value_capacity < count)
		if (!reader_add_value(r, (struct mtf_value){ 0, NULL }))
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

bool
reader_read_fields(struct mtf_reader *r, struct cursor *c)
{
	struct record_plan *const p =
		&c->plans[r->type - c->state.section->records];

	if (p->version != c->state.version &&
	    !record_plan_make(p, &c->state, r->type))
		return reader_no_memory(r);
	return p->is_simple ? read_by_plan(r, c, p)
			    : read_steps(r, c, 0, r->type->step_count);
}

/* ----------------------------------------------------------------- metadata */

/* Read an argument of a metadata record. */
static bool
read_argument(struct mtf_reader *r, struct cursor *c, bool is_signed,
	      uint64_t *value_ret)
{
	const bool is_32_bit = r->header->class == MTF_32_BIT;

	if (!reader_read_stored(r, c->source, is_32_bit ? 4 : 8, value_ret))
		return false;
	if (is_32_bit && is_signed)
		*value_ret = (uint64_t)(int64_t)(int32_t)*value_ret;
	return reader_add_value(r, (struct mtf_value){ *value_ret, NULL });
}

bool
reader_read_metadata(struct mtf_reader *r, struct cursor *c)
{
	const unsigned widths[3] = { r->schema->tag_width, 1, 1 };
	uint64_t head[3] = { 0 }, args[2] = { 0, 0 };
	const struct schema_record *record;
	const char *why;

	for (unsigned i = 0; i < 3; i++)
		if (!reader_read_stored(r, c->source, widths[i], &head[i]) ||
		    !reader_add_value(r, (struct mtf_value){ head[i], NULL }))
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
	return cursor_open(r, c, section, entry) ? c : NULL;
}

/*
 * Skip a comment of a column.  The caller has read the tag of the comment.
 * This function does not use reader_read_fields(), which would overwrite
 * r->last: the record that takes a number from the column still needs r->last.
 */
static bool
skip_comment(struct mtf_reader *r, struct cursor *c)
{
	uint64_t nbytes = 0;

	return reader_read_stored(r, c->source, 1, &nbytes) &&
	       append_bytes(r, c, nbytes);
}

/*
 * Read the next number of a column.  Skip the comments before the number, and
 * carry out the metadata records before it.
 */
static bool
next_element(struct mtf_reader *r, struct cursor *c, uint64_t *number_ret)
{
	const struct schema_record *const data = &c->state.section->records[0];
	const struct schema_record *const type = r->type;
	const size_t value_count = r->value_count;
	const size_t byte_count = r->byte_count;
	bool ok;

	do {
		if (cursor_is_at_end(c))
			return FAIL(r, "section '%.60s' has no more numbers",
				    c->state.section->name);
		ok = reader_read_tag(r, c);
		if (ok && r->type->role == ROLE_METADATA)
			ok = reader_read_metadata(r, c);
		else if (ok && r->type->role == ROLE_COMMENT)
			ok = skip_comment(r, c);
		else if (ok && r->type != data)
			ok = FAIL(r,
				  "section '%.60s': expected a number, a "
				  "comment or metadata",
				  c->state.section->name);
		ok = ok && reader_count(r, 1 + r->byte_count - byte_count);
		r->value_count = value_count;
		r->byte_count = byte_count;
	} while (ok && r->type != data);
	r->type = type;
	r->empty_count = 0;
	return ok &&
	       read_number(r, c,
			   &c->state.fields[data->first_field + data->has_tag],
			   number_ret);
}

/* Read the number of a field that takes its numbers from a column. */
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

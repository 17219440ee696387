/* SPDX-License-Identifier: MIT */
/* record_print.c - see record_print.h */
#include "tools/metatf/record_print.h"

#include "hatf/metatf/dtd.h"
#include "tools/ui/escape.h"

#include <string.h>

/* The printer's position in a record. */
struct walk {
	struct out *o;
	const struct schema_record *type;
	const struct mtf_value *next;
	/*
	 * The latest value of each field.  If the field is the length of an
	 * array, print_repeat() takes the length from here.
	 */
	const struct mtf_value *of_field[SCHEMA_MAX_FIELDS];
	bool is_json;
};

/* ------------------------------------------------------------------- values */

static void
print_hex(struct out *o, const struct mtf_value *v)
{
	for (uint64_t i = 0; i < v->number; i++)
		out_printf(o, "%02x", v->bytes[i]);
}

/* Are the bytes UTF-8 text without control characters? */
static bool
is_text(const struct mtf_value *v)
{
	char escaped[ESCAPE_MAX_NBYTES];
	size_t nbytes;

	for (size_t i = 0; i < v->number;) {
		const size_t n =
			escape_next(v->bytes + i, (size_t)v->number - i, false,
				    escaped, &nbytes);

		if (n != nbytes || memcmp(escaped, v->bytes + i, n) != 0)
			return false;
		i += n;
	}
	return true;
}

static void
print_json_bytes(struct out *o, const struct mtf_value *v)
{
	if (!is_text(v)) {
		out_str(o, "{\"hex\":\"");
		print_hex(o, v);
		out_str(o, "\"}");
		return;
	}
	out_quoted(o, v->bytes, (size_t)v->number);
}

static void
print_value(struct walk *w, const struct mtf_value *v)
{
	if (v->bytes == NULL) {
		out_u64(w->o, v->number);
	} else if (w->is_json) {
		print_json_bytes(w->o, v);
	} else {
		out_quoted(w->o, v->bytes, (size_t)v->number);
	}
}

/* -------------------------------------------------------------------- steps */

static void
print_name(struct walk *w, const char *name, bool is_first)
{
	if (w->is_json) {
		out_str(w->o, is_first ? "\"" : ",\"");
		out_str(w->o, name);
		out_str(w->o, "\":");
	} else {
		if (!is_first)
			out_str(w->o, " ");
		out_str(w->o, name);
		out_str(w->o, "=");
	}
}

static void print_steps(struct walk *w, uint32_t first, uint32_t end,
			bool is_first);

/* Print repeated fields, in brackets. */
static void
print_repeat(struct walk *w, uint32_t step)
{
	const struct schema_step *const s = &w->type->steps[step];
	const uint64_t count = w->of_field[s->field]->number;

	out_str(w->o, "[");
	for (uint64_t i = 0; i < count; i++) {
		if (i != 0)
			out_str(w->o, w->is_json ? "," : " ");
		if (s->is_scalar) {
			print_value(w, w->next++);
		} else {
			out_str(w->o, "{");
			print_steps(w, step + 1, s->end, true);
			out_str(w->o, "}");
		}
	}
	out_str(w->o, "]");
}

static void
print_steps(struct walk *w, uint32_t first, uint32_t end, bool is_first)
{
	for (uint32_t i = first; i < end; i++) {
		const struct schema_step *const s = &w->type->steps[i];

		if (s->kind == STEP_FIELD) {
			w->of_field[s->field] = w->next++;
			if (w->type->fields[s->field].is_tag)
				continue;
			print_name(w, s->name, is_first);
			print_value(w, w->of_field[s->field]);
		} else {
			print_name(w, s->name, is_first);
			if (s->kind == STEP_REPEAT) {
				print_repeat(w, i);
			} else {
				out_str(w->o, "{");
				print_steps(w, i + 1, s->end, true);
				out_str(w->o, "}");
			}
			i = s->end - 1;
		}
		is_first = false;
	}
}

/* ----------------------------------------------------------------- metadata */

static void
print_metadata(struct out *o, const struct mtf_record *r, bool is_json)
{
	const struct mtf_value *const v = r->values;
	const struct schema_record *const of =
		schema_record(r->section, v[1].number);
	const char *const field = of->fields[v[2].number].name;
	const unsigned property = (unsigned)v[3].number;
	const char *const name =
		property == 0 ? "width" : dtd_interpretation_name(property);

	out_printf(o,
		   is_json ? "\"of\":\"%s\",\"field\":\"%s\",\"position\":%u,"
			     "\"property\":\"%s\",\"arguments\":["
			   : " of=%s field=%s position=%u property=%s "
			     "arguments=[",
		   of->name, field, (unsigned)v[2].number, name);
	for (size_t i = 4; i < r->value_count; i++) {
		if (i != 4)
			out_str(o, is_json ? "," : " ");
		out_u64(o, v[i].number);
	}
	out_str(o, "]");
}

/* ------------------------------------------------------------------ records */

static void
print_fields(struct out *o, const struct mtf_record *r, bool is_json)
{
	struct walk w = {
		.o = o,
		.type = r->type,
		.next = r->values,
		.is_json = is_json,
	};

	if (r->type->role == ROLE_METADATA) {
		print_metadata(o, r, is_json);
		return;
	}
	if (r->type->step_count > r->type->has_tag && !is_json)
		out_str(o, " ");
	print_steps(&w, 0, r->type->step_count, true);
}

void
record_print_text(struct out *o, const struct mtf_record *r)
{
	out_str(o, r->type->name);
	print_fields(o, r, false);
	out_str(o, "\n");
}

void
record_print_json(struct out *o, const struct mtf_record *r)
{
	out_printf(o, "{\"record\":\"%s\",\"section\":\"%s\",\"fields\":{",
		   r->type->name, r->section->name);
	print_fields(o, r, true);
	out_str(o, "}}\n");
}

/* SPDX-License-Identifier: MIT */
/*
 * generate_events.c - see generate.h
 *
 * The generated functions write the fields in the same text form as
 * record_print_text(), because people read this text in the trace.
 */
#include "tools/metatf/generate.h"

#include "tools/metatf/generate_c.h"
#include "tools/metatf/templates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The state while the code for a record is written. */
struct stub {
	FILE *f;
	const struct c_records *all;
	const struct schema_record *record;
	unsigned indent, loop_count;
	/*
	 * C expressions of the numeric fields whose code is already written,
	 * indexed by field
	 */
	char (*of_field)[C_PATH_NBYTES];
};

static void
put_line(const struct stub *s)
{
	for (unsigned i = 0; i < s->indent; i++)
		fputc('\t', s->f);
}

static void
put_literal(const struct stub *s, const char *before, const char *name,
	    const char *after)
{
	put_line(s);
	fprintf(s->f, "%s_event_add(&f, \"%s%s%s\", %zu);\n", s->all->prefix,
		before, name, after,
		strlen(before) + strlen(name) + strlen(after));
}

/*
 * Store the C expression of a numeric field: the expression of the earlier
 * field that has the same value, or else the constant in the DTD, or else
 * 'expression'.
 */
static void
note_number(struct stub *s, uint32_t idx, const char *expression)
{
	const struct schema_field *const f = &s->record->fields[idx];
	char *const to = s->of_field[idx];

	if (f->has_value && f->value_from != SCHEMA_NO_FIELD)
		memmove(to, s->of_field[f->value_from], C_PATH_NBYTES);
	else if (f->has_value)
		snprintf(to, C_PATH_NBYTES, "UINT64_C(%" PRIu64 ")", f->value);
	else
		c_join(to, expression, "", "");
}

static void
put_value(struct stub *s, uint32_t idx, const char *expression)
{
	const struct schema_field *const f = &s->record->fields[idx];

	if (f->is_bytes && f->width_from != SCHEMA_NO_FIELD) {
		put_line(s);
		fprintf(s->f, "%s_event_bytes(&f, %s, %s);\n", s->all->prefix,
			expression, s->of_field[f->width_from]);
	} else if (f->is_bytes) {
		put_line(s);
		fprintf(s->f, "%s_event_bytes(&f, %s, %" PRIu32 ");\n",
			s->all->prefix, expression, f->width);
	} else {
		note_number(s, idx, expression);
		put_line(s);
		fprintf(s->f, "%s_event_number(&f, %s);\n", s->all->prefix,
			s->of_field[idx]);
	}
}

static void put_steps(struct stub *s, const char *prefix, uint32_t first,
		      uint32_t end);

/* Write the code that adds repeated fields to the text, in brackets. */
static void
put_repeat(struct stub *s, const char *array, uint32_t step)
{
	const struct schema_step *const r = &s->record->steps[step];
	const unsigned loop = s->loop_count++;
	char item[C_PATH_NBYTES], index[20];

	put_line(s);
	fprintf(s->f,
		"for (uint64_t i%u = 0; i%u < %s && !f.is_bad; i%u++) {\n",
		loop, loop, s->of_field[r->field], loop);
	s->indent++;
	put_line(s);
	fprintf(s->f, "if (i%u != 0)\n\t", loop);
	put_literal(s, " ", "", "");
	snprintf(index, sizeof(index), "[i%u]%s", loop,
		 r->is_scalar ? "" : ".");
	c_join(item, array, index, "");
	if (r->is_scalar) {
		put_value(s, s->record->steps[step + 1].field, item);
	} else {
		put_literal(s, "{", "", "");
		put_steps(s, item, step + 1, r->end);
		put_literal(s, "}", "", "");
	}
	s->indent--;
	put_line(s);
	fprintf(s->f, "}\n");
}

static void
put_steps(struct stub *s, const char *prefix, uint32_t first, uint32_t end)
{
	char expression[C_PATH_NBYTES], buf[C_PATH_NBYTES];
	const char *before = "";

	for (uint32_t i = first; i < end; i++) {
		const struct schema_step *const step = &s->record->steps[i];

		if (step->kind == STEP_FIELD &&
		    s->record->fields[step->field].is_tag)
			continue;
		c_join(expression, prefix, c_member(step->name, buf), "");
		put_literal(s, before, step->name,
			    step->kind == STEP_FIELD	? "="
			    : step->kind == STEP_REPEAT ? "=["
							: "={");
		before = " ";
		if (step->kind == STEP_FIELD) {
			put_value(s, step->field, expression);
			continue;
		}
		if (step->kind == STEP_REPEAT) {
			put_repeat(s, expression, i);
		} else {
			strncat(expression, ".",
				sizeof(expression) - strlen(expression) - 1);
			put_steps(s, expression, i + 1, step->end);
		}
		put_literal(s, step->kind == STEP_REPEAT ? "]" : "}", "", "");
		i = step->end - 1;
	}
}

static void
put_stub(FILE *f, const struct c_records *all, const struct c_record *r)
{
	struct stub s = {
		.f = f,
		.all = all,
		.record = r->record,
		.indent = 1,
		.of_field = calloc(r->record->field_count + 1, C_PATH_NBYTES),
	};

	if (s.of_field == NULL)
		return;
	fprintf(f,
		"\nstatic inline int\n"
		"%s_event_put_%s(const struct %s_%s *x)\n{\n"
		"\tstruct %s_event_fields f;\n\n"
		"\tf.nbytes = 0;\n\tf.is_bad = false;\n",
		all->prefix, r->name, all->prefix, r->name, all->prefix);
	if (r->record->field_count == r->record->has_tag)
		fprintf(f, "\t(void)x;\n");
	put_steps(&s, "x->", 0, r->record->step_count);
	fprintf(f, "\treturn %s_event_send(\"%s\", &f);\n}\n", all->prefix,
		r->name);
	fprintf(f,
		"#define %s_event_%s(...) \\\n"
		"\t(hatftrace_is_recording() ? %s_event_put_%s( \\\n"
		"\t\t&(const struct %s_%s){ __VA_ARGS__ }) : -1)\n",
		all->prefix, r->name, all->prefix, r->name, all->prefix,
		r->name);
	free(s.of_field);
}

void
generate_events(FILE *f, const struct generation *g)
{
	char upper[C_NAME_NBYTES];
	struct c_records all;

	if (!c_records_open(&all, g, upper))
		return;
	c_put_banner(f, g->name, "_events.h",
		     "put records of this format into a trace");
	fprintf(f,
		"#ifndef %s_EVENTS_H\n#define %s_EVENTS_H\n\n"
		"#include <hatftrace.h>\n\n#include \"%s.h\"\n\n"
		"static const char %s_event_dtd[] =\n\t",
		upper, upper, g->name, g->name);
	c_put_dtd(f, g);
	fprintf(f, ";\n\n");
	c_put_template(f, &all, template_events_h, strlen(template_events_h));
	for (size_t i = 0; i < all.count; i++)
		put_stub(f, &all, &all.list[i]);
	fprintf(f, "\n#endif /* %s_EVENTS_H */\n", upper);
	free(all.list);
}

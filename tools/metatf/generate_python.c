/* SPDX-License-Identifier: MIT */
/*
 * generate_python.c - see generate.h
 *
 * In Python, a reader that interprets a table is as fast as generated code.
 * The generator therefore writes a table, and appends a reader that is the same
 * for every DTD.
 */
#include "tools/metatf/generate.h"
#include "tools/metatf/templates.h"

#include <inttypes.h>

static void
put_index(FILE *f, const char *key, uint32_t idx)
{
	if (idx == SCHEMA_NO_FIELD)
		fprintf(f, " '%s': None,", key);
	else
		fprintf(f, " '%s': %" PRIu32 ",", key, idx);
}

static void
put_field(FILE *f, const struct schema_field *field)
{
	fprintf(f,
		"            {'name': '%s', 'is_tag': %s, 'kind': %d,\n"
		"             'width': %" PRIu32 ",",
		field->name, field->is_tag ? "True" : "False", field->is_bytes,
		field->width);
	put_index(f, "width_from", field->width_from);
	fprintf(f,
		" 'interpretation': %d,\n"
		"             'args': (%" PRIu64 ", %" PRIu64 "),"
		" 'has_value': %s, 'value': %" PRIu64 ",\n            ",
		field->interpretation, field->args[0], field->args[1],
		field->has_value ? "True" : "False", field->value);
	put_index(f, "value_from", field->value_from);
	fprintf(f, " 'history': %" PRIu32 "},\n", field->history);
}

static void
put_step(FILE *f, const struct schema_step *s)
{
	fprintf(f, "            (%d, '%s', %" PRIu32 ", %" PRIu32 ", %s),\n",
		s->kind, s->name, s->field, s->end,
		s->is_scalar ? "True" : "False");
}

static void
put_record(FILE *f, const struct schema_record *r)
{
	fprintf(f,
		"        {'name': '%s', 'role': %d, 'tag': %" PRIu64 ",\n"
		"         'first_field': %" PRIu32 ", 'fields': [\n",
		r->name, r->role, r->tag, r->first_field);
	for (uint32_t i = 0; i < r->field_count; i++)
		put_field(f, &r->fields[i]);
	fprintf(f, "         ], 'steps': [\n");
	for (uint32_t i = 0; i < r->step_count; i++)
		put_step(f, &r->steps[i]);
	fprintf(f, "         ]},\n");
}

static void
put_section(FILE *f, const struct schema_section *s)
{
	fprintf(f,
		"    {'name': '%s', 'number': %u, 'is_plain': %s,\n"
		"     'is_column': %s, 'has_elements': %s,\n"
		"     'histories': %" PRIu32 ", 'records': [\n",
		s->name, s->number, s->is_plain ? "True" : "False",
		s->is_column ? "True" : "False",
		schema_has_elements(s) ? "True" : "False",
		s->history_count + 1);
	for (uint32_t i = 0; i < s->record_count; i++)
		put_record(f, &s->records[i]);
	fprintf(f, "     ]},\n");
}

void
generate_python(FILE *f, const struct generation *g)
{
	fprintf(f,
		"#!/usr/bin/env python3\n"
		"# " GENERATED_BY " from %s.dtd.  Do not edit.\n"
		"\"\"\"\n"
		"Read traces of the format %s.\n\n"
		"    import %s\n\n"
		"    for record in %s.Reader('trace.mtf'):\n"
		"        print(record.name, record.fields)\n"
		"\"\"\"\n",
		g->name, g->name, g->name, g->name);
	fprintf(f, "TAG_WIDTH = %" PRIu32 "\nSCHEMA = [\n",
		g->schema->tag_width);
	for (uint32_t i = 0; i < g->schema->section_count; i++)
		put_section(f, &g->schema->sections[i]);
	fprintf(f, "]\n\n");
	fputs(template_reader_py, f);
}

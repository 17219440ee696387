/* SPDX-License-Identifier: MIT */
/* schema.c - see schema.h */
#include "hatf/metatf/schema.h"

#include "hatf/metatf/arena.h"
#include "hatf/metatf/definitions.h"
#include "hatf/metatf/schema_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The definitions that appendix B of the paper gives every DTD.  The metadata
 * record has only its tag here, because the code of readers and writers knows
 * its other fields.
 */
static const char predefined_text[] =
	"vfield : (length, data) {"
	"	length.width = 1; length.interpretation = none;"
	"	data.width = length.value; data.interpretation = none;"
	"}"
	"comment : (tag, length, data) { tag.value = 1;"
	"	length.width = 1; length.interpretation = none;"
	"	data.width = length.value; data.interpretation = none;"
	"}"
	"Section : (tag, number) { tag.value = 2;"
	"	number.width = 1; number.interpretation = none;"
	"}"
	"metadata : (tag) { tag.value = 3; }";

/* A schema, and the memory of all its parts. */
struct owned_schema {
	/*
	 * The first member, so that schema_close() can cast a pointer to
	 * 'schema' to a pointer to the whole struct.
	 */
	struct schema schema;
	struct arena arena;
	struct dtd *predefined;
};

/* ------------------------------------------------------------------- checks */

/* Is the name of a record reserved? */
static bool
is_reserved(const char *name)
{
	static const char *const names[] = { "vfield", "comment", "section",
					     "metadata", "tag" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool
check_names(struct build *b, const struct dtd_defs *defs)
{
	for (const struct dtd_record *r = defs->records; r != NULL; r = r->next)
		if (is_reserved(r->name))
			return build_fail(b, r->place,
					  "the record name '%s' is reserved",
					  r->name);
	return true;
}

static bool
check_sections(struct build *b)
{
	const struct dtd_section *numbers[UINT8_MAX + 1] = { NULL };

	for (const struct dtd_section *s = b->dtd->sections; s != NULL;
	     s = s->next) {
		if (numbers[s->number] != NULL)
			return build_fail(b, s->place,
					  "section %u is already defined in "
					  "line %u",
					  s->number,
					  numbers[s->number]->place.line);
		for (unsigned i = 1; i <= UINT8_MAX; i++)
			if (numbers[i] != NULL &&
			    strcmp(numbers[i]->name, s->name) == 0)
				return build_fail(b, s->place,
						  "section '%.60s' is already "
						  "defined in line %u",
						  s->name,
						  numbers[i]->place.line);
		numbers[s->number] = s;
		if (!check_names(b, &s->defs))
			return false;
	}
	return true;
}

/*
 * Check the properties of the tag.  Only properties outside of sections and
 * records may set the width, and the interpretation must be none.
 */
static bool
check_tag_properties(struct build *b, const struct dtd_property *first,
		     bool is_global)
{
	for (const struct dtd_property *p = first; p != NULL; p = p->next) {
		const bool is_none = p->value.kind == DTD_INTERPRETATION &&
				     p->value.interpretation == DTD_NONE;

		if (strcmp(p->field, "tag") != 0)
			continue;
		if (strcmp(p->name, "width") == 0 && !is_global)
			return build_fail(b, p->place,
					  "the width of the tag must be set "
					  "outside of sections and records");
		if (strcmp(p->name, "interpretation") == 0 && !is_none)
			return build_fail(
				b, p->value.place,
				"the interpretation of the tag must be none");
		b->is_used[p->ordinal] = true;
	}
	return true;
}

static bool
check_defs_tags(struct build *b, const struct dtd_defs *defs, bool is_global)
{
	if (!check_tag_properties(b, defs->properties, is_global))
		return false;
	for (const struct dtd_record *r = defs->records; r != NULL; r = r->next)
		if (!check_tag_properties(b, r->properties, false))
			return false;
	return true;
}

static bool
set_tag_width(struct build *b)
{
	const struct scope global = { &b->dtd->defs, NULL };
	const struct dtd_property *const p =
		definitions_property(b->definitions, &global, "tag", "width");

	b->tag_width = 1;
	if (!check_defs_tags(b, &b->dtd->defs, true))
		return false;
	for (const struct dtd_section *s = b->dtd->sections; s != NULL;
	     s = s->next)
		if (!check_defs_tags(b, &s->defs, false))
			return false;
	if (p == NULL)
		return true;
	if (p->value.kind != DTD_NUMBER || p->value.args[0].value < 1 ||
	    p->value.args[0].value > 4)
		return build_fail(b, p->value.place,
				  "the width of a tag must be 1 to 4 bytes");
	b->tag_width = (uint32_t)p->value.args[0].value;
	return true;
}

/* ----------------------------------------------------------------- sections */

/*
 * In dialect 1.0 the predefined records have the tags 1, 2 and 3.  In the other
 * dialects, a DTD may use these tags for its own records, and the predefined
 * records have the three highest tags.
 */
static uint64_t
predefined_tag(const struct build *b, unsigned nth)
{
	if (b->dtd->dialect == DTD_1_0)
		return nth + 1;
	return ((uint64_t)1 << (8 * b->tag_width)) - 3 + nth;
}

/* Append the predefined records comment, section and metadata. */
static bool
add_predefined(struct build *b, struct schema_section *s)
{
	/*
	 * "Section" begins with a capital letter, because "section" is a word
	 * of the language.
	 */
	static const char *const names[] = { "comment", "Section", "metadata" };

	for (unsigned i = 0; i < 3; i++) {
		const struct scope global = { &b->predefined->defs, NULL };
		const struct scope *where;
		const struct dtd_record *const record = definitions_record(
			b->predefinitions, &global, names[i], &where);
		struct schema_record *const out = &s->records[s->record_count];

		if (!build_record(b, record, &global, out))
			return false;
		out->role = ROLE_COMMENT + i;
		if (out->role == ROLE_SECTION)
			out->name = "section";
		out->tag = predefined_tag(b, i);
		out->fields[0].value = out->tag;
		s->record_count++;
	}
	return true;
}

/* Add the records of 'defs' to the section, except those without a tag. */
static bool
add_records(struct build *b, struct schema_section *s,
	    const struct dtd_defs *defs, const struct scope *scope)
{
	for (const struct dtd_record *r = defs->records; r != NULL; r = r->next)
		if (build_has_tag(b, r) &&
		    !build_record(b, r, scope, &s->records[s->record_count++]))
			return false;
	return true;
}

/* A record and its tag, for sorting. */
struct tagged {
	uint64_t tag;
	uint32_t idx;
};

static int
compare_tags(const void *a, const void *b)
{
	const struct tagged *const x = a, *const y = b;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return (x->idx > y->idx) - (x->idx < y->idx);
}

/* Fail, because two records have the same tag. */
static bool
fail_tag(struct build *b, const struct schema_record *first,
	 const struct schema_record *second)
{
	if (second->role != ROLE_DATA && b->dtd->dialect == DTD_1_0)
		return build_fail(b, first->place,
				  "tag %llu of record '%.60s' is reserved for "
				  "the predefined record '%s': use another "
				  "tag, or begin the DTD with "
				  "'// Meta-TF version 1.1'",
				  (unsigned long long)first->tag, first->name,
				  second->name);
	return build_fail(
		b, second->role == ROLE_DATA ? second->place : first->place,
		"record '%.60s' has tag %llu, which record '%.60s' has already",
		second->role == ROLE_DATA ? second->name : first->name,
		(unsigned long long)first->tag,
		second->role == ROLE_DATA ? first->name : second->name);
}

static bool
check_tags(struct build *b, const struct schema_section *s)
{
	struct tagged *const sorted = calloc(s->record_count, sizeof(*sorted));
	bool ok = true;

	if (sorted == NULL)
		return build_no_memory(b);
	for (uint32_t i = 0; i < s->record_count; i++)
		sorted[i] = (struct tagged){ s->records[i].tag, i };
	qsort(sorted, s->record_count, sizeof(*sorted), compare_tags);
	for (uint32_t i = 1; ok && i < s->record_count; i++)
		if (sorted[i - 1].tag == sorted[i].tag)
			ok = fail_tag(b, &s->records[sorted[i - 1].idx],
				      &s->records[sorted[i].idx]);
	free(sorted);
	return ok;
}

static uint32_t
count_records(const struct dtd_defs *defs)
{
	uint32_t count = 0;

	for (const struct dtd_record *r = defs->records; r != NULL; r = r->next)
		count++;
	return count;
}

/* Does a section consist of one record without a tag? */
static bool
is_plain(const struct build *b, const struct dtd_defs *defs)
{
	return defs->records != NULL && defs->records->next == NULL &&
	       !build_has_tag(b, defs->records);
}

/*
 * Can a record be longer than 0 bytes?  A field of bytes takes no bytes if its
 * width is the value of another field with the interpretation "default 0".
 */
static bool
takes_bytes(const struct schema_record *r)
{
	for (uint32_t i = 0; i < r->field_count; i++) {
		const struct schema_field *const f = &r->fields[i];
		const struct schema_field *const from =
			f->width_from != SCHEMA_NO_FIELD
				? &r->fields[f->width_from]
				: NULL;

		if (from != NULL ? from->interpretation != DTD_DEFAULT ||
					   from->args[0] != 0
				 : f->width != 0 && !build_stores_nothing(
							    f->interpretation))
			return true;
	}
	return false;
}

/*
 * Refuse a plain section whose records take no bytes, because a reader could
 * not tell how many records the section has.
 */
static bool
check_plain(struct build *b, const struct schema_section *s)
{
	return takes_bytes(&s->records[0]) ||
	       build_fail(b, s->records[0].place,
			  "record '%.60s' of section '%.60s' takes no bytes: "
			  "expected a tag or a stored field",
			  s->records[0].name, s->name);
}

/*
 * Number the fields of all records of the section from 0, and store the number
 * of each record's first field.
 */
static void
number_fields(struct schema_section *s)
{
	for (uint32_t i = 0; i < s->record_count; i++) {
		s->records[i].first_field = s->field_count;
		s->field_count += s->records[i].field_count;
	}
}

/* Make a section from 'from'; NULL stands for the global section. */
static bool
build_section(struct build *b, const struct dtd_section *from,
	      struct schema_section *s)
{
	const struct scope global = { &b->dtd->defs, NULL };
	const struct scope local = { from != NULL ? &from->defs : NULL,
				     &global };
	const uint32_t most = count_records(&b->dtd->defs) + 3 +
			      (from != NULL ? count_records(&from->defs) : 0);
	bool ok = true;

	s->name = from != NULL ? from->name : "";
	s->number = from != NULL ? from->number : SCHEMA_GLOBAL;
	s->records = arena_get(b->arena, most * sizeof(*s->records));
	if (s->records == NULL)
		return build_no_memory(b);
	b->history_count = 0;
	memset(b->histories, 0,
	       (b->dtd->property_count + b->predefined->property_count) *
		       sizeof(*b->histories));
	s->is_plain = from != NULL && is_plain(b, &from->defs);
	if (s->is_plain) {
		ok = build_record(b, from->defs.records, &local,
				  &s->records[0]) &&
		     check_plain(b, s);
		s->own_count = s->record_count = 1;
	} else {
		if (from != NULL)
			ok = add_records(b, s, &from->defs, &local);
		s->own_count = s->record_count;
		ok = ok && add_records(b, s, &b->dtd->defs, &global) &&
		     add_predefined(b, s) && check_tags(b, s);
	}
	number_fields(s);
	s->history_count = b->history_count;
	return ok;
}

static struct schema_section *
section_numbered(struct schema *schema, uint64_t number)
{
	for (uint32_t i = 0; i < schema->section_count; i++)
		if (schema->sections[i].number == number)
			return &schema->sections[i];
	return NULL;
}

/*
 * If a field refers to a section, check that the section is defined.  If the
 * field takes its numbers from the section (sectionStride), mark the section as
 * a column, and check that the section can be a column.
 */
static bool
check_section_field(struct build *b, struct schema *schema,
		    const struct schema_section *s,
		    const struct schema_field *f)
{
	struct schema_section *const other =
		f->args[0] == SCHEMA_GLOBAL || f->args[0] > UINT8_MAX
			? NULL
			: section_numbered(schema, f->args[0]);

	if (f->interpretation != DTD_SECTION_OFFSET &&
	    f->interpretation != DTD_SECTION_STRIDE)
		return true;
	if (other == NULL)
		return build_fail(b, f->place,
				  "field '%.60s' refers to section %llu, which "
				  "is not defined",
				  f->name, (unsigned long long)f->args[0]);
	if (f->interpretation == DTD_SECTION_STRIDE)
		other->is_column = true;
	if (f->interpretation == DTD_SECTION_STRIDE &&
	    (other == s || !schema_has_elements(other)))
		return build_fail(
			b, f->place,
			"field '%.60s' cannot take its values from section "
			"'%.60s': expected another section, whose only "
			"record has a single number",
			f->name, other->name);
	return true;
}

static bool
check_section_fields(struct build *b, struct schema *schema)
{
	for (uint32_t i = 0; i < schema->section_count; i++) {
		const struct schema_section *const s = &schema->sections[i];

		/*
		 * All records that a section has after 'own_count' are also in
		 * sections[0], the global section.  Check these records only
		 * once, in sections[0].
		 */
		const uint32_t count = i == 0 ? s->record_count : s->own_count;

		for (uint32_t j = 0; j < count; j++)
			for (uint32_t k = 0; k < s->records[j].field_count; k++)
				if (!check_section_field(
					    b, schema, s,
					    &s->records[j].fields[k]))
					return false;
	}
	return true;
}

/* -------------------------------------------------------------------- notes */

/* The function to call for each peculiarity of a DTD, and its argument. */
struct notes {
	const struct build *b;
	schema_note *note;
	void *ctx;
};

/*
 * Is this one of the three properties by which a DTD says how a trace stores a
 * field?
 */
static bool
is_standard(const char *name)
{
	return strcmp(name, "width") == 0 ||
	       strcmp(name, "interpretation") == 0 ||
	       strcmp(name, "value") == 0;
}

static void
note_properties(const struct notes *n, const struct dtd_property *first)
{
	char text[200];

	for (const struct dtd_property *p = first; p != NULL; p = p->next) {
		if (n->b->is_used[p->ordinal])
			continue;
		if (is_standard(p->name))
			snprintf(text, sizeof(text),
				 "property '%.60s.%.60s' belongs to no field "
				 "in its scope",
				 p->field, p->name);
		else
			snprintf(text, sizeof(text),
				 "property '%.60s.%.60s' has no effect unless "
				 "another property refers to it",
				 p->field, p->name);
		n->note(n->ctx, p->place, text);
	}
}

static void
note_records(const struct notes *n, const struct dtd_defs *defs, bool is_plain)
{
	char text[200];

	for (const struct dtd_record *r = defs->records; r != NULL;
	     r = r->next) {
		if (!is_plain && !build_has_tag(n->b, r) &&
		    !n->b->is_nested[r->ordinal]) {
			snprintf(text, sizeof(text),
				 "record '%.60s' has no tag, and no other "
				 "record contains it",
				 r->name);
			n->note(n->ctx, r->place, text);
		} else {
			note_properties(n, r->properties);
		}
	}
}

/*
 * Call the note function for each peculiarity of the DTD.  Ignore records that
 * are defined inside fields.
 */
static void
give_notes(const struct notes *n)
{
	note_properties(n, n->b->dtd->defs.properties);
	note_records(n, &n->b->dtd->defs, false);
	for (const struct dtd_section *s = n->b->dtd->sections; s != NULL;
	     s = s->next) {
		note_properties(n, s->defs.properties);
		note_records(n, &s->defs, is_plain(n->b, &s->defs));
	}
}

/* ------------------------------------------------------------------ opening */

static bool
build_sections(struct build *b, struct schema *schema)
{
	const struct dtd_section *from = b->dtd->sections;
	uint32_t count = 1;

	for (const struct dtd_section *s = from; s != NULL; s = s->next)
		count++;
	schema->sections =
		arena_get(b->arena, count * sizeof(*schema->sections));
	if (schema->sections == NULL)
		return build_no_memory(b);
	schema->section_count = count;
	if (!build_section(b, NULL, &schema->sections[0]))
		return false;
	for (uint32_t i = 1; i < count; i++, from = from->next)
		if (!build_section(b, from, &schema->sections[i]))
			return false;
	return check_section_fields(b, schema);
}

static bool
build_schema(struct build *b, struct schema *schema, const struct notes *notes)
{
	const bool ok = check_names(b, &b->dtd->defs) && check_sections(b) &&
			set_tag_width(b) && build_sections(b, schema);

	schema->tag_width = b->tag_width;
	if (ok && notes->note != NULL)
		give_notes(notes);
	return ok;
}

/*
 * Allocate the memory that is needed only while the schema is made.  Return
 * false if there is no memory.
 */
static bool
begin_build(struct build *b)
{
	const size_t own = b->dtd->property_count;
	const size_t predefined = b->predefined->property_count;
	struct dtd_error never;

	b->is_used = calloc(own + 1, sizeof(*b->is_used));
	b->is_nested = calloc(b->dtd->record_count + 1, sizeof(*b->is_nested));
	b->histories = calloc(own + predefined, sizeof(*b->histories));
	b->predefinitions = definitions_open(b->predefined, &never);
	return b->is_used != NULL && b->is_nested != NULL &&
	       b->histories != NULL && b->predefinitions != NULL;
}

static void
end_build(struct build *b)
{
	free(b->is_used);
	free(b->is_nested);
	free(b->histories);
	definitions_close(b->predefinitions);
	definitions_close(b->definitions);
}

struct schema *
schema_open(const struct dtd *dtd, schema_note *note, void *ctx,
	    struct dtd_error *err)
{
	struct owned_schema *const owned = calloc(1, sizeof(*owned));
	struct build b = { .dtd = dtd, .err = err };
	const struct notes notes = { &b, note, ctx };
	struct dtd_error no_memory = { .text = "no memory" };
	bool ok;

	*err = no_memory;
	if (owned == NULL)
		return NULL;
	owned->predefined = dtd_parse(predefined_text,
				      sizeof(predefined_text) - 1, &no_memory);
	b.arena = &owned->arena;
	b.predefined = owned->predefined;
	b.definitions =
		owned->predefined != NULL ? definitions_open(dtd, err) : NULL;
	ok = b.definitions != NULL;
	if (ok && !begin_build(&b)) {
		*err = (struct dtd_error){ .text = "no memory" };
		ok = false;
	}
	ok = ok && build_schema(&b, &owned->schema, &notes);
	end_build(&b);
	if (ok)
		return &owned->schema;
	schema_close(&owned->schema);
	return NULL;
}

void
schema_close(struct schema *schema)
{
	struct owned_schema *const owned = (struct owned_schema *)schema;

	if (owned == NULL)
		return;
	dtd_close(owned->predefined);
	arena_fini(&owned->arena);
	free(owned);
}

/* ------------------------------------------------------------------ finding */

bool
schema_has_elements(const struct schema_section *section)
{
	const struct schema_record *const r = &section->records[0];
	const uint32_t tag_count = r->has_tag;

	return section->record_count != 0 && r->role == ROLE_DATA &&
	       r->field_count == tag_count + 1 &&
	       !r->fields[tag_count].is_bytes &&
	       r->fields[tag_count].interpretation != DTD_SECTION_STRIDE &&
	       r->step_count == r->field_count && section->own_count == 1;
}

const struct schema_section *
schema_section(const struct schema *schema, unsigned number)
{
	for (uint32_t i = 0; i < schema->section_count; i++)
		if (schema->sections[i].number == number)
			return &schema->sections[i];
	return NULL;
}

const struct schema_section *
schema_section_named(const struct schema *schema, const char *name)
{
	for (uint32_t i = 0; i < schema->section_count; i++)
		if (strcmp(schema->sections[i].name, name) == 0)
			return &schema->sections[i];
	return NULL;
}

const struct schema_record *
schema_record(const struct schema_section *section, uint64_t tag)
{
	for (uint32_t i = 0; i < section->record_count; i++)
		if (section->records[i].tag == tag)
			return &section->records[i];
	return NULL;
}

const struct schema_record *
schema_record_named(const struct schema_section *section, const char *name)
{
	for (uint32_t i = 0; i < section->record_count; i++)
		if (strcmp(section->records[i].name, name) == 0)
			return &section->records[i];
	return NULL;
}

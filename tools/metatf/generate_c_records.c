/* SPDX-License-Identifier: MIT */
/* generate_c_records.c - see generate_c.h */
#include "tools/metatf/generate_c.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The state while the code for a record is written. */
struct emitter {
	FILE *f;
	const struct c_records *all;
	const struct schema_record *record;
	unsigned indent;
	unsigned loop_count;
	bool is_put;
	void **structs; /* a tsearch() tree of the structs' names in use */
	/*
	 * C expressions of the fields whose code is already written, indexed by
	 * field
	 */
	char (*of_field)[C_PATH_NBYTES];
};

static void
put_indent(const struct emitter *e)
{
	for (unsigned i = 0; i < e->indent; i++)
		fputc('\t', e->f);
}

/* Return the length of a name without the underscores at its end. */
static size_t
stem_length(const char *name)
{
	size_t length = strlen(name);

	while (length != 0 && name[length - 1] == '_')
		length--;
	return length;
}

/*
 * Words that cannot name a member: words of C and C++, macros that compilers
 * define, and names from the headers that the generated code includes.
 */
static const char *const taken_words[] = {
	"alignas",	"alignof",   "and",
	"and_eq",	"asm",	     "auto",
	"bitand",	"bitor",     "bool",
	"break",	"case",	     "catch",
	"char",		"char16_t",  "char32_t",
	"char8_t",	"class",     "co_await",
	"co_return",	"co_yield",  "compl",
	"concept",	"const",     "const_cast",
	"consteval",	"constexpr", "constinit",
	"continue",	"decltype",  "default",
	"delete",	"do",	     "double",
	"dynamic_cast", "else",	     "enum",
	"errno",	"explicit",  "export",
	"extern",	"false",     "float",
	"for",		"friend",    "goto",
	"i386",		"if",	     "inline",
	"int",		"linux",     "long",
	"mutable",	"namespace", "new",
	"noexcept",	"not",	     "not_eq",
	"nullptr",	"operator",  "or",
	"or_eq",	"private",   "protected",
	"public",	"register",  "reinterpret_cast",
	"requires",	"restrict",  "return",
	"short",	"signed",    "size_t",
	"sizeof",	"st_atime",  "st_ctime",
	"st_mtime",	"static",    "static_assert",
	"static_cast",	"struct",    "switch",
	"template",	"this",	     "thread_local",
	"throw",	"true",	     "try",
	"typedef",	"typeid",    "typename",
	"typeof",	"uint64_t",  "uint8_t",
	"union",	"unix",	     "unsigned",
	"using",	"virtual",   "void",
	"volatile",	"wchar_t",   "while",
	"xor",		"xor_eq",
};

/*
 * Could this be the name of a macro?  Yes, if the name is reserved for
 * compilers, or if it has at least two characters, but no lower-case letters.
 * Underscores at the end do not count as characters.
 */
static bool
looks_like_macro(const char *name)
{
	if (name[0] == '_' &&
	    (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z')))
		return true;
	for (const char *c = name; *c != '\0'; c++)
		if (*c >= 'a' && *c <= 'z')
			return false;
	return stem_length(name) > 1;
}

static bool
is_taken_word(const char *name)
{
	const size_t length = stem_length(name);

	for (size_t i = 0; i < sizeof(taken_words) / sizeof(taken_words[0]);
	     i++)
		if (strlen(taken_words[i]) == length &&
		    memcmp(taken_words[i], name, length) == 0)
			return true;
	return false;
}

/*
 * Append an underscore to a name that a member cannot have, such as 'int'.
 * Also append one to 'int_', because otherwise the members 'int' and 'int_'
 * would have the same name.
 */
const char *
c_member(const char *name, char buf[C_NAME_NBYTES])
{
	if (!is_taken_word(name) && !looks_like_macro(name))
		return name;
	snprintf(buf, C_NAME_NBYTES, "%s_", name);
	return buf;
}

void
c_join(char to[C_PATH_NBYTES], const char *a, const char *b, const char *c)
{
	const char *const parts[] = { a, b, c };
	size_t used = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const size_t room = C_PATH_NBYTES - 1 - used;
		const size_t n = strnlen(parts[i], room);

		memcpy(to + used, parts[i], n);
		used += n;
	}
	to[used] = '\0';
}

/* ------------------------------------------------------------------- struct */

static int
compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool
c_take_struct_name(void **structs, const char *name)
{
	char *const copy = strdup(name);
	char **node = NULL;
	bool is_new;

	if (copy != NULL)
		node = tsearch(copy, structs, compare_names);
	is_new = node != NULL && *node == copy;
	if (!is_new)
		free(copy);
	return is_new || node == NULL;
}

/*
 * Find a name for a struct inside another struct, such that no other struct has
 * the same name.
 */
static void
nested_name(struct emitter *e, char to[C_PATH_NBYTES], const char *path,
	    const char *name)
{
	char base[C_PATH_NBYTES], number[12];

	c_join(base, path, "_", name);
	c_join(to, base, "", "");
	for (unsigned i = 2; !c_take_struct_name(e->structs, to); i++) {
		snprintf(number, sizeof(number), "%u", i);
		c_join(to, base, "_", number);
	}
}

static void struct_members(struct emitter *e, const char *path, uint32_t first,
			   uint32_t end);

static void
struct_field(struct emitter *e, const struct schema_step *s)
{
	const struct schema_field *const field = &e->record->fields[s->field];
	char buf[C_PATH_NBYTES];

	if (field->is_tag)
		return;
	put_indent(e);
	if (field->is_bytes)
		fprintf(e->f, "struct %s_bytes %s;", e->all->prefix,
			c_member(s->name, buf));
	else
		fprintf(e->f, "uint64_t %s;", c_member(s->name, buf));
	if (field->has_value && field->value_from == SCHEMA_NO_FIELD)
		fprintf(e->f, " /* %" PRIu64 " */", field->value);
	fprintf(e->f, "\n");
}

/* Write the member for a nested record, or for an array of repeated fields. */
static void
struct_nested(struct emitter *e, const char *path, uint32_t step)
{
	const struct schema_step *const s = &e->record->steps[step];
	const char *const star = s->kind == STEP_REPEAT ? "*" : "";
	char buf[C_PATH_NBYTES], inner[C_PATH_NBYTES];

	put_indent(e);
	if (s->is_scalar) {
		const uint32_t idx = e->record->steps[step + 1].field;

		if (e->record->fields[idx].is_bytes)
			fprintf(e->f, "struct %s_bytes *%s;\n", e->all->prefix,
				c_member(s->name, buf));
		else
			fprintf(e->f, "uint64_t *%s;\n",
				c_member(s->name, buf));
		return;
	}
	nested_name(e, inner, path, s->name);
	fprintf(e->f, "struct %s {\n", inner);
	e->indent++;
	struct_members(e, inner, step + 1, s->end);
	e->indent--;
	put_indent(e);
	fprintf(e->f, "} %s%s;\n", star, c_member(s->name, buf));
}

static void
struct_members(struct emitter *e, const char *path, uint32_t first,
	       uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		const struct schema_step *const s = &e->record->steps[i];

		if (s->kind == STEP_FIELD) {
			struct_field(e, s);
		} else {
			struct_nested(e, path, i);
			i = s->end - 1;
		}
	}
}

void
c_record_struct(FILE *f, const struct c_records *all, const struct c_record *r,
		void **structs)
{
	struct emitter e = {
		.f = f,
		.all = all,
		.record = r->record,
		.indent = 1,
		.structs = structs,
	};
	char path[C_PATH_NBYTES];

	c_join(path, all->prefix, "_", r->name);
	fprintf(f, "\n/* Record '%s'", r->record->name);
	if (r->section->number != SCHEMA_GLOBAL)
		fprintf(f, " of section '%s'", r->section->name);
	fprintf(f, ". */\nstruct %s {\n", path);
	struct_members(&e, path, 0, r->record->step_count);
	if (r->record->field_count == r->record->has_tag)
		fprintf(f, "\tchar unused; /* it has no field */\n");
	fprintf(f, "};\n");
}

/* ------------------------------------------------------------------ offsets */

bool
c_record_is_simple(const struct schema_record *r)
{
	for (uint32_t i = 0; i < r->step_count; i++)
		if (r->steps[i].kind == STEP_REPEAT)
			return false;
	for (uint32_t i = 0; i < r->field_count; i++)
		if (r->fields[i].has_value && !r->fields[i].is_tag)
			return false;
	return r->field_count > r->has_tag;
}

static void
put_offsets(const struct emitter *e, const char *type, const char *prefix,
	    uint32_t first, uint32_t end)
{
	char path[C_PATH_NBYTES], buf[C_PATH_NBYTES];

	for (uint32_t i = first; i < end; i++) {
		const struct schema_step *const s = &e->record->steps[i];

		c_join(path, prefix, c_member(s->name, buf), "");
		if (s->kind == STEP_NESTED) {
			c_join(buf, path, ".", "");
			put_offsets(e, type, buf, i + 1, s->end);
			i = s->end - 1;
		} else if (e->record->fields[s->field].is_tag) {
			fprintf(e->f, "\tNO_FIELD,\n");
		} else {
			fprintf(e->f, "\toffsetof(struct %s, %s),\n", type,
				path);
		}
	}
}

void
c_record_offsets(FILE *f, const struct c_records *all, const struct c_record *r,
		 size_t type)
{
	const struct emitter e = { .f = f, .all = all, .record = r->record };
	char name[C_PATH_NBYTES];

	c_join(name, all->prefix, "_", r->name);
	fprintf(f, "static const uint32_t offsets_%zu[] = {\n", type);
	put_offsets(&e, name, "", 0, r->record->step_count);
	fprintf(f, "};\n\n");
}

/* --------------------------------------------------------- reading, writing */

/* Store the C expression of a field, because later fields may refer to it. */
static void
note_expression(struct emitter *e, uint32_t idx, const char *expression)
{
	const struct schema_field *const f = &e->record->fields[idx];

	if (e->is_put && f->has_value && f->value_from != SCHEMA_NO_FIELD)
		memmove(e->of_field[idx], e->of_field[f->value_from],
			C_PATH_NBYTES);
	else if (e->is_put && f->has_value)
		snprintf(e->of_field[idx], C_PATH_NBYTES,
			 "UINT64_C(%" PRIu64 ")", f->value);
	else
		c_join(e->of_field[idx], expression, "", "");
}

static void
emit_bytes(const struct emitter *e, uint32_t idx, const char *expression)
{
	const struct schema_field *const f = &e->record->fields[idx];
	char width[20];
	const char *told = width;

	snprintf(width, sizeof(width), "%" PRIu32, f->width);
	if (f->width_from != SCHEMA_NO_FIELD)
		told = e->of_field[f->width_from];

	put_indent(e);
	if (e->is_put)
		fprintf(e->f,
			"if (!put_bytes(w, p, info, %" PRIu32 ", %s, &%s))\n",
			idx, told, expression);
	else
		fprintf(e->f,
			"if (!read_bytes(r, c, width_of(&f[%" PRIu32
			"], %s), &%s))\n",
			idx, told, expression);
}

static void
emit_number(struct emitter *e, uint32_t idx, const char *expression)
{
	const struct schema_field *const f = &e->record->fields[idx];

	note_expression(e, idx, expression);
	put_indent(e);
	if (e->is_put) {
		fprintf(e->f, "if (!put_number(w, p, info, %" PRIu32 ", %s))\n",
			idx, e->of_field[idx]);
		return;
	}
	fprintf(e->f, "if (!read_number(r, c, &f[%" PRIu32 "], &%s))\n", idx,
		expression);
	if (!f->has_value)
		return;
	put_indent(e);
	fprintf(e->f, "\treturn false;\n");
	put_indent(e);
	fprintf(e->f, "if (!check_value(r, \"%s\", %s, ", f->name, expression);
	if (f->value_from != SCHEMA_NO_FIELD)
		fprintf(e->f, "%s))\n", e->of_field[f->value_from]);
	else
		fprintf(e->f, "UINT64_C(%" PRIu64 ")))\n", f->value);
}

static void
emit_field(struct emitter *e, uint32_t idx, const char *expression)
{
	const struct schema_field *const f = &e->record->fields[idx];

	if (f->is_tag && !e->is_put)
		return;
	if (f->is_tag) {
		put_indent(e);
		fprintf(e->f, "if (!put_tag(w, p, info))\n");
	} else if (f->is_bytes) {
		emit_bytes(e, idx, expression);
	} else {
		emit_number(e, idx, expression);
	}
	put_indent(e);
	fprintf(e->f, "\treturn false;\n");
}

static void emit_steps(struct emitter *e, const char *prefix, uint32_t first,
		       uint32_t end);

/*
 * Return how many values one element of an array contains.  An array inside the
 * element counts as one value.  The generated code needs this number to limit
 * the values of a record, because even a value that takes no bytes in the trace
 * takes memory.
 */
static unsigned
values_of_item(const struct schema_record *r, uint32_t first, uint32_t end)
{
	unsigned count = 0;
	uint32_t i = first;

	while (i < end) {
		count += r->steps[i].kind != STEP_NESTED;
		i = r->steps[i].kind == STEP_REPEAT ? r->steps[i].end : i + 1;
	}
	return count;
}

static void
emit_repeat(struct emitter *e, const char *array, uint32_t step)
{
	const struct schema_step *const s = &e->record->steps[step];
	const char *const count = e->of_field[s->field];
	const unsigned loop = e->loop_count++;
	char item[C_PATH_NBYTES], index[20], prefix[C_PATH_NBYTES];

	snprintf(index, sizeof(index), "[i%u]", loop);
	c_join(item, array, index, "");
	put_indent(e);
	fprintf(e->f,
		e->is_put ? "if (!put_count(w, info, %s, %u))\n"
			  : "if (!check_count(r, %s, %u))\n",
		count, values_of_item(e->record, step + 1, s->end));
	put_indent(e);
	fprintf(e->f, "\treturn false;\n");
	if (!e->is_put) {
		put_indent(e);
		fprintf(e->f, "%s = reader_get(r, (size_t)%s * sizeof(*%s));\n",
			array, count, array);
		put_indent(e);
		fprintf(e->f, "if (%s == NULL)\n", array);
		put_indent(e);
		fprintf(e->f, "\treturn false;\n");
	}
	put_indent(e);
	fprintf(e->f, "for (uint64_t i%u = 0; i%u < %s; i%u++) {\n", loop, loop,
		count, loop);
	e->indent++;
	c_join(prefix, item, ".", "");
	if (s->is_scalar)
		emit_field(e, e->record->steps[step + 1].field, item);
	else
		emit_steps(e, prefix, step + 1, s->end);
	e->indent--;
	put_indent(e);
	fprintf(e->f, "}\n");
}

static void
emit_steps(struct emitter *e, const char *prefix, uint32_t first, uint32_t end)
{
	char expression[C_PATH_NBYTES], inner[C_PATH_NBYTES];
	char buf[C_PATH_NBYTES];

	for (uint32_t i = first; i < end; i++) {
		const struct schema_step *const s = &e->record->steps[i];

		c_join(expression, prefix, c_member(s->name, buf), "");
		if (s->kind == STEP_FIELD) {
			emit_field(e, s->field, expression);
			continue;
		}
		c_join(inner, expression, ".", "");
		if (s->kind == STEP_REPEAT)
			emit_repeat(e, expression, i);
		else
			emit_steps(e, inner, i + 1, s->end);
		i = s->end - 1;
	}
}

/* Does a record have fields besides its tag? */
static bool
uses_fields(const struct schema_record *r)
{
	for (uint32_t i = 0; i < r->field_count; i++)
		if (!r->fields[i].is_tag)
			return true;
	return false;
}

static void
emit_body(FILE *f, const struct c_records *all, const struct c_record *r,
	  bool is_put)
{
	struct emitter e = {
		.f = f,
		.all = all,
		.record = r->record,
		.indent = 1,
		.is_put = is_put,
		.of_field = calloc(r->record->field_count + 1, C_PATH_NBYTES),
	};

	if (e.of_field == NULL)
		return;
	if (!is_put && !uses_fields(r->record))
		fprintf(f, "\t(void)c;\n");
	if (r->record->field_count == r->record->has_tag)
		fprintf(f, "\t(void)x;\n%s", is_put ? "" : "\t(void)r;\n");
	emit_steps(&e, "x->", 0, r->record->step_count);
	fprintf(f, "\treturn true;\n}\n\n");
	free(e.of_field);
}

void
c_record_read(FILE *f, const struct c_records *all, const struct c_record *r)
{
	fprintf(f,
		"static inline bool\n"
		"decode_%s(struct %s_reader *r, struct cursor *c,\n"
		"\tconst struct record_info *info, struct %s_%s *x)\n"
		"{\n",
		r->name, all->prefix, all->prefix, r->name);
	if (uses_fields(r->record))
		fprintf(f, "\tconst struct field *const f =\n"
			   "\t\t&c->state.fields[info->first_field];\n\n");
	else
		fprintf(f, "\t(void)info;\n");
	emit_body(f, all, r, false);
}

void
c_record_put(FILE *f, const struct c_records *all, const struct c_record *r)
{
	const bool is_global = r->section->number == SCHEMA_GLOBAL;

	fprintf(f,
		"static bool\n"
		"encode_%s(struct %s_writer *w, struct part *p,\n"
		"\tconst struct record_info *info, const struct %s_%s *x)\n"
		"{\n",
		r->name, all->prefix, all->prefix, r->name);
	emit_body(f, all, r, true);
	fprintf(f,
		"bool\n%s_writer_put_%s(struct %s_writer *w%s%s%s,\n"
		"\tconst struct %s_%s *x)\n{\n",
		all->prefix, r->name, all->prefix, is_global ? ", enum " : "",
		is_global ? all->prefix : "",
		is_global ? "_section section" : "", all->prefix, r->name);
	if (is_global)
		fprintf(f, "\tstruct part *const p = part_of(w, section);\n");
	else
		fprintf(f, "\tstruct part *const p = part_at(w, %zu);\n",
			r->section_idx);
	fprintf(f, "\tconst struct record_info *info;\n\n"
		   "\tif (p == NULL)\n"
		   "\t\treturn false;\n");
	if (is_global)
		fprintf(f,
			"\tinfo = info_of(p->state.info, %s_TYPE_%s);\n"
			"\tif (info == NULL)\n"
			"\t\treturn refuse(w, \"the section has no such "
			"record\");\n",
			all->upper_prefix, r->upper);
	else
		fprintf(f, "\tinfo = &p->state.info->records[%td];\n",
			r->record - r->section->records);
	if (c_record_is_simple(r->record))
		fprintf(f, "\tif (put_by_plan(w, p, info, x))\n"
			   "\t\treturn true;\n");
	fprintf(f,
		"\tbegin_record(w);\n"
		"\twhile (!encode_%s(w, p, info, x))\n"
		"\t\tif (!repair_record(w))\n"
		"\t\t\treturn false;\n"
		"\treturn end_record(w, p);\n}\n\n",
		r->name);
}

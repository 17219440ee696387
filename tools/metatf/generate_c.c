/* SPDX-License-Identifier: MIT */
/*
 * generate_c.c - see generate.h
 *
 * The generated code is a template and three parts that depend on the DTD:
 *
 *	tables	 the DTD itself, and tables of sections, records and fields, by
 *		 which the code of the template reads and writes
 *	records	 for each record, a function that writes its fields one after
 *		 the other; also a function that reads them, unless the record
 *		 is simple (c_record_is_simple())
 *	header	 the enums, structs and prototypes
 */
#include "tools/metatf/generate.h"

#include "hatf/metatf/dtd_print.h"
#include "tools/metatf/generate_c.h"
#include "tools/metatf/templates.h"

#include <ctype.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/*
 * Would NAME.h or NAME.py hide a header or a Python module that generated code
 * uses?  Or is NAME a keyword, which Python cannot import?
 */
static bool
hides_another(const char *name)
{
	static const char *const names[] = {
		"and",	     "as",	"assert",  "async",    "await",
		"break",     "class",	"codecs",  "complex",  "continue",
		"ctype",     "def",	"del",	   "elif",     "else",
		"errno",     "except",	"fcntl",   "features", "fenv",
		"finally",   "float",	"for",	   "from",     "global",
		"hatftrace", "if",	"import",  "in",       "inttypes",
		"io",	     "is",	"json",	   "lambda",   "limits",
		"locale",    "math",	"memory",  "nonlocal", "not",
		"or",	     "os",	"pass",	   "pthread",  "raise",
		"re",	     "return",	"sched",   "setjmp",   "signal",
		"stdarg",    "stdbool", "stddef",  "stdint",   "stdio",
		"stdlib",    "string",	"strings", "struct",   "sys",
		"threads",   "time",	"try",	   "types",    "unistd",
		"wchar",     "while",	"with",	   "yield",    "zconf",
		"zlib",	     "False",	"None",	   "True",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

void
generate_name(const char *path, char *name, size_t nbytes)
{
	const char *const slash = strrchr(path, '/');
	const char *const base = slash != NULL ? slash + 1 : path;
	const char *const dot = strrchr(base, '.');
	const size_t length = dot != NULL && dot != base ? (size_t)(dot - base)
							 : strlen(base);

	/*
	 * An identifier cannot begin with a digit, so put "trace_" before a
	 * name that does not begin with a letter.
	 */
	snprintf(name, nbytes, "%s%.*s", is_letter(base[0]) ? "" : "trace_",
		 (int)(length < 100 ? length : 100), base);
	for (char *c = name; *c != '\0'; c++)
		if (!is_letter(*c) && !(*c >= '0' && *c <= '9'))
			*c = '_';
	if (hides_another(name)) {
		memmove(name + strlen("trace_"), name,
			nbytes - strlen("trace_"));
		memcpy(name, "trace_", strlen("trace_"));
		name[nbytes - 1] = '\0';
	}
}

static void
capitalize(char *to, const char *from)
{
	for (; *from != '\0'; from++, to++)
		*to = (char)toupper((unsigned char)*from);
	*to = '\0';
}

void
c_put_template(FILE *f, const struct c_records *all, const char *text,
	       size_t nbytes)
{
	const char *const end = text + nbytes;

	while (text < end) {
		if (end - text >= 3 && memcmp(text, "@N@", 3) == 0) {
			fputs(all->prefix, f);
			text += 3;
		} else if (end - text >= 3 && memcmp(text, "@U@", 3) == 0) {
			fputs(all->upper_prefix, f);
			text += 3;
		} else {
			fputc(*text++, f);
		}
	}
}

/* ------------------------------------------------------------------ records */

static int
compare_words(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
keep_word(void *word)
{
	(void)word;
}

/*
 * Is a name taken?  'names' contains the names of the records so far, in
 * capitals as in the enums.
 */
static bool
has_name(void *const *names, const char *name)
{
	static const char *const taken[] = { "comment", "bytes",    "record",
					     "reader",	"writer",   "type",
					     "section", "property", "flags" };
	char upper[C_NAME_NBYTES];

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strcasecmp(taken[i], name) == 0)
			return true;
	capitalize(upper, name);
	return tfind(upper, names, compare_words) != NULL;
}

/* Add a record under a unique name.  Return false if there is no memory. */
static bool
add_record(struct c_records *all, const struct schema *schema,
	   const struct schema_section *s, const struct schema_record *r,
	   void **names)
{
	struct c_record *const new = &all->list[all->count];

	new->section = s;
	new->section_idx = (size_t)(s - schema->sections);
	new->record = r;
	snprintf(new->name, sizeof(new->name), "%s", r->name);
	if (has_name(names, new->name))
		snprintf(new->name, sizeof(new->name), "%.255s_%.255s",
			 s->number == SCHEMA_GLOBAL ? "global" : s->name,
			 r->name);
	for (unsigned i = 2; has_name(names, new->name); i++)
		snprintf(new->name, sizeof(new->name), "%.255s_%u", r->name, i);
	capitalize(new->upper, new->name);
	all->count++;
	return tsearch(new->upper, names, compare_words) != NULL;
}

/* Return how many data records a section itself defines. */
static uint32_t
listed_count(const struct schema *schema, uint32_t section)
{
	const struct schema_section *const s = &schema->sections[section];

	/*
	 * Leave out the three predefined records, which are the last ones of
	 * the global section.
	 */
	return section == 0 ? s->record_count - 3 : s->own_count;
}

/* List the data records; those of the global section first. */
static bool
list_records(struct c_records *all, const struct schema *schema)
{
	void *names = NULL;
	size_t most = 0;
	bool ok = true;

	for (uint32_t i = 0; i < schema->section_count; i++)
		most += schema->sections[i].record_count;
	all->list = calloc(most + 1, sizeof(*all->list));
	if (all->list == NULL)
		return false;
	for (uint32_t i = 0; ok && i < schema->section_count; i++) {
		const struct schema_section *const s = &schema->sections[i];

		for (uint32_t j = 0; ok && j < listed_count(schema, i); j++)
			ok = add_record(all, schema, s, &s->records[j], &names);
	}
	tdestroy(names, keep_word);
	if (!ok) {
		free(all->list);
		all->list = NULL;
	}
	return ok;
}

/* Return how many records of the list belong to sections before 's'. */
static size_t
count_before(const struct c_records *all, const struct schema_section *s)
{
	size_t low = 0, high = all->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (all->list[middle].section < s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Return the number of a record's type in the generated code: the index of the
 * record in all->list, plus 1.  The global records are at the beginning of
 * all->list, but at the end of s->records.
 */
static size_t
type_of(const struct c_records *all, const struct schema_section *s,
	const struct schema_record *r)
{
	const size_t idx = (size_t)(r - s->records);

	return idx < s->own_count ? count_before(all, s) + idx + 1
				  : idx - s->own_count + 1;
}

/* ------------------------------------------------------------------- header */

/*
 * Is a section called "global", or does it have the same name as an earlier
 * section?  Ignore case.
 */
static bool
has_twin(const struct schema *schema, uint32_t idx)
{
	for (uint32_t i = 1; i < idx; i++)
		if (strcasecmp(schema->sections[i].name,
			       schema->sections[idx].name) == 0)
			return true;
	return strcasecmp(schema->sections[idx].name, "global") == 0;
}

static void
put_enums(FILE *f, const struct c_records *all, const struct schema *schema)
{
	char upper[C_NAME_NBYTES];

	fprintf(f, "\nenum %s_section {\n\t%s_SECTION_GLOBAL = 0", all->prefix,
		all->upper_prefix);
	for (uint32_t i = 1; i < schema->section_count; i++) {
		capitalize(upper, schema->sections[i].name);
		fprintf(f, ",\n\t%s_SECTION_%s", all->upper_prefix, upper);
		if (has_twin(schema, i))
			fprintf(f, "_%u", schema->sections[i].number);
		fprintf(f, " = %u", schema->sections[i].number);
	}
	fprintf(f, "\n};\n\nenum %s_type {\n\t%s_TYPE_COMMENT = 0", all->prefix,
		all->upper_prefix);
	for (size_t i = 0; i < all->count; i++)
		fprintf(f, ",\n\t%s_TYPE_%s = %zu", all->upper_prefix,
			all->list[i].upper, i + 1);
	fprintf(f, "\n};\n");
}

static void
put_union(FILE *f, const struct c_records *all)
{
	fprintf(f,
		"\nstruct %s_record {\n"
		"\tenum %s_type type;\n"
		"\tenum %s_section section;\n"
		"\tuint64_t offset; /* in the file, or in a compressed section "
		"*/\n"
		"\tunion {\n"
		"\t\tstruct %s_comment comment;\n",
		all->prefix, all->prefix, all->prefix, all->prefix);
	for (size_t i = 0; i < all->count; i++)
		fprintf(f, "\t\tstruct %s_%s %s%s;\n", all->prefix,
			all->list[i].name, "as_", all->list[i].name);
	fprintf(f, "\t} u;\n};\n\n");
}

static void
put_prototypes(FILE *f, const struct c_records *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct c_record *const r = &all->list[i];
		const bool is_global = r->section->number == SCHEMA_GLOBAL;

		fprintf(f,
			"bool %s_writer_put_%s(struct %s_writer *w%s%s%s,\n"
			"\tconst struct %s_%s *x);\n",
			all->prefix, r->name, all->prefix,
			is_global ? ", enum " : "",
			is_global ? all->prefix : "",
			is_global ? "_section section" : "", all->prefix,
			r->name);
	}
}

void
c_put_banner(FILE *f, const char *name, const char *suffix, const char *purpose)
{
	fprintf(f,
		"/*\n"
		" * %s%s - %s\n *\n"
		" * " GENERATED_BY " from %s.dtd.  Do not edit.\n */\n",
		name, suffix, purpose, name);
}

bool
c_records_open(struct c_records *all, const struct generation *g,
	       char upper[C_NAME_NBYTES])
{
	capitalize(upper, g->name);
	*all = (struct c_records){ .prefix = g->name, .upper_prefix = upper };
	return list_records(all, g->schema);
}

/*
 * Write the structs of the records.  First take the names for the structs of
 * whole records, so that the structs inside them get other names.
 */
static void
put_structs(FILE *f, const struct c_records *all)
{
	void *structs = NULL;
	char name[2 * C_NAME_NBYTES];

	for (size_t i = 0; i < all->count; i++) {
		snprintf(name, sizeof(name), "%s_%s", all->prefix,
			 all->list[i].name);
		c_take_struct_name(&structs, name);
	}
	for (size_t i = 0; i < all->count; i++)
		c_record_struct(f, all, &all->list[i], &structs);
	tdestroy(structs, free);
}

void
generate_c_header(FILE *f, const struct generation *g)
{
	char upper[C_NAME_NBYTES];
	struct c_records all;

	if (!c_records_open(&all, g, upper))
		return;
	c_put_banner(f, g->name, ".h", "read and write traces of this format");
	fprintf(f, "#ifndef %s_H\n#define %s_H\n\n", upper, upper);
	c_put_template(f, &all, template_head_h, strlen(template_head_h));
	put_enums(f, &all, g->schema);
	put_structs(f, &all);
	put_union(f, &all);
	c_put_template(f, &all, template_tail_h, strlen(template_tail_h));
	put_prototypes(f, &all);
	fprintf(f, "\n#endif /* %s_H */\n", upper);
	free(all.list);
}

/* --------------------------------------------------------------------- code */

static void
put_field_info(FILE *f, const struct schema_field *field)
{
	fprintf(f,
		"\t{ %d, %d, %d, %" PRIu32 ", %" PRIu32 "U, %" PRIu32
		", { UINT64_C(%" PRIu64 "), UINT64_C(%" PRIu64 ") } },\n",
		field->is_tag, field->is_bytes, field->interpretation,
		field->width, field->width_from, field->history, field->args[0],
		field->args[1]);
}

/*
 * Write the last two members of a record's 'struct record_info' in the
 * generated code.  For a simple record, these are the table of offsets by which
 * the generated code reads the record, and the size of the record's struct.
 * For any other record, the two members are NULL and 0; the generated code has
 * a function to read such a record if it is a data record.
 */
static void
put_struct_info(FILE *f, const struct c_records *all,
		const struct schema_section *s, const struct schema_record *r)
{
	const size_t type = r->role == ROLE_DATA ? type_of(all, s, r) : 0;

	if (type != 0 && c_record_is_simple(r))
		fprintf(f, "offsets_%zu, sizeof(struct %s_%s) },\n", type,
			all->prefix, all->list[type - 1].name);
	else
		fprintf(f, "NULL, 0 },\n");
}

static void
put_section_tables(FILE *f, const struct c_records *all,
		   const struct schema_section *s)
{
	fprintf(f, "static const struct field_info fields_%u[] = {\n",
		s->number);
	for (uint32_t i = 0; i < s->record_count; i++)
		for (uint32_t j = 0; j < s->records[i].field_count; j++)
			put_field_info(f, &s->records[i].fields[j]);
	fprintf(f, "};\n\nstatic const struct record_info records_%u[] = {\n",
		s->number);
	for (uint32_t i = 0; i < s->record_count; i++) {
		const struct schema_record *const r = &s->records[i];

		fprintf(f,
			"\t{ UINT64_C(%" PRIu64 "), %" PRIu32 ", %" PRIu32
			", %d, %zu, \"%s\", ",
			r->tag, r->first_field, r->field_count, r->role,
			r->role == ROLE_DATA ? type_of(all, s, r) : 0, r->name);
		put_struct_info(f, all, s, r);
	}
	fprintf(f, "};\n\n");
}

static void
put_sections(FILE *f, const struct schema *schema)
{
	fprintf(f,
		"#define SECTION_COUNT %" PRIu32 "\n"
		"#define TAG_WIDTH %" PRIu32 "\n\n"
		"static const struct section_info sections[SECTION_COUNT] = "
		"{\n",
		schema->section_count, schema->tag_width);
	for (uint32_t i = 0; i < schema->section_count; i++) {
		const struct schema_section *const s = &schema->sections[i];

		fprintf(f,
			"\t{ \"%s\", records_%u, fields_%u, %" PRIu32
			", %" PRIu32 ", %" PRIu32 ", %u, %d, %d, %d },\n",
			s->name, s->number, s->number, s->record_count,
			s->field_count, s->history_count, s->number,
			s->is_plain, s->is_column, schema_has_elements(s));
	}
	fprintf(f, "};\n\n");
}

/*
 * Every compiler for C11 must accept string literals of up to this many bytes.
 */
#define STRING_MAX 4095

/*
 * Write a text as a string literal, with each line of the text on a line of its
 * own.
 */
static void
put_string(FILE *f, const char *text, size_t nbytes)
{
	fputc('"', f);
	for (size_t i = 0; i < nbytes; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c == '\n')
			fprintf(f, i + 1 < nbytes ? "\\n\"\n\t\"" : "\\n");
		else if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c == '?')
			fprintf(f, "\\?"); /* escape '?', to avoid a trigraph */
		else if (c < ' ' || c > '~')
			fprintf(f, "\\%03o", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

/* Write a text as a list of numbers: one for each byte, and a 0 for the NUL. */
static void
put_numbers(FILE *f, const char *text, size_t nbytes)
{
	fputc('{', f);
	for (size_t i = 0; i < nbytes; i++)
		fprintf(f, "%s%d,", i % 16 == 0 ? "\n\t\t" : " ",
			(signed char)text[i]);
	fputs("\n\t\t0\n\t}", f);
}

/*
 * Write the DTD as an initializer: a string literal or, if the DTD is too long,
 * numbers.
 */
void
c_put_dtd(FILE *f, const struct generation *g)
{
	char *text = NULL;
	size_t nbytes = 0;
	struct dtd_error err;
	FILE *const memory = open_memstream(&text, &nbytes);

	if (memory == NULL)
		return;
	dtd_print(memory, g->dtd, g->dtd->dialect, &err);
	fclose(memory);
	if (nbytes <= STRING_MAX)
		put_string(f, text, nbytes);
	else
		put_numbers(f, text, nbytes);
	free(text);
}

static void
put_tables(FILE *f, const struct c_records *all, const struct generation *g)
{
	for (size_t i = 0; i < all->count; i++)
		if (c_record_is_simple(all->list[i].record))
			c_record_offsets(f, all, &all->list[i], i + 1);
	for (uint32_t i = 0; i < g->schema->section_count; i++)
		put_section_tables(f, all, &g->schema->sections[i]);
	put_sections(f, g->schema);
	fprintf(f,
		"static const char dtd_name[] = \"%s.dtd\";\n\n"
		"static const char dtd_text[] =\n\t",
		g->name);
	c_put_dtd(f, g);
	fprintf(f, ";\n");
}

/*
 * Write the function read_data(), which reads a record by the record's table of
 * offsets or by the function for its type.
 */
static void
put_dispatch(FILE *f, const struct c_records *all)
{
	fprintf(f,
		"static bool\n"
		"read_data(struct %s_reader *r, struct cursor *c,\n"
		"\tconst struct record_info *info, struct %s_record *record)\n"
		"{\n\tif (info->offsets != NULL)\n"
		"\t\treturn read_by_plan(r, c, info, &record->u);\n"
		"\tswitch (info->type) {\n",
		all->prefix, all->prefix);
	for (size_t i = 0; i < all->count; i++)
		if (!c_record_is_simple(all->list[i].record))
			fprintf(f,
				"\tcase %s_TYPE_%s:\n"
				"\t\treturn decode_%s(r, c, info, "
				"&record->u.as_%s);\n",
				all->upper_prefix, all->list[i].upper,
				all->list[i].name, all->list[i].name);
	fprintf(f, "\tdefault:\n\t\t(void)c;\n\t\t(void)record;\n"
		   "\t\treturn fail(r, \"unknown record\");\n\t}\n}\n\n");
}

static void
put_records(FILE *f, const struct c_records *all)
{
	fprintf(f,
		"static void begin_record(struct %s_writer *w);\n"
		"static bool repair_record(struct %s_writer *w);\n"
		"static bool end_record(struct %s_writer *w,\n"
		"\tconst struct part *p);\n"
		"\n"
		"MAYBE_UNUSED static inline const struct record_info *\n"
		"info_of(const struct section_info *s, unsigned type)\n{\n"
		"\tfor (uint32_t i = 0; i < s->record_count; i++)\n"
		"\t\tif (s->records[i].type == type)\n"
		"\t\t\treturn &s->records[i];\n"
		"\treturn NULL;\n}\n\n",
		all->prefix, all->prefix, all->prefix);
	for (size_t i = 0; i < all->count; i++) {
		if (!c_record_is_simple(all->list[i].record))
			c_record_read(f, all, &all->list[i]);
		c_record_put(f, all, &all->list[i]);
	}
	put_dispatch(f, all);
}

void
generate_c_code(FILE *f, const struct generation *g)
{
	static const char tables[] = "@@TABLES@@\n";
	static const char records[] = "@@RECORDS@@\n";
	const char *const text = template_common_c;
	const char *const first = strstr(text, tables);
	const char *const second = strstr(text, records);
	char upper[C_NAME_NBYTES];
	struct c_records all;

	if (!c_records_open(&all, g, upper))
		return;
	c_put_banner(f, g->name, ".c", "see the header");
	fprintf(f,
		"#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n\n"
		"#include \"%s.h\"\n\n",
		g->name);
	c_put_template(f, &all, text, (size_t)(first - text));
	put_tables(f, &all, g);
	c_put_template(f, &all, first + sizeof(tables) - 1,
		       (size_t)(second - first) - (sizeof(tables) - 1));
	put_records(f, &all);
	c_put_template(f, &all, second + sizeof(records) - 1,
		       strlen(second + sizeof(records) - 1));
	free(all.list);
}

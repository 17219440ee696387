/* SPDX-License-Identifier: MIT */
/* event_dtds.c - see event_dtds.h */
#include "hatf/formats/metatf/event_dtds.h"

#include "hatf/codec/comment_text.h"
#include "hatf/metatf/schema.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits, since a trace is untrusted. */
#define MOST_DTDS	 32
#define MOST_DTD_NBYTES	 ((uint64_t)1 << 16)
#define MOST_TEXT_NBYTES ((size_t)1 << 20)
#define MOST_FIELDS	 255 /* metadata stores a field's position in a byte */
#define NAME_NBYTES	 65
#define PART_NBYTES	 ((size_t)1 << 16)

/*
 * The first and the last tag for event records.  The tags of section "heap"
 * have one byte.
 */
#define FIRST_TAG 32
#define LAST_TAG  255

/* A DTD that the traced program has defined for its own events. */
struct known_dtd {
	char name[NAME_NBYTES];
	char *text;
	/* size in bytes; number of bytes that have arrived */
	size_t size, have;
	bool is_used; /* event_dtds_extend() has tried this DTD */
};

struct event_dtds {
	struct known_dtd known[MOST_DTDS];
	unsigned count;
	/* the text of the DTD without records for the program's events */
	const char *base;
	char *records; /* text of the records of the accepted DTDs */
	unsigned next_tag;
	char *text; /* the latest text that the caller accepted */
	/* The latest result of event_dtds_extend(), not yet accepted. */
	char *offered_records, *offered_text;
	unsigned offered_tag;
	char part[PART_NBYTES];
};

struct event_dtds *
event_dtds_open(const char *text)
{
	struct event_dtds *const d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->base = text;
	d->next_tag = FIRST_TAG;
	return d;
}

void
event_dtds_close(struct event_dtds *d)
{
	if (d == NULL)
		return;
	for (unsigned i = 0; i < d->count; i++)
		free(d->known[i].text);
	free(d->records);
	free(d->text);
	free(d->offered_records);
	free(d->offered_text);
	free(d);
}

/* --------------------------------------------------------------- collecting */

static struct known_dtd *
find(struct event_dtds *d, const char *name, size_t nbytes)
{
	for (unsigned i = 0; i < d->count; i++)
		if (strlen(d->known[i].name) == nbytes &&
		    memcmp(d->known[i].name, name, nbytes) == 0)
			return &d->known[i];
	return NULL;
}

/*
 * Is this a valid name in a DTD?  The name comes from the trace, and
 * print_record() writes it into a DTD.
 */
static bool
is_identifier(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char digits[] = "0123456789";

	for (const char *c = s; *c != '\0'; c++)
		if (strchr(letters, *c) == NULL &&
		    (c == s || strchr(digits, *c) == NULL))
			return false;
	return s[0] != '\0';
}

/*
 * Return a new DTD.  Return NULL if there are too many DTDs, or if the DTD is
 * too large.  If there is no memory, return NULL and set '*ok' to false.
 */
static struct known_dtd *
add(struct event_dtds *d, const char name[NAME_NBYTES], uint64_t size, bool *ok)
{
	struct known_dtd *const k = &d->known[d->count];

	if (d->count == MOST_DTDS || size > MOST_DTD_NBYTES)
		return NULL;
	*k = (struct known_dtd){ .size = (size_t)size };
	k->text = malloc((size_t)size + 1);
	*ok = k->text != NULL;
	if (!*ok)
		return NULL;
	memcpy(k->name, name, NAME_NBYTES);
	d->count++;
	return k;
}

bool
event_dtds_note(struct event_dtds *d, const char *comment, size_t nbytes)
{
	static const char kind[] = "HATF dtd\n";
	char name[NAME_NBYTES] = "";
	uint64_t offset, size;
	struct known_dtd *k;
	ptrdiff_t length;
	bool ok = true;

	if (nbytes < sizeof(kind) - 1 ||
	    memcmp(comment, kind, sizeof(kind) - 1) != 0)
		return true;
	length = text_find(comment, nbytes, "dtd", name, sizeof(name));
	if (length <= 0 || strlen(name) != (size_t)length ||
	    !is_identifier(name) ||
	    !text_find_u64(comment, nbytes, "offset", &offset) ||
	    !text_find_u64(comment, nbytes, "size", &size))
		return true;
	length = text_find(comment, nbytes, "text", d->part, sizeof(d->part));
	k = find(d, name, strlen(name));
	if (k == NULL && length >= 0 && (size_t)length < sizeof(d->part))
		k = add(d, name, size, &ok);
	/*
	 * Each segment of a trace repeats the parts that earlier segments
	 * contain, so take only the part that begins where the text so far
	 * ends.
	 */
	if (k != NULL && length >= 0 && offset == k->have &&
	    (size_t)length <= k->size - k->have) {
		memcpy(k->text + k->have, d->part, (size_t)length);
		k->have += (size_t)length;
	}
	return ok;
}

/* --------------------------------------------------------------- extending */

/*
 * Look at the fields of the steps 'first' to 'i' - 1, except those in nested
 * records.  Does one of them have the same name as the field of step 'i'?
 */
static bool
is_repeated_name(const struct schema_record *r, uint32_t first, uint32_t i)
{
	const char *const name = r->fields[r->steps[i].field].name;
	uint32_t j = first;

	while (j < i) {
		if (r->steps[j].kind == STEP_NESTED) {
			j = r->steps[j].end;
			continue;
		}
		if (r->steps[j].kind == STEP_FIELD &&
		    strcmp(r->fields[r->steps[j].field].name, name) == 0)
			return true;
		j++;
	}
	return false;
}

static void
print_property(FILE *f, const struct schema_record *r,
	       const struct schema_field *x)
{
	const char *interpretation = "none";

	if (x->is_bytes && x->width_from != SCHEMA_NO_FIELD)
		fprintf(f, "\t\t%s.width = %s.value;\n", x->name,
			r->fields[x->width_from].name);
	else
		fprintf(f, "\t\t%s.width = %u;\n", x->name,
			x->width != 0 || x->is_bytes ? x->width : 1);
	if (!x->is_bytes && (x->interpretation == DTD_BASE_OFFSET ||
			     x->interpretation == DTD_DELTA))
		interpretation = "baseOffset 0";
	fprintf(f, "\t\t%s.interpretation = %s;\n", x->name, interpretation);
}

static void print_nested(FILE *f, const struct schema_record *r,
			 const char *name, uint32_t first, uint32_t end);

/* Print the fields of the steps 'first' to 'end' - 1, separated by commas. */
static void
print_fields(FILE *f, const struct schema_record *r, uint32_t first,
	     uint32_t end)
{
	uint32_t i = first;

	while (i < end) {
		const struct schema_step *const s = &r->steps[i];

		fprintf(f, "%s", i == first ? "" : ", ");
		if (s->kind == STEP_FIELD) {
			fprintf(f, "%s", r->fields[s->field].name);
			i++;
			continue;
		}
		if (s->kind == STEP_NESTED) {
			print_nested(f, r, s->name, i + 1, s->end);
		} else {
			fprintf(f, "%s*%s", r->fields[s->field].name,
				s->is_scalar ? "" : "(");
			print_fields(f, r, i + 1, s->end);
			fprintf(f, "%s", s->is_scalar ? "" : ")");
		}
		i = s->end;
	}
}

/* Print a nested record with the properties of its fields. */
static void
print_nested(FILE *f, const struct schema_record *r, const char *name,
	     uint32_t first, uint32_t end)
{
	uint32_t i = first;

	fprintf(f, "%s : (", name);
	print_fields(f, r, first, end);
	fprintf(f, ") {\n");
	while (i < end) {
		const struct schema_step *const s = &r->steps[i];

		if (s->kind == STEP_FIELD && !is_repeated_name(r, first, i))
			print_property(f, r, &r->fields[s->field]);
		i = s->kind == STEP_NESTED ? s->end : i + 1;
	}
	fprintf(f, "\t}");
}

static void
print_record(FILE *f, const struct schema_record *r, const char *dtd,
	     unsigned tag)
{
	fprintf(f, "\t%s_%s : (tag, time, thread, ", dtd, r->name);
	if (r->step_count > r->has_tag)
		print_nested(f, r, dtd, r->has_tag, r->step_count);
	else
		fprintf(f, "%s", dtd);
	fprintf(f, ") {\n\t\ttag.value = %u;\n", tag);
	if (r->step_count <= r->has_tag)
		fprintf(f,
			"\t\t%s.width = 1;\n"
			"\t\t%s.interpretation = default 0;\n",
			dtd, dtd);
	fprintf(f, "\t}\n");
}

/*
 * Does an earlier section have a record of this name?  If so, print_records()
 * skips the later record.
 */
static bool
is_repeated_record(const struct schema *s, uint32_t section, const char *name)
{
	for (uint32_t i = 0; i < section; i++)
		if (schema_record_named(&s->sections[i], name) != NULL)
			return true;
	return false;
}

/*
 * Print the data records of a DTD of the program.  Skip each record that has
 * the name of a record in an earlier section, and skip records beyond the
 * limits.
 */
static void
print_records(FILE *f, const struct schema *s, const char *dtd, unsigned *tag)
{
	for (uint32_t i = 0; i < s->section_count; i++) {
		const struct schema_section *const section = &s->sections[i];

		for (uint32_t j = 0; j < section->record_count; j++) {
			const struct schema_record *const r =
				&section->records[j];

			if (r->role != ROLE_DATA || *tag > LAST_TAG ||
			    r->field_count > MOST_FIELDS ||
			    ftell(f) > (long)MOST_TEXT_NBYTES ||
			    is_repeated_record(s, i, r->name))
				continue;
			print_record(f, r, dtd, (*tag)++);
		}
	}
}

/* Store in d->offered_records the records of all accepted DTDs and of 'k'. */
static bool
offer_records(struct event_dtds *d, const struct known_dtd *k,
	      const struct schema *s)
{
	size_t nbytes = 0;
	FILE *const f = open_memstream(&d->offered_records, &nbytes);
	bool ok = f != NULL;

	if (!ok)
		return false;
	fputs(d->records != NULL ? d->records : "", f);
	fprintf(f, "\n\t// Events of the program, by its DTD '%s'.\n", k->name);
	d->offered_tag = d->next_tag;
	print_records(f, s, k->name, &d->offered_tag);
	ok = !ferror(f);
	ok = fclose(f) == 0 && ok;
	return ok && nbytes <= 2 * MOST_TEXT_NBYTES;
}

/*
 * Find the '}' that ends section "heap" of the base, and return its position.
 */
static size_t
end_of_heap(const char *base)
{
	const char *const heap = strstr(base, "\nsection heap ");
	const char *const end = heap != NULL ? strstr(heap, "\n}\n") : NULL;

	return end != NULL ? (size_t)(end + 1 - base) : strlen(base);
}

/*
 * Set d->offered_text to the base, and add the offered records to section
 * "heap".
 */
static bool
offer_text(struct event_dtds *d)
{
	const size_t at = end_of_heap(d->base);
	const size_t more = strlen(d->offered_records);
	char *const text = malloc(strlen(d->base) + more + 1);

	if (text == NULL)
		return false;
	memcpy(text, d->base, at);
	memcpy(text + at, d->offered_records, more);
	memcpy(text + at + more, d->base + at, strlen(d->base + at) + 1);
	d->offered_text = text;
	return true;
}

static void
forget_offer(struct event_dtds *d)
{
	free(d->offered_records);
	free(d->offered_text);
	d->offered_records = d->offered_text = NULL;
}

const char *
event_dtds_extend(struct event_dtds *d, const char *event_name)
{
	const char *const dot = strchr(event_name, '.');
	struct known_dtd *const k =
		dot != NULL ? find(d, event_name, (size_t)(dot - event_name))
			    : NULL;
	struct dtd_error err;
	struct schema *schema = NULL;
	struct dtd *dtd;
	bool ok = false;

	if (k == NULL || k->is_used || k->have < k->size)
		return NULL;
	k->is_used = true;
	forget_offer(d);
	dtd = dtd_parse(k->text, k->size, &err);
	if (dtd != NULL)
		schema = schema_open(dtd, NULL, NULL, &err);
	if (schema != NULL)
		ok = offer_records(d, k, schema) && offer_text(d);
	schema_close(schema);
	dtd_close(dtd);
	return ok ? d->offered_text : NULL;
}

void
event_dtds_accept(struct event_dtds *d)
{
	free(d->records);
	free(d->text);
	d->records = d->offered_records;
	d->text = d->offered_text;
	d->offered_records = d->offered_text = NULL;
	d->next_tag = d->offered_tag;
}

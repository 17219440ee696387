/* SPDX-License-Identifier: MIT */
/*
 * definitions.c - see definitions.h
 *
 * The definitions are in two sorted arrays.  A hash table would need a random
 * seed, since an attacker may have chosen the names.
 */
#include "hatf/metatf/definitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A property or a record, and the scope that defines it. */
struct entry {
	const void *definer;
	const char *field; /* field of a property; "" for a record */
	const char *name;
	struct dtd_place place;
	const void *definition;
};

struct table {
	struct entry *entries;
	size_t count;
};

struct definitions {
	struct table properties, records;
};

static int
compare_entries(const void *a, const void *b)
{
	const struct entry *const x = a, *const y = b;
	int order;

	if (x->definer != y->definer)
		return (uintptr_t)x->definer < (uintptr_t)y->definer ? -1 : 1;
	order = strcmp(x->field, y->field);
	return order != 0 ? order : strcmp(x->name, y->name);
}

/*
 * Compare like compare_entries(), but order equal entries by their place in the
 * DTD.
 */
static int
compare_places(const void *a, const void *b)
{
	const struct entry *const x = a, *const y = b;
	const int order = compare_entries(a, b);

	if (order != 0)
		return order;
	if (x->place.line != y->place.line)
		return x->place.line < y->place.line ? -1 : 1;
	return (x->place.column > y->place.column) -
	       (x->place.column < y->place.column);
}

/* --------------------------------------------------------------- collecting */

static void
add(struct table *t, struct entry entry)
{
	t->entries[t->count++] = entry;
}

static void
add_properties(struct definitions *d, const void *definer,
	       const struct dtd_property *first)
{
	for (const struct dtd_property *p = first; p != NULL; p = p->next)
		add(&d->properties,
		    (struct entry){ definer, p->field, p->name, p->place, p });
}

static void add_record(struct definitions *d, const struct dtd_record *record);

/* Collect the properties of the records that are defined inside a field. */
static void
add_nested(struct definitions *d, const struct dtd_field *f)
{
	if (f->kind == DTD_NESTED)
		add_record(d, f->record);
	for (const struct dtd_field *c = f->first; c != NULL; c = c->next)
		add_nested(d, c);
}

static void
add_record(struct definitions *d, const struct dtd_record *record)
{
	add_properties(d, record, record->properties);
	add_nested(d, record->field);
}

static void
add_defs(struct definitions *d, const struct dtd_defs *defs)
{
	add_properties(d, defs, defs->properties);
	for (const struct dtd_record *r = defs->records; r != NULL;
	     r = r->next) {
		add(&d->records,
		    (struct entry){ defs, "", r->name, r->place, r });
		add_record(d, r);
	}
}

/*
 * Sort a table.  Return false and set '*err' if a scope defines the same name
 * twice.
 */
static bool
sort(struct table *t, const char *what, struct dtd_error *err)
{
	qsort(t->entries, t->count, sizeof(*t->entries), compare_places);
	for (size_t i = 1; i < t->count; i++) {
		const struct entry *const e = &t->entries[i];

		if (compare_entries(e - 1, e) != 0)
			continue;
		err->place = e->place;
		snprintf(err->text, sizeof(err->text),
			 "%s '%.60s%s%.60s' is already defined in line %u",
			 what, e->field, e->field[0] != '\0' ? "." : "",
			 e->name, e[-1].place.line);
		return false;
	}
	return true;
}

struct definitions *
definitions_open(const struct dtd *dtd, struct dtd_error *err)
{
	struct definitions *const d = calloc(1, sizeof(*d));

	*err = (struct dtd_error){ .text = "no memory" };
	if (d == NULL)
		return NULL;
	d->properties.entries =
		calloc(dtd->property_count + 1, sizeof(struct entry));
	d->records.entries =
		calloc(dtd->record_count + 1, sizeof(struct entry));
	if (d->properties.entries == NULL || d->records.entries == NULL)
		goto out_close;
	add_defs(d, &dtd->defs);
	for (const struct dtd_section *s = dtd->sections; s != NULL;
	     s = s->next)
		add_defs(d, &s->defs);
	if (sort(&d->properties, "property", err) &&
	    sort(&d->records, "record", err))
		return d;
out_close:
	definitions_close(d);
	return NULL;
}

void
definitions_close(struct definitions *d)
{
	if (d == NULL)
		return;
	free(d->properties.entries);
	free(d->records.entries);
	free(d);
}

/* ------------------------------------------------------------------ finding */

static const void *
find(const struct table *t, const struct scope *scope, const char *field,
     const char *name, const struct scope **scope_ret)
{
	for (const struct scope *s = scope; s != NULL; s = s->outer) {
		const struct entry key = {
			s->definer, field, name, { 0, 0 }, NULL
		};
		const struct entry *const found =
			bsearch(&key, t->entries, t->count, sizeof(key),
				compare_entries);

		if (found != NULL) {
			*scope_ret = s;
			return found->definition;
		}
	}
	return NULL;
}

const struct dtd_property *
definitions_property(const struct definitions *d, const struct scope *scope,
		     const char *field, const char *name)
{
	const struct scope *where;

	return find(&d->properties, scope, field, name, &where);
}

const struct dtd_record *
definitions_record(const struct definitions *d, const struct scope *scope,
		   const char *name, const struct scope **scope_ret)
{
	return find(&d->records, scope, "", name, scope_ret);
}

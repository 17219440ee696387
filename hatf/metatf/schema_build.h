/* SPDX-License-Identifier: MIT */
/* schema_build.h - make the records of a schema (used by schema.c) */
#ifndef HATF_SCHEMA_BUILD_H
#define HATF_SCHEMA_BUILD_H

#include "hatf/metatf/arena.h"
#include "hatf/metatf/definitions.h"
#include "hatf/metatf/schema.h"

/* What schema_open() and the functions below share while they make a schema. */
struct build {
	const struct dtd *dtd;
	struct definitions *definitions;
	/* the DTD that defines vfield, comment, section and metadata */
	const struct dtd *predefined;
	struct definitions *predefinitions;
	struct arena *arena; /* memory for the schema */
	struct dtd_error *err;
	bool has_failed;
	uint32_t tag_width;
	uint32_t all_field_count;
	/* for each property, by its ordinal: does a field use it? */
	bool *is_used;
	/*
	 * For each property: 1 plus the 'history' (schema.h) of the fields that
	 * use the property in the section that is being made; 0 if there is no
	 * such field yet.  The index is the property's ordinal; for predefined
	 * properties, the ordinal plus dtd->property_count.
	 */
	uint32_t *histories;
	uint32_t history_count;
	/* for each record, by its ordinal: is it a part of other records? */
	bool *is_nested;
};

/* Record an error, unless one has been recorded already.  Return false. */
bool build_fail(struct build *b, struct dtd_place place, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/* Record that there is no memory.  Return false. */
bool build_no_memory(struct build *b);

/*
 * Does a record have a tag?  A record without a tag can only be a part of other
 * records, or the only record of a section.
 */
bool build_has_tag(const struct build *b, const struct dtd_record *record);

/* Does a number of this interpretation take no bytes in a record? */
bool build_stores_nothing(enum dtd_interpretation interpretation);

/*
 * Make '*out' from 'record'.  'scope' is the scope around the braces of
 * 'record'.  Return false on failure.
 */
bool build_record(struct build *b, const struct dtd_record *record,
		  const struct scope *scope, struct schema_record *out);

#endif /* HATF_SCHEMA_BUILD_H */

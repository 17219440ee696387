/* SPDX-License-Identifier: MIT */
/*
 * definitions.h - find the properties and records of a DTD by name
 *
 * Names are statically scoped.  A record sees these scopes, the innermost
 * first: its own braces, the records around it, its section, and what the DTD
 * defines outside of all sections.  A scope is identified by the address of the
 * struct that contains its definitions, a struct dtd_record or a struct
 * dtd_defs.
 */
#ifndef HATF_DEFINITIONS_H
#define HATF_DEFINITIONS_H

#include "hatf/metatf/dtd.h"

/* A chain of scopes, the innermost first. */
struct scope {
	const void *definer; /* a struct dtd_record or struct dtd_defs */
	const struct scope *outer;
};

struct definitions;

/*
 * Collect the definitions of 'dtd'.  Return NULL and set '*err' if a name is
 * defined twice in a scope, or if there is no memory.
 */
struct definitions *definitions_open(const struct dtd *dtd,
				     struct dtd_error *err);
void definitions_close(struct definitions *d);

/*
 * Look for the property 'name' of 'field' in 'scope' and the scopes around it.
 * Return the property of the innermost scope that defines it, or NULL.
 */
const struct dtd_property *definitions_property(const struct definitions *d,
						const struct scope *scope,
						const char *field,
						const char *name);

/*
 * Return the record of this name from the innermost scope that defines such a
 * record, and set '*scope_ret' to that scope.  Return NULL if no scope does.
 */
const struct dtd_record *definitions_record(const struct definitions *d,
					    const struct scope *scope,
					    const char *name,
					    const struct scope **scope_ret);

#endif /* HATF_DEFINITIONS_H */

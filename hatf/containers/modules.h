/* SPDX-License-Identifier: MIT */
/*
 * modules.h - where programs and libraries are mapped in a process
 *
 * The address of an instruction is valid for one run.  Together with the
 * mapping that contains it, the address identifies an offset in an object file.
 * Comments of kind 'object' (FORMAT "Stacks") describe the mappings, one
 * comment each.  A mapping replaces those that it overlaps: they were unmapped
 * before.
 *
 * Memory is bounded: MODULE_MAX mappings at a time, and HATF_FRAME_TEXTS_MAX
 * bytes of distinct names.  One thread uses a 'struct modules'.
 */
#ifndef HATF_MODULES_H
#define HATF_MODULES_H

#include "hatf/codec/comment_text.h"
#include "hatf/containers/rows.h"
#include "hatf/containers/string_table.h"

/*
 * Mappings at a time.  A process has some hundreds; inserting one takes time
 * proportional to their number.
 */
#define MODULE_MAX 16384

/* A mapped range of an object file. */
struct module {
	uint64_t start, end; /* in memory */
	uint64_t base;	     /* load bias of the object */
	uint64_t offset;     /* of the mapping in the file, in bytes */
	const char *object;
	const char *build_id; /* NULL: unknown */
};

struct modules {
	struct rows mappings; /* struct module, sorted by 'end' */
	struct string_table texts;
};

/* Begin without mappings; modules_fini() frees mappings and names. */
void modules_init(struct modules *m);
void modules_fini(struct modules *m);

/* Forget all mappings.  The names remain. */
void modules_clear(struct modules *m);

/*
 * Add a copy of a mapping and its names in place of the mappings that it
 * overlaps.  Ignore an empty mapping and one without a name.
 * Errors: HATF_LIMIT, HATF_NO_MEMORY.
 */
enum hatf_status modules_add(struct modules *m, const struct module *mapping);

/*
 * Return the mapping that contains an address, or NULL.  The pointer is valid
 * until the next change.
 */
const struct module *modules_find(const struct modules *m, uint64_t address);

/* Append the text of the comment; 't->full' is set if it does not fit. */
void modules_describe(const struct module *mapping, struct text *t);

/*
 * Add the mapping that an 'object' comment describes.  Ignore any other record,
 * a malformed comment, and a mapping beyond MODULE_MAX.  Errors:
 * HATF_NO_MEMORY.
 */
enum hatf_status modules_note(struct modules *m, const struct hatf_record *rec);

#endif /* HATF_MODULES_H */

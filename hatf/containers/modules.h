/* SPDX-License-Identifier: MIT */
/*
 * modules.h - where programs and libraries are mapped in a process
 *
 * The address of an instruction is valid only in one process.  With the mapping
 * that contains the address, it can be converted to an offset in an object file
 * (a program or library), which is valid for every process.  Each "HATF object"
 * comment (FORMAT "Stacks") describes one mapping.  A new mapping replaces the
 * mappings that it overlaps, because these must have been unmapped before.
 *
 * Memory is bounded: MODULE_MAX mappings at a time, and HATF_FRAME_TEXTS_MAX
 * bytes of distinct names.  Used by one thread at a time.
 */
#ifndef HATF_MODULES_H
#define HATF_MODULES_H

#include "hatf/codec/comment_text.h"
#include "hatf/containers/rows.h"
#include "hatf/containers/string_table.h"

/*
 * Maximum number of mappings at a time.  A process usually has a few hundred.
 * The time to add a mapping is proportional to the number of mappings.
 */
#define MODULE_MAX 16384

/* A mapped range of an object file. */
struct module {
	uint64_t start, end; /* addresses in memory */
	/* load bias: address in memory minus address in the file */
	uint64_t base;
	/* offset of 'start' in the file, in bytes; 0 if unknown */
	uint64_t offset;
	const char *object;
	const char *build_id; /* NULL: unknown */
};

struct modules {
	struct rows mappings; /* rows of struct module, sorted by 'end' */
	struct string_table texts;
};

/* Begin without mappings; modules_fini() frees mappings and names. */
void modules_init(struct modules *m);
void modules_fini(struct modules *m);

/* Forget all mappings.  The names remain. */
void modules_clear(struct modules *m);

/*
 * Add a copy of a mapping and its names, and remove the mappings that it
 * overlaps.  Ignore a mapping that is empty or has no name.  Errors:
 * HATF_LIMIT, HATF_NO_MEMORY.
 */
enum hatf_status modules_add(struct modules *m, const struct module *mapping);

/*
 * Return the mapping that contains an address, or NULL.  The pointer is valid
 * until the next change.
 */
const struct module *modules_find(const struct modules *m, uint64_t address);

/*
 * Append the text of the comment that describes a mapping; 't->full' is set if
 * the text does not fit.
 */
void modules_describe(const struct module *mapping, struct text *t);

/*
 * If the record is a "HATF object" comment, add the mapping that it describes.
 * Ignore other records, a malformed comment, and a mapping beyond a limit
 * (MODULE_MAX or HATF_FRAME_TEXTS_MAX).  Errors: HATF_NO_MEMORY.
 */
enum hatf_status modules_note(struct modules *m, const struct hatf_record *rec);

#endif /* HATF_MODULES_H */

/* SPDX-License-Identifier: MIT */
/*
 * modules.h - where programs and libraries lie in the memory of a process
 *
 * An address says where code was in one run; with the place of its object, it says
 * where it is in the file.  That is told by comments of kind 'object' (FORMAT
 * "Stacks"), one for each piece.  Of pieces that overlap, any may be found.
 *
 * Memory is bounded: MODULE_MAX pieces at a time, and HATF_FRAME_TEXTS_MAX bytes of
 * distinct names.  Used by one thread at a time.
 */
#ifndef HATF_MODULES_H
#define HATF_MODULES_H

#include "hatf/codec/comment_text.h"
#include "hatf/containers/string_table.h"
#include "hatf/formats/common/rows.h"

/*
 * Pieces at a time.  A process has some hundreds; finding a place for one takes time
 * that grows with their number.
 */
#define MODULE_MAX 16384

/* A piece of an object. */
struct module {
	uint64_t start, end; /* in memory */
	uint64_t base;	     /* what its own addresses have been moved by */
	uint64_t offset;     /* where in the file it is taken to come from */
	const char *object;
	const char *build_id; /* NULL: not known */
};

struct modules {
	struct rows pieces; /* struct module, by their ends */
	struct names texts;
};

void modules_init(struct modules *m);
void modules_fini(struct modules *m);

/* There are no objects any more; names stay. */
void modules_clear(struct modules *m);

/*
 * Add a piece; its names are copied.  One that is there already is not added again.
 * Errors: HATF_LIMIT, HATF_NO_MEMORY.
 */
enum hatf_status modules_add(struct modules *m, const struct module *piece);

/* The piece that an address is in, or NULL; valid until the next change. */
const struct module *modules_find(const struct modules *m, uint64_t address);

/* The text of the comment; 't->full' if it does not fit. */
void modules_describe(const struct module *piece, struct text *t);

/*
 * Take note of a record, which matters only if it is such a comment; one that is
 * malformed, or one too many, is none.  Errors: HATF_NO_MEMORY.
 */
enum hatf_status modules_note(struct modules *m, const struct hatf_record *rec);

#endif /* HATF_MODULES_H */

/* SPDX-License-Identifier: MIT */
/*
 * expand.h - definitions of a trace with the names of their functions
 *
 * A frame that has an address and no file gets function, file and line.  Where
 * functions were inlined there, one frame becomes several: the frame keeps its
 * id and is the innermost of them, and further stacks with new ids lie between
 * a stack and its caller.  So what the records refer to stays as it is.
 */
#ifndef EXPAND_H
#define EXPAND_H

#include "hatf/hatf.h"
#include "tools/symbols/symbol_lookup.h"

struct expand;

/* What was found, for the report. */
struct expand_counts {
	uint64_t frames;  /* with an address, and without a file before */
	uint64_t named;	  /* that have a function now */
	uint64_t located; /* that have a file now */
	uint64_t inlined; /* frames added for functions that were inlined */
};

/* 'lookup' stays the caller's.  NULL: no memory. */
struct expand *expand_open(struct symbol_lookup *lookup);
void expand_close(struct expand *e);

/*
 * Write a record to 'writer', or what stands for it.  Errors: those of
 * hatf_writer_write(), and HATF_NO_MEMORY.
 */
enum hatf_status expand_write(struct expand *e, const struct hatf_record *rec,
			      struct hatf_writer *writer);

void expand_get_counts(const struct expand *e, struct expand_counts *ret);

#endif /* EXPAND_H */

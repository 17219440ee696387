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

#include <stdbool.h>
#include <stdint.h>

struct expand;

/* What was found, for the report. */
struct expand_counts {
	uint64_t frames;  /* with an address, and without a file before */
	uint64_t named;	  /* that have a function now */
	uint64_t located; /* that have a file now */
	uint64_t inlined; /* frames added for functions that were inlined */
};

/*
 * Store in '*id_ret' an id above all that the trace 'path' uses for frames and
 * stacks, by reading the trace; at least 2^48, as no recorder counts so far.
 * Of "-" and of a pipe, which can be read only once, it is a random id.  False:
 * no id is left.  A trace that cannot be read has no ids; writing it tells why.
 */
bool expand_find_new_id(const char *path, uint64_t *id_ret);

/*
 * 'lookup' stays the caller's; 'new_id' is the first id for what is added.
 * NULL: no memory.
 */
struct expand *expand_open(struct symbol_lookup *lookup, uint64_t new_id);
void expand_close(struct expand *e);

/*
 * Write a record to 'writer', or what stands for it.  Errors: those of
 * hatf_writer_write(), and HATF_NO_MEMORY.
 */
enum hatf_status expand_write(struct expand *e, const struct hatf_record *rec,
			      struct hatf_writer *writer);

void expand_get_counts(const struct expand *e, struct expand_counts *ret);

#endif /* EXPAND_H */

/* SPDX-License-Identifier: MIT */
/*
 * optimum.h - the best metadata for a span of records, all known in advance
 *
 * The method is dynamic programming over the states of each field, with the
 * true cost of each metadata record.  Within a technique (technique.h) the
 * result is exact, to the byte.  So a technique never gives a longer stream
 * than a technique that allows less, and "optimum" never gives a longer stream
 * than any HATF 1.0 stream with the same records in the same blocks.  (After
 * compression, either stream may be larger.)
 *
 * Use this planner for rewriting a trace, not for recording, because it
 * allocates memory, and takes about a microsecond per record.  It needs about 4
 * KiB of address space for each record of a span; a real trace touches a tenth
 * of that.  Used by one thread at a time.
 */
#ifndef HATF_OPTIMUM_H
#define HATF_OPTIMUM_H

#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "hatf/optimum/technique.h"

/*
 * Maximum number of records in a span.  A caller should end a block after each
 * span.
 */
#define OPTIMUM_SPAN 32768

struct optimum;

/*
 * Return a new planner; NULL if there is no memory.  '*technique' must live as
 * long as the planner uses it.
 */
struct optimum *optimum_new(const struct technique *technique);

/* Free the planner.  'o' may be NULL. */
void optimum_free(struct optimum *o);

/* Use another technique from the next span on. */
void optimum_choose(struct optimum *o, const struct technique *technique);

/*
 * A 'place_fn' (place.h) with a 'struct optimum' as context, for spans of at
 * most OPTIMUM_SPAN records.  If the span needs more than 'cap' changes, the
 * result covers only the first records, as many as 'cap' allows; a later call
 * with the remaining records makes the same decisions for them.
 */
size_t optimum_span(void *optimum, const struct layout *layout, bool restart,
		    const struct hatf_record *records, size_t n,
		    struct place_change *changes, size_t cap,
		    size_t *count_ret);

#endif /* HATF_OPTIMUM_H */

/* SPDX-License-Identifier: MIT */
/*
 * optimum.h - the best metadata for a span of records, all known in advance
 *
 * Dynamic programming over the states of each field, with the true cost of each
 * metadata record.  Within a technique (technique.h) the result is exact, to
 * the byte.  So a technique is never larger than one that allows less, and
 * "optimum" is never larger than any HATF 1.0 with the same records in the same
 * blocks.
 *
 * For rewriting, not for recording: it allocates, and takes about a microsecond
 * a record.  Memory is about 4 KiB of address space for each record of a
 * span; a real trace touches a tenth of that.  Used by one thread at a time.
 */
#ifndef HATF_OPTIMUM_H
#define HATF_OPTIMUM_H

#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "hatf/optimum/technique.h"

/* The most records of a span.  Callers should make each span a block. */
#define OPTIMUM_SPAN 32768

struct optimum;

/* Return NULL if there is no memory.  'technique' must outlive its use. */
struct optimum *optimum_new(const struct technique *technique);

/* NULL is allowed. */
void optimum_free(struct optimum *o);

/* Set the technique from the next span on. */
void optimum_choose(struct optimum *o, const struct technique *technique);

/*
 * A 'place_fn' (place.h) with a 'struct optimum' as context, for spans of at
 * most OPTIMUM_SPAN records.  If 'cap' cuts the result short, the rest of the
 * records gets the same decisions when it is given again.
 */
size_t optimum_span(void *optimum, const struct layout *layout, bool restart,
		    const struct hatf_record *records, size_t n,
		    struct place_change *changes, size_t cap,
		    size_t *count_ret);

#endif /* HATF_OPTIMUM_H */

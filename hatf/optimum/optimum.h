/* SPDX-License-Identifier: MIT */
/*
 * optimum.h - the best metadata for a window of records, knowing all of it
 *
 * Dynamic programming over the states of each field, with the true cost of each
 * metadata record: for what a technique allows ('technique.h') the result is
 * exact, down to the byte.  So one technique is never larger than another that
 * allows less, and "optimum" never larger than any HATF 1.0 that has the same
 * records in the same blocks.
 *
 * It is for rewriting, not for recording: it allocates, and takes about a
 * microsecond a record.  Memory is about 4 KiB of address space for each record
 * of a window, of which a real trace touches a tenth.
 */
#ifndef HATF_OPTIMUM_H
#define HATF_OPTIMUM_H

#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "hatf/optimum/technique.h"

/* The most records of a window; an owner should make each a block. */
#define OPTIMUM_WINDOW 32768

struct optimum;

/* NULL if there is no memory. */
struct optimum *optimum_new(const struct technique *technique);
void optimum_free(struct optimum *o);

/* Another technique, from the next window on. */
void optimum_choose(struct optimum *o, const struct technique *technique);

/*
 * A 'place_fn' (place.h) with a 'struct optimum' as context, for windows of at
 * most OPTIMUM_WINDOW records.  What 'cap' leaves undecided is decided the same
 * when it is given again.
 */
size_t optimum_window(void *optimum, const struct layout *layout, bool restart,
		      const struct hatf_record *records, size_t n,
		      struct place_change *changes, size_t cap,
		      size_t *count_ret);

#endif /* HATF_OPTIMUM_H */

/* SPDX-License-Identifier: MIT */
/*
 * splitting.h - HATF SplitAddr as the paper has it
 *
 * The stream of HATF (best) in two pieces, each compressed on its own: the
 * unencoded addresses, and all the rest (section 3 of the paper).  Nothing is
 * added, so both pieces together are as long as the stream.
 *
 * An address is unencoded if it takes 4 or 8 bytes.  The paper's addresses have
 * 32 bits and are then plain numbers; those of 64 bits are here mostly offsets
 * of 4 bytes to one base, as HATF (naive) has them.
 */
#ifndef SPLITTING_H
#define SPLITTING_H

#include "tools/measure/encoding.h"

/*
 * The bytes of both pieces, plain and compressed (ENCODING_LEVEL), of the whole
 * trace in the paper's content.  May run in any thread; says nothing.
 */
enum hatf_status splitting_measure(const struct spool *trace,
				   uint64_t nbytes_ret[2],
				   struct hatf_error *err);

#endif /* SPLITTING_H */

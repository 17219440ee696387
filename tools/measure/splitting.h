/* SPDX-License-Identifier: MIT */
/*
 * splitting.h - HATF SplitAddr as in the paper
 *
 * This module splits the stream of HATF (best) into two streams, the unencoded
 * addresses and the rest (section 3 of the paper), and compresses each on its
 * own.  The split adds nothing, so the two streams together are as long as the
 * original stream.
 *
 * An address counts as unencoded if it takes 4 or 8 bytes.  In the paper, such
 * addresses are plain 32-bit numbers.  Here, 64-bit addresses are mostly 4-byte
 * offsets to one base, as in HATF (naive).
 */
#ifndef SPLITTING_H
#define SPLITTING_H

#include "tools/measure/encoding.h"

/*
 * Set 'nbytes_ret' to the bytes of both streams together, [0] plain and [1]
 * compressed at ENCODING_LEVEL, for the whole trace with the paper's content.
 * Return HATF_OK, or an error with its details in '*err'.  Thread-safe; prints
 * nothing.
 */
enum hatf_status splitting_measure(const struct spool *trace,
				   uint64_t nbytes_ret[2],
				   struct hatf_error *err);

#endif /* SPLITTING_H */

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
 * Measure both streams of the whole trace, with only the fields and records of
 * the paper's traces.  Set nbytes_ret[0] to the plain length of both streams
 * together, and nbytes_ret[1] to their length compressed at ENCODING_LEVEL.
 * Return HATF_OK, or an error with its details in '*err'.  Thread-safe; prints
 * nothing.
 */
enum hatf_status splitting_measure(const struct spool *trace,
				   uint64_t nbytes_ret[2],
				   struct hatf_error *err);

#endif /* SPLITTING_H */

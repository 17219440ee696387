/* SPDX-License-Identifier: MIT */
/*
 * trial.h - find, for each trace block, the placement of metadata that makes
 * the compressed trace block smallest
 *
 * The smallest HATF is not always the smallest gzip member.  A compressor may
 * by itself save what a dense placement of metadata saves, and metadata can
 * hide repetition from the compressor.  The best placement depends on the
 * program.  A trial therefore tries a few techniques and the recorder's
 * placement on each trace block, and keeps the smallest member.  Trace blocks
 * are independent, so their placements may differ.  Only one thread may use a
 * trial.
 */
#ifndef HATF_TRIAL_H
#define HATF_TRIAL_H

#include "hatf/codec/encoder.h"
#include "hatf/io/gzip_best.h"
#include "hatf/optimum/optimum.h"

struct trial;

/*
 * Create a trial.  Each encoder that is passed to trial_flush() must have
 * optimum_span() with 'optimum' as its planner, and a buffer of 'buf_nbytes'
 * bytes.  'squeeze' must be the compressor that compresses the trace blocks.
 * The caller keeps ownership of 'optimum' and 'squeeze', which must outlive the
 * trial.  Return NULL if there is no memory.
 */
struct trial *trial_new(struct optimum *optimum, struct gzip_best *squeeze,
			size_t buf_nbytes);
/* Free a trial.  't' may be NULL. */
void trial_free(struct trial *t);

/*
 * Write the records of the encoder's span as encoder_flush() does, with the
 * technique that gives the smallest gzip member.
 */
void trial_flush(struct trial *t, struct encoder *e);

#endif /* HATF_TRIAL_H */

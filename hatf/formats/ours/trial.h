/* SPDX-License-Identifier: MIT */
/*
 * trial.h - the placement that is smallest after compression, block by block
 *
 * The smallest HATF is not always the smallest gzip member.  A compressor may
 * find by itself what a dense placement saves, and metadata can hide repetition
 * from it.  Which placement wins depends on the program, so try a few
 * techniques and the recorder's own on each block and keep the smallest member.
 * Blocks are independent, so they may differ.  One thread uses a trial.
 */
#ifndef HATF_TRIAL_H
#define HATF_TRIAL_H

#include "hatf/codec/encoder.h"
#include "hatf/io/gzip_best.h"
#include "hatf/optimum/optimum.h"

struct trial;

/*
 * Create a trial for an encoder whose planner is optimum_span() with
 * 'optimum', whose buffer has 'buf_nbytes', and whose blocks 'squeeze'
 * compresses.  The caller keeps ownership of all three.  Returns NULL if memory
 * is short.
 */
struct trial *trial_new(struct optimum *optimum, struct gzip_best *squeeze,
			size_t buf_nbytes);
/* Free a trial; NULL is allowed. */
void trial_free(struct trial *t);

/*
 * Empty the encoder's span like encoder_flush(), with the technique that
 * gives the smallest member.
 */
void trial_flush(struct trial *t, struct encoder *e);

#endif /* HATF_TRIAL_H */

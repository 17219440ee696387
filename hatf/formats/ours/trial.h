/* SPDX-License-Identifier: MIT */
/*
 * trial.h - the placement that is smallest when compressed, block by block
 *
 * The fewest bytes of HATF are not the fewest of a gzip member: what a dense
 * placement saves, a compressor may have found by itself, and metadata in
 * between hides repetition from it.  Which one wins depends on the program, so
 * each of a few techniques, and what the recorder does, is tried on each block, and
 * the smallest member stays.  Blocks need nothing from each other, so they may differ.
 */
#ifndef HATF_TRIAL_H
#define HATF_TRIAL_H

#include "hatf/codec/encoder.h"
#include "hatf/io/gzip_best.h"
#include "hatf/optimum/optimum.h"

struct trial;

/*
 * For an encoder whose planner is optimum_window() with 'optimum', whose buffer
 * has 'buf_nbytes', and whose blocks 'squeeze' compresses; these stay the
 * caller's.  NULL if there is no memory.
 */
struct trial *trial_new(struct optimum *optimum, struct gzip_best *squeeze,
			size_t buf_nbytes);
void trial_free(struct trial *t);

/*
 * Empty the encoder's window, like encoder_flush(), by the technique with the
 * smallest member.
 */
void trial_flush(struct trial *t, struct encoder *e);

#endif /* HATF_TRIAL_H */

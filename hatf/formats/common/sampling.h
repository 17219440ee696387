/* SPDX-License-Identifier: MIT */
/*
 * sampling.h - sampled traces, and what each sample represents
 *
 * A trace may contain only some of a program's blocks, chosen at random
 * (FORMATS "memtrace").  Of all allocated words, block headers included, a
 * fraction 'rate' was sampled.  A block has as many samples as its words that
 * were chosen.  All functions may be called from any thread.
 */
#ifndef HATF_SAMPLING_H
#define HATF_SAMPLING_H

#include "hatf/hatf.h"

struct sampling {
	double rate; /* below 1; 0: not sampled */
	uint64_t word_nbytes;
};

/* Return the sampling that a header's lines state; 'lines' may be NULL. */
struct sampling sampling_find(const char *lines);

/*
 * Return the rate that a header's value states, or 0 if it is NULL or not a
 * rate of samples.
 */
double sampling_rate(const char *value);

/*
 * Return the number of samples of a record: 1 unless its attributes state
 * another.
 */
uint64_t sampling_count(const struct hatf_record *rec);

/*
 * Return the fraction of a block that these samples represent, in fixed point,
 * so that it can be summed over blocks of all sizes.
 */
uint64_t sampling_blocks(const struct sampling *sampling, uint64_t nbytes,
			 uint64_t sample_count);

/*
 * Estimate what the program allocated from the number of samples, or from the
 * sum of sampling_blocks().  Needs a rate above 0.
 */
uint64_t sampling_scale_nbytes(const struct sampling *sampling,
			       uint64_t sample_count);
uint64_t sampling_scale_blocks(const struct sampling *sampling, uint64_t sum);

#endif /* HATF_SAMPLING_H */

/* SPDX-License-Identifier: MIT */
/*
 * sampling.h - sampled traces, and what each sample represents
 *
 * A trace may contain only some of a program's blocks, chosen at random
 * (FORMATS "memtrace").  Of all allocated words, block headers included, a
 * fraction 'rate' was sampled.  The number of samples of a block says how many
 * of its words were chosen.  All functions may be called from any thread.
 */
#ifndef HATF_SAMPLING_H
#define HATF_SAMPLING_H

#include "hatf/hatf.h"

struct sampling {
	/*
	 * The fraction of all words that was sampled, below 1; 0: the trace has
	 * all blocks.
	 */
	double rate;
	uint64_t word_nbytes;
};

/*
 * Parse the sampling rate and the word size from the lines of a header.
 * Without a valid rate in the header, the rate is 0; without a valid word size,
 * the word size is 8.  'lines' may be NULL.
 */
struct sampling sampling_find(const char *lines);

/*
 * Return the rate that a value of a header states; 0 if 'value' is NULL or is
 * not a valid sampling rate.
 */
double sampling_rate(const char *value);

/*
 * Store the text of a rate, for sampling_rate(), in the 'nbytes' bytes at
 * 'buf'; 32 bytes are enough.  Return false if there is no memory.
 */
bool sampling_print_rate(double rate, char *buf, size_t nbytes);

/*
 * Return the number of samples of a record: 1, unless its attributes state
 * another number.  The result is at most UINT32_MAX.
 */
uint64_t sampling_count(const struct hatf_record *rec);

/*
 * Return the fraction of a block's words that was sampled, as a fixed-point
 * number.  The block has 'nbytes' bytes and one more word, its header.  The sum
 * of these fractions, divided by the rate, is an estimate of the number of
 * blocks (see sampling_scale_blocks()).
 */
uint64_t sampling_blocks(const struct sampling *sampling, uint64_t nbytes,
			 uint64_t sample_count);

/*
 * sampling_scale_nbytes() estimates from the number of samples how many bytes
 * the program allocated.  sampling_scale_blocks() estimates from the sum of
 * sampling_blocks() how many blocks the program allocated.  The rate must be
 * above 0.
 */
uint64_t sampling_scale_nbytes(const struct sampling *sampling,
			       uint64_t sample_count);
uint64_t sampling_scale_blocks(const struct sampling *sampling, uint64_t sum);

#endif /* HATF_SAMPLING_H */

/* SPDX-License-Identifier: MIT */
/*
 * sampling.h - traces of samples, and what each of them stands for
 *
 * A trace may have some of a program's blocks only, chosen at random (FORMAT
 * "memtrace"): of all words that were allocated, those of each block's header among
 * them, one in 1 / rate, and a block is there as often as one of its words was chosen.
 */
#ifndef HATF_SAMPLING_H
#define HATF_SAMPLING_H

#include "hatf/hatf.h"

struct sampling {
	double rate; /* below 1; 0: every block is there */
	uint64_t word_nbytes;
};

/* What the lines of a header, or NULL, say. */
struct sampling sampling_find(const char *lines);

/* The rate that is a header's value, or NULL; 0 if it is none of samples. */
double sampling_rate(const char *value);

/* How often an alloc, or any other record, was chosen. */
uint64_t sampling_count(const struct hatf_record *rec);

/*
 * The part of a block that one of these samples stands for, as a number that can be
 * added: blocks of all sizes are to be counted together.
 */
uint64_t sampling_blocks(const struct sampling *sampling, uint64_t nbytes,
			 uint64_t sample_count);

/* What was allocated, by the number of samples, or the sum of their parts. */
uint64_t sampling_scale_nbytes(const struct sampling *sampling,
			       uint64_t sample_count);
uint64_t sampling_scale_blocks(const struct sampling *sampling, uint64_t sum);

#endif /* HATF_SAMPLING_H */

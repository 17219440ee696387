/* SPDX-License-Identifier: MIT */
/*
 * sampling.c - see sampling.h
 *
 * Every word is sampled at the same rate: a block of N words, its header
 * included, is expected to have N * rate samples.  The number of samples alone
 * therefore gives an estimate of the bytes, as in Memtrace's own viewer.
 */
#include "hatf/formats/common/sampling.h"

#include "hatf/codec/comment_text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The fractions that sampling_blocks() returns are fixed-point numbers with
 * PART_BITS bits after the point.  They fit in 64 bits if a block has at most
 * SAMPLE_MAX samples.
 */
#define PART_BITS  32
#define SAMPLE_MAX UINT32_MAX

/*
 * Room for the text of a number in a header, including its NUL, in bytes.  A
 * longer text is ignored.
 */
#define NUMBER_MAX 64

double
sampling_rate(const char *value)
{
	/*
	 * Read the number in the C locale, because the decimal point may be
	 * another character in the locale of the program.
	 */
	const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	double rate = 0;
	char *end;

	if (plain == (locale_t)0)
		return 0;
	if (value != NULL) {
		rate = strtod_l(value, &end, plain);
		if (*end != '\0' || !(rate > 0 && rate < 1))
			rate = 0;
	}
	freelocale(plain);
	return rate;
}

bool
sampling_print_rate(double rate, char *buf, size_t nbytes)
{
	const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	locale_t own;

	if (plain == (locale_t)0)
		return false;
	own = uselocale(plain);
	snprintf(buf, nbytes, "%.17g", rate);
	uselocale(own);
	freelocale(plain);
	return true;
}

struct sampling
sampling_find(const char *lines)
{
	struct sampling sampling = { .word_nbytes = 8 };
	char value[NUMBER_MAX] = "";
	uint64_t n;

	if (lines == NULL)
		return sampling;
	if (text_find(lines, strlen(lines), "sample_rate", value,
		      sizeof(value)) < (ptrdiff_t)sizeof(value))
		sampling.rate = sampling_rate(value);
	if (text_find_u64(lines, strlen(lines), "word_size", &n) && n == 4)
		sampling.word_nbytes = n;
	return sampling;
}

uint64_t
sampling_count(const struct hatf_record *rec)
{
	const uint8_t *next = rec->attributes;
	const uint8_t *const end = next + rec->attributes_nbytes;
	struct hatf_attr_item item;

	if (rec->attributes_nbytes == 0)
		return 1;
	while (hatf_attr_next(&next, end, &item))
		if (item.key == HATF_ATTR_SAMPLES)
			return item.value < SAMPLE_MAX ? item.value
						       : SAMPLE_MAX;
	return 1;
}

uint64_t
sampling_blocks(const struct sampling *sampling, uint64_t nbytes,
		uint64_t sample_count)
{
	const uint64_t words = nbytes / sampling->word_nbytes +
			       (nbytes % sampling->word_nbytes != 0);

	/* The denominator includes 1 word for the header of the block. */
	return (sample_count << PART_BITS) / (words + 1);
}

/* Round to an integer, at most INT64_MAX. */
static uint64_t
to_u64(double x)
{
	return x < 0x1p63 ? (uint64_t)(x + 0.5) : INT64_MAX;
}

uint64_t
sampling_scale_nbytes(const struct sampling *sampling, uint64_t sample_count)
{
	return to_u64((double)sample_count / sampling->rate *
		      (double)sampling->word_nbytes);
}

uint64_t
sampling_scale_blocks(const struct sampling *sampling, uint64_t sum)
{
	return to_u64((double)sum / sampling->rate /
		      (double)((uint64_t)1 << PART_BITS));
}

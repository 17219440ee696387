/* SPDX-License-Identifier: MIT */
/*
 * measures.h - the measures by which two traces are compared
 *
 * Pure functions; any thread may call them.
 */
#ifndef MEASURES_H
#define MEASURES_H

#include "tools/summary/census.h"
#include "tools/ui/figure.h"

#include <stdbool.h>
#include <stdint.h>

enum measure {
	MEASURE_PEAK,	     /* bytes live at the peak of the trace */
	MEASURE_LIVE,	     /* bytes live at the end */
	MEASURE_ALLOCATED,   /* bytes allocated in all */
	MEASURE_ALLOCATIONS, /* allocations */
	/* blocks that the next call of the allocating thread freed */
	MEASURE_TEMPORARY,
	MEASURE_COUNT
};

/* A value for each measure. */
struct measured {
	uint64_t values[MEASURE_COUNT];
};

/* The words of options and of JSON, in the order of the enum; NULL at the end.
 */
extern const char *const measure_words[MEASURE_COUNT + 1];

/*
 * Return the word of measure_words for the name of a measure that a user wrote:
 * "live" for "live-at-end", "allocations" for "allocs", and otherwise 'name'
 * itself.
 */
const char *measure_word(const char *name);

/* The words of headings, such as "live at end". */
extern const char *const measure_titles[MEASURE_COUNT];

static inline bool
measure_is_bytes(enum measure measure)
{
	return measure <= MEASURE_ALLOCATED;
}

/* Return the values of an account of a census that has ended. */
struct measured measure_account(const struct census *census,
				const struct account *account);

/* Add all values of 'b' to 'a', up to UINT64_MAX. */
void measured_sum(struct measured *a, const struct measured *b);

/* Format a value: "1.3 MiB" or "1 234". */
struct figure measure_figure(enum measure measure, uint64_t value);

/* Format the growth from one value to another: "+1.3 MiB", "-12", "0". */
struct figure measure_growth(enum measure measure, uint64_t from, uint64_t to);

/* Room for the longest text of measure_growth_sentence(). */
#define MEASURE_SENTENCE_NBYTES 256

/*
 * Write "bytes live at the end grew by 1.5 KiB, from 1.0 KiB to 2.5 KiB" to
 * 'buf', which has MEASURE_SENTENCE_NBYTES.  Return 'buf'.
 */
char *measure_growth_sentence(enum measure measure, uint64_t from, uint64_t to,
			      char *buf);

/* Format a ratio: "+12.3 %", "x 4.0", "new", "gone" or "". */
struct figure measure_ratio(uint64_t from, uint64_t to);

#endif /* MEASURES_H */

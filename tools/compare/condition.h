/* SPDX-License-Identifier: MIT */
/*
 * condition.h - the conditions of 'hatf diff --fail-on'
 *
 * 	EXPR   = TERM { "," TERM }		 one of the terms holds
 * 	TERM   = [SCOPE "."] MEASURE ">" AMOUNT  growth exceeds AMOUNT
 * 	       | "any"				 anything grew; a row's peak
 * 						 counts only if the program's
 * 						 peak grew, too
 * 	SCOPE  = "total" | "site" | "new"	 the program (the default), any
 * 						 row, or any new row
 * 	MEASURE = a name that measure_word() translates to one of measure_words
 * 	AMOUNT = NUMBER [ "K" | "M" | "G" | "%" ]
 *
 * Growth counts only if verdict.h judges it to be a change and not noise.  A
 * percentage refers to the old value or, if that is 0, to the old value of the
 * whole program.
 */
#ifndef CONDITION_H
#define CONDITION_H

#include "tools/compare/comparison.h"

#define CONDITION_TERMS_MAX 32

enum condition_scope {
	SCOPE_TOTAL,
	SCOPE_SITE,
	SCOPE_NEW,
	SCOPE_ANY,
};

struct condition_term {
	enum condition_scope scope;
	enum measure measure;
	bool is_percent;
	double amount;
	char text[64]; /* the term, as the user wrote it */
};

struct condition {
	struct condition_term terms[CONDITION_TERMS_MAX];
	unsigned count;
};

/*
 * Parse an expression and append its terms.  On failure report the expression
 * as the wrong value of 'option' and return false.
 */
bool condition_parse(struct condition *condition, const char *option,
		     const char *text);

/*
 * The measures whose growth makes a term hold for a row, in the order of the
 * enum: all that grew for "any", otherwise the measure of the term.
 */
struct condition_measures {
	enum measure list[MEASURE_COUNT];
	unsigned count;
};

/*
 * Called for a term and a row for which the term holds, because 'measures',
 * one at least, grew.  'row' may be the total.
 */
typedef void condition_found(void *ctx, const struct condition_term *term,
			     const struct comparison_row *row,
			     const struct condition_measures *measures);

/*
 * Call 'found' once for each pair of a term and a row for which the term holds.
 * The caller must have called comparison_judge() for the comparison.  Return
 * the number of calls of 'found'.
 */
uint64_t condition_check(const struct condition *condition,
			 const struct comparison *comparison,
			 condition_found *found, void *ctx);

/* Room for the longest text of condition_sentence(). */
#define CONDITION_SENTENCE_NBYTES (MEASURE_COUNT * MEASURE_SENTENCE_NBYTES)

/*
 * Write the growth of all 'measures' of a row to 'buf', which has
 * CONDITION_SENTENCE_NBYTES, with "; " between the measures.  Return 'buf'.
 */
char *condition_sentence(const struct comparison_row *row,
			 const struct condition_measures *measures, char *buf);

#endif /* CONDITION_H */

/* SPDX-License-Identifier: MIT */
/* condition.c - see condition.h */
#include "tools/compare/condition.h"

#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- parse */

static const char *
skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/*
 * If 'word' is next and no letter follows, step over 'word' and the blanks
 * after it, and return true.
 */
static bool
take(const char **p, const char *word)
{
	const size_t length = strlen(word);

	if (strncmp(*p, word, length) != 0 ||
	    isalpha((unsigned char)(*p)[length]))
		return false;
	*p = skip_blanks(*p + length);
	return true;
}

static bool
take_scope(const char **p, enum condition_scope *scope_ret)
{
	static const char *const words[] = { "total", "site", "new" };

	*scope_ret = SCOPE_TOTAL;
	for (unsigned i = 0; i < 3; i++)
		if (take(p, words[i])) {
			*scope_ret = (enum condition_scope)i;
			if (**p != '.')
				return false;
			*p = skip_blanks(*p + 1);
			return true;
		}
	return true;
}

static bool
take_measure(const char **p, enum measure *measure_ret)
{
	const size_t length = strspn(*p, "abcdefghijklmnopqrstuvwxyz-");
	char name[16];

	if (length >= sizeof(name))
		return false;
	memcpy(name, *p, length);
	name[length] = '\0';
	for (int i = 0; i < MEASURE_COUNT; i++)
		if (strcmp(measure_word(name), measure_words[i]) == 0) {
			*measure_ret = (enum measure)i;
			*p = skip_blanks(*p + length);
			return true;
		}
	return false;
}

static bool
take_amount(const char **p, struct condition_term *term)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	/*
	 * Check the first characters, because strtod() accepts signs,
	 * hexadecimal numbers and "nan".
	 */
	if (!isdigit((unsigned char)**p) || (*p)[1] == 'x' || (*p)[1] == 'X')
		return false;
	term->amount = strtod(*p, &end);
	if (!isfinite(term->amount))
		return false;
	unit = *end != '\0' ? strchr(units, *end) : NULL;
	term->is_percent = *end == '%';
	if (unit != NULL)
		term->amount *= (double)(1024UL << 10 * (unit - units));
	*p = skip_blanks(end + (unit != NULL || term->is_percent));
	return true;
}

static bool
take_term(const char **p, struct condition_term *term)
{
	if (take(p, "any")) {
		term->scope = SCOPE_ANY;
		return true;
	}
	if (!take_scope(p, &term->scope) || !take_measure(p, &term->measure) ||
	    **p != '>')
		return false;
	*p = skip_blanks(*p + 1);
	return take_amount(p, term);
}

/*
 * Store the text of a term, without the blanks at its end and truncated to fit.
 */
static void
keep_text(struct condition_term *term, const char *begin, const char *end)
{
	size_t nbytes = (size_t)(end - begin);

	while (nbytes > 0 &&
	       (begin[nbytes - 1] == ' ' || begin[nbytes - 1] == '\t'))
		nbytes--;
	if (nbytes >= sizeof(term->text))
		nbytes = sizeof(term->text) - 1;
	memcpy(term->text, begin, nbytes);
	term->text[nbytes] = '\0';
}

static void
refuse(const char *option, const char *text, const char *at)
{
	char measures[128];

	message_print(
		"%s: not a condition: '%s'%s%.20s%s (want one such as "
		"'peak>5%%' or 'site.live>64K'; the measures are %s)",
		option, text, *at != '\0' ? " at '" : "", at,
		*at != '\0' ? "'" : "",
		opt_list_words(measure_words, measures, sizeof(measures)));
}

bool
condition_parse(struct condition *c, const char *option, const char *text)
{
	const char *p = skip_blanks(text);

	do {
		struct condition_term term = { .scope = SCOPE_TOTAL };
		const char *const begin = p;

		if (c->count == CONDITION_TERMS_MAX) {
			message_print("%s: more than %d conditions", option,
				      CONDITION_TERMS_MAX);
			return false;
		}
		if (!take_term(&p, &term) || (*p != '\0' && *p != ',')) {
			refuse(option, text, p);
			return false;
		}
		keep_text(&term, begin, p);
		c->terms[c->count++] = term;
		p = skip_blanks(p + (*p == ','));
	} while (*p != '\0');
	return true;
}

/* -------------------------------------------------------------------- check */

/* Did a measure of a row grow by more than a term allows? */
static bool
exceeds(const struct condition_term *term, const struct comparison *c,
	const struct comparison_row *row)
{
	const struct contrast *const k = &row->contrasts[term->measure];
	double base = (double)k->old_side.median;
	double allowed = term->amount;

	if (k->verdict != VERDICT_GREW)
		return false;
	if (base == 0)
		base = (double)c->total.contrasts[term->measure]
			       .old_side.median;
	if (term->is_percent)
		allowed = base * term->amount / 100;
	return (double)(k->new_side.median - k->old_side.median) > allowed;
}

/*
 * Did a measure of a row grow, by the rules of "any"?  The peak of a row is the
 * number of its bytes that are live when the program has its peak.  If a new
 * run reaches the same peak at another moment, some rows have more live bytes
 * then, and other rows fewer.  Therefore the growth of a row's peak counts only
 * if the program's peak grew, too.
 */
static bool
has_grown(const struct comparison *c, const struct comparison_row *row,
	  enum measure measure)
{
	return row->contrasts[measure].verdict == VERDICT_GREW &&
	       (measure != MEASURE_PEAK ||
		c->total.contrasts[MEASURE_PEAK].verdict == VERDICT_GREW);
}

/* Return the measures of a row that grew, by the rules of "any". */
static struct condition_measures
grown_measures(const struct comparison *c, const struct comparison_row *row)
{
	struct condition_measures grown = { .count = 0 };

	for (int i = 0; i < MEASURE_COUNT; i++)
		if (has_grown(c, row, (enum measure)i))
			grown.list[grown.count++] = (enum measure)i;
	return grown;
}

/* Return the measures for which a term holds in a row; none: it does not. */
static struct condition_measures
holding_measures(const struct condition_term *term, const struct comparison *c,
		 const struct comparison_row *row)
{
	const bool is_left_out = term->scope == SCOPE_NEW && !row->is_new;

	if (term->scope == SCOPE_ANY)
		return grown_measures(c, row);
	return (struct condition_measures){
		.list = { term->measure },
		.count = !is_left_out && exceeds(term, c, row),
	};
}

/* If a term holds for a row, call 'found' and return true. */
static bool
check_row(const struct condition_term *term, const struct comparison *c,
	  const struct comparison_row *row, condition_found *found, void *ctx)
{
	const struct condition_measures measures =
		holding_measures(term, c, row);

	if (measures.count == 0)
		return false;
	found(ctx, term, row, &measures);
	return true;
}

uint64_t
condition_check(const struct condition *condition, const struct comparison *c,
		condition_found *found, void *ctx)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < condition->count; i++) {
		const struct condition_term *const term = &condition->terms[i];
		const bool has_total =
			term->scope == SCOPE_TOTAL || term->scope == SCOPE_ANY;
		const uint32_t rows = term->scope == SCOPE_TOTAL ? 0 : c->count;

		if (has_total)
			count += check_row(term, c, &c->total, found, ctx);
		for (uint32_t k = 0; k < rows; k++)
			count += check_row(term, c, &c->rows[k], found, ctx);
	}
	return count;
}

char *
condition_sentence(const struct comparison_row *row,
		   const struct condition_measures *measures, char *buf)
{
	char *end = buf;

	buf[0] = '\0';
	for (unsigned i = 0; i < measures->count; i++) {
		const struct contrast *const k =
			&row->contrasts[measures->list[i]];

		if (i != 0)
			end = stpcpy(end, "; ");
		measure_growth_sentence(measures->list[i], k->old_side.median,
					k->new_side.median, end);
		end += strlen(end);
	}
	return buf;
}

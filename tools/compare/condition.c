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

/*
 * Return the first measure of a row that grew, or MEASURE_COUNT.  Look first at
 * the bytes live at the end, because their growth often makes the peak grow,
 * too.
 */
static enum measure
grown_measure(const struct comparison *c, const struct comparison_row *row)
{
	int i = 0;

	if (has_grown(c, row, MEASURE_LIVE))
		return MEASURE_LIVE;
	while (i < MEASURE_COUNT && !has_grown(c, row, (enum measure)i))
		i++;
	return (enum measure)i;
}

static bool
holds(const struct condition_term *term, const struct comparison *c,
      const struct comparison_row *row, enum measure *measure_ret)
{
	*measure_ret = term->measure;
	if (term->scope == SCOPE_ANY) {
		*measure_ret = grown_measure(c, row);
		return *measure_ret != MEASURE_COUNT;
	}
	if (term->scope == SCOPE_NEW && !row->is_new)
		return false;
	return exceeds(term, c, row);
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
		enum measure measure;

		if (has_total && holds(term, c, &c->total, &measure)) {
			found(ctx, term, &c->total, measure);
			count++;
		}
		if (term->scope == SCOPE_TOTAL)
			continue;
		for (uint32_t k = 0; k < c->count; k++) {
			if (!holds(term, c, &c->rows[k], &measure))
				continue;
			found(ctx, term, &c->rows[k], measure);
			count++;
		}
	}
	return count;
}

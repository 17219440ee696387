/* SPDX-License-Identifier: MIT */
/* replay_limit.c - see replay_limit.h */
#include "tools/replay/replay_limit.h"

#include "tools/ui/message.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- parse */

static void
skip_blanks(const char **p)
{
	*p += strspn(*p, " \t");
}

/* What is wrong with a limit. */
enum flaw {
	FLAW_NONE,
	FLAW_SYNTAX,
	FLAW_MEASURE,	/* the measure is missing or unknown */
	FLAW_ALLOCATOR, /* the allocator is missing or unknown */
	FLAW_UNIT,	/* a time has no unit */
};

/*
 * Parse the name of an allocator.  Take the longest name that matches the next
 * characters.
 */
static bool
take_allocator(const char **p, const struct allocators *all, unsigned *idx_ret)
{
	size_t longest = 0;

	for (unsigned i = 0; i < all->count; i++) {
		const size_t length = strlen(all->list[i].label);

		if (length > longest &&
		    strncmp(*p, all->list[i].label, length) == 0) {
			longest = length;
			*idx_ret = i;
		}
	}
	*p += longest;
	return longest != 0;
}

static bool
take_measure(const char **p, enum replay_measure *measure_ret)
{
	for (int i = 0; i < REPLAY_MEASURES; i++) {
		const size_t length = strlen(replay_measure_words[i]);

		if (strncmp(*p, replay_measure_words[i], length) == 0 &&
		    strchr("> \t", (*p)[length]) != NULL) {
			*p += length;
			skip_blanks(p);
			*measure_ret = (enum replay_measure)i;
			return true;
		}
	}
	return false;
}

/*
 * Parse a unit that suits the measure, and multiply the amount by the unit.
 * Return false if there is no such unit.
 */
static bool
take_unit(const char **p, struct replay_limit *term)
{
	static const struct {
		const char *name;
		double factor;
		bool is_time;
	} units[] = {
		{ "ns", 1, true },	 { "us", 1e3, true },
		{ "ms", 1e6, true },	 { "s", 1e9, true },
		{ "K", 1 << 10, false }, { "M", 1 << 20, false },
		{ "G", 1 << 30, false },
	};
	const bool is_time = runs_is_time(term->measure);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t length = strlen(units[i].name);

		if (units[i].is_time == is_time &&
		    strncmp(*p, units[i].name, length) == 0) {
			*p += length;
			term->amount *= units[i].factor;
			return true;
		}
	}
	return false;
}

static enum flaw
take_bound(const char **p, struct replay_limit *term,
	   const struct allocators *all)
{
	char *end;

	/*
	 * Refuse signs, hexadecimal numbers and "nan", which strtod() accepts.
	 */
	if (!isdigit((unsigned char)**p) || (*p)[1] == 'x' || (*p)[1] == 'X')
		return FLAW_SYNTAX;
	term->amount = strtod(*p, &end);
	if (!isfinite(term->amount))
		return FLAW_SYNTAX;
	*p = end;
	skip_blanks(p);
	if (**p == '*') {
		(*p)++;
		skip_blanks(p);
		return take_allocator(p, all, &term->other) ? FLAW_NONE
							    : FLAW_ALLOCATOR;
	}
	if (!take_unit(p, term) && runs_is_time(term->measure) &&
	    term->amount != 0 && (**p == '\0' || **p == ','))
		return FLAW_UNIT;
	return FLAW_NONE;
}

static enum flaw
take_term(const char **p, struct replay_limit *term,
	  const struct allocators *all)
{
	const size_t length = strcspn(*p, ",>");
	enum flaw flaw;

	/* Without a '>', report a wrong syntax rather than an unknown name. */
	if ((*p)[length] != '>')
		return FLAW_SYNTAX;
	if (take_allocator(p, all, &term->subject)) {
		skip_blanks(p);
		if (*(*p)++ != '.')
			return FLAW_SYNTAX;
		skip_blanks(p);
	} else if (memchr(*p, '.', length) != NULL) {
		return FLAW_ALLOCATOR;
	}
	if (!take_measure(p, &term->measure))
		return FLAW_MEASURE;
	if (*(*p)++ != '>')
		return FLAW_SYNTAX;
	skip_blanks(p);
	flaw = take_bound(p, term, all);
	if (flaw != FLAW_NONE)
		return flaw;
	skip_blanks(p);
	return **p == '\0' || **p == ',' ? FLAW_NONE : FLAW_SYNTAX;
}

/*
 * Append a name to a list, after ", " if the list is not empty.  If there is
 * not enough room, truncate the name.
 */
static void
add_name(char *list, size_t list_nbytes, const char *name)
{
	const size_t used = strlen(list);

	snprintf(list + used, list_nbytes - used, "%s%s", used != 0 ? ", " : "",
		 name);
}

/* Print what is wrong at 'p' in the limits 'text'. */
static void
print_flaw(enum flaw flaw, const char *p, const char *text,
	   const struct allocators *all)
{
	const int length = (int)strcspn(p, ".,> \t");
	char list[1024] = "";

	if (flaw == FLAW_SYNTAX)
		message_print("--fail-if: '%s' is not a limit such as "
			      "'peak_rss>1.10*glibc' or 'wall>20ms'",
			      text);
	if (flaw == FLAW_UNIT)
		message_print("--fail-if: a time needs a unit (ns, us, ms or "
			      "s): '%s'",
			      text);
	if (flaw == FLAW_MEASURE) {
		for (int i = 0; i < REPLAY_MEASURES; i++)
			add_name(list, sizeof(list), replay_measure_words[i]);
		message_print("--fail-if: unknown measure '%.*s' (known: %s)",
			      length, p, list);
	}
	if (flaw == FLAW_ALLOCATOR) {
		for (unsigned i = 0; i < all->count; i++)
			add_name(list, sizeof(list), all->list[i].label);
		message_print("--fail-if: no allocator '%.*s' in this replay "
			      "(only %s)",
			      length, p, list);
	}
}

bool
limits_parse(struct replay_limits *limits, const char *text,
	     const struct allocators *all)
{
	const char *p = text;

	do {
		struct replay_limit term = { .subject = REPLAY_ANY,
					     .other = REPLAY_ANY };
		const char *begin;
		enum flaw flaw;

		skip_blanks(&p);
		begin = p;
		if (limits->count == REPLAY_LIMITS_MAX) {
			message_print("--fail-if: more than %d limits",
				      REPLAY_LIMITS_MAX);
			return false;
		}
		flaw = take_term(&p, &term, all);
		if (flaw != FLAW_NONE) {
			print_flaw(flaw, p, text, all);
			return false;
		}
		snprintf(term.text, sizeof(term.text), "%.*s", (int)(p - begin),
			 begin);
		limits->terms[limits->count++] = term;
	} while (*p++ == ',');
	return true;
}

/* -------------------------------------------------------------------- check */

/*
 * If an allocator exceeds a limit, print a message and return true.  A time
 * that is too short to measure exceeds no limit.
 */
static bool
exceeds(const struct replay_limit *term, const struct replay_runs *runs,
	unsigned idx)
{
	const struct replay_column *const c = &runs->columns[idx];
	const struct replay_spread *const s = &c->measures[term->measure];
	double bound = term->amount;

	if (term->other != REPLAY_ANY)
		bound *= (double)runs->columns[term->other]
				 .measures[term->measure]
				 .median;
	if (s->is_too_short || (double)s->min <= bound)
		return false;
	message_print("%s: %s is %s, at least %s in each run, and the limit is "
		      "%s (%s)",
		      c->allocator->label, replay_measure_words[term->measure],
		      runs_figure(term->measure, s->median).text,
		      runs_figure(term->measure, s->min).text,
		      runs_figure(term->measure, (uint64_t)bound).text,
		      term->text);
	return true;
}

/*
 * Did the allocator 'idx' fail, so that it has no figures?  If 'idx' is
 * REPLAY_ANY, return false.
 */
static bool
has_failed(const struct replay_runs *runs, unsigned idx)
{
	return idx != REPLAY_ANY && runs->columns[idx].fault[0] != '\0';
}

/*
 * Does the limit refer to an allocator whose time is too short to measure?  If
 * so, print a message.
 */
static bool
has_no_bound(const struct replay_limit *term, const struct replay_runs *runs)
{
	const struct replay_column *other;

	if (term->other == REPLAY_ANY || has_failed(runs, term->other))
		return false;
	other = &runs->columns[term->other];
	if (!other->measures[term->measure].is_too_short)
		return false;
	message_print("%s: %s is too short to measure, so the limit is unknown "
		      "(%s)",
		      other->allocator->label,
		      replay_measure_words[term->measure], term->text);
	return true;
}

bool
limits_exceeded(const struct replay_limits *limits,
		const struct replay_runs *runs, bool *unknown_ret)
{
	bool found = false;

	*unknown_ret = false;
	for (unsigned i = 0; i < limits->count; i++) {
		const struct replay_limit *const term = &limits->terms[i];

		if (has_no_bound(term, runs)) {
			*unknown_ret = true;
			continue;
		}
		for (unsigned k = 0; k < runs->count; k++)
			if (k != term->other && !has_failed(runs, k) &&
			    !has_failed(runs, term->other) &&
			    (term->subject == REPLAY_ANY || term->subject == k))
				found |= exceeds(term, runs, k);
	}
	return found;
}

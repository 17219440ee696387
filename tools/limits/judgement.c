/* SPDX-License-Identifier: MIT */
/* judgement.c - see judgement.h */
#include "tools/limits/judgement.h"

#include "tools/limits/row_name.h"
#include "tools/ui/escape.h"
#include "tools/ui/message.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of bytes of a sentence about a finding. */
#define MESSAGE_NBYTES 8192

/* The words of a message before the place or process with the largest part. */
#define LARGEST_PART "largest part: "

/* Return a copy of text, escaped; NULL if there is no memory. */
static char *
copy_escaped(const char *text)
{
	const size_t cap = 4 * strlen(text) + 1;
	char *const copy = malloc(cap);

	return copy != NULL ? escape_text(text, copy, cap) : NULL;
}

static char *
copy_last_path(const struct process *p)
{
	return copy_escaped(message_path(p->paths[p->path_count - 1]));
}

bool
judgement_begin(struct judgement *j, const struct limits *limits)
{
	*j = (struct judgement){ .limits = limits };
	j->rules = calloc(limits->count + 1, sizeof(*j->rules));
	if (j->rules == NULL)
		return false;
	for (size_t i = 0; i < limits->count; i++) {
		struct rule *const r = &j->rules[j->rule_count++];

		r->is_tree = limits->list[i].scope == LIMIT_TREE;
		r->unit = limit_scope_words[limits->list[i].scope];
		r->text = copy_escaped(limits->list[i].text);
		r->origin = copy_escaped(limits->list[i].origin);
		if (r->text == NULL || r->origin == NULL)
			return false;
	}
	return true;
}

/* Does the glob of the limit match the process? */
static bool
applies_to(const struct limit *limit, const struct process *process)
{
	return fnmatch(limit->process, process->name, 0) == 0;
}

unsigned
judgement_scopes(const struct judgement *j, const struct process *process)
{
	unsigned scopes = 0;

	for (size_t i = 0; i < j->limits->count; i++)
		if (applies_to(&j->limits->list[i], process))
			scopes |= 1u << j->limits->list[i].scope;
	return scopes;
}

bool
judgement_needs_stacks(const struct judgement *j, const struct process *process)
{
	return (judgement_scopes(j, process) &
		(1u << LIMIT_SITE | 1u << LIMIT_FUNCTION | 1u << LIMIT_FILE |
		 1u << LIMIT_MODULE)) != 0;
}

/* ----------------------------------------------------------------- findings */

static void
free_finding(struct finding *f)
{
	free(f->process);
	free(f->trace);
	free(f->row);
	free(f->message);
	figures_place_free(&f->place);
}

static struct figure
measure_text(enum limit_measure measure, uint64_t value)
{
	struct figure f;

	if (measure == LIMIT_ALLOCS)
		return figure_count(value);
	if (measure != LIMIT_TEMPORARY)
		return figure_nbytes(value);
	snprintf(f.text, sizeof(f.text), "%.4g %%",
		 (double)value * 100 / LIMIT_WHOLE);
	return f;
}

/* Return the words to print after a value, such as " live at the end". */
static const char *
value_words(const struct limit *limit, uint64_t value)
{
	static const char *const words[LIMIT_MEASURE_COUNT] = {
		" at the peak",
		" live at the end",
		" allocated",
		" allocations",
		" temporary allocations",
		" in the largest allocation",
	};

	if (limit->measure == LIMIT_PEAK && limit->scope == LIMIT_TREE)
		return " as the sum of the peaks";
	if (limit->measure == LIMIT_ALLOCS && value == 1)
		return " allocation";
	return words[limit->measure];
}

/*
 * Write a value and its limit: "4.9 KiB live at the end, limit 4.0 KiB".  If
 * they differ, but their short forms are equal, write both with more digits.
 */
static void
print_values(char *buf, size_t nbytes, const struct limit *limit,
	     uint64_t value)
{
	const struct figure is = measure_text(limit->measure, value);
	const struct figure may = measure_text(limit->measure, limit->amount);
	const char *const words = value_words(limit, value);
	const double percent = 100.0 / LIMIT_WHOLE;

	if (value == limit->amount || strcmp(is.text, may.text) != 0)
		snprintf(buf, nbytes, "%s%s, limit %s", is.text, words,
			 may.text);
	else if (limit->measure == LIMIT_TEMPORARY)
		snprintf(buf, nbytes, "%.4f %%%s, limit %.4f %%",
			 (double)value * percent, words,
			 (double)limit->amount * percent);
	else
		snprintf(buf, nbytes, "%s B%s, limit %s B",
			 figure_count(value).text, words,
			 figure_count(limit->amount).text);
}

/*
 * Format the message "parse (a.c) in app: 3 MiB at the peak, limit 1 MiB;
 * largest part: ...".
 */
static char *
make_message(const struct limit *limit, const struct finding *f,
	     bool names_trace)
{
	const bool is_tree = limit->scope == LIMIT_TREE;
	const bool has_trace = names_trace && !is_tree;
	char buf[MESSAGE_NBYTES];
	size_t n;

	n = (size_t)snprintf(
		buf, sizeof(buf),
		"%.3000s%s%.500s%s%.500s%s: ", f->row != NULL ? f->row : "",
		f->row != NULL ? " in " : "",
		is_tree ? "all processes" : f->process, has_trace ? " (" : "",
		has_trace ? f->trace : "", has_trace ? ")" : "");
	print_values(buf + n, sizeof(buf) - n, limit, f->value);
	n += strlen(buf + n);
	if (f->place.site != NULL || (is_tree && f->process != NULL))
		n += (size_t)snprintf(
			buf + n, sizeof(buf) - n, "; %s%.2500s",
			limit->measure == LIMIT_SINGLE ? "by " : LARGEST_PART,
			f->place.site != NULL ? f->place.site : "");
	if (is_tree && f->process != NULL)
		snprintf(buf + n, sizeof(buf) - n, "%s%.500s (%.500s)",
			 f->place.site != NULL ? " in " : "", f->process,
			 f->trace);
	return strdup(buf);
}

/* Set the process, the trace and the place of a finding. */
static bool
name_finding(struct finding *found, const struct limit *limit,
	     const struct figures *f, const char *row)
{
	const struct process *const p = f->process;

	found->process = copy_escaped(p->name);
	found->trace = copy_last_path(p);
	found->place = figures_find_place(f, limit->scope, row, limit->measure);
	return found->process != NULL && found->trace != NULL;
}

/*
 * Describe a finding of a process or, if 'f' is NULL, of the tree (of all
 * processes together).  A finding of the tree names the process with the
 * largest share.  If there is no memory, the message is NULL.
 */
static struct finding
make_finding(const struct judgement *j, struct rule *r,
	     const struct limit *limit, const struct figures *f,
	     const char *row, uint64_t value)
{
	struct finding found = { .value = value };

	if (f == NULL) {
		found = r->share;
		found.value = value;
		r->share = (struct finding){ .process = NULL };
	} else if (!name_finding(&found, limit, f, row)) {
		return found;
	}
	if (row != NULL) {
		found.row = strdup(row);
		if (found.row == NULL)
			return found;
	}
	found.message = make_message(limit, &found, j->names_traces);
	return found;
}

/*
 * Must a finding with this value be kept, because there is room, or because the
 * value exceeds the smallest one that is kept?
 */
static bool
is_kept(const struct rule *r, uint64_t value)
{
	return r->finding_count < FINDINGS_MAX ||
	       value > r->findings[FINDINGS_MAX - 1].value;
}

/*
 * Insert a finding into the rule's list, which is in descending order of the
 * values.  If the list is full, remove its last finding first.  Return false if
 * there is no memory.
 */
static bool
keep(struct rule *r, const struct finding *found)
{
	size_t i;

	if (r->findings == NULL)
		r->findings = calloc(FINDINGS_MAX, sizeof(*r->findings));
	if (r->findings == NULL)
		return false;
	if (r->finding_count == FINDINGS_MAX)
		free_finding(&r->findings[--r->finding_count]);
	for (i = r->finding_count++;
	     i > 0 && r->findings[i - 1].value < found->value; i--)
		r->findings[i] = r->findings[i - 1];
	r->findings[i] = *found;
	return true;
}

/*
 * Compare a value with a limit, and note the result in the rule.  Return false
 * if there is no memory.
 */
static bool
judge(const struct judgement *j, struct rule *r, const struct limit *limit,
      const struct figures *f, const char *row, uint64_t value)
{
	struct finding found;

	if (value <= limit->amount) {
		if (r->has_worst && value <= r->worst.value)
			return true;
		free_finding(&r->worst);
		r->worst = make_finding(j, r, limit, f, row, value);
		if (r->exceeded_count == 0)
			r->worst_text = measure_text(limit->measure, value);
		r->has_worst = true;
		return r->worst.message != NULL;
	}
	r->exceeded_count++;
	if (!is_kept(r, value))
		return true;
	found = make_finding(j, r, limit, f, row, value);
	if (found.message != NULL && keep(r, &found)) {
		r->worst_text =
			measure_text(limit->measure, r->findings[0].value);
		return true;
	}
	free_finding(&found);
	return false;
}

/* For a limit of the tree, note the process with the largest share. */
static bool
take_share(struct rule *r, const struct limit *limit, const struct figures *f,
	   const struct measured *total)
{
	uint64_t value = f->single;

	if (limit->measure == LIMIT_TEMPORARY)
		value = total->values[MEASURE_TEMPORARY];
	else if (limit->measure != LIMIT_SINGLE)
		value = figures_measure(total, limit->measure);
	if (value <= r->share.value)
		return true;
	free_finding(&r->share);
	r->share = (struct finding){ .value = value };
	return name_finding(&r->share, limit, f, NULL);
}

/* ---------------------------------------------------------------- processes */

static bool
judge_process(const struct judgement *j, struct rule *r,
	      const struct limit *limit, const struct figures *f,
	      const struct measured *total)
{
	return judge(j, r, limit, f, NULL,
		     limit->measure == LIMIT_SINGLE
			     ? f->single
			     : figures_measure(total, limit->measure));
}

static bool
judge_rows(const struct judgement *j, struct rule *r, const struct limit *limit,
	   const struct figures *f)
{
	const struct comparison *const c = &f->rows[limit->scope];

	for (uint32_t i = 0; i < c->count; i++) {
		const struct measured m = comparison_combine(c, &c->rows[i]);

		if (row_name_matches(limit->scope, limit->row,
				     c->rows[i].name) &&
		    !judge(j, r, limit, f, c->rows[i].name,
			   figures_measure(&m, limit->measure)))
			return false;
	}
	return true;
}

static bool
keep_fault(struct judgement *j, const char *fault)
{
	char **const faults =
		reallocarray(j->faults, j->fault_count + 1, sizeof(*j->faults));

	if (faults == NULL)
		return false;
	j->faults = faults;
	j->faults[j->fault_count] = copy_escaped(fault);
	return j->faults[j->fault_count++] != NULL;
}

bool
judgement_add(struct judgement *j, const struct figures *f)
{
	const struct comparison *const whole = &f->rows[LIMIT_PROCESS];
	const struct measured total = comparison_combine(whole, &whole->total);

	j->process_count++;
	free(j->trace);
	j->trace = copy_last_path(f->process);
	if (j->trace == NULL)
		return false;
	measured_sum(&j->tree, &total);
	if (f->single > j->tree_single)
		j->tree_single = f->single;
	if (f->fault != NULL && !keep_fault(j, f->fault))
		return false;
	for (size_t i = 0; i < j->limits->count; i++) {
		const struct limit *const limit = &j->limits->list[i];
		struct rule *const r = &j->rules[i];
		bool ok;

		if (!applies_to(limit, f->process))
			continue;
		if (limit->scope == LIMIT_TREE)
			ok = take_share(r, limit, f, &total);
		else if (limit->scope == LIMIT_PROCESS)
			ok = judge_process(j, r, limit, f, &total);
		else
			ok = judge_rows(j, r, limit, f);
		if (!ok)
			return false;
	}
	return true;
}

/* If the limit has matched nothing, make a finding that says so. */
static bool
fail_unused(struct rule *r)
{
	struct finding found = { .value = 0 };

	if (r->exceeded_count != 0 || r->has_worst)
		return true;
	if (asprintf(&found.message, "nothing matches: %.4000s", r->text) < 0)
		return false;
	r->is_unmatched = true;
	r->exceeded_count = 1;
	if (keep(r, &found))
		return true;
	free(found.message);
	return false;
}

bool
judgement_end(struct judgement *j)
{
	for (size_t i = 0; i < j->limits->count; i++) {
		const struct limit *const limit = &j->limits->list[i];
		uint64_t value;

		if (limit->scope != LIMIT_TREE) {
			if (j->fails_unused && !fail_unused(&j->rules[i]))
				return false;
			continue;
		}
		value = limit->measure == LIMIT_SINGLE
				? j->tree_single
				: figures_measure(&j->tree, limit->measure);
		if (!judge(j, &j->rules[i], limit, NULL, NULL, value))
			return false;
	}
	return true;
}

/* --------------------------------------------------------------- conditions */

/* The context of take_found(). */
struct growth {
	struct judgement *judgement;
	const struct figures *figures;
};

/* Find the place of a row that grew. */
static struct figures_place
find_growth(const struct figures *f, const struct comparison_row *row,
	    enum measure measure)
{
	static const enum limit_measure limit_measures[MEASURE_COUNT] = {
		[MEASURE_PEAK] = LIMIT_PEAK,
		[MEASURE_LIVE] = LIMIT_LIVE,
		[MEASURE_ALLOCATED] = LIMIT_ALLOCATED,
		[MEASURE_ALLOCATIONS] = LIMIT_ALLOCS,
		[MEASURE_TEMPORARY] = LIMIT_TEMPORARY,
	};

	if (row->name == NULL)
		return (struct figures_place){ .site = NULL };
	return figures_find_place(f, LIMIT_SITE, row->name,
				  limit_measures[measure]);
}

/* A condition_found callback: add a finding to the rule of the condition. */
static void
take_found(void *ctx, const struct condition_term *term,
	   const struct comparison_row *row,
	   const struct condition_measures *measures)
{
	const struct growth *const g = ctx;
	struct judgement *const j = g->judgement;
	struct rule *const r = &j->rules[j->rule_count - 1];
	const enum measure measure = measures->list[0];
	const struct contrast *const k = &row->contrasts[measure];
	const uint64_t growth = k->new_side.median - k->old_side.median;
	struct finding found = { .value = growth };
	char sentence[CONDITION_SENTENCE_NBYTES], buf[MESSAGE_NBYTES];

	(void)term;
	r->exceeded_count++;
	if (!is_kept(r, growth))
		return;
	found.place = find_growth(g->figures, row, measure);
	snprintf(buf, sizeof(buf), "%s in %.4000s%s%.2500s",
		 condition_sentence(row, measures, sentence),
		 row->name != NULL ? row->name : "the program",
		 found.place.site != NULL ? "; now the " LARGEST_PART : "",
		 found.place.site != NULL ? found.place.site : "");
	found.message = strdup(buf);
	if (row->name != NULL)
		found.row = strdup(row->name);
	if (found.message == NULL || !keep(r, &found)) {
		free_finding(&found);
		j->no_memory = true;
	} else if (r->findings[0].value == growth) {
		r->worst_text = measure_growth(measure, k->old_side.median,
					       k->new_side.median);
	}
}

bool
judgement_add_conditions(struct judgement *j, const struct condition *condition,
			 const struct comparison *comparison,
			 const char *baseline, const struct figures *figures)
{
	struct growth growth = { j, figures };
	struct rule *const rules = reallocarray(
		j->rules, j->rule_count + condition->count + 1, sizeof(*rules));
	struct condition one = { .count = 1 };

	if (rules == NULL)
		return false;
	j->rules = rules;
	for (unsigned i = 0; i < condition->count; i++) {
		struct rule *const r = &j->rules[j->rule_count++];

		*r = (struct rule){ .run_count = comparison->new_count };
		if (asprintf(&r->text, "baseline: %s",
			     condition->terms[i].text) < 0) {
			r->text = NULL;
			return false;
		}
		r->baseline = copy_escaped(message_path(baseline));
		if (r->baseline == NULL)
			return false;
		one.terms[0] = condition->terms[i];
		condition_check(&one, comparison, take_found, &growth);
	}
	return !j->no_memory;
}

/* ---------------------------------------------------------------------- end */

size_t
judgement_exceeded(const struct judgement *j)
{
	size_t count = 0;

	for (size_t i = 0; i < j->rule_count; i++)
		count += j->rules[i].exceeded_count != 0;
	return count;
}

void
judgement_free(struct judgement *j)
{
	for (size_t i = 0; i < j->rule_count; i++) {
		struct rule *const r = &j->rules[i];

		for (size_t k = 0; k < r->finding_count; k++)
			free_finding(&r->findings[k]);
		free_finding(&r->worst);
		free_finding(&r->share);
		free(r->findings);
		free(r->text);
		free(r->origin);
		free(r->baseline);
	}
	for (size_t i = 0; i < j->fault_count; i++)
		free(j->faults[i]);
	free(j->trace);
	free(j->faults);
	free(j->rules);
	*j = (struct judgement){ .limits = NULL };
}

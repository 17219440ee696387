/* SPDX-License-Identifier: MIT */
/* judgement_text.c - see judgement_output.h: text, Markdown and annotations */
#include "tools/limits/judgement_output.h"

#include "tools/ui/escape.h"
#include "tools/ui/figure.h"

#include <inttypes.h>
#include <string.h>

/* Return "exceeded", "ok" or, if nothing matches the rule, "unused". */
static const char *
state_of(const struct rule *r)
{
	if (r->exceeded_count != 0)
		return "exceeded";
	/*
	 * Without findings, a condition on growth, which has no origin, is
	 * "ok".  A limit is "unused" if no value was compared with it.
	 */
	return r->has_worst || r->origin == NULL ? "ok" : "unused";
}

/* Print "3 limits, 1 exceeded; 4 processes, 1 incomplete". */
static void
print_summary(FILE *f, const struct judgement *j)
{
	fprintf(f, "%zu limit%s, %zu exceeded", j->rule_count,
		figure_plural(j->rule_count), judgement_exceeded(j));
	fprintf(f, "; %" PRIu64 " process%s", j->process_count,
		j->process_count == 1 ? "" : "es");
	if (j->fault_count != 0)
		fprintf(f, ", %zu incomplete", j->fault_count);
	fputc('\n', f);
}

/* --------------------------------------------------------------------- text */

/* Print what exceeds a rule: " by 2 sites". */
static void
print_excess(FILE *f, const struct judgement *j, const struct rule *r)
{
	const uint64_t n = r->is_tree ? j->process_count : r->exceeded_count;
	const struct figure count = figure_count(n);

	if (r->is_unmatched)
		fputs(" nothing matches", f);
	else if (r->baseline != NULL)
		fprintf(f, " by %s finding%s", count.text, figure_plural(n));
	else if (r->findings[0].row != NULL)
		fprintf(f, " by %s %s%s", count.text, r->unit,
			figure_plural(n));
	else
		fprintf(f, " by %s%s process%s",
			r->is_tree ? "the sum of " : "", count.text,
			n == 1 ? "" : "es");
}

/* Print the value that is closest to the limit, its row and its process. */
static void
print_worst(FILE *f, const struct rule *r)
{
	const struct finding *const worst = &r->worst;
	const bool is_of_process = worst->process != NULL && !r->is_tree;

	fprintf(f, " %s%s%s%s%s", r->worst_text.text,
		worst->row != NULL ? " by " : "",
		worst->row != NULL ? worst->row : "",
		is_of_process ? " in " : "",
		is_of_process ? worst->process : "");
}

/* Print a line for a rule. */
static void
print_rule(FILE *f, const struct judgement *j, const struct rule *r)
{
	const int width = 36;

	fprintf(f, "%-9s %-*s%s", state_of(r), width, r->text,
		strlen(r->text) >= (size_t)width ? " " : "");
	if (r->exceeded_count != 0)
		print_excess(f, j, r);
	else if (r->baseline != NULL)
		fputs(" no such growth", f);
	else if (!r->has_worst)
		fputs(" nothing matches", f);
	else
		print_worst(f, r);
	if (r->baseline != NULL && r->run_count != j->process_count)
		fprintf(f, " (%u of %s processes compared)", r->run_count,
			figure_count(j->process_count).text);
	fputc('\n', f);
}

void
judgement_print_text(FILE *f, const struct judgement *j)
{
	for (size_t i = 0; i < j->rule_count; i++) {
		const struct rule *const r = &j->rules[i];

		print_rule(f, j, r);
		for (size_t k = 0; k < r->finding_count && !r->is_unmatched;
		     k++)
			fprintf(f, "            %s\n", r->findings[k].message);
		if (r->exceeded_count > r->finding_count)
			fprintf(f, "            and %s more\n",
				figure_count(r->exceeded_count -
					     r->finding_count)
					.text);
	}
	print_summary(f, j);
}

/* ----------------------------------------------------------------- Markdown */

/* Return the length of the longest run of backticks. */
static int
longest_run(const char *text)
{
	int longest = 0, run = 0;

	for (; *text != '\0'; text++) {
		run = *text == '`' ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

/*
 * Write text as code, so that Markdown shows it unchanged.  The fence has more
 * backticks than any run in the text.  In a table, put '\' before each '|'.
 */
static void
print_code(FILE *f, const char *text, bool in_table)
{
	const int run = longest_run(text);
	const char *const blank = run > 0 ? " " : "";

	for (int i = 0; i <= run; i++)
		fputc('`', f);
	fputs(blank, f);
	for (; *text != '\0'; text++) {
		if (*text == '|' && in_table)
			fputc('\\', f);
		fputc(*text, f);
	}
	fputs(blank, f);
	for (int i = 0; i <= run; i++)
		fputc('`', f);
}

void
judgement_print_markdown(FILE *f, const struct judgement *j)
{
	fputs("| limit | | value |\n|---|---|--:|\n", f);
	for (size_t i = 0; i < j->rule_count; i++) {
		const struct rule *const r = &j->rules[i];
		const bool is_exceeded = r->exceeded_count != 0;

		fputs("| ", f);
		print_code(f, r->text, true);
		fprintf(f, is_exceeded ? " | **%s** |" : " | %s |",
			state_of(r));
		fprintf(f, " %s |\n", r->worst_text.text);
	}
	fputc('\n', f);
	for (size_t i = 0; i < j->rule_count; i++)
		for (size_t k = 0; k < j->rules[i].finding_count; k++) {
			fputs("- ", f);
			print_code(f, j->rules[i].findings[k].message, false);
			fputc('\n', f);
		}
	for (size_t i = 0; i < j->fault_count; i++) {
		fputs("- incomplete: ", f);
		print_code(f, j->faults[i], false);
		fputc('\n', f);
	}
	fputc('\n', f);
	print_summary(f, j);
}

/* -------------------------------------------------------------- annotations */

/*
 * Escape '%' and the characters in 'special', as GitHub's workflow commands
 * require.
 */
static void
print_escaped(FILE *f, const char *text, const char *special)
{
	for (; *text != '\0'; text++)
		if (*text == '%' || strchr(special, *text) != NULL)
			fprintf(f, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, f);
}

static void
print_annotation(FILE *f, const struct rule *r, const struct finding *found)
{
	struct judgement_spot spot;
	char file[4 * sizeof(spot.file)];

	fputs("::error ", f);
	if (judgement_find_spot(r, found, &spot)) {
		fputs("file=", f);
		print_escaped(f, escape_text(spot.file, file, sizeof(file)),
			      "\r\n:,");
		if (spot.line != 0)
			fprintf(f, ",line=%" PRIu64, spot.line);
		fputc(',', f);
	}
	fputs("title=", f);
	print_escaped(f, r->text, "\r\n:,");
	fputs("::", f);
	print_escaped(f, found->message, "\r\n");
	fputc('\n', f);
}

void
judgement_print_annotations(FILE *f, const struct judgement *j)
{
	for (size_t i = 0; i < j->rule_count; i++)
		for (size_t k = 0; k < j->rules[i].finding_count; k++)
			print_annotation(f, &j->rules[i],
					 &j->rules[i].findings[k]);
	for (size_t i = 0; i < j->fault_count; i++) {
		fputs("::error title=incomplete trace::", f);
		print_escaped(f, j->faults[i], "\r\n");
		fputc('\n', f);
	}
}

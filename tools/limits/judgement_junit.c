/* SPDX-License-Identifier: MIT */
/* judgement_junit.c - see judgement_output.h: JUnit's XML */
#include "tools/limits/judgement_output.h"

#include <inttypes.h>
#include <string.h>

/*
 * Write text, which is printable UTF-8 like all names of a judgement.  Besides
 * markup, escape U+FFFE and U+FFFF, which XML 1.0 does not allow.
 */
static void
print_xml(FILE *f, const char *text)
{
	static const struct {
		const char *text, *xml;
	} specials[] = {
		{ "&", "&amp;" },
		{ "<", "&lt;" },
		{ ">", "&gt;" },
		{ "\"", "&quot;" },
		{ "\xef\xbf\xbe", "\\uFFFE" },
		{ "\xef\xbf\xbf", "\\uFFFF" },
	};
	const size_t count = sizeof(specials) / sizeof(specials[0]);

	while (*text != '\0') {
		size_t i = 0;

		while (i < count && strncmp(text, specials[i].text,
					    strlen(specials[i].text)) != 0)
			i++;
		if (i < count) {
			fputs(specials[i].xml, f);
			text += strlen(specials[i].text);
		} else {
			fputc(*text++, f);
		}
	}
}

static void
print_attribute(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	print_xml(f, value);
	fputc('"', f);
}

static void
print_failure(FILE *f, const struct rule *r)
{
	fputs("      <failure", f);
	print_attribute(f, "message", r->findings[0].message);
	fputs(" type=\"limit\">", f);
	for (size_t k = 0; k < r->finding_count; k++) {
		const struct finding *const found = &r->findings[k];

		print_xml(f, found->message);
		if (found->trace != NULL) {
			fputs("; trace ", f);
			print_xml(f, found->trace);
		}
		fputc('\n', f);
	}
	if (r->exceeded_count > r->finding_count)
		fprintf(f, "and %" PRIu64 " more\n",
			r->exceeded_count - r->finding_count);
	fputs("</failure>\n", f);
}

static bool
is_unused(const struct rule *r)
{
	return r->exceeded_count == 0 && !r->has_worst && r->origin != NULL;
}

static void
print_rule(FILE *f, const struct rule *r)
{
	fputs("    <testcase", f);
	print_attribute(f, "name", r->text);
	print_attribute(f, "classname",
			r->origin != NULL ? r->origin : "baseline");
	fputs(" time=\"0\"", f);
	if (r->exceeded_count == 0 && !is_unused(r)) {
		fputs("/>\n", f);
		return;
	}
	fputs(">\n", f);
	if (is_unused(r))
		fputs("      <skipped message=\"nothing matches\"/>\n", f);
	else
		print_failure(f, r);
	fputs("    </testcase>\n", f);
}

static void
print_faults(FILE *f, const struct judgement *j)
{
	fputs("    <testcase name=\"the traces are complete\" "
	      "classname=\"traces\" time=\"0\"",
	      f);
	if (j->fault_count == 0) {
		fputs("/>\n", f);
		return;
	}
	fputs(">\n      <error", f);
	print_attribute(f, "message", j->faults[0]);
	fputs(" type=\"incomplete\">", f);
	for (size_t i = 0; i < j->fault_count; i++) {
		print_xml(f, j->faults[i]);
		fputc('\n', f);
	}
	fputs("</error>\n    </testcase>\n", f);
}

void
judgement_print_junit(FILE *f, const struct judgement *j)
{
	const size_t tests = j->rule_count + 1;
	const size_t failures = judgement_exceeded(j);
	const int errors = j->fault_count != 0;
	size_t skipped = 0;

	for (size_t i = 0; i < j->rule_count; i++)
		skipped += is_unused(&j->rules[i]);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", f);
	fprintf(f,
		"<testsuites name=\"hatf check\" tests=\"%zu\" "
		"failures=\"%zu\" errors=\"%d\" time=\"0\">\n",
		tests, failures, errors);
	fprintf(f,
		"  <testsuite name=\"hatf check\" tests=\"%zu\" "
		"failures=\"%zu\" errors=\"%d\" skipped=\"%zu\" time=\"0\">\n",
		tests, failures, errors, skipped);
	for (size_t i = 0; i < j->rule_count; i++)
		print_rule(f, &j->rules[i]);
	print_faults(f, j);
	fputs("  </testsuite>\n</testsuites>\n", f);
}

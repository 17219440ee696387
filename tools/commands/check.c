/* SPDX-License-Identifier: MIT */
/* check.c - hatf check: compare traces with limits and a baseline */
#include "tools/commands/commands.h"
#include "tools/limits/checking.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/output_file.h"

#include <stdlib.h>

enum {
	OPT_LIMITS,
	OPT_LIMIT,
	OPT_MAX_PEAK,
	OPT_MAX_LIVE,
	OPT_MAX_ALLOCATED,
	OPT_MAX_ALLOCS,
	OPT_MAX_TEMPORARY,
	OPT_MAX_SINGLE,
	OPT_BASELINE,
	OPT_UPDATE,
	OPT_FAIL_UNUSED,
	OPT_FAIL_ON,
	OPT_FLOOR,
	OPT_SPREAD,
	OPT_JUNIT,
	OPT_SARIF,
	OPT_ANNOTATIONS,
	OPT_MARKDOWN,
	OPT_JSON,
	OPT_RAW_STACKS,
	OPT_WRAPPER,
	OPT_JOBS,
};

static const struct opt options[] = {
	{ "limits", 'l', "FILE", "read limits from FILE, one per line" },
	{ "limit", 'L', "LIMIT",
	  "add a limit, such as 'tree peak 1G' or\n"
	  "'site parse_* live-at-end 0'" },
	{ "max-peak", '\0', "SIZE",
	  "limit the peak of live bytes of each process" },
	{ "max-live-at-end", '\0', "SIZE",
	  "limit the bytes live at the end of each process" },
	{ "max-allocated", '\0', "SIZE",
	  "limit the bytes that each process allocates in total" },
	{ "max-allocs", '\0', "N",
	  "limit the number of allocations of each process" },
	{ "max-temporary-ratio", '\0', "PERCENT",
	  "limit the share of temporary allocations (those that\n"
	  "the next call of their thread frees), such as 20%" },
	{ "max-single", '\0', "SIZE",
	  "limit the size of any single allocation" },
	{ "baseline", 'b', "FILE",
	  "compare with the earlier runs in FILE, report growth" },
	{ "update", 'u', NULL,
	  "write the figures to the file of --baseline; do not\n"
	  "compare" },
	{ "fail-unused", 'U', NULL, "also fail if a limit matches nothing" },
	{ "fail-on", 'f', "EXPR",
	  "fail if the growth meets a condition of EXPR, such as\n"
	  "'peak>5%,site.live>64K' (default: 'any'; see hatf-diff)" },
	{ "floor", 'F', "PERCENT",
	  "ignore growth up to PERCENT of the baseline (default 1)" },
	{ "spread", 'S', "FACTOR",
	  "ignore growth up to FACTOR times the spread among the\n"
	  "runs of the baseline (default 1)" },
	{ "junit", 'x', "FILE", "also write the result to FILE, as JUnit XML" },
	{ "sarif", 's', "FILE", "also write the result to FILE, as SARIF" },
	{ "annotations", 'a', NULL,
	  "also print '::error file=F,line=N::TEXT' for GitHub" },
	{ "markdown", 'm', NULL, "print Markdown, for a pull request" },
	{ "json", 'j', NULL, "print one JSON object" },
	{ "raw-stacks", 'R', NULL,
	  "show all frames: a site may then be in an allocator\n"
	  "or in the standard library of C, C++ or Rust" },
	{ "wrapper", '\0', "GLOB",
	  "hide functions that match GLOB, such as 'xmalloc': the\n"
	  "site is their caller; may be given more than once" },
	{ "jobs", 'w', "N",
	  "decompress the input with N more threads (default 0)" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf check",
	"[OPTIONS] TRACE|DIR...",
	"Check the traces of one or more processes, such as all those of a\n"
	"test run in DIR, against limits: for each process, for the sum of "
	"all,\n"
	"or for call sites, threads and heaps.  With --baseline, compare them\n"
	"with earlier runs.\n",
	"Exit status: 0 if all traces are complete and exceed no limit, 1 if "
	"a\n"
	"trace cannot be read, 2 if the usage or a limit is wrong, 3 if a "
	"limit\n"
	"is exceeded, 4 if a trace is incomplete.\n",
	false,
	options
};

/* Handle one of the options "--max-...". */
static bool
take_max(struct checking *k, unsigned idx, const char *value)
{
	static const char *const names[] = {
		"--max-peak",	"--max-live-at-end",	 "--max-allocated",
		"--max-allocs", "--max-temporary-ratio", "--max-single",
	};

	return limits_add_option(&k->limits, names[idx - OPT_MAX_PEAK],
				 (enum limit_measure)(idx - OPT_MAX_PEAK),
				 value);
}

/* Handle an option that selects the form of the output. */
static void
take_output(struct checking *k, unsigned idx, const char *value)
{
	switch (idx) {
	case OPT_JUNIT:
		k->junit = value;
		break;
	case OPT_SARIF:
		k->sarif = value;
		break;
	case OPT_MARKDOWN:
		k->form = CHECKING_MARKDOWN;
		break;
	case OPT_JSON:
		k->form = CHECKING_JSON;
		break;
	default:
		k->has_annotations = true;
	}
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct checking *const k = ctx;

	switch (idx) {
	case OPT_LIMITS:
		return limits_read(&k->limits, value);
	case OPT_LIMIT:
		return limits_add(&k->limits, "--limit", value);
	case OPT_BASELINE:
		k->baseline = value;
		return true;
	case OPT_UPDATE:
		k->update = true;
		return true;
	case OPT_FAIL_UNUSED:
		k->fails_unused = true;
		return true;
	case OPT_FAIL_ON:
		return condition_parse(&k->condition, "--fail-on", value);
	case OPT_FLOOR:
		if (!opt_parse_decimal("--floor", value, 100,
				       &k->verdict.floor))
			return false;
		k->verdict.floor /= 100;
		return true;
	case OPT_SPREAD:
		return opt_parse_decimal("--spread", value, 1000,
					 &k->verdict.spread_factor);
	case OPT_RAW_STACKS:
		k->gathering.view.is_raw = true;
		return true;
	case OPT_WRAPPER:
		return stack_view_add_wrapper(&k->gathering.view, "--wrapper",
					      value);
	case OPT_JOBS:
		return opt_parse_jobs(value, &k->gathering.reading.jobs);
	default:
		if (idx >= OPT_MAX_PEAK && idx <= OPT_MAX_SINGLE)
			return take_max(k, idx, value);
		take_output(k, idx, value);
		return true;
	}
}

/* Check all traces and print the result. */
static int
check_operands(const struct checking *k, char **operands, size_t n)
{
	struct processes processes = { .list = NULL };
	char *text = NULL;
	size_t nbytes;
	FILE *const f = open_memstream(&text, &nbytes);
	int exit_status = EXIT_BAD_INPUT;

	if (f == NULL)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	else if (processes_find(&processes, operands, n))
		exit_status = checking_run(k, &processes, f);
	processes_free(&processes);
	if (f != NULL && fclose(f) == 0 && nbytes != 0 &&
	    !output_file_write("-", text, nbytes))
		exit_status = EXIT_BAD_INPUT;
	free(text);
	return exit_status;
}

int
command_check(int argc, char **argv)
{
	struct checking checking = checking_defaults();
	int exit_status = EXIT_FINE;
	const int first = opt_parse(&page, argc, argv, take_option, &checking,
				    &exit_status);

	if (first >= 0) {
		const char *const fault = checking_settle(&checking);

		if (fault != NULL)
			exit_status = opt_complain(&page, "%s", fault);
		else if (first == argc)
			exit_status = opt_complain(&page, "a TRACE is missing");
		else
			exit_status = check_operands(&checking, argv + first,
						     (size_t)(argc - first));
	}
	limits_free(&checking.limits);
	return exit_status;
}

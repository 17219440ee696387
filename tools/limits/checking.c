/* SPDX-License-Identifier: MIT */
/* checking.c - see checking.h */
#include "tools/limits/checking.h"

#include "tools/limits/baseline.h"
#include "tools/limits/judgement_output.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"
#include "tools/ui/output_file.h"

#include <stdlib.h>
#include <string.h>

struct checking
checking_defaults(void)
{
	return (struct checking){
		/*
		 * Hide the frames of the standard library, so that sites are
		 * the program's own functions.
		 */
		.gathering.view.fold_std = true,
		.gathering.reading.struct_nbytes =
			sizeof(struct hatf_reader_options),
		.verdict = { .floor = 0.01,
			     .total_floor = 0.001,
			     .spread_factor = 1 },
	};
}

const char *
checking_settle(struct checking *k)
{
	if (k->limits.count == 0 && k->baseline == NULL)
		return "there is nothing to check: give a limit, or a "
		       "baseline by --baseline";
	if (k->update && k->baseline == NULL)
		return "--update needs --baseline";
	if (k->condition.count != 0 && k->baseline == NULL)
		return "--fail-on needs --baseline";
	if (k->condition.count != 0 && k->update)
		return "--update compares nothing: remove --fail-on";
	if (k->condition.count == 0)
		condition_parse(&k->condition, "--fail-on", "any");
	return NULL;
}

/* A check in progress. */
struct run {
	const struct checking *checking;
	/* the caller's options, and the 'wrapper' lines of the limits */
	struct gather_options gathering;
	/* for each wrapper: has it matched a frame of any trace? */
	bool has_matched[STACK_VIEW_WRAPPERS_MAX];
	struct judgement judgement;
	struct baseline *baseline; /* NULL: no baseline is read */
	struct figures last;	   /* figures of the run that was read last */
	struct comparison comparison;
	/*
	 * If not NULL, compare only processes of this program with the baseline
	 * or, with --update, write only these processes to the baseline.
	 */
	const char *program;
	/* number of processes put into the comparison so far */
	unsigned run_count;
};

static bool
no_memory(void)
{
	message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return false;
}

/*
 * Is the process a run to compare with the baseline or, with --update, to write
 * to the baseline?
 */
static bool
is_run(const struct run *run, const struct process *process)
{
	return run->checking->baseline != NULL &&
	       (run->program == NULL ||
		(process->is_named &&
		 strcmp(process->name, run->program) == 0));
}

static size_t
count_runs(const struct run *run, const struct processes *processes)
{
	size_t count = 0;

	for (size_t i = 0; i < processes->count; i++)
		count += is_run(run, &processes->list[i]);
	return count;
}

/*
 * Return the program of the first process that names its executable, or NULL if
 * no process does.  If a later process names another program, set '*other_ret'
 * to that name, else to NULL.
 */
static const char *
find_program(const struct processes *processes, const char **other_ret)
{
	const char *name = NULL;

	*other_ret = NULL;
	for (size_t i = 0; i < processes->count; i++) {
		const struct process *const p = &processes->list[i];

		if (!p->is_named)
			continue;
		if (name == NULL)
			name = p->name;
		else if (*other_ret == NULL && strcmp(p->name, name) != 0)
			*other_ret = p->name;
	}
	return name;
}

/* If the baseline has the name of another program, print a note. */
static void
tell_other_name(const struct run *run, const char *name)
{
	const char *const of =
		run->baseline != NULL ? baseline_program(run->baseline) : NULL;

	if (of != NULL && name != NULL && strcmp(of, name) != 0)
		message_print(
			"%s: this baseline is for %s, but the traces are of %s",
			message_path(run->checking->baseline), of, name);
}

/*
 * A baseline is for runs of one program.  If the processes are of several
 * programs, choose those of the baseline's program.  If this is impossible,
 * print a message and return false.
 */
static bool
choose_runs(struct run *run, const struct processes *processes)
{
	const char *const path = message_path(run->checking->baseline);
	const char *other, *name = find_program(processes, &other);

	if (other == NULL) {
		tell_other_name(run, name);
		return true;
	}
	if (run->baseline != NULL)
		run->program = baseline_program(run->baseline);
	if (run->program == NULL) {
		message_print(
			"%s: a baseline is for one program, but the traces are "
			"of several (%s, %s, ...): give only the traces of one "
			"program",
			path, name, other);
		return false;
	}
	if (count_runs(run, processes) != 0)
		return true;
	message_print(
		"%s: this baseline is for %s, but no trace is of that program",
		path, run->program);
	return false;
}

/*
 * If the user gave a baseline, begin the comparison.  Without --update, also
 * open the baseline and put its runs into the comparison.
 */
static bool
begin_comparison(struct run *run, const struct processes *processes)
{
	const struct checking *const k = run->checking;
	unsigned old_count = 0;
	size_t count;

	if (k->baseline == NULL)
		return true;
	if (!k->update) {
		run->baseline = baseline_open(k->baseline);
		if (run->baseline == NULL ||
		    !baseline_fit_view(run->baseline, &run->gathering.view))
			return false;
		old_count = baseline_runs(run->baseline);
	}
	if (!choose_runs(run, processes))
		return false;
	count = count_runs(run, processes);
	if (count >= COMPARISON_TRACES_MAX - old_count) {
		message_print("%s: too many runs: at most 255, including those "
			      "of the baseline",
			      message_path(k->baseline));
		return false;
	}
	comparison_init(&run->comparison, BY_SITE, old_count, (unsigned)count);
	return run->baseline == NULL ||
	       baseline_put(run->baseline, &run->comparison);
}

/* Put the figures of a process into the comparison as a run. */
static bool
add_run(struct run *run, const struct figures *f)
{
	const struct comparison *const c = &f->rows[LIMIT_SITE];
	const unsigned column = run->comparison.old_count + run->run_count++;
	struct measured m = comparison_combine(c, &c->total);

	if (run->baseline != NULL &&
	    baseline_has_sites(run->baseline) == f->lacks_stacks) {
		message_print(
			f->lacks_stacks
				? "%s: has no call stacks, but the baseline "
				  "has them"
				: "%s: has call stacks, but the baseline has "
				  "none",
			message_path(f->process->paths[0]));
		return false;
	}
	run->comparison.has_stacks |= c->has_stacks;
	if (!comparison_put(&run->comparison, NULL, column, &m))
		return no_memory();
	for (uint32_t i = 0; i < c->count; i++) {
		m = comparison_combine(c, &c->rows[i]);
		if (!comparison_put(&run->comparison, c->rows[i].name, column,
				    &m))
			return no_memory();
	}
	return true;
}

static bool
add_figures(struct run *run, const struct figures *f)
{
	if (f->fault != NULL)
		message_print("%s", f->fault);
	if (judgement_needs_stacks(&run->judgement, f->process) &&
	    f->lacks_stacks) {
		message_print("%s: no call stacks, which the limits of sites, "
			      "functions, files and modules need",
			      message_path(f->process->paths[0]));
		return false;
	}
	if (!judgement_add(&run->judgement, f))
		return no_memory();
	return !is_run(run, f->process) || add_run(run, f);
}

static bool
add_process(struct run *run, const struct process *process)
{
	unsigned scopes = judgement_scopes(&run->judgement, process);
	struct figures other = { .process = NULL };
	struct figures *f = &other;
	bool ok;

	if (is_run(run, process)) {
		scopes |= 1u << LIMIT_SITE;
		f = &run->last;
		figures_free(f);
	}
	ok = figures_read(f, process, scopes, &run->gathering) &&
	     add_figures(run, f);
	figures_free(&other);
	return ok;
}

/*
 * After the last process, judge the limits that depend on all processes.  Then
 * compare the runs with the baseline or, with --update, write the baseline.
 */
static bool
finish(struct run *run, const struct processes *processes)
{
	const struct checking *const k = run->checking;
	const char *other;

	if (!judgement_end(&run->judgement))
		return no_memory();
	if (k->baseline == NULL)
		return true;
	if (!k->update)
		return (comparison_judge(&run->comparison, &k->verdict) &&
			judgement_add_conditions(&run->judgement, &k->condition,
						 &run->comparison, k->baseline,
						 &run->last)) ||
		       no_memory();
	if (run->judgement.fault_count != 0) {
		message_print("%s: not written, because a trace is incomplete",
			      message_path(k->baseline));
		return true;
	}
	return baseline_write(k->baseline, &run->comparison,
			      find_program(processes, &other),
			      &run->gathering.view);
}

/* ------------------------------------------------------------------- output */

/*
 * Let 'print' write into memory, then write this text to the file 'path'.
 * 'print' returns false if there is no memory.
 */
static bool
print_file(const char *path, const struct judgement *j,
	   bool (*print)(FILE *f, const struct judgement *j))
{
	char *text = NULL;
	size_t nbytes;
	FILE *const f = open_memstream(&text, &nbytes);
	bool ok = f != NULL;

	if (ok) {
		ok = print(f, j);
		ok = fclose(f) == 0 && ok;
	}
	ok = ok ? output_file_write(path, text, nbytes) : no_memory();
	free(text);
	return ok;
}

static bool
print_junit(FILE *f, const struct judgement *j)
{
	judgement_print_junit(f, j);
	return true;
}

/* Print that the baseline was written, unless a trace is incomplete. */
static void
print_update(const struct run *run, FILE *f)
{
	const char *const path = run->checking->baseline;

	if (run->judgement.fault_count == 0)
		fprintf(f, "%s: written, with %u run%s\n", path, run->run_count,
			figure_plural(run->run_count));
}

static bool
print_all(const struct run *run, FILE *f)
{
	const struct checking *const k = run->checking;
	const struct judgement *const j = &run->judgement;
	/* Did the user ask only for a new baseline, and not for a check? */
	const bool is_update = k->update && j->rule_count == 0;

	if (k->update && k->form == CHECKING_TEXT &&
	    strcmp(k->baseline, "-") != 0)
		print_update(run, f);
	if (k->form == CHECKING_JSON && !judgement_print_json(f, j))
		return no_memory();
	if (k->form == CHECKING_MARKDOWN)
		judgement_print_markdown(f, j);
	if (k->form == CHECKING_TEXT && !is_update)
		judgement_print_text(f, j);
	if (k->has_annotations)
		judgement_print_annotations(f, j);
	return (k->junit == NULL || print_file(k->junit, j, print_junit)) &&
	       (k->sarif == NULL ||
		print_file(k->sarif, j, judgement_print_sarif));
}

static bool
add_wrappers(struct run *run)
{
	const struct limits *const limits = &run->checking->limits;

	for (unsigned i = 0; i < limits->wrapper_count; i++)
		if (!stack_view_add_wrapper(&run->gathering.view,
					    limits->wrapper_origins[i],
					    limits->wrappers[i]))
			return false;
	return true;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Set '*repeats_ret' to true if two processes have the same name, else to
 * false.  Return false after a message if there is no memory.
 */
static bool
find_repeated_names(const struct processes *processes, bool *repeats_ret)
{
	const char **const names = calloc(processes->count + 1, sizeof(*names));

	*repeats_ret = false;
	if (names == NULL)
		return no_memory();
	for (size_t i = 0; i < processes->count; i++)
		names[i] = processes->list[i].name;
	qsort(names, processes->count, sizeof(*names), compare_names);
	for (size_t i = 1; i < processes->count; i++)
		*repeats_ret |= strcmp(names[i - 1], names[i]) == 0;
	free(names);
	return true;
}

/* If 'output' is one of the files to read, print a message and return true. */
static bool
overwrites_input(const struct checking *k, const struct processes *processes,
		 const char *output)
{
	bool is_input = k->baseline != NULL && output != k->baseline &&
			output_file_overwrites(output, k->baseline);

	for (size_t i = 0; !is_input && i < processes->count; i++)
		for (size_t n = 0; n < processes->list[i].path_count; n++)
			is_input |= output_file_overwrites(
				output, processes->list[i].paths[n]);
	if (is_input)
		message_print("%s: input and output are the same file", output);
	return is_input;
}

/* Is each output a file of its own?  If not, print a message. */
static bool
has_own_outputs(const struct checking *k, const struct processes *processes)
{
	const char *const outputs[] = { k->junit, k->sarif,
					k->update ? k->baseline : NULL };

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (outputs[i] != NULL && strcmp(outputs[i], "-") != 0 &&
		    overwrites_input(k, processes, outputs[i]))
			return false;
	if (k->junit != NULL && k->sarif != NULL &&
	    strcmp(k->junit, k->sarif) == 0 && strcmp(k->junit, "-") != 0) {
		message_print(
			"%s: --junit and --sarif cannot write the same file",
			k->junit);
		return false;
	}
	return true;
}

int
checking_run(const struct checking *checking, const struct processes *processes,
	     FILE *f)
{
	struct run run = { .checking = checking,
			   .gathering = checking->gathering };
	int exit_status = EXIT_BAD_INPUT;
	bool ok = judgement_begin(&run.judgement, &checking->limits) ||
		  no_memory();

	run.gathering.view.has_matched = run.has_matched;
	run.judgement.fails_unused = checking->fails_unused;
	ok = ok && find_repeated_names(processes, &run.judgement.names_traces);
	ok = ok && has_own_outputs(checking, processes) && add_wrappers(&run) &&
	     begin_comparison(&run, processes);
	for (size_t i = 0; ok && i < processes->count; i++)
		ok = add_process(&run, &processes->list[i]);
	if (ok)
		stack_view_report_all_wrappers(&run.gathering.view);
	if (ok && finish(&run, processes) && print_all(&run, f))
		exit_status = run.judgement.fault_count != 0 ? EXIT_INCOMPLETE
			      : judgement_exceeded(&run.judgement) != 0
				      ? EXIT_EXCEEDED
				      : EXIT_FINE;
	figures_free(&run.last);
	comparison_fini(&run.comparison);
	baseline_close(run.baseline);
	judgement_free(&run.judgement);
	return exit_status;
}

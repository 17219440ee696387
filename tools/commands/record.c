/* SPDX-License-Identifier: MIT */
/* record.c - hatf record: run a command and trace its heap */
#include "hatf/hatf.h"
#include "hatf/recorder/globs.h"
#include "tools/commands/commands.h"
#include "tools/commands/record_check.h"
#include "tools/control/socket_scan.h"
#include "tools/program/program.h"
#include "tools/recording/absence.h"
#include "tools/recording/collect.h"
#include "tools/recording/insides.h"
#include "tools/recording/launch.h"
#include "tools/recording/mend.h"
#include "tools/recording/naming.h"
#include "tools/recording/notebook.h"
#include "tools/recording/settings.h"
#include "tools/recording/short_report.h"
#include "tools/recording/summary.h"
#include "tools/recording/template.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Directory in which 'make install' puts libraries. */
#ifndef LIBDIR_STRING
#define LIBDIR_STRING "/usr/local/lib"
#endif

#define LIBRARY "libhatftrace.so"

enum {
	OPT_OUT,
	OPT_CLOCK,
	OPT_COMPRESS,
	OPT_FULL,
	OPT_BUFFER,
	OPT_FOLLOW,
	OPT_ROTATE,
	OPT_KEEP,
	OPT_START,
	OPT_STACKS,
	OPT_NO_STACKS,
	OPT_NO_SYMBOLS,
	OPT_SUMMARY,
	OPT_WRAPPER,
	OPT_CHECK,
	OPT_BASELINE,
	OPT_FAIL_ON,
	OPT_JUNIT,
	OPT_SARIF,
	OPT_VERBOSE,
};

static const struct opt options[] = {
	{ "output", 'o', "FILE",
	  "where to write: a path, in which %p is the process id,\n"
	  "%e the executable, %h the host, %n a running number,\n"
	  "%s the number of the segment\n"
	  "(default " TEMPLATE_DEFAULT "); if this file exists,\n"
	  ".1, .2, ... is appended to the name of the new one" },
	{ "clock", 'c', "CLOCK",
	  "time stamps: auto, off, coarse, us or ns (default auto)" },
	{ "compress", 'z', "HOW",
	  "compress with gzip, gzip:1 to gzip:3, or none" },
	{ "full", 'f', "WHAT",
	  "when a buffer is full: wait (the default) or drop events" },
	{ "buffer", 'b', "BYTES",
	  "maximum size of each thread's buffer, such as 256K or 4M" },
	{ "follow", 'p', "WHICH",
	  "which descendants to trace: none, fork, exec or all (the\n"
	  "default), and :GLOB,... for names of executables" },
	{ "rotate", 'r', "WHEN",
	  "begin a new segment (file) at a size such as 64M, at an\n"
	  "age such as 1h, or at the first of the two: 64M,1h" },
	{ "keep", 'k', "WHAT",
	  "keep the newest N segments, or at most this many bytes,\n"
	  "such as 8 or 1G" },
	{ "start", 's', "WHEN",
	  "on (the default), or off: record nothing until\n"
	  "'hatf ctl' sends start" },
	{ "stacks", 'g', "HOW",
	  "call stacks of allocations: on (the default), caller, a\n"
	  "number of frames, or off; on:frees: also of frees" },
	{ "no-stacks", 'G', NULL, "the same as --stacks off" },
	{ "no-symbols", 'S', NULL,
	  "do not add functions and lines to the call stacks;\n"
	  "'hatf symbolize' can add them later" },
	{ "summary", 'm', "WHEN",
	  "at the end, print the peak, live and allocated bytes:\nauto (the "
	  "default: on a terminal), always or never" },
	{ "wrapper", '\0', "GLOB",
	  "hide functions that match GLOB, such as 'xmalloc', from\n"
	  "summary and check: the site is their caller; may be\n"
	  "given more than once" },
	{ "check", 'l', "LIMITS",
	  "at the end check the traces against the limits in the\n"
	  "file LIMITS, as 'hatf check --limits' does" },
	{ "baseline", '\0', "FILE",
	  "at the end check how much the traces exceed the earlier\n"
	  "runs in FILE, as 'hatf check --baseline' does" },
	{ "fail-on", '\0', "EXPR",
	  "with --baseline: fail if the growth meets a condition of\n"
	  "EXPR, such as 'peak>5%,site.live>64K' (default: 'any')" },
	{ "junit", 'x', "FILE",
	  "also write the result of the check to FILE, as JUnit XML" },
	{ "sarif", 'F', "FILE",
	  "also write the result of the check to FILE, as SARIF" },
	{ "verbose", 'v', NULL,
	  "print a line for each trace file that the recorder's\n"
	  "thread completes, and for each process that cannot\n"
	  "have a ring file" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf record",
	"[OPTIONS] [--] COMMAND [ARGS]...",
	"Run COMMAND with the recorder, libhatftrace.so, preloaded.  The\n"
	"recorder writes the heap events of each process, COMMAND and its\n"
	"descendants, to a trace file, with the call stack of each\n"
	"allocation.  At the end the stacks get functions, files and lines,\n"
	"and one line reports what was recorded.\n",
	"Other settings are environment variables, such as HATFTRACE_OUT:\n"
	"see libhatftrace(7).\n"
	"Exit status: that of COMMAND, or death by the same signal; 1 if\n"
	"COMMAND succeeded but its trace is missing or incomplete; 2 for\n"
	"wrong usage; 3 if COMMAND succeeded, and a limit of --check is\n"
	"exceeded or the growth since --baseline is too large, 4 if an\n"
	"incomplete trace prevents the check; 126 if COMMAND cannot be\n"
	"executed, 127 if it is not found.\n",
	true,
	options
};

/* Pass the value of an option to the recorder, in an environment variable. */
static bool
pass_on(const char *variable, const char *value)
{
	if (setenv(variable, value, 1) == 0)
		return true;
	message_print("%s: %s", variable, strerror(errno));
	return false;
}

static bool
take(const char *option, const char *variable, const char *value)
{
	return settings_check(option, variable, value) &&
	       pass_on(variable, value);
}

/* Pass the size in bytes, because the recorder rejects lower-case suffixes. */
static bool
take_buffer(const char *value)
{
	uint64_t nbytes;
	char text[24];

	if (!opt_parse_nbytes("--buffer", value, &nbytes))
		return false;
	snprintf(text, sizeof(text), "%" PRIu64, nbytes);
	return take("--buffer", "HATFTRACE_BUFFER", text);
}

/*
 * Refuse a value of --follow that begins with a capital letter.  In
 * HATFTRACE_FOLLOW, a capital first letter tells a process that it is not the
 * first traced process: the first one changes the letter for its descendants
 * (preload/config/follow.h).
 */
static bool
take_follow(const char *value)
{
	if (value[0] >= 'A' && value[0] <= 'Z')
		return settings_refuse("--follow", "HATFTRACE_FOLLOW", value);
	return take("--follow", "HATFTRACE_FOLLOW", value);
}

/*
 * Make the command the first process of a new tree.  If 'hatf record' itself is
 * traced, its recorder has made the first letter of HATFTRACE_FOLLOW a capital,
 * which marks descendants.  Restore the small letter.
 */
static bool
begin_tree(void)
{
	const char *const old = getenv("HATFTRACE_FOLLOW");
	char *value;
	bool ok;

	if (old == NULL || old[0] < 'A' || old[0] > 'Z')
		return true;
	value = strdup(old);
	if (value == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	value[0] = (char)(value[0] - 'A' + 'a');
	ok = pass_on("HATFTRACE_FOLLOW", value);
	free(value);
	return ok;
}

/* Does the filter in HATFTRACE_FOLLOW exclude the command by its name? */
static bool
is_excluded(const char *command)
{
	const char *const follow = getenv("HATFTRACE_FOLLOW");
	const char *const colon = follow != NULL ? strchr(follow, ':') : NULL;
	char name[PATH_MAX];

	if (colon == NULL || !globs_are_legal(colon + 1))
		return false;
	program_name(command, name);
	return !globs_choose(colon + 1, name);
}

/*
 * The options, except those that take_option() itself puts into environment
 * variables.
 */
struct command_line {
	const char *out;
	bool no_symbols;
	const char *summary; /* a word of summary_words; NULL: auto */
	/* what --wrapper and the options of the check set */
	struct checking checking;
	bool has_limits; /* --check was given */
};

static const char *const summary_words[] = { "auto", "always", "never", NULL };

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct command_line *const line = ctx;

	switch (idx) {
	case OPT_OUT:
		line->out = value;
		return true;
	case OPT_CLOCK:
		return take("--clock", "HATFTRACE_CLOCK", value);
	case OPT_COMPRESS:
		return take("--compress", "HATFTRACE_COMPRESS", value);
	case OPT_FULL:
		return take("--full", "HATFTRACE_FULL", value);
	case OPT_START:
		return take("--start", "HATFTRACE_START", value);
	case OPT_BUFFER:
		return take_buffer(value);
	case OPT_FOLLOW:
		return take_follow(value);
	case OPT_ROTATE:
		return take("--rotate", "HATFTRACE_ROTATE", value);
	case OPT_KEEP:
		return take("--keep", "HATFTRACE_KEEP", value);
	case OPT_STACKS:
		return take("--stacks", "HATFTRACE_STACKS", value);
	case OPT_NO_STACKS:
		return take("--no-stacks", "HATFTRACE_STACKS", "off");
	case OPT_NO_SYMBOLS:
		line->no_symbols = true;
		return true;
	case OPT_SUMMARY:
		line->summary = value;
		return opt_parse_word("--summary", value, summary_words);
	case OPT_WRAPPER:
		return stack_view_add_wrapper(&line->checking.gathering.view,
					      "--wrapper", value);
	case OPT_CHECK:
		line->has_limits = true;
		return limits_read(&line->checking.limits, value);
	case OPT_BASELINE:
		line->checking.baseline = value;
		return true;
	case OPT_FAIL_ON:
		return condition_parse(&line->checking.condition, "--fail-on",
				       value);
	case OPT_JUNIT:
		line->checking.junit = value;
		return true;
	case OPT_SARIF:
		line->checking.sarif = value;
		return true;
	default:
		return pass_on("HATFTRACE_VERBOSE", "1");
	}
}

/*
 * Set 'lib' to the path of libhatftrace.so, if it is in the directory whose
 * path is 'dir' followed by 'below'.  Otherwise return false.
 */
static bool
library_in(const char *dir, const char *below, char lib[PATH_MAX])
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s%s/" LIBRARY, dir, below);
	return access(path, R_OK) == 0 && realpath(path, lib) != NULL;
}

static bool
find_library(char lib[PATH_MAX])
{
	const char *const forced = getenv("HATFTRACE_LIB");
	char dir[PATH_MAX];
	ssize_t n;

	if (forced != NULL && forced[0] != '\0') {
		if (realpath(forced, lib) != NULL)
			return true;
		message_print("HATFTRACE_LIB: %s: %s", forced, strerror(errno));
		return false;
	}
	n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	if (n > 0) {
		dir[n] = '\0';
		*strrchr(dir, '/') = '\0';
		if (library_in(dir, "", lib) || library_in(dir, "/../lib", lib))
			return true;
	}
	if (library_in(LIBDIR_STRING, "", lib))
		return true;
	message_print(LIBRARY " is neither in this program's directory nor in "
			      "../lib or " LIBDIR_STRING
			      " (set HATFTRACE_LIB to its path)");
	return false;
}

/* Prepend the library to LD_PRELOAD. */
static bool
set_preload(void)
{
	const char *const others = getenv("LD_PRELOAD");
	char lib[PATH_MAX];
	char *value;

	if (!find_library(lib))
		return false;
	if (!program_is_library(lib)) {
		message_print("%s: cannot be loaded as a library", lib);
		return false;
	}
	if (strpbrk(lib, " :") != NULL) {
		message_print(
			"%s: LD_PRELOAD cannot hold a path with a blank or a "
			"colon",
			lib);
		return false;
	}
	if (others == NULL || others[0] == '\0')
		return pass_on("LD_PRELOAD", lib);
	if (asprintf(&value, "%s:%s", lib, others) < 0) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}

	const bool ok = pass_on("LD_PRELOAD", value);

	free(value);
	return ok;
}

/*
 * Check that files can be created in the directory of the traces' template, and
 * set HATFTRACE_OUT to the template as an absolute path.  Return this path.  On
 * failure print an error message and return NULL; '*usage_ret' is true if the
 * template itself was wrong.
 */
static char *
prepare_output(const char *option, bool *usage_ret)
{
	const char *const variable = getenv("HATFTRACE_OUT");
	const char *text = option;
	char *absolute;

	if (text == NULL)
		text = variable != NULL && variable[0] != '\0'
			       ? variable
			       : TEMPLATE_DEFAULT;
	*usage_ret = !template_check(
		option != NULL ? "--output" : "HATFTRACE_OUT", text);
	if (*usage_ret)
		return NULL;
	absolute = template_absolute(text);
	if (absolute != NULL && template_directory_writable(absolute) &&
	    pass_on("HATFTRACE_OUT", absolute))
		return absolute;
	free(absolute);
	return NULL;
}

/* Does recording wait for an order of 'hatf ctl'? */
static bool
is_dormant(void)
{
	const char *const start = getenv("HATFTRACE_START");

	return start != NULL && strcmp(start, "off") == 0;
}

/* Record call stacks if possible, unless HATFTRACE_STACKS is set. */
static bool
choose_stacks(void)
{
	return !naming_has_stacks() || getenv("HATFTRACE_STACKS") != NULL ||
	       pass_on("HATFTRACE_STACKS", "on");
}

/* Are call stacks recorded? */
static bool
has_stacks(void)
{
	const char *const stacks = getenv("HATFTRACE_STACKS");

	return stacks != NULL && stacks[0] != '\0' &&
	       strncmp(stacks, "off", 3) != 0;
}

/* The command, how to report on it, and facts found before it ran. */
struct job {
	const char *text;    /* template of the traces' names */
	bool no_symbols;     /* do not add names to the frames */
	bool has_summary;    /* print the short report */
	const char *command; /* argv[0] */
	/* reason why the command cannot be traced; or NULL */
	const char *untraceable;
	struct absence absence; /* explains why a trace is missing */
	struct notebook notebook;
	/*
	 * The limits and the baseline of the check; without either, no trace is
	 * checked.  The short report uses the view of stacks that is part of
	 * 'checking'.
	 */
	const struct checking *checking;
	int check_status; /* exit status of the check */
};

/* Report that the command's own process has no trace. */
static void
tell_missing(const struct job *job, const struct launch *l, const char *others)
{
	/*
	 * If the command cannot be traced, the reason was printed before the
	 * command ran.  Print the reason again only if there are other traces,
	 * because the message then also counts the other traces.
	 */
	if (job->untraceable != NULL && others[0] == '\0')
		return;
	if (job->untraceable != NULL)
		message_print("%s left no trace: it is %s%s", job->command,
			      job->untraceable, others);
	else
		absence_explain(&job->absence, job->command, l, others,
				job->notebook.own_is_lost);
}

/*
 * The command itself is excluded by --follow.  Report the traces of its
 * descendants.  Return false if there are no such traces, or if one of these
 * traces is incomplete.
 */
static bool
report_excluded(const struct job *job, const struct collection *c)
{
	char count[128];

	summary_count_children(c, count, sizeof(count));
	if (c->descendant_count == 0)
		message_print("%s is excluded from tracing, and nothing else "
			      "left a trace",
			      job->command);
	else
		message_print("%s is excluded from tracing; %s", job->command,
			      count);
	return c->descendant_count != 0 && summary_check_children(c);
}

/* Which missing debug information must naming_symbolize() report? */
static enum naming_report
naming_report(const struct job *job)
{
	if (getenv("HATFTRACE_VERBOSE") != NULL)
		return NAMING_REPORT_ALL;
	return job->has_summary ? NAMING_REPORT_COMMAND : NAMING_REPORT_NONE;
}

/*
 * Report all traces.  Return false if the command itself should have left a
 * trace but did not, if one of its own traces is incomplete, or if there is no
 * memory.  For an excluded command, return what report_excluded() returns.
 */
static bool
report(struct job *job, const struct launch *l)
{
	struct collection c;
	char others[640];
	bool ok = true;

	if (!collect(&c, job->text, l)) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		collect_free(&c);
		return false;
	}
	notebook_read(&job->notebook, &c, l);
	mend_traces(&c, l);
	if (has_stacks() && !job->no_symbols)
		naming_symbolize(&c, naming_report(job));
	notebook_find_vanished(&job->notebook, &c);
	notebook_report(&job->notebook);
	if (c.own_count == 0 && is_dormant()) {
		message_print(
			"%s left no trace: neither 'hatf ctl' nor the program "
			"started the recording",
			job->command);
	} else if (c.own_count == 0 && is_excluded(job->command)) {
		ok = report_excluded(job, &c);
	} else if (c.own_count == 0) {
		ok = false;
		summary_describe_others(&c, others, sizeof(others));
		tell_missing(job, l, others);
	} else {
		ok = summary_report_own(&c, job->text);
	}
	insides_report(&c);
	if (job->has_summary)
		short_report_print(&c, &job->checking->gathering.view);
	if (record_check_is_wanted(job->checking))
		job->check_status = record_check_run(job->checking, &c);
	collect_free(&c);
	return ok;
}

/* Run the command and report.  Return the exit status. */
static int
run_job(struct job *job, char **argv)
{
	struct launch l;

	if (!launch_run(argv, &l))
		return EXIT_BAD_INPUT;
	if (l.exec_errno != 0) {
		message_print("%s: %s", argv[0], strerror(l.exec_errno));
		return launch_pass_on(&l);
	}
	/* Remove the sockets of killed processes. */
	socket_scan_sweep();
	if (!report(job, &l) && launch_succeeded(&l))
		return EXIT_BAD_INPUT;
	return launch_succeeded(&l) ? job->check_status : launch_pass_on(&l);
}

/* Must the short report be printed? */
static bool
has_summary(const char *when)
{
	if (when == NULL || strcmp(when, "auto") == 0)
		return isatty(STDERR_FILENO) == 1;
	return strcmp(when, "always") == 0;
}

static int
run(char **argv, const char *text, const struct command_line *line)
{
	struct job job = {
		.text = text,
		.no_symbols = line->no_symbols,
		.has_summary = has_summary(line->summary),
		.command = argv[0],
		.untraceable = program_untraceable(argv[0]),
		.checking = &line->checking,
		.check_status = EXIT_FINE,
	};
	int exit_status;

	if (job.untraceable != NULL)
		message_print("%s is %s: it runs untraced", argv[0],
			      job.untraceable);
	absence_begin(&job.absence, text);
	notebook_begin(&job.notebook, text);
	job.notebook.own_is_reported = job.untraceable != NULL;
	exit_status = run_job(&job, argv);
	notebook_end(&job.notebook);
	absence_end(&job.absence);
	return exit_status;
}

/* Do not trace valgrind, because it does not support the recorder's thread. */
static int
run_valgrind(char **argv)
{
	struct launch l;

	message_print("%s: programs under valgrind are not traced", argv[0]);
	if (!launch_run(argv, &l))
		return EXIT_BAD_INPUT;
	if (l.exec_errno != 0)
		message_print("%s: %s", argv[0], strerror(l.exec_errno));
	return launch_succeeded(&l) ? EXIT_BAD_INPUT : launch_pass_on(&l);
}

/* Record as the command line and the environment require. */
static int
record(char **argv, const struct command_line *line)
{
	int exit_status;
	bool usage;
	char *text;

	if (!settings_check_environment())
		return EXIT_USAGE;
	if (program_is_valgrind(argv[0]))
		return run_valgrind(argv);
	text = prepare_output(line->out, &usage);
	if (text == NULL)
		return usage ? EXIT_USAGE : EXIT_BAD_INPUT;
	exit_status = EXIT_BAD_INPUT;
	if (choose_stacks() && begin_tree() && set_preload())
		exit_status = run(argv, text, line);
	free(text);
	return exit_status;
}

/*
 * If the options are wrong, report this and return the exit status.  Otherwise
 * return EXIT_FINE.
 */
static int
settle(struct command_line *line)
{
	const char *const fault =
		record_check_settle(&line->checking, line->has_limits);

	if (fault != NULL)
		return opt_complain(&page, "%s", fault);
	return record_check_try_baseline(&line->checking) ? EXIT_FINE
							  : EXIT_USAGE;
}

int
command_record(int argc, char **argv)
{
	struct command_line line = { .checking = checking_defaults() };
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &line, &exit_status);

	if (first >= 0) {
		exit_status = settle(&line);
		if (exit_status == EXIT_FINE && first == argc)
			exit_status =
				opt_complain(&page, "a COMMAND is missing");
		else if (exit_status == EXIT_FINE)
			exit_status = record(argv + first, &line);
	}
	limits_free(&line.checking.limits);
	return exit_status;
}

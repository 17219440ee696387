/* SPDX-License-Identifier: MIT */
/* replay.c - hatf replay: drive allocators with a trace and compare them */
#include "tools/commands/commands.h"
#include "tools/model/model_parse.h"
#include "tools/replay/emit_c.h"
#include "tools/replay/replay_limit.h"
#include "tools/replay/replay_models.h"
#include "tools/replay/replay_output.h"
#include "tools/replay/replay_verdict.h"
#include "tools/trace/spool.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/output_file.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	OPT_ALLOCATOR,
	OPT_REPEAT,
	OPT_THREADS,
	OPT_TOUCH,
	OPT_SPEED,
	OPT_FROM,
	OPT_TO,
	OPT_WHAT_IF,
	OPT_FOLD_STD,
	OPT_MODEL,
	OPT_EMIT_C,
	OPT_LATENCY,
	OPT_USABLE,
	OPT_OWN,
	OPT_FAIL_IF,
	OPT_CHECK,
	OPT_MARKDOWN,
	OPT_JSON,
	OPT_HTML,
	OPT_TIMEOUT,
};

static const struct opt options[] = {
	{ "allocator", 'a', "NAME",
	  "glibc, jemalloc, tcmalloc, mimalloc, ... or the path of\n"
	  "a library; 'NAME:VAR=VALUE VAR=VALUE' sets environment\n"
	  "variables (default: all allocators that are installed)" },
	{ "repeat", 'r', "N", "run each allocator N times (default 5)" },
	{ "threads", 't', "WHICH",
	  "original (default): as many threads as in the trace;\n"
	  "1: one thread makes all calls, in the trace's order" },
	{ "touch", 'T', "WHAT",
	  "write to all pages of each block (all, the default), to\n"
	  "its first byte (first) or not at all (none)" },
	{ "speed", 's', "HOW",
	  "max (default), or real (make each call at its time)" },
	{ "from", 0, "WHEN",
	  "begin at an event (1000) or at a time (1.5s): allocate\n"
	  "what is live at this point, and measure later calls" },
	{ "to", 0, "WHEN", "stop before an event or at a time" },
	{ "what-if", 'w', "CHANGE",
	  "also replay the trace with a change, and compare;\n"
	  "CHANGE is sizes:round=N, drop:site=GLOB,\n"
	  "pool:site=GLOB or merge:threads; several are combined" },
	{ "fold-std", 'F', NULL,
	  "for --what-if, hide operator new and the standard\n"
	  "library, so that a site is the program's own line" },
	{ "model", 'M', "MODEL",
	  "simulate first-fit, best-fit or segregated:TABLE, and\n"
	  "print the size of the heap; no allocator runs" },
	{ "emit-c", 'e', "PROGRAM",
	  "write a C program that makes the calls of the trace,\n"
	  "if there are at most 100 000; no allocator runs" },
	{ "latency", 'l', NULL,
	  "run each allocator once more, and print percentiles of\nthe "
	  "duration of its calls" },
	{ "usable", 'u', NULL,
	  "run each allocator once more, and print by how many\n"
	  "bytes its blocks exceed the requested sizes at the peak" },
	{ "own", 'o', NULL, "print the allocators' own statistics at the end" },
	{ "fail-if", 'f', "EXPR",
	  "exit with status 3 if every run of an allocator exceeds\n"
	  "a limit:\n"
	  "'peak_rss>1.10*glibc', 'jemalloc.wall>20ms'" },
	{ "check", 'c', NULL,
	  "measure nothing: pause at random, and check that each\n"
	  "block is allocated before it is freed and has one owner" },
	{ "markdown", 'm', NULL, "print the table in Markdown" },
	{ "json", 'j', NULL, "print one JSON object" },
	{ "html", 'H', "PAGE",
	  "run each allocator once more, and write a page with\n"
	  "charts of its memory over time to PAGE" },
	{ "timeout", 0, "SECONDS",
	  "end an allocator that makes no progress for this time\n(default 60; "
	  "0: wait for ever)" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf replay",
	"[OPTIONS] FILE",
	"Make the calls of a trace again with several allocators, and compare\n"
	"their time and memory.  There are as many threads as in the trace,\n"
	"and each makes its calls in the order of the trace.\n"
	"The cost of the replay itself is measured and subtracted.\n",
	"Exit status: 0 if all is well, 1 if the trace cannot be replayed or\n"
	"an allocator fails, 2 for wrong usage, 3 if a limit of --fail-if is\n"
	"exceeded, 4 if the trace is incomplete (it is replayed as far as it\n"
	"goes).\n",
	false,
	options
};

static const char *const thread_words[] = { "original", "1", NULL };
static const char *const touch_words[] = { "none", "first", "all", NULL };
static const char *const speed_words[] = { "max", "real", NULL };

/*
 * Default and maximum of --timeout: end a run that has made no progress for
 * this number of seconds.
 */
#define TIMEOUT_DEFAULT 60
#define TIMEOUT_MAX	1e9

/* The options. */
struct ask {
	const char *trace; /* the path to read; "-": standard input */
	struct allocators allocators;
	struct compile_options compile;
	struct replay_runs runs;
	struct replay_view view;
	const char *limit_texts[REPLAY_LIMITS_MAX];
	unsigned limit_count;
	struct replay_limits limits;
	const char *html; /* NULL: no page */
	struct replay_models models;
	const char *emit; /* NULL: no C program */
	struct what_if_plan what_if;
	/* The original trace, if --what-if is given and allocators run. */
	struct compiled original;
	struct replay_runs original_runs;
	struct replay_view original_view;
	bool json;
};

static bool
take_repeat(struct ask *ask, const char *value)
{
	uint64_t n;

	if (!opt_parse_u64("--repeat", value, &n))
		return false;
	if (n == 0 || n > RUNS_MAX) {
		message_print("--repeat: not a number from 1 to %d: '%s'",
			      RUNS_MAX, value);
		return false;
	}
	ask->runs.repeat = (unsigned)n;
	return true;
}

static bool
take_timeout(struct ask *ask, const char *value)
{
	double seconds;

	if (!opt_parse_decimal("--timeout", value, TIMEOUT_MAX, &seconds))
		return false;
	ask->runs.limit_ms = (uint64_t)(seconds * 1000);
	return true;
}

/*
 * Store the text of a --fail-if limit.  The text is parsed after all options,
 * because the limit may name allocators that later options add.
 */
static bool
take_limit(struct ask *ask, const char *value)
{
	if (ask->limit_count == REPLAY_LIMITS_MAX) {
		message_print("--fail-if: more than %d limits",
			      REPLAY_LIMITS_MAX);
		return false;
	}
	ask->limit_texts[ask->limit_count++] = value;
	return true;
}

static bool
take_model(struct replay_models *models, const char *value)
{
	if (models->count == REPLAY_MODELS_MAX) {
		message_print("--model: more than %d models",
			      REPLAY_MODELS_MAX);
		return false;
	}
	return model_parse(&models->list[models->count++], value);
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;
	unsigned choice = 0;
	bool ok = true;

	switch (idx) {
	case OPT_ALLOCATOR:
		return allocators_add(&ask->allocators, value);
	case OPT_REPEAT:
		return take_repeat(ask, value);
	case OPT_THREADS:
		ok = opt_parse_choice("--threads", value, thread_words,
				      &choice);
		ask->compile.one_thread = choice == 1;
		ask->compile.many_threads = choice == 0;
		return ok;
	case OPT_TOUCH:
		ok = opt_parse_choice("--touch", value, touch_words, &choice);
		ask->runs.touch = (enum driver_touch)choice;
		return ok;
	case OPT_SPEED:
		ok = opt_parse_choice("--speed", value, speed_words, &choice);
		ask->compile.real_time = ask->view.is_real_time = choice == 1;
		return ok;
	case OPT_FROM:
	case OPT_TO:
		return trace_window_take(&ask->compile.window, idx == OPT_FROM,
					 value);
	case OPT_EMIT_C:
		ask->emit = value;
		return true;
	case OPT_MODEL:
		return take_model(&ask->models, value);
	case OPT_WHAT_IF:
		return what_if_parse(&ask->what_if, value);
	case OPT_FAIL_IF:
		return take_limit(ask, value);
	case OPT_TIMEOUT:
		return take_timeout(ask, value);
	case OPT_HTML:
		ask->html = value;
		ask->runs.is_sampled = true;
		return true;
	default:
		ask->what_if.fold_std |= idx == OPT_FOLD_STD;
		ask->runs.is_checked |= idx == OPT_CHECK;
		ask->runs.is_timed |= idx == OPT_LATENCY;
		ask->runs.is_sized |= idx == OPT_USABLE;
		ask->view.markdown |= idx == OPT_MARKDOWN;
		ask->runs.asks_own |= idx == OPT_OWN;
		ask->json |= idx == OPT_JSON;
		return true;
	}
}

/*
 * Print the table of the trace.  With --what-if, print the table of the
 * original trace, that of the changed trace, and the savings.
 */
static void
print_tables(struct out *o, const struct replay_view *view)
{
	if (view->what_if != NULL) {
		replay_print_text(o, view->original);
		out_str(o, "\nThe changed trace:\n\n");
	}
	replay_print_text(o, view);
	if (view->what_if != NULL)
		replay_print_savings(o, view);
}

/*
 * Print the results of the runs, and write the page of --html.  Return false on
 * failure.
 */
static bool
print_runs(const struct ask *ask)
{
	struct out *const o = out_stdout();

	if (ask->html != NULL && !replay_write_page(ask->html, &ask->view))
		return false;
	if (ask->runs.is_checked)
		replay_print_checked(o, &ask->view);
	else if (ask->json)
		return replay_print_json(o, &ask->view);
	else if (ask->html == NULL || strcmp(ask->html, "-") != 0)
		print_tables(o, &ask->view);
	return true;
}

/* Check the limits of --fail-if.  Return the exit status. */
static int
check_limits(const struct ask *ask)
{
	bool is_unknown;

	if (limits_exceeded(&ask->limits, &ask->runs, &is_unknown))
		return EXIT_EXCEEDED;
	return is_unknown ? EXIT_BAD_INPUT : EXIT_FINE;
}

/* Run a compiled trace and print the result.  Return the exit status. */
static int
run_compiled(struct ask *ask, const struct compiled *compiled)
{
	int exit_status = EXIT_BAD_INPUT;

	if (compiled->fault != NULL)
		message_print("%s: %s", message_path(ask->view.path),
			      compiled->fault);
	if (compiled->calls == 0)
		message_print("%s: contains no calls to replay",
			      message_path(ask->view.path));
	ask->view.compiled = compiled;
	ask->view.runs = &ask->runs;
	if (runs_fit(compiled, ask->runs.touch, ask->view.path) &&
	    runs_make(&ask->runs, compiled, &ask->allocators)) {
		exit_status =
			compiled->fault != NULL ? EXIT_INCOMPLETE : EXIT_FINE;
		if (!print_runs(ask) || ask->runs.failed_count != 0 ||
		    verdict_report_unranked(&ask->runs) != 0 ||
		    ask->original_runs.failed_count != 0)
			exit_status = EXIT_BAD_INPUT;
		if (exit_status == EXIT_FINE)
			exit_status = check_limits(ask);
	}
	runs_close(&ask->runs);
	return exit_status;
}

/*
 * Simulate the models and print the result, or write the C program.  Return the
 * exit status.
 */
static int
simulate(struct ask *ask, const struct compiled *compiled)
{
	ask->view.compiled = compiled;
	if (compiled->fault != NULL)
		message_print("%s: %s", message_path(ask->view.path),
			      compiled->fault);
	if (ask->emit != NULL) {
		if (!emit_c(ask->emit, ask->view.path, compiled))
			return EXIT_BAD_INPUT;
		return compiled->fault != NULL ? EXIT_INCOMPLETE : EXIT_FINE;
	}
	if (!models_run(&ask->models, compiled))
		return EXIT_BAD_INPUT;
	if (!ask->json)
		models_print_text(out_stdout(), &ask->view, &ask->models);
	else if (!models_print_json(out_stdout(), &ask->view, &ask->models))
		return EXIT_BAD_INPUT;
	return compiled->fault != NULL ? EXIT_INCOMPLETE : EXIT_FINE;
}

/*
 * Prepare to read the trace twice: copy a pipe to a temporary file, and make
 * this file standard input.  On failure print a message and return false.
 */
static bool
read_twice(struct ask *ask)
{
	struct spool spool;
	struct stat status;
	bool ok;

	if (strcmp(ask->trace, "-") != 0 && stat(ask->trace, &status) == 0 &&
	    (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return true;
	if (!spool_open(&spool, ask->trace))
		return false;
	ok = dup2(spool.fd, STDIN_FILENO) >= 0 &&
	     lseek(STDIN_FILENO, 0, SEEK_SET) == 0;
	if (!ok)
		message_print("%s: %s", message_path(ask->trace),
			      strerror(errno));
	spool_close(&spool);
	ask->trace = "-";
	return ok;
}

/*
 * Replay the original trace, with which the changed trace is compared, and set
 * the options for the changed trace.  Return the exit status.
 */
static int
replay_original(struct ask *ask)
{
	struct replay_view *const view = &ask->original_view;
	bool ok;

	if (!read_twice(ask) ||
	    !compile_trace(&ask->original, ask->trace, &ask->compile))
		return EXIT_BAD_INPUT;
	if (strcmp(ask->trace, "-") == 0)
		lseek(STDIN_FILENO, 0, SEEK_SET);
	ask->original_runs = ask->runs;
	*view = ask->view;
	view->compiled = &ask->original;
	view->runs = &ask->original_runs;
	ok = runs_fit(&ask->original, ask->runs.touch, ask->view.path) &&
	     runs_make(&ask->original_runs, &ask->original, &ask->allocators);
	compiled_close(&ask->original);
	ask->view.what_if = ask->what_if.text;
	ask->view.original = view;
	ask->compile.what_if = &ask->what_if;
	ask->compile.one_thread |= ask->what_if.merges_threads;
	return ok ? EXIT_FINE : EXIT_BAD_INPUT;
}

static bool
runs_allocators(const struct ask *ask)
{
	return ask->models.count == 0 && ask->emit == NULL;
}

/*
 * Return why the options are inconsistent, or NULL.  With --model or --emit-c,
 * set the options for compiling.
 */
static const char *
contradiction(struct ask *ask)
{
	const struct replay_runs *const runs = &ask->runs;
	const bool changes = what_if_is_needed(&ask->what_if);
	const bool measures = runs->is_timed || runs->is_sized ||
			      runs->asks_own || ask->html != NULL;

	if (runs->is_checked &&
	    (ask->json || ask->view.markdown || measures || changes))
		return "--check measures nothing: remove --json, --markdown, "
		       "--html, --what-if, --latency, --own and --usable";
	if (runs_allocators(ask))
		return NULL;
	if (runs->is_checked || measures || ask->allocators.count != 0 ||
	    ask->limit_count != 0)
		return "--model and --emit-c run no allocator: remove "
		       "--allocator, --check, --fail-if, --html, --latency, "
		       "--own and --usable";
	if (ask->models.count != 0 && ask->emit != NULL)
		return "--model and --emit-c exclude each other";
	/* Models need one thread, so that they get all calls in trace order. */
	ask->compile.one_thread |=
		ask->models.count != 0 || ask->what_if.merges_threads;
	ask->compile.what_if = changes ? &ask->what_if : NULL;
	return NULL;
}

int
command_replay(int argc, char **argv)
{
	static struct ask ask = {
		.runs = { .repeat = 5,
			  .touch = TOUCH_ALL,
			  .limit_ms = TIMEOUT_DEFAULT * 1000 },
	};
	struct compiled compiled;
	const char *fault;
	int exit_status = EXIT_FINE, first;

	if (argc > 1 && strcmp(argv[1], DRIVER_WORD) == 0)
		return driver_main(argc - 2, argv + 2);
	first = opt_parse(&page, argc, argv, take_option, &ask, &exit_status);
	if (first < 0)
		return exit_status;
	if (first + 1 != argc)
		return opt_complain(&page, first == argc
						   ? "a FILE is needed"
						   : "more than one FILE");
	fault = contradiction(&ask);
	if (fault != NULL)
		return opt_complain(&page, "%s", fault);
	ask.view.path = ask.trace = argv[first];
	if (output_file_refused(ask.emit, ask.view.path) ||
	    output_file_refused(ask.html, ask.view.path))
		return EXIT_USAGE;
	if (ask.allocators.count == 0)
		allocators_add_installed(&ask.allocators);
	for (unsigned i = 0; i < ask.limit_count; i++)
		if (!limits_parse(&ask.limits, ask.limit_texts[i],
				  &ask.allocators))
			return EXIT_USAGE;
	/*
	 * Ignore SIGXFSZ, so that a write beyond the limit of file sizes fails
	 * with an error.
	 */
	signal(SIGXFSZ, SIG_IGN);
	/*
	 * If the caller has ignored SIGCHLD, undo this.  Otherwise the kernel
	 * would discard the statuses of drivers that have ended.
	 */
	signal(SIGCHLD, SIG_DFL);
	if (what_if_is_needed(&ask.what_if) && runs_allocators(&ask))
		exit_status = replay_original(&ask);
	if (exit_status == EXIT_BAD_INPUT)
		return EXIT_BAD_INPUT;
	if (!compile_trace(&compiled, ask.trace, &ask.compile))
		return EXIT_BAD_INPUT;
	exit_status = runs_allocators(&ask) ? run_compiled(&ask, &compiled)
					    : simulate(&ask, &compiled);
	compiled_close(&compiled);
	runs_close(&ask.original_runs);
	return out_finish(out_stdout(), exit_status);
}

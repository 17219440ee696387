/* SPDX-License-Identifier: MIT */
/* top.c - hatf top: watch the heap of a running process */
#include "tools/commands/commands.h"
#include "tools/control/complaints.h"
#include "tools/control/started.h"
#include "tools/control/tracer_client.h"
#include "tools/live/live_screen.h"
#include "tools/sites/stack_view.h"
#include "tools/trace/regular.h"
#include "tools/trace/scan.h"
#include "tools/ui/escape.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* On a terminal, how long to look up names of functions before each page. */
#define NAMING_MS 200

/* On a terminal, wait at most this long until flushed events are counted. */
#define CATCH_UP_MS 300

/* Interval at which to check whether a process has begun its trace. */
#define BEGIN_MS 200

enum {
	OPT_INTERVAL,
	OPT_COUNT,
	OPT_PLAIN,
	OPT_SORT,
	OPT_TOP,
	OPT_THREADS,
	OPT_NO_FLUSH,
	OPT_RAW_STACKS,
	OPT_WRAPPER,
};

static const struct opt options[] = {
	{ "interval", 'd', "SECONDS", "seconds between pages (default 2)" },
	{ "count", 'n', "N", "end after N pages" },
	{ "plain", 'b', NULL,
	  "print pages as text, one after the other (the default\n"
	  "if standard output is not a terminal)" },
	{ "sort", 's', "KEY",
	  "sort by live bytes (default), growth, rate or blocks" },
	{ "top", 'r', "N",
	  "with --plain, print the first N rows\n"
	  "(default 20, 0: all)" },
	{ "threads", 't', NULL,
	  "print a row for each thread, not for each site" },
	{ "no-flush", 'F', NULL,
	  "do not ask the recorder to write its newest events" },
	{ "raw-stacks", 'R', NULL,
	  "show all frames: a site may then be in an allocator\n"
	  "or in the standard library of C, C++ or Rust" },
	{ "wrapper", '\0', "GLOB",
	  "hide functions that match GLOB, such as 'xmalloc': the\n"
	  "site is their caller; may be given more than once" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf top",
	"[OPTIONS] PID|FILE",
	"Watch the heap of a running process that is recorded: live bytes and\n"
	"blocks, the peak, rates, and the call sites with the most memory.\n"
	"The figures come from the trace, which is read while the recorder\n"
	"writes it.\n",
	"On a terminal: q ends, s changes the order, t shows threads or\n"
	"sites.\n"
	"Exit status: 0 if all is well, 1 if the process cannot be watched or\n"
	"its trace cannot be read, 2 for wrong usage.\n",
	false,
	options
};

/* The options. */
struct ask {
	double interval; /* seconds between two pages */
	uint64_t count;	 /* number of pages; 0: until the end */
	bool plain, threads, no_flush;
	unsigned key;
	uint64_t top;
	struct stack_view_options view;
};

/* The process or file that is watched. */
struct watch {
	const struct ask *ask;
	/* do not wait long, because a user waits at a terminal */
	bool is_hurried;
	/* process to which orders are sent; 0: none, as for a watched file */
	pid_t pid;
	uint64_t pid_start;
	char path[PATH_MAX];
	char title[1024], state[300];
	struct live_trace *trace;
	struct live_sites *sites, *threads;
	struct live_page page; /* the page that was printed last */
	struct amount allocated_before;
	uint64_t shown_ns, page_count;
	/*
	 * 'peak_nbytes': peak of live bytes in this trace and earlier ones.
	 * 'peak_ns': time of the peak, counted from the first event of the
	 * trace that has the peak.
	 */
	uint64_t peak_nbytes, peak_ns;
	/*
	 * number of events in the file, according to the latest answer to
	 * "flush"; 0: unknown
	 */
	uint64_t flushed_count;
	/* the next page lacks flushed events */
	bool is_behind;
	/*
	 * a page has shown all flushed events; growth counts from that page on
	 */
	bool has_caught_up;
	bool is_over, has_failed;
};

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;

	switch (idx) {
	case OPT_INTERVAL:
		return opt_parse_decimal("--interval", value, 86400,
					 &ask->interval);
	case OPT_COUNT:
		return opt_parse_u64("--count", value, &ask->count);
	case OPT_SORT:
		return opt_parse_choice("--sort", value, live_key_words,
					&ask->key);
	case OPT_TOP:
		return opt_parse_u64("--top", value, &ask->top);
	case OPT_RAW_STACKS:
		ask->view.is_raw = true;
		return true;
	case OPT_WRAPPER:
		return stack_view_add_wrapper(&ask->view, "--wrapper", value);
	default:
		ask->plain |= idx == OPT_PLAIN;
		ask->threads |= idx == OPT_THREADS;
		ask->no_flush |= idx == OPT_NO_FLUSH;
		return true;
	}
}

/* ------------------------------------------------------------------ opening */

/*
 * Open the trace and begin to read it.  On failure print a message and return
 * false.
 */
static bool
open_trace(struct watch *w, int fd, uint64_t pid, uint64_t pid_start)
{
	const struct followed_file file = { w->path, fd, pid, pid_start };

	live_trace_close(w->trace);
	live_sites_forget_stacks(w->sites);
	live_sites_forget_stacks(w->threads);
	w->allocated_before = (struct amount){ 0 };
	w->flushed_count = 0;
	w->trace = live_trace_open(&file);
	return w->trace != NULL;
}

/*
 * Handle the answer to "status": if it names a trace, watch that trace.  If the
 * process is dormant or its trace cannot be opened, print a message and return
 * false.
 */
static bool
take_status(const struct tracer_answer *r, void *ctx)
{
	struct watch *const w = ctx;
	const char *const state = tracer_value(r, "state");
	const bool is_recording =
		state != NULL && strcmp(state, "recording") == 0;
	const char *trace;
	int fd;

	if (!is_recording) {
		complaint_not_recording(r->pid, "flush");
		return false;
	}
	trace = tracer_value(r, "trace");
	if (trace == NULL)
		return true;
	snprintf(w->path, sizeof(w->path), "%s", trace);
	fd = tracer_open_trace(r, w->path);
	if (fd < 0) {
		message_print("%ld: trace %s: %s", (long)r->pid, w->path,
			      errno == EPERM	? "owned by another user"
			      : errno == EINVAL ? "not a trace file"
						: strerror(errno));
		return false;
	}
	w->pid = r->pid;
	if (!started_ns((uint64_t)r->pid, &w->pid_start))
		w->pid_start = 0;
	return open_trace(w, fd, (uint64_t)r->pid, w->pid_start);
}

static uint64_t
header_number(const struct hatf_reader *reader, const char *key)
{
	const char *const text = hatf_reader_header(reader, key);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/*
 * Read the header of a trace to find the process of this machine that writes
 * the trace.  Set '*pid_ret' to 0 if there is none.  On failure print a message
 * and return false.
 */
static bool
find_writer(const char *path, int fd, uint64_t *pid_ret, uint64_t *start_ret)
{
	const struct hatf_reader_options from_fd = {
		.struct_nbytes = sizeof(from_fd),
		.fd = fd,
	};
	struct hatf_reader *reader;
	struct hatf_error err;
	struct utsname here;
	const char *host;

	if (hatf_reader_open(NULL, &from_fd, &reader, &err) != HATF_OK) {
		message_error(path, &err);
		return false;
	}
	*pid_ret = header_number(reader, "pid");
	*start_ret = header_number(reader, "pid_start");
	host = hatf_reader_header(reader, "host");
	if (host == NULL || uname(&here) != 0 ||
	    strcmp(host, here.nodename) != 0 ||
	    !started_is_alive(*pid_ret, *start_ret))
		*pid_ret = 0;
	hatf_reader_close(reader);
	return true;
}

static bool
open_file(struct watch *w, const char *path)
{
	uint64_t pid, pid_start;
	uid_t owner;
	const int fd = regular_open(path, &owner);

	if (fd < 0) {
		message_print("%s: %s", path,
			      errno == EINVAL ? "not a regular file"
					      : strerror(errno));
		return false;
	}
	snprintf(w->path, sizeof(w->path), "%s", path);
	if (!find_writer(path, fd, &pid, &pid_start) ||
	    lseek(fd, 0, SEEK_SET) != 0) {
		close(fd);
		return false;
	}
	return open_trace(w, fd, pid, pid_start);
}

/* Wait until the process has begun a trace, then open the trace. */
static bool
open_pid(struct watch *w, pid_t pid)
{
	live_trace_close(w->trace);
	w->trace = NULL;
	for (bool is_told = false; w->trace == NULL; is_told = true) {
		if (!tracer_send(&pid, 1, "status", take_status, w))
			return false;
		if (w->trace == NULL && !is_told)
			message_print("%ld: no trace yet: too few events; "
				      "waiting for more",
				      (long)pid);
		if (w->trace == NULL)
			live_screen_wait(BEGIN_MS);
	}
	return true;
}

static bool
open_operand(struct watch *w, const char *operand)
{
	char *end;
	const long pid = strtol(operand, &end, 10);

	if (*end != '\0' || end == operand || pid <= 0 || pid > INT_MAX)
		return open_file(w, operand);
	return open_pid(w, (pid_t)pid);
}

/* -------------------------------------------------------------------- pages */

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Store the number of events in the file, from the answer to "flush". */
static bool
take_flush(const struct tracer_answer *r, void *ctx)
{
	struct watch *const w = ctx;
	const char *const count = tracer_value(r, "events");

	w->flushed_count = count != NULL ? strtoull(count, NULL, 10) : 0;
	return true;
}

/* Does the process to which orders are sent still exist? */
static bool
is_alive(const struct watch *w)
{
	return w->pid != 0 && started_is_alive((uint64_t)w->pid, w->pid_start);
}

/* Have all events in the file been counted? */
static bool
has_read_all(const struct watch *w)
{
	bool is_all;

	live_trace_lock(w->trace);
	is_all = live_trace_progress(w->trace) >= 1;
	live_trace_unlock(w->trace);
	return is_all;
}

/*
 * Let the process flush its newest events, and wait until hatf has counted
 * them; on a terminal, wait only briefly.  If the process cannot flush, or with
 * --no-flush, wait only until hatf has counted the events that are already in
 * the file.
 */
static void
catch_up(struct watch *w)
{
	uint64_t count;

	w->flushed_count = 0;
	if (!w->ask->no_flush && is_alive(w) &&
	    !tracer_send(&w->pid, 1, "flush", take_flush, w))
		w->pid = 0;
	count = w->flushed_count != 0 ? w->flushed_count : UINT64_MAX;
	do
		w->is_behind = !live_trace_wait(w->trace, count, CATCH_UP_MS) &&
			       (w->flushed_count != 0 || !has_read_all(w));
	while (w->is_behind && !w->is_hurried);
}

static void
describe_state(const struct watch *w, char *buf, size_t nbytes)
{
	char escaped[128];
	const char *const word = live_trace_end_word(w->trace);
	const int percent = (int)(100 * live_trace_progress(w->trace));

	switch (live_trace_end(w->trace)) {
	case LIVE_GOES_ON:
		if (w->is_behind)
			/*
			 * The last bytes may have been read while their events
			 * are not counted yet, so never print 100 %.
			 */
			snprintf(buf, nbytes, "reading, %d %%",
				 percent < 99 ? percent : 99);
		else
			snprintf(buf, nbytes, "running");
		break;
	case LIVE_COMPLETE:
		if (word[0] != '\0')
			snprintf(buf, nbytes, "ended by %s",
				 escape_text(word, escaped, sizeof(escaped)));
		else
			snprintf(buf, nbytes, "complete");
		break;
	default:
		snprintf(buf, nbytes, "the trace has no trailer");
	}
}

/* Fill in a page from the census, which the caller has locked. */
static void
fill_page(struct watch *w, struct live_page *p, const struct census *c)
{
	const uint64_t unit = c->unit_ns;
	const struct account *const all = &c->total;

	if (c->peak_level >= w->peak_nbytes) {
		w->peak_nbytes = c->peak_level;
		w->peak_ns = (c->peak.time - c->first.time) * unit;
	}
	p->live = all->live;
	p->peak.nbytes = w->peak_nbytes;
	p->peak_ns = w->peak_ns;
	p->allocated = all->allocated;
	p->allocated_before = w->allocated_before;
	w->allocated_before = all->allocated;
	p->event_count = c->event_count;
	p->lost_count = live_trace_lost(w->trace);
	p->thread_count = c->thread_rows.count;
	p->duration_ns = c->event_count != 0 && c->last.time != UINT64_MAX
				 ? (c->last.time - c->first.time) * unit
				 : 0;
}

/*
 * Update the rows from the census.  Count growth only from the first page of
 * output that covers all flushed events.  Before that page, rows grow merely
 * because hatf is still reading older events.  Return false if there is no
 * memory.
 */
static bool
update_tables(struct watch *w, const struct census *c)
{
	const unsigned naming_ms = w->is_hurried ? NAMING_MS : UINT_MAX;

	if (!w->has_caught_up) {
		live_sites_forget_growth(w->sites);
		live_sites_forget_growth(w->threads);
	}
	w->has_caught_up |= !w->is_behind;
	return live_sites_update(w->sites, w->trace, c, naming_ms) &&
	       live_sites_update(w->threads, w->trace, c, 0);
}

/*
 * Print the page, in the order and with the rows that the user wants now.  On
 * failure print a message and return false.
 */
static bool
print_page(struct watch *w)
{
	struct live_page *const p = &w->page;

	p->rows = w->ask->threads ? w->threads : w->sites;
	p->key = (enum live_key)w->ask->key;
	p->unit = w->ask->threads ? "thread"
		  : live_sites_has_stacks(w->sites) ||
				  !live_sites_has_blocks(w->sites)
			  ? "site"
			  : "thread and size (the trace has no call stacks)";
	return live_screen_print(p);
}

/* Make and print the next page.  On failure print a message, return false. */
static bool
show_page(struct watch *w)
{
	const uint64_t now = now_ns();
	const struct census *const c = live_trace_lock(w->trace);
	const bool ok = update_tables(w, c);

	w->page = (struct live_page){
		.title = w->title,
		.state = w->state,
		.seconds = w->page_count == 0
				   ? 0
				   : (double)(now - w->shown_ns) / 1e9,
		.top = w->ask->top,
	};
	if (ok)
		fill_page(w, &w->page, c);
	describe_state(w, w->state, sizeof(w->state));
	w->is_over = live_trace_end(w->trace) != LIVE_GOES_ON;
	live_trace_unlock(w->trace);
	if (!ok) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	w->shown_ns = now;
	w->page_count++;
	return print_page(w);
}

/* ------------------------------------------------------------------ command */

/* Set the title: "python3 4242, app.hatf.gz". */
static void
make_title(struct watch *w)
{
	const char *exe = live_trace_header(w->trace, "exe");
	const char *const pid = live_trace_header(w->trace, "pid");
	char text[2 * PATH_MAX];

	if (exe != NULL && strrchr(exe, '/') != NULL)
		exe = strrchr(exe, '/') + 1;
	snprintf(text, sizeof(text), "%.300s%s%.20s, %.600s",
		 exe != NULL ? exe : "", exe != NULL ? " " : "",
		 pid != NULL ? pid : "", w->path);
	escape_text(text, w->title, sizeof(w->title));
}

/* How watching goes on after the end of a trace. */
enum next {
	NEXT_NONE,   /* the process has no next trace */
	NEXT_OPENED, /* the next trace is open */
	/* the next trace cannot be watched, and a message has said why */
	NEXT_FAILED,
};

/*
 * After the end of a trace, watch the next trace of the process: the next
 * segment, or the trace after an exec.  If the user named a file instead of a
 * process, there is no next trace.  After NEXT_FAILED, w->trace may be NULL.
 */
static enum next
go_on(struct watch *w)
{
	const char *word;
	bool has_next;

	live_trace_lock(w->trace);
	word = live_trace_end_word(w->trace);
	has_next = strcmp(word, "rotate") == 0 || strcmp(word, "exec") == 0;
	live_trace_unlock(w->trace);
	if (!has_next || !is_alive(w))
		return NEXT_NONE;
	if (!open_pid(w, w->pid))
		return NEXT_FAILED;
	make_title(w);
	return NEXT_OPENED;
}

/*
 * Wait until it is time for the next page.  Print the current page again if the
 * user presses 's' or 't', or changes the size of the window.  Return false if
 * the user presses 'q'.  If a page cannot be printed, print a message, set
 * w->has_failed and return false.
 */
static bool
wait_for_page(struct watch *w, struct ask *ask)
{
	const uint64_t end = now_ns() + (uint64_t)(ask->interval * 1e9);
	uint64_t now;

	while ((now = now_ns()) < end && !w->has_failed) {
		switch (live_screen_wait((unsigned)((end - now) / 1000000) +
					 1)) {
		case 'q':
			return false;
		case 's':
			ask->key = (ask->key + 1) % LIVE_KEY_COUNT;
			break;
		case 't':
			ask->threads = !ask->threads;
			break;
		case LIVE_SCREEN_RESIZED:
			break;
		default:
			continue;
		}
		w->has_failed = !print_page(w);
	}
	return !w->has_failed;
}

/* Has the user seen as many pages as --count asks for? */
static bool
has_seen_all(const struct watch *w)
{
	return w->ask->count != 0 && w->page_count >= w->ask->count;
}

/* Report how the trace has ended.  Return the exit status. */
static int
report_end(struct watch *w)
{
	int exit_status = EXIT_FINE;

	live_trace_lock(w->trace);
	if (live_trace_end(w->trace) == LIVE_DAMAGED) {
		message_print("%s: %s", w->path, live_trace_fault(w->trace));
		exit_status = EXIT_BAD_INPUT;
	} else if (w->is_over && w->ask->count != w->page_count) {
		message_print("%s: the trace has ended", w->path);
	}
	live_trace_unlock(w->trace);
	return exit_status;
}

/*
 * Show pages until the trace ends, the user quits, or the user has seen as many
 * pages as wanted.  Return the exit status.
 */
static int
watch(struct watch *w, struct ask *ask)
{
	enum next next = NEXT_NONE;

	do {
		catch_up(w);
		if (!show_page(w))
			return EXIT_BAD_INPUT;
		if (w->is_over && !has_seen_all(w)) {
			next = go_on(w);
			w->is_over = next != NEXT_OPENED;
		}
	} while (!w->is_over && !has_seen_all(w) && wait_for_page(w, ask));
	live_screen_end();
	return next == NEXT_FAILED || w->has_failed ? EXIT_BAD_INPUT
						    : report_end(w);
}

int
command_top(int argc, char **argv)
{
	struct ask ask = {
		.interval = 2,
		.top = 20,
		/*
		 * Hide the standard library, so that sites are the program's
		 * own lines.
		 */
		.view.fold_std = true,
	};
	struct watch w = { .ask = &ask };
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &ask, &exit_status);

	if (first < 0)
		return exit_status;
	if (argc - first != 1)
		return opt_complain(&page, "one PID or FILE is needed");
	w.sites = live_sites_open(BY_SITE, &ask.view);
	w.threads = live_sites_open(BY_THREAD, &ask.view);
	exit_status = EXIT_BAD_INPUT;
	if (w.sites == NULL || w.threads == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	} else if (open_operand(&w, argv[first])) {
		make_title(&w);
		w.is_hurried = !ask.plain && isatty(STDOUT_FILENO) == 1;
		live_screen_begin(ask.plain);
		exit_status = watch(&w, &ask);
	}
	live_screen_end();
	live_trace_close(w.trace);
	live_sites_close(w.sites);
	live_sites_close(w.threads);
	return exit_status;
}

/* SPDX-License-Identifier: MIT */
/* ctl.c - hatf ctl: control the recorder of a running process */
#include "tools/commands/commands.h"
#include "tools/control/complaints.h"
#include "tools/control/quiet.h"
#include "tools/control/snapshot.h"
#include "tools/control/socket_scan.h"
#include "tools/control/tracer_client.h"
#include "tools/live/live_trace.h"
#include "tools/ui/figure.h"
#include "tools/ui/json.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_ALL,
	OPT_JSON,
	OPT_OUT,
	OPT_LIVE,
	OPT_ROTATE,
	OPT_YES,
};

static const struct opt options[] = {
	{ "all", 'a', NULL,
	  "send ORDER to every process of yours that has a recorder" },
	{ "json", 'j', NULL,
	  "print a line with a JSON object for each process" },
	{ "output", 'o', "FILE",
	  "snapshot: the new file (default snapshot.PID.hatf.gz)" },
	{ "live", 'l', NULL,
	  "status: also print live bytes, live blocks and the peak,\n"
	  "from the trace so far" },
	{ "rotate", 'r', NULL,
	  "snapshot: first begin the next file of the trace, and\n"
	  "read only its beginning; needs HATFTRACE_ROTATE" },
	{ "yes", 'y', NULL, "stop with --all: do not ask first" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf ctl",
	"[OPTIONS] PID|--all ORDER",
	"Control the recorder (libhatftrace.so) of a running process.\n"
	"ORDER is\n"
	"\n"
	"  status    report the state: recording or dormant, file, figures\n"
	"  start     begin to record into a new trace\n"
	"  stop      end the trace; the process continues untraced\n"
	"  flush     write all events up to now to the file\n"
	"  rotate    end the trace and continue in the next file\n"
	"  snapshot  write the live blocks to a trace of their own\n",
	"Exit status: 0 if each process has carried out the order, 1 if not\n"
	"(no such process, not traced, not yours, no answer, or refused), 2\n"
	"for wrong usage.\n",
	false,
	options
};

static const char *const orders[] = { "status", "start",    "stop", "flush",
				      "rotate", "snapshot", NULL };

#define PIDS_MAX 65536

struct ask {
	bool all, json, live, rotate, yes;
	const char *out; /* path of --output; NULL: the default */
	const char *order;
};

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;

	if (idx == OPT_ALL)
		ask->all = true;
	else if (idx == OPT_JSON)
		ask->json = true;
	else if (idx == OPT_LIVE)
		ask->live = true;
	else if (idx == OPT_ROTATE)
		ask->rotate = true;
	else if (idx == OPT_YES)
		ask->yes = true;
	else
		ask->out = value;
	return true;
}

/*
 * Return the value of 'key' as JSON: as a number if it has the form of one,
 * otherwise as a string.  Names of files are always strings.
 */
static json_t *
json_value(const char *key, const char *value)
{
	char *end;
	unsigned long long n;

	if (value[0] < '0' || value[0] > '9' || strcmp(key, "exe") == 0 ||
	    strcmp(key, "trace") == 0)
		return json_text(value);
	n = strtoull(value, &end, 10);
	return *end == '\0' ? json_u64(n) : json_text(value);
}

/*
 * Add keys for the live bytes, the live blocks and the peak, unless 'figures'
 * is NULL.  These figures replace those of the recorder's answer, which may be
 * older.  Return how many keys were new to 'object'.
 */
static size_t
add_figures(json_t *object, const struct live_figures *figures)
{
	const bool had_live = json_object_get(object, "live_bytes") != NULL;
	const bool had_count = json_object_get(object, "live_objects") != NULL;
	const bool had_peak = json_object_get(object, "peak_bytes") != NULL;

	if (figures == NULL)
		return 0;
	json_object_set_new(object, "live_bytes",
			    json_u64(figures->live.nbytes));
	json_object_set_new(object, "live_objects",
			    json_u64(figures->live.count));
	json_object_set_new(object, "peak_bytes",
			    json_u64(figures->peak_nbytes));
	return !had_live + !had_count + !had_peak;
}

/* Print the status as JSON.  'figures' may be NULL. */
static bool
print_json(const struct tracer_answer *r, const char *live,
	   const struct live_figures *figures)
{
	const char *next = NULL, *key, *value;
	json_t *const object = json_object();
	size_t count = 0;

	while (tracer_next_value(r, &next, &key, &value)) {
		if (json_object_get(object, key) != NULL)
			continue;
		json_object_set_new(object, key, json_value(key, value));
		count++;
	}
	if (live != NULL && json_object_get(object, "live") == NULL) {
		json_object_set_new(object, "live", json_text(live));
		count++;
	}
	count += add_figures(object, figures);
	return json_print(out_stdout(), object, count);
}

static uint64_t
number(const struct tracer_answer *r, const char *key)
{
	const char *const value = tracer_value(r, key);

	return value != NULL ? strtoull(value, NULL, 10) : 0;
}

static void
complain_of_trace(const struct tracer_answer *r, const char *trace, int e)
{
	message_print("%ld: trace %s: %s", (long)r->pid, trace,
		      e == EPERM    ? "owned by another user"
		      : e == EINVAL ? "not a trace file"
				    : strerror(e));
}

/*
 * Read from the header how completely the trace lists the blocks that were live
 * at its start.  Set '*live_ret' to the header's word for this, or to NULL if
 * there is no trace or if hatf cannot open it.  If the file cannot be a trace
 * or belongs to another user, print an error message and return false.
 */
static bool
find_live(const struct tracer_answer *r, const char **live_ret)
{
	const char *const trace = tracer_value(r, "trace");
	const int fd = trace != NULL ? tracer_open_trace(r, trace) : -1;

	*live_ret = NULL;
	if (fd >= 0) {
		*live_ret = snapshot_live_word(snapshot_live_of(fd));
		close(fd);
	} else if (trace != NULL && (errno == EPERM || errno == EINVAL)) {
		complain_of_trace(r, trace, errno);
		return false;
	}
	return true;
}

/* Print ", 1 234 events, 3 400 000 bytes, no events lost, 4 threads, 17 s". */
static void
print_figures(struct out *o, const struct tracer_answer *r)
{
	const uint64_t lost = number(r, "lost"), threads = number(r, "threads");
	const uint64_t events = number(r, "events"), n = number(r, "bytes");

	out_printf(o, ", %s event%s", figure_count(events).text,
		   figure_plural(events));
	out_printf(o, ", %s byte%s", figure_count(n).text, figure_plural(n));
	if (lost == 0)
		out_str(o, ", no events lost");
	else
		out_printf(o, ", %s LOST", figure_count(lost).text);
	out_printf(o, ", %" PRIu64 " thread%s, %" PRIu64 " s", threads,
		   figure_plural(threads), number(r, "seconds"));
}

/* Print the pending order, if there is one. */
static void
print_pending(struct out *o, const struct tracer_answer *r)
{
	const char *const pending = tracer_value(r, "pending");

	if (pending == NULL)
		return;
	out_str(o, ", pending order: ");
	out_text(o, pending);
	out_str(o, ", which takes effect at the next allocation");
}

/* If 'key' has a value, print the value between 'prefix' and 'suffix'. */
static void
print_value(struct out *o, const struct tracer_answer *r, const char *prefix,
	    const char *key, const char *suffix)
{
	const char *const value = tracer_value(r, key);

	if (value == NULL)
		return;
	out_str(o, prefix);
	out_text(o, value);
	out_str(o, suffix);
}

/*
 * Print the live bytes and blocks and the peak from 'figures'.  If 'figures' is
 * NULL, print only the live bytes and blocks from the recorder's answer.  If
 * the answer has none, print nothing.
 */
static void
print_live(struct out *o, const struct tracer_answer *r,
	   const struct live_figures *figures)
{
	struct amount live = { .nbytes = number(r, "live_bytes"),
			       .count = number(r, "live_objects") };

	if (figures != NULL)
		live = figures->live;
	else if (tracer_value(r, "live_bytes") == NULL)
		return;
	out_printf(o, ", %s live in %s block%s",
		   figure_nbytes(live.nbytes).text,
		   figure_count(live.count).text, figure_plural(live.count));
	if (figures != NULL)
		out_printf(o, ", peak %s",
			   figure_nbytes(figures->peak_nbytes).text);
}

/*
 * Print "4242: recording, cat, 1 234 events, 34 000 bytes, no events lost, 4
 * threads, 17 s: TRACE".  If 'live' is "unknown", say that the trace lacks the
 * blocks that were live at its start (see find_live()).  'live' and 'figures'
 * may be NULL.
 */
static void
print_line(const struct tracer_answer *r, const char *live,
	   const struct live_figures *figures)
{
	struct out *const o = out_stdout();
	const char *const state = tracer_value(r, "state");
	const bool has_state = state != NULL;
	const bool recording = has_state && strcmp(state, "recording") == 0;

	out_printf(o, "%ld: ", (long)r->pid);
	out_text(o, has_state ? state : "done");
	print_value(o, r, " (", "error", ")");
	print_value(o, r, ", ", "exe", "");
	if (tracer_value(r, "trace") != NULL && (recording || !has_state))
		print_figures(o, r);
	print_live(o, r, figures);
	if (tracer_value(r, "begun") != NULL)
		out_str(o, ", no trace yet: too few events");
	print_pending(o, r);
	print_value(o, r, recording ? ": " : ", last trace ", "trace", "");
	if (live != NULL && strcmp(live, "unknown") == 0)
		out_str(o, number(r, "keeps_live") != 0
				   ? ", without blocks allocated before "
				     "recording began"
				   : ", without the blocks live at its start "
				     "(start the process with "
				     "HATFTRACE_ROTATE to include them)");
	out_str(o, "\n");
	out_flush(o);
}

static bool
print_snapshot(const struct ask *ask, pid_t pid, const struct snapshot *s)
{
	struct out *const o = out_stdout();
	struct {
		const char *key;
		json_t *value;
	} const keys[] = {
		{ "pid", json_u64((uint64_t)pid) },
		{ "snapshot", json_text(s->to) },
		{ "live_objects", json_u64(s->live_count) },
		{ "live_bytes", json_u64(s->live_nbytes) },
		{ "live", json_text(snapshot_live_word(s->live)) },
	};
	const size_t n = sizeof(keys) / sizeof(keys[0]);
	json_t *const object = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, keys[i].key, keys[i].value);
	if (ask->json)
		return json_print(o, object, n);
	json_decref(object);
	out_printf(o, "%ld: ", (long)pid);
	out_text(o, s->to);
	out_printf(o, ": %s live block%s, %s", figure_count(s->live_count).text,
		   figure_plural(s->live_count),
		   figure_nbytes(s->live_nbytes).text);
	if (s->live == SNAPSHOT_UNKNOWN) {
		out_str(o, "; without blocks allocated before ");
		out_text(o, s->from);
		out_str(o, " began");
	}
	out_str(o, "\n");
	return true;
}

/*
 * Handle the answer to "flush" or "rotate": write a snapshot of the process's
 * live blocks.  After "flush", the trace file contains all events up to now.
 * After "rotate", a new trace file begins with the live blocks.
 */
static bool
take_snapshot(const struct tracer_answer *r, void *context)
{
	const struct ask *const ask = context;
	char trace[2 * PATH_MAX];
	struct snapshot s = { .from = trace, .to = ask->out, .pid = r->pid };
	const char *const value = tracer_value(r, "trace");
	bool is_fine;

	snprintf(trace, sizeof(trace), "%s", value != NULL ? value : "");
	s.event_count = ask->rotate ? 0 : number(r, "events");
	s.from_fd = tracer_open_trace(r, trace);
	if (s.from_fd < 0) {
		complain_of_trace(r, trace, errno);
		return false;
	}
	is_fine = snapshot_write(&s);
	close(s.from_fd);
	if (!is_fine)
		return false;
	/* The snapshot is complete by now; only printing can still fail. */
	is_fine = strcmp(s.to, "-") == 0 || print_snapshot(ask, r->pid, &s);
	out_flush(out_stdout());
	return is_fine;
}

/* Does the process write a trace? */
static bool
is_recording(const struct tracer_answer *r)
{
	const char *state = tracer_value(r, "state");
	const bool is_it = state != NULL && strcmp(state, "recording") == 0;

	return is_it && tracer_value(r, "trace") != NULL;
}

/*
 * Measure the live blocks by reading a process's trace up to its present end.
 */
static bool
measure(const struct tracer_answer *r, struct live_figures *ret)
{
	char trace[2 * PATH_MAX];
	int fd;

	snprintf(trace, sizeof(trace), "%s", tracer_value(r, "trace"));
	fd = tracer_open_trace(r, trace);
	if (fd >= 0)
		return live_trace_measure(trace, fd, ret);
	complain_of_trace(r, trace, errno);
	return false;
}

static bool
show(const struct tracer_answer *r, void *context)
{
	const struct ask *const ask = context;
	struct live_figures figures;
	const char *live = NULL;
	bool is_fine = true, is_measured = false;

	if (strcmp(ask->order, "rotate") == 0)
		is_fine = find_live(r, &live);
	if (ask->live && is_recording(r)) {
		is_measured = measure(r, &figures);
		is_fine = is_measured;
	}
	if (ask->json)
		return print_json(r, live, is_measured ? &figures : NULL) &&
		       is_fine;
	print_line(r, live, is_measured ? &figures : NULL);
	return is_fine;
}

/* 'all': the processes that have answered; 'recording': those that record. */
struct answered {
	pid_t all[PIDS_MAX], recording[PIDS_MAX];
	size_t count, recording_count;
};

static bool
add_answered(const struct tracer_answer *r, void *context)
{
	struct answered *const a = context;

	a->all[a->count++] = r->pid;
	if (is_recording(r))
		a->recording[a->recording_count++] = r->pid;
	return true;
}

/*
 * Add a process whose next file will begin with the live blocks.  Refuse to
 * rotate the trace of any other process, because its snapshot would lack
 * blocks.
 */
static bool
add_rotating(const struct tracer_answer *r, void *context)
{
	struct answered *const a = context;

	if (tracer_value(r, "begun") != NULL) {
		complaint_too_few_events(r->pid);
		return false;
	}
	if (!is_recording(r)) {
		complaint_not_recording(r->pid, "rotate");
		return false;
	}
	if (number(r, "keeps_live") == 0) {
		message_print("%ld: the next file would lack the live blocks: "
			      "start the process with HATFTRACE_ROTATE, or "
			      "leave out --rotate",
			      (long)r->pid);
		return false;
	}
	a->recording[a->recording_count++] = r->pid;
	return true;
}

static bool
ignore_answer(const struct tracer_answer *r, void *context)
{
	(void)r, (void)context;
	return true;
}

/* Show the status with live bytes, after flushing all events to the traces. */
static bool
show_live(struct ask *ask, const pid_t *pids, size_t count)
{
	static struct answered a;
	bool is_fine = tracer_send(pids, count, "status", add_answered, &a);

	is_fine &= tracer_send(a.recording, a.recording_count, "flush",
			       ignore_answer, NULL);
	return tracer_send(a.all, a.count, "status", show, ask) && is_fine;
}

/* Rotate the traces, and take the snapshots from their new files. */
static bool
rotate_and_take(struct ask *ask, const pid_t *pids, size_t count)
{
	static struct answered a;
	const bool is_fine =
		tracer_send(pids, count, "status", add_rotating, &a);

	return tracer_send(a.recording, a.recording_count, "rotate",
			   take_snapshot, ask) &&
	       is_fine;
}

static bool
act(struct ask *ask, const pid_t *pids, size_t count)
{
	if (ask->rotate)
		return rotate_and_take(ask, pids, count);
	if (strcmp(ask->order, "snapshot") == 0)
		return tracer_send(pids, count, "flush", take_snapshot, ask);
	if (ask->live)
		return show_live(ask, pids, count);
	return tracer_send(pids, count, ask->order, show, ask);
}

/* Ask the user, unless --yes is set or standard input is no terminal. */
static bool
is_agreed(const struct ask *ask)
{
	static const char question[] = "Stop recording them? [y/N] ";
	char answer[16] = "";

	if (ask->yes || !isatty(STDIN_FILENO))
		return true;
	if (write(STDERR_FILENO, question, sizeof(question) - 1) >= 0 &&
	    fgets(answer, sizeof(answer), stdin) != NULL &&
	    (answer[0] == 'y' || answer[0] == 'Y'))
		return true;
	message_print("no recording was stopped");
	return false;
}

/*
 * Print that the recording of a process will stop, and which executable the
 * process runs, as the kernel reports it.
 */
static void
name_victim(pid_t pid)
{
	char link[64], exe[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%ld/exe", (long)pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	message_print("%ld: recording will stop; the process runs %s",
		      (long)pid, n < 0 ? "an unknown program" : exe);
}

/* The processes whose recording will be stopped. */
struct victims {
	pid_t pids[PIDS_MAX];
	size_t count, named_count;
};

/*
 * Handle the answer to "status": unless the process is dormant, add it to the
 * processes whose recording will be stopped.
 */
static bool
add_victim(const struct tracer_answer *r, void *context)
{
	struct victims *const v = context;
	const char *const state = tracer_value(r, "state");

	if (state != NULL && strcmp(state, "dormant") == 0)
		return true;
	v->pids[v->count++] = r->pid;
	/*
	 * Do not name a process without a trace here.  Such a process will
	 * refuse the order to stop, and hatf will then print the reason with
	 * the id of the process.
	 */
	if (tracer_value(r, "begun") != NULL)
		return true;
	name_victim(r->pid);
	v->named_count++;
	return true;
}

/*
 * Skip dormant processes, list the others, and stop recording them after
 * confirmation.
 */
static bool
stop_all(struct ask *ask, const pid_t *pids, size_t count)
{
	static struct victims v;
	const bool is_fine = tracer_send(pids, count, "status", add_victim, &v);

	if (v.named_count != 0 && !is_agreed(ask))
		return false;
	return act(ask, v.pids, v.count) && is_fine;
}

static int
act_on_all(struct ask *ask)
{
	static pid_t pids[PIDS_MAX];
	const size_t n = quiet_add_all(
		pids, socket_scan_find_all(pids, PIDS_MAX), PIDS_MAX);
	const bool is_fine = strcmp(ask->order, "stop") == 0
				     ? stop_all(ask, pids, n)
				     : act(ask, pids, n);

	return out_finish(out_stdout(), is_fine ? EXIT_FINE : EXIT_BAD_INPUT);
}

int
command_ctl(int argc, char **argv)
{
	struct ask ask = { .order = NULL };
	int exit_status = EXIT_FINE;
	uint64_t pid = 0;
	int first =
		opt_parse(&page, argc, argv, take_option, &ask, &exit_status);

	if (first < 0)
		return exit_status;
	if (!ask.all && first == argc)
		return opt_complain(&page, "a PID or --all is missing");
	if (!ask.all && !opt_parse_u64("PID", argv[first], &pid))
		return EXIT_USAGE;
	if (!ask.all && (pid == 0 || pid > INT_MAX))
		return opt_complain(&page, "not a process: '%s'", argv[first]);
	first += !ask.all;
	if (first == argc)
		return opt_complain(&page, "an ORDER is missing");
	if (first + 1 != argc)
		return opt_complain(&page, "one ORDER at a time");
	ask.order = argv[first];
	if (!opt_parse_word("ORDER", ask.order, orders))
		return EXIT_USAGE;
	if (ask.out != NULL && (ask.all || strcmp(ask.order, "snapshot") != 0))
		return opt_complain(
			&page,
			"--output needs the order 'snapshot' and a single PID");
	if (ask.live && strcmp(ask.order, "status") != 0)
		return opt_complain(&page, "--live needs the order 'status'");
	if (ask.rotate && strcmp(ask.order, "snapshot") != 0)
		return opt_complain(&page,
				    "--rotate needs the order 'snapshot'");
	if (ask.yes && !ask.all)
		return opt_complain(&page, "--yes needs --all");
	if (ask.all)
		return act_on_all(&ask);
	socket_scan_sweep();
	const pid_t one = (pid_t)pid;

	exit_status = act(&ask, &one, 1) ? EXIT_FINE : EXIT_BAD_INPUT;
	return out_finish(out_stdout(), exit_status);
}

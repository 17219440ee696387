/* SPDX-License-Identifier: MIT */
/* tree.c - hatf tree: print which process started which */
#include "tools/commands/commands.h"
#include "tools/control/started.h"
#include "tools/trace/process_tree.h"
#include "tools/trace/scan.h"
#include "tools/ui/figure.h"
#include "tools/ui/json.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* For deeper nodes, print the depth instead of the branches. */
#define DRAWN_DEPTH_MAX 30

/* Longer commands are truncated to this many bytes. */
#define COMMAND_NBYTES 72

enum {
	OPT_JSON,
	OPT_LONG,
	OPT_PEAK,
	OPT_SORT,
};

static const struct opt options[] = {
	{ "json", 'j', NULL,
	  "print a line with a JSON object for each process" },
	{ "long", 'l', NULL, "do not cut command lines" },
	{ "peak", 'p', NULL,
	  "also print the peak of live bytes; read whole traces" },
	{ "sort", 's', "KEY",
	  "sort the children of a process by start (default),\n"
	  "events or peak: first the child whose subtree has the\n"
	  "most events or the highest peak; peak includes --peak" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf tree",
	"[OPTIONS] DIR|FILE...",
	"Show the processes of the traces in DIR, or of FILE, as trees:\n"
	"which process forked, executed or started which, how each ended,\n"
	"and how many events it has.  Without --peak and --sort peak, hatf\n"
	"reads only headers and trailers.\n",
	"Exit status: 0 if all is well, 1 if something cannot be read, 2\n"
	"for wrong usage.\n",
	false,
	options
};

enum sort_key {
	SORT_START,
	SORT_EVENTS,
	SORT_PEAK,
};

static const char *const sort_words[] = { "start", "events", "peak", NULL };

struct ask {
	bool json, is_long, peak;
	unsigned key; /* enum sort_key */
};

/* The peak of a process. */
struct peak {
	bool is_known; /* all segments could be opened */
	uint64_t nbytes;
};

/* The trees, and the peak of each node. */
struct forest {
	struct tree tree;
	struct peak *peaks; /* for each element of 'tree.nodes'; NULL: none */
};

/* Return the peak of the node; NULL if peaks are not asked for. */
static const struct peak *
peak_of(const struct forest *f, const struct tree_node *node)
{
	return f->peaks != NULL ? &f->peaks[node - f->tree.nodes] : NULL;
}

/* How the process of a node ended. */
enum end_kind {
	END_STATED,  /* the trailer states how the process ended */
	END_RUNNING, /* the process is still running */
	END_ABRUPT,  /* no trailer, and no sign that the process runs */
};

/*
 * Does the process exist on this machine?  Return false if another process has
 * its id now.
 */
static bool
is_running(const struct tree_trace *t)
{
	struct utsname here;

	return uname(&here) == 0 && strcmp(here.nodename, t->host) == 0 &&
	       started_is_alive(t->pid, t->pid_start);
}

/* Has the process of the node executed another program? */
static bool
has_executed(const struct tree_node *node)
{
	const struct tree_node *child = node->first_child;

	while (child != NULL && child->origin != TREE_EXEC)
		child = child->next;
	return child != NULL;
}

static enum end_kind
end_of(const struct tree_node *node)
{
	const struct tree_trace *const last = tree_last_trace(node);

	if (last->has_trailer)
		return END_STATED;
	return is_running(last) && !has_executed(node) ? END_RUNNING
						       : END_ABRUPT;
}

/* Is a segment between the first and the last one missing? */
static bool
has_gap(const struct tree_node *node)
{
	return tree_last_trace(node)->segment - node->traces[0].segment + 1 !=
	       node->trace_count;
}

/*
 * Return the number of events in all segments, including segments that no
 * longer exist.  If the last segment has no trailer, count none of its events.
 */
static uint64_t
event_count(const struct tree_node *node)
{
	const struct tree_trace *const last = tree_last_trace(node);

	return last->events_before +
	       (last->has_trailer ? last->tail.event_count : 0);
}

static uint64_t
lost_count(const struct tree_node *node)
{
	const struct tree_trace *const last = tree_last_trace(node);

	return last->lost_before +
	       (last->has_trailer ? last->tail.lost_count : 0);
}

/* Is the trace complete, according to the existing segments? */
static bool
is_complete(const struct tree_node *node)
{
	for (size_t i = 0; i < node->trace_count; i++)
		if (!node->traces[i].has_trailer ||
		    !node->traces[i].tail.complete)
			return false;
	return lost_count(node) == 0;
}

/*
 * Find the peak of live bytes by reading all segments.  If a segment cannot be
 * opened or there is no memory, print a message.  The peak is then unknown.
 */
static struct peak
find_peak(const struct tree_node *node)
{
	struct scan *const s = malloc(sizeof(*s));
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };
	struct peak peak = { .is_known = s != NULL };

	if (s == NULL)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	for (size_t i = 0; i < node->trace_count && peak.is_known; i++) {
		const struct hatf_reader_options reading = {
			.struct_nbytes = sizeof(reading),
			.flags = node->traces[i].is_found ? HATF_READER_FOUND
							  : 0,
		};

		peak.is_known =
			scan_open(s, node->traces[i].path, &reading, true);
		if (!peak.is_known)
			break;
		while (scan_read(s) > 0)
			continue;
		hatf_events_get_stats(s->events, &seen);
		if (seen.peak_live_nbytes > peak.nbytes)
			peak.nbytes = seen.peak_live_nbytes;
		scan_close(s);
	}
	free(s);
	return peak;
}

static bool
no_memory(void)
{
	message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return false;
}

/* Find the peak of each process.  Return false if one is unknown. */
static bool
find_peaks(struct forest *f)
{
	bool is_fine = true;

	f->peaks = calloc(f->tree.node_count + 1, sizeof(*f->peaks));
	if (f->peaks == NULL)
		return no_memory();
	for (const struct tree_node *n = tree_next(&f->tree, NULL); n != NULL;
	     n = tree_next(&f->tree, n)) {
		const struct peak peak = find_peak(n);

		f->peaks[n - f->tree.nodes] = peak;
		is_fine = is_fine && peak.is_known;
	}
	return is_fine;
}

/* Sort siblings by events or by peaks. */
static bool
sort_forest(struct forest *f, enum sort_key key)
{
	uint64_t *const weights =
		calloc(f->tree.node_count + 1, sizeof(*weights));
	bool is_fine;

	if (weights == NULL)
		return no_memory();
	for (size_t i = 0; i < f->tree.node_count; i++)
		weights[i] = key == SORT_EVENTS ? event_count(&f->tree.nodes[i])
			     : f->peaks != NULL ? f->peaks[i].nbytes
						: 0;
	is_fine = tree_sort(&f->tree, weights) || no_memory();
	free(weights);
	return is_fine;
}

/* --------------------------------------------------------------------- text */

/* Does the node, or its ancestor at this depth, have a later sibling? */
static bool
goes_on(const struct tree_node *node, unsigned depth)
{
	while (node->depth > depth)
		node = node->parent;
	return node->next != NULL;
}

static void
print_branches(struct out *o, const struct tree_node *node)
{
	if (node->depth > DRAWN_DEPTH_MAX) {
		out_printf(o, "... %u deep: ", node->depth);
		return;
	}
	for (unsigned depth = 1; depth <= node->depth; depth++) {
		const bool more = goes_on(node, depth);

		if (depth == node->depth)
			out_str(o, more ? "|- " : "`- ");
		else
			out_str(o, more ? "|  " : "   ");
	}
}

/* Print "fork at event 7 in segment 3". */
static void
print_fork(struct out *o, const struct tree_node *node)
{
	const struct tree_fork fork = tree_find_fork(node);

	out_str(o, "fork");
	if (fork.is_known)
		out_printf(o, " %s event %" PRIu64,
			   node->traces->is_exact ? "at" : "about", fork.event);
	if (fork.in_segment)
		out_printf(o, " in segment %" PRIu64, fork.segment);
}

/* Print how the node began, "fork at event 7, "; nothing for a root. */
static void
print_origin(struct out *o, const struct tree_node *node)
{
	const struct tree_trace *const t = node->traces;

	switch (node->origin) {
	case TREE_FORK:
	case TREE_ORPHAN:
		print_fork(o, node);
		if (node->origin == TREE_ORPHAN)
			out_printf(o,
				   " of process %" PRIu64
				   ", whose trace is missing",
				   t->parent_pid);
		break;
	case TREE_EXEC:
		out_str(o, "exec");
		break;
	case TREE_START:
		out_str(o, "started");
		if (node->untraced != 0)
			out_printf(o, " through %u untraced process%s",
				   node->untraced,
				   node->untraced == 1 ? "" : "es");
		break;
	default:
		return;
	}
	out_str(o, ", ");
}

static void
print_end(struct out *o, const struct tree_node *node)
{
	const enum end_kind end = end_of(node);

	if (end == END_RUNNING)
		out_str(o, "running");
	else if (end == END_ABRUPT)
		out_str(o, "no trailer");
	else
		out_text(o, tree_last_trace(node)->tail.end);
}

static void
print_counts(struct out *o, const struct tree_node *node)
{
	out_printf(o, ", %s%s event%s",
		   tree_last_trace(node)->has_trailer ? "" : "at least ",
		   figure_count(event_count(node)).text,
		   figure_plural(event_count(node)));
	if (lost_count(node) != 0)
		out_printf(o, ", %s LOST", figure_count(lost_count(node)).text);
	else if (tree_last_trace(node)->has_trailer && !is_complete(node))
		out_str(o, ", not complete");
	if (node->traces[0].segment != 0)
		out_printf(o, ", segments from %" PRIu64 " on",
			   node->traces[0].segment);
	else if (node->trace_count > 1)
		out_printf(o, ", %zu segments", node->trace_count);
	if (has_gap(node))
		out_str(o, " with gaps");
}

/*
 * Must the command of the node be printed?  Return false for a forked child
 * that runs the same command as its parent.
 */
static bool
has_news(const struct tree_node *node)
{
	return node->origin != TREE_FORK ||
	       strcmp(node->traces->command, node->parent->traces->command) !=
		       0;
}

static void
print_command(struct out *o, const char *command, bool whole)
{
	char cut[COMMAND_NBYTES + 4];

	if (!whole && strlen(command) > COMMAND_NBYTES) {
		snprintf(cut, sizeof(cut), "%.*s...", COMMAND_NBYTES, command);
		command = cut;
	}
	out_str(o, ": ");
	out_text(o, command);
}

static void
print_text(struct out *o, const struct tree_node *node, const struct peak *peak,
	   const struct ask *ask)
{
	print_branches(o, node);
	if (node->traces->pid != 0)
		out_printf(o, "%" PRIu64 " ", node->traces->pid);
	else
		out_str(o, "? "); /* no process id in the header */
	print_origin(o, node);
	print_end(o, node);
	print_counts(o, node);
	if (peak != NULL && peak->is_known)
		out_printf(o, ", peak %s", figure_nbytes(peak->nbytes).text);
	out_str(o, " (");
	out_text(o, node->traces->path);
	out_str(o, ")");
	if (has_news(node) && node->traces->command[0] != '\0')
		print_command(o, node->traces->command, ask->is_long);
	out_str(o, "\n");
}

/* --------------------------------------------------------------------- JSON */

static const char *const origins[] = {
	[TREE_ROOT] = "root",	[TREE_FORK] = "fork",	  [TREE_EXEC] = "exec",
	[TREE_START] = "start", [TREE_ORPHAN] = "orphan",
};

static const char *const ends[] = {
	[END_RUNNING] = "running",
	[END_ABRUPT] = "none",
};

static json_t *
json_files(const struct tree_node *node)
{
	json_t *const files = json_array();

	for (size_t i = 0; i < node->trace_count; i++)
		if (json_array_append_new(files,
					  json_text(node->traces[i].path)) != 0)
			break;
	if (json_array_size(files) == node->trace_count)
		return files;
	json_decref(files);
	return NULL;
}

static bool
print_json(struct out *o, const struct tree_node *node, const struct peak *peak)
{
	const struct tree_trace *const t = node->traces;
	const bool forked = t->parent_pid != 0;
	const struct tree_fork fork = tree_find_fork(node);
	const enum end_kind end = end_of(node);
	const char *const end_text =
		end == END_STATED ? tree_last_trace(node)->tail.end : ends[end];
	const struct tree_node *const parent = node->parent;
	struct {
		const char *key;
		json_t *value;
	} const keys[] = {
		{ "file", json_text(t->path) },
		{ "files", json_files(node) },
		{ "depth", json_u64(node->depth) },
		{ "parent",
		  json_text(parent != NULL ? parent->traces->path : NULL) },
		{ "origin", json_text(origins[node->origin]) },
		{ "untraced", json_u64(node->untraced) },
		{ "pid", json_u64(t->pid) },
		{ "ppid", json_u64(t->ppid) },
		{ "parent_pid",
		  forked ? json_u64(t->parent_pid) : json_null() },
		{ "parent_event", forked && fork.is_known ? json_u64(fork.event)
							  : json_null() },
		{ "parent_segment", forked && fork.in_segment
					    ? json_u64(fork.segment)
					    : json_null() },
		{ "parent_event_exact",
		  forked ? json_boolean(t->is_exact) : json_null() },
		{ "host", json_text(t->host) },
		{ "exe", json_text(t->exe) },
		{ "command", json_text(t->command) },
		{ "start_time", json_u64(t->start_time) },
		{ "end", json_text(end_text) },
		{ "complete", json_boolean(is_complete(node)) },
		{ "events", json_u64(event_count(node)) },
		{ "lost", json_u64(lost_count(node)) },
		{ "peak_live_bytes", peak != NULL && peak->is_known
					     ? json_u64(peak->nbytes)
					     : json_null() },
	};
	const size_t n = sizeof(keys) / sizeof(keys[0]);
	json_t *const object = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, keys[i].key, keys[i].value);
	return json_print(o, object, n);
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;

	if (idx == OPT_SORT)
		return opt_parse_choice("--sort", value, sort_words, &ask->key);
	if (idx == OPT_JSON)
		ask->json = true;
	else if (idx == OPT_LONG)
		ask->is_long = true;
	else
		ask->peak = true;
	return true;
}

static bool
print_forest(const struct forest *f, const struct ask *ask)
{
	struct out *const o = out_stdout();
	bool is_fine = true;

	for (const struct tree_node *n = tree_next(&f->tree, NULL);
	     n != NULL && !out_failed(o); n = tree_next(&f->tree, n))
		if (!ask->json)
			print_text(o, n, peak_of(f, n), ask);
		else if (!print_json(o, n, peak_of(f, n)))
			is_fine = false;
	return is_fine;
}

/* Link the traces, find the peaks, sort and print. */
static bool
show_forest(struct forest *f, const struct ask *ask)
{
	bool is_fine;

	if (!tree_build(&f->tree))
		return false;
	is_fine = (!ask->peak && ask->key != SORT_PEAK) || find_peaks(f);
	if (ask->key != SORT_START && !sort_forest(f, ask->key))
		is_fine = false;
	return print_forest(f, ask) && is_fine;
}

int
command_tree(int argc, char **argv)
{
	struct ask ask = { .json = false };
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &ask, &exit_status);
	struct forest f = { .peaks = NULL };

	if (first < 0)
		return exit_status;
	if (first == argc)
		return opt_complain(&page, "a DIR or FILE is missing");
	tree_init(&f.tree);
	for (int i = first; i < argc; i++)
		if (!tree_add(&f.tree, argv[i]))
			exit_status = EXIT_BAD_INPUT;
	if (!show_forest(&f, &ask))
		exit_status = EXIT_BAD_INPUT;
	free(f.peaks);
	tree_fini(&f.tree);
	return out_finish(out_stdout(), exit_status);
}

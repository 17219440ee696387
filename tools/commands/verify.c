/* SPDX-License-Identifier: MIT */
/* verify.c - hatf verify: is a trace legal, complete and consistent? */
#include "tools/check/claims.h"
#include "tools/check/overlaps.h"
#include "tools/check/segment_sequence.h"
#include "tools/check/stack_check.h"
#include "tools/commands/commands.h"
#include "tools/trace/operand.h"
#include "tools/trace/process_tree.h"
#include "tools/trace/scan.h"
#include "tools/ui/figure.h"
#include "tools/ui/json.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_JSON,
	OPT_MAX_SHOWN,
	OPT_JOBS,
	OPT_NO_PARENT,
};

static const struct opt options[] = {
	{ "json", 'j', NULL, "print a line with a JSON object for each file" },
	{ "max", 'm', "N", "show at most N violations of a file (default 10)" },
	{ "jobs", 'w', "N",
	  "decompress the input with N more threads (default 0)" },
	{ "no-parent", 'p', NULL,
	  "do not read the trace of a forked child's parent" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf verify",
	"[--json] [--max N] [--jobs N] [--no-parent] FILE|DIR...",
	"Check that each trace is legal in its format, is complete, lost no\n"
	"events, and has consistent events: each free and realloc is of a\n"
	"live object; no address is allocated while live; no block overlaps\n"
	"a live one of its heap; threads and heaps are used only between\n"
	"their creation and end; time never goes back; call stacks are\n"
	"defined before use.  Header and trailer must agree with the\n"
	"events.  A segment given after the previous segment of its process\n"
	"must continue where that one ended.  DIR stands for all traces in\n"
	"it that have a HATF header, except snapshots.\n"
	"FILE is in any format of 'hatf convert', compressed or not; '-' is\n"
	"standard input.\n"
	"The parent's trace gives the blocks that a forked child inherits,\n"
	"if that trace is beside FILE or where the recorder wrote it.\n",
	"Exit status: 0 if every file passes all checks, 1 if a file fails a\n"
	"check or cannot be read, or if a DIR has no trace, 2 for wrong\n"
	"usage.\n",
	false,
	options
};

struct verify {
	uint64_t max_shown;
	struct hatf_reader_options reading;
	bool json;
	struct sequence last; /* summary of the file before this one */
	bool no_parent;
};

/* The findings about one file. */
struct finding {
	struct scan scan;
	struct stack_check definitions;
	struct overlaps overlaps;
	struct claims claims;
	json_t *shown_json; /* JSON of the violations shown so far; owned */
	uint64_t shown;
	uint64_t violation_count;
	/* number of violations that hatf_events found and that were reported */
	uint64_t told_count;
	struct sequence sequel;
	enum sequence_result goes_on;
	bool no_memory;
};

/* Return the address that the violation concerns; 0: none. */
static uint64_t
address_at_fault(const struct hatf_event *e)
{
	switch (e->violation) {
	case HATF_VIOLATION_ALLOC_LIVE:
		return e->address;
	case HATF_VIOLATION_FREE_UNKNOWN:
	case HATF_VIOLATION_REALLOC_UNKNOWN:
		return e->old_address;
	case HATF_VIOLATION_PAIRING:
		return e->old_address != 0 ? e->old_address : e->address;
	default:
		return 0;
	}
}

static void
show_text(const struct finding *f, const struct hatf_event *e, const char *text,
	  uint64_t address, uint64_t stack)
{
	struct out *const o = out_stdout();

	out_text(o, message_path(f->scan.path));
	out_printf(o, ": record %" PRIu64 ", offset 0x%" PRIx64 ": %s",
		   e->record, e->offset, text);
	if (e->kind != HATF_EVENT_COMMENT)
		out_printf(o, ": thread %" PRIu64 ", time %" PRIu64, e->thread,
			   e->time);
	if (address != 0)
		out_printf(o, ", address 0x%" PRIx64, address);
	if (stack != 0)
		out_printf(o, ", stack %" PRIu64, stack);
	out_str(o, "\n");
}

static void
show_json(struct finding *f, const struct hatf_event *e, const char *text,
	  uint64_t address, uint64_t stack)
{
	char digits[24];
	json_t *const v = json_object();

	snprintf(digits, sizeof(digits), "0x%" PRIx64, address);
	json_object_set_new(v, "record", json_u64(e->record));
	json_object_set_new(v, "offset", json_u64(e->offset));
	json_object_set_new(v, "violation", json_text(text));
	json_object_set_new(v, "address", json_text(digits));
	json_object_set_new(v, "stack", json_u64(stack));
	json_object_set_new(v, "thread", json_u64(e->thread));
	json_object_set_new(v, "time", json_u64(e->time));
	if (json_object_size(v) != 7 ||
	    json_array_append(f->shown_json, v) != 0)
		f->no_memory = true;
	json_decref(v);
}

/*
 * Count a violation, and show it unless 'max_shown' violations have been shown.
 * 'text' says what is wrong with the event.  'address' is 0 if no address is at
 * fault, and 'stack' is 0 if no stack is at fault.
 */
static void
violate(const struct verify *v, struct finding *f, const struct hatf_event *e,
	const char *text, uint64_t address, uint64_t stack)
{
	f->violation_count++;
	if (f->shown >= v->max_shown)
		return;
	f->shown++;
	if (v->json)
		show_json(f, e, text, address, stack);
	else
		show_text(f, e, text, address, stack);
}

/* Context of the callback for overlaps.h. */
struct overlap_context {
	const struct verify *verify;
	struct finding *finding;
};

static void
tell_overlap(void *ctx, const struct hatf_event *newer)
{
	const struct overlap_context *const c = ctx;

	violate(c->verify, c->finding, newer, "the block overlaps a live one",
		newer->address, 0);
}

/* Report an event in which hatf_events (hatf_events.h) found a violation. */
static void
tell_violation(const struct verify *v, struct finding *f,
	       const struct hatf_event *e)
{
	f->told_count++;
	violate(v, f, e, hatf_violation_text(e->violation), address_at_fault(e),
		0);
}

static void
check_event(const struct verify *v, struct finding *f,
	    const struct hatf_event *e)
{
	const struct hatf_event *at;
	const char *fault;

	if (sequence_uses(e))
		sequence_note(&f->sequel, e);
	if (e->violation != HATF_VIOLATION_NONE)
		tell_violation(v, f, e);
	if (!overlaps_note(&f->overlaps, e))
		f->no_memory = true;
	fault = claims_note(&f->claims, e, &at);
	if (fault != NULL)
		violate(v, f, at, fault, 0, 0);
	if (!stack_check_event(&f->definitions, e, &fault))
		f->no_memory = true;
	else if (fault != NULL)
		violate(v, f, e, fault, 0, stack_check_stack_id(e));
}

/* Make the checks that need the end of the trace. */
static void
check_end(const struct verify *v, struct finding *f)
{
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };
	const struct hatf_event *at;
	const char *fault;
	unsigned step = 0;

	hatf_events_get_stats(f->scan.events, &seen);
	/*
	 * A realloc can announce that more records follow (FORMAT "Realloc").
	 * If the trace ends before these records, hatf_events counts a
	 * violation that belongs to no event.  Report this violation here.
	 */
	if (seen.violation_count > f->told_count)
		violate(v, f, &f->claims.last,
			hatf_violation_text(HATF_VIOLATION_PAIRING), 0, 0);
	overlaps_settle(&f->overlaps);
	while ((fault = claims_end(&f->claims, &step, &at)) != NULL)
		violate(v, f, at, fault, 0, 0);
}

/* Is the trace free of format errors, except perhaps a missing end? */
static bool
is_legal(const struct finding *f)
{
	return f->scan.status == HATF_END || f->scan.status == HATF_NO_TRAILER;
}

static bool
print_json(struct finding *f, bool ok, const char *fault)
{
	const struct scan *const t = &f->scan;
	struct hatf_reader_stats read = { .struct_nbytes = sizeof(read) };
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };
	const uint64_t writer = scan_writer(t);
	json_t *const object = json_object();

	hatf_reader_get_stats(t->reader, &read);
	hatf_events_get_stats(t->events, &seen);
	json_object_set_new(object, "file", json_text(t->path));
	json_object_set_new(object, "ok", json_boolean(ok));
	json_object_set_new(object, "legal", json_boolean(is_legal(f)));
	json_object_set_new(object, "complete", json_boolean(fault == NULL));
	json_object_set_new(object, "error", json_text(fault));
	json_object_set_new(object, "written_by",
			    writer != 0 ? json_u64(writer) : json_null());
	json_object_set_new(object, "events", json_u64(seen.event_count));
	json_object_set_new(object, "lost", json_u64(read.lost_count));
	json_object_set_new(object, "inherited",
			    json_u64(seen.inherited_count));
	json_object_set_new(object, "heritage", json_heritage(seen.heritage));
	json_object_set_new(object, "carried", json_u64(seen.carried_count));
	json_object_set_new(
		object, "goes_on",
		f->goes_on == SEQUENCE_NONE
			? json_null()
			: json_boolean(f->goes_on == SEQUENCE_FITS));
	json_object_set_new(object, "violations", json_u64(f->violation_count));
	/* The object takes ownership of the array. */
	json_object_set_new(object, "first_violations", f->shown_json);
	f->shown_json = NULL;
	return json_print(out_stdout(), object, f->no_memory ? 0 : 14);
}

/* Are the inherited blocks exactly those that the parent had at the fork? */
static bool
is_from_parent(const struct hatf_reader *reader)
{
	const char *const start = hatf_reader_header(reader, "start");

	return hatf_reader_header(reader, "parent_pid") != NULL &&
	       (start == NULL || strcmp(start, "late") != 0);
}

/* Print "FILE: ok, 1234 events". */
static void
print_summary(const struct finding *f, bool ok)
{
	struct out *const o = out_stdout();
	const char *const unknown = scan_unknown_heritage(&f->scan);
	struct hatf_reader_stats read = { .struct_nbytes = sizeof(read) };
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };

	hatf_reader_get_stats(f->scan.reader, &read);
	hatf_events_get_stats(f->scan.events, &seen);
	if (f->violation_count > f->shown) {
		out_text(o, message_path(f->scan.path));
		out_printf(o, ": ... and %" PRIu64 " more\n",
			   f->violation_count - f->shown);
	}
	out_text(o, message_path(f->scan.path));
	out_printf(o, ": %s, %" PRIu64 " event%s", ok ? "ok" : "not ok",
		   seen.event_count, figure_plural(seen.event_count));
	if (f->violation_count != 0)
		out_printf(o, ", %" PRIu64 " violation%s", f->violation_count,
			   figure_plural(f->violation_count));
	if (read.lost_count != 0)
		out_printf(o, ", %" PRIu64 " event%s lost%s", read.lost_count,
			   figure_plural(read.lost_count),
			   f->violation_count != 0
				   ? " (a possible cause of the violations)"
				   : "");
	if (seen.inherited_count != 0)
		out_printf(o, ", %" PRIu64 " free%s of blocks %s",
			   seen.inherited_count,
			   seen.inherited_count == 1 ? " or realloc"
						     : "s and reallocs",
			   is_from_parent(f->scan.reader)
				   ? "inherited from the parent process"
				   : "allocated before the trace began");
	if (seen.carried_count != 0)
		out_printf(o, ", %" PRIu64 " object%s live at its start",
			   seen.carried_count,
			   figure_plural(seen.carried_count));
	if (f->goes_on == SEQUENCE_FITS)
		out_str(o, ", continues the file before it");
	if (f->goes_on == SEQUENCE_DIFFERS)
		out_str(o, ", does not continue the file before it");
	if (unknown != NULL)
		out_printf(o, " (which blocks were inherited is unknown: %s)",
			   unknown);
	out_str(o, "\n");
}

/* Read the trace and check each event. */
static void
check_trace(const struct verify *v, struct finding *f)
{
	struct overlap_context context = { v, f };
	const struct hatf_event *e;

	f->no_memory =
		!overlaps_begin(&f->overlaps, f->scan.reader, f->scan.events);
	f->overlaps.tell = tell_overlap;
	f->overlaps.ctx = &context;
	claims_begin(&f->claims, f->scan.reader, f->scan.events);
	f->no_memory |= !stack_check_begin(&f->definitions, f->scan.reader);
	while (!f->no_memory && (e = scan_next(&f->scan)) != NULL)
		check_event(v, f, e);
	if (f->scan.status == HATF_END)
		check_end(v, f);
	stack_check_end(&f->definitions);
	overlaps_end(&f->overlaps);
}

static int
verify_trace(struct verify *v, struct finding *f)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	char buf[512];

	sequence_begin(&f->sequel, f->scan.reader);
	check_trace(v, f);
	f->goes_on = sequence_end(&f->sequel, f->scan.events, &v->last);
	v->last = f->sequel;
	hatf_reader_get_stats(f->scan.reader, &stats);

	const char *const fault =
		f->no_memory ? hatf_status_text(HATF_NO_MEMORY)
			     : scan_fault(&f->scan, buf, sizeof(buf));
	const bool ok = fault == NULL && f->violation_count == 0 &&
			stats.lost_count == 0 && f->goes_on != SEQUENCE_DIFFERS;
	int exit_status = ok ? EXIT_FINE : EXIT_BAD_INPUT;

	if (!v->json)
		print_summary(f, ok);
	else if (!print_json(f, ok, fault))
		exit_status = EXIT_BAD_INPUT;
	/*
	 * Flush now, to keep the order of the lines if stdout and stderr are
	 * the same file.
	 */
	out_flush(out_stdout());
	if (fault != NULL)
		message_print("%s: %s", message_path(f->scan.path), fault);
	return exit_status;
}

static int
verify_file(struct verify *v, const char *path)
{
	struct finding *const f = calloc(1, sizeof(*f));
	int exit_status = EXIT_BAD_INPUT;

	if (f == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	if (v->json)
		f->shown_json = json_array();
	if (!scan_open(&f->scan, path, &v->reading, !v->no_parent)) {
		v->last = (struct sequence){ 0 };
	} else {
		exit_status = verify_trace(v, f);
		scan_close(&f->scan);
	}
	json_decref(f->shown_json);
	free(f);
	return exit_status;
}

/* Verify the traces of a node.  Return false if one fails. */
static bool
verify_node(struct verify *v, const struct tree_node *node)
{
	const unsigned flags = v->reading.flags;
	bool is_fine = true;

	for (size_t i = 0; i < node->trace_count && !out_failed(out_stdout());
	     i++) {
		v->reading.flags =
			flags |
			(node->traces[i].is_found ? HATF_READER_FOUND : 0);
		if (verify_file(v, node->traces[i].path) != EXIT_FINE)
			is_fine = false;
	}
	v->reading.flags = flags;
	return is_fine;
}

/*
 * Verify the traces in a directory: each process after its parent, and the
 * segments of a trace in their order.
 */
static int
verify_directory(struct verify *v, const char *path)
{
	struct tree f;
	bool is_fine;

	tree_init(&f);
	f.is_strict = true;
	is_fine = tree_add(&f, path);
	if (!tree_build(&f))
		is_fine = false;
	for (const struct tree_node *n = tree_next(&f, NULL); n != NULL;
	     n = tree_next(&f, n))
		if (!verify_node(v, n))
			is_fine = false;
	tree_fini(&f);
	return is_fine ? EXIT_FINE : EXIT_BAD_INPUT;
}

static int
verify_operand(struct verify *v, const char *path)
{
	return operand_type(path) == S_IFDIR ? verify_directory(v, path)
					     : verify_file(v, path);
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct verify *const v = ctx;

	if (idx == OPT_MAX_SHOWN)
		return opt_parse_u64("--max", value, &v->max_shown);
	if (idx == OPT_JOBS)
		return opt_parse_jobs(value, &v->reading.jobs);
	if (idx == OPT_NO_PARENT)
		v->no_parent = true;
	else
		v->json = true;
	return true;
}

int
command_verify(int argc, char **argv)
{
	struct verify v = {
		.max_shown = 10,
		.reading.struct_nbytes = sizeof(v.reading),
	};
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &v, &exit_status);

	if (first < 0)
		return exit_status;
	if (first == argc)
		return opt_complain(&page, "a FILE or DIR is missing");
	for (int i = first; i < argc && !out_failed(out_stdout()); i++)
		if (verify_operand(&v, argv[i]) != EXIT_FINE)
			exit_status = EXIT_BAD_INPUT;
	return out_finish(out_stdout(), exit_status);
}

/* SPDX-License-Identifier: MIT */
/* info.c - hatf info: print statistics of a trace */
#include "tools/commands/commands.h"
#include "tools/sites/stack_totals.h"
#include "tools/trace/name_hint.h"
#include "tools/trace/scan.h"
#include "tools/ui/figure.h"
#include "tools/ui/json.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	OPT_JSON,
	OPT_JOBS,
	OPT_NO_PARENT,
};

static const struct opt options[] = {
	{ "json", 'j', NULL, "print a line with a JSON object for each file" },
	{ "jobs", 'w', "N",
	  "decompress the input with N more threads (default 0)" },
	{ "no-parent", 'p', NULL,
	  "do not read the trace of a forked child's parent" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf info",
	"[--json] [--jobs N] [--no-parent] FILE...",
	"Read each trace from end to end and print its figures.\n"
	"FILE is in any format of 'hatf convert', compressed or not; '-' is\n"
	"standard input.\n"
	"The parent's trace gives the blocks that a forked child inherits,\n"
	"if that trace is beside FILE or where the recorder wrote it.\n",
	"Exit status: 0 if every trace is complete, 1 if a trace is\n"
	"incomplete or cannot be read, 2 for wrong usage.\n",
	false,
	options
};

/* The options. */
struct ask {
	bool json, no_parent;
	struct hatf_reader_options reading;
};

/* Everything that is known about one trace. */
struct info {
	const struct scan *scan;
	struct hatf_reader_stats read;
	struct hatf_events_stats seen;
	uint64_t data_records;
	uint64_t duration_ns;
	bool has_duration;
	bool complete;
	/* id of the process that still writes the trace; 0: none */
	uint64_t writer;
	struct stack_counter *counter;
	struct stack_totals stacks;
};

/* Count the stacks of a batch of events. */
static void
note_stacks(struct info *info, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct hatf_event *const e = &info->scan->batch[i];

		if (e->kind == HATF_EVENT_COMMENT)
			stack_counter_note(info->counter, e->attributes,
					   e->attributes_nbytes);
		else if (e->tag <= HATF_REALLOC_FREE && e->address != 0)
			stack_counter_add(info->counter, e);
	}
}

static void
info_collect(struct info *info, const struct scan *s, bool complete)
{
	hatf_reader_get_stats(s->reader, &info->read);
	hatf_events_get_stats(s->events, &info->seen);
	info->data_records = 0;
	for (unsigned tag = 0; tag < HATF_METADATA; tag++)
		info->data_records += info->read.record_count[tag];
	info->has_duration = scan_duration_ns(s, &info->duration_ns);
	info->complete = complete;
	info->writer = complete ? 0 : scan_writer(s);
	info->stacks = stack_counter_get(info->counter);
}

static bool
is_hatf(const struct info *info)
{
	return strcmp(hatf_reader_format(info->scan->reader), "hatf") == 0;
}

static const char *
format_name(const struct info *info)
{
	return is_hatf(info) ? "HATF" : hatf_reader_format(info->scan->reader);
}

static const char *
header(const struct info *info, const char *key)
{
	return hatf_reader_header(info->scan->reader, key);
}

/* Return the fraction of allocated words that were sampled. */
static double
sample_rate(const struct info *info)
{
	return hatf_reader_sample_rate(info->scan->reader);
}

static bool
is_sampled(const struct info *info)
{
	return sample_rate(info) < 1;
}

static double
bytes_per_record(const struct info *info)
{
	if (info->data_records == 0)
		return 0;
	return (double)info->read.hatf_nbytes / (double)info->data_records;
}

static json_t *
json_records(const struct info *info)
{
	json_t *const records = json_object();

	for (unsigned tag = 0; tag < HATF_METADATA; tag++)
		json_object_set_new(records, hatf_tag_name(tag),
				    json_u64(info->read.record_count[tag]));
	if (json_object_size(records) == HATF_METADATA)
		return records;
	json_decref(records);
	return NULL;
}

/* Return the number under 'key' in the header, or null. */
static json_t *
json_number(const struct info *info, const char *key)
{
	const char *const text = header(info, key);
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return json_null();

	const unsigned long long n = strtoull(text, &end, 10);

	return *end == '\0' ? json_u64(n) : json_null();
}

/*
 * 'n' counts the blocks, or the bytes, that were live at the start of the
 * trace.  Return 'n' as JSON, or null if the trace does not list these blocks.
 */
static json_t *
json_carried(const struct info *info, uint64_t n)
{
	return info->seen.carried_count != 0 || !scan_began_late(info->scan)
		       ? json_u64(n)
		       : json_null();
}

/* Add the figures about stacks; return the number of keys added. */
static size_t
add_stacks(json_t *object, const struct stack_totals *t)
{
	struct {
		const char *key;
		json_t *value;
	} const keys[] = {
		{ "frames", json_u64(t->frames) },
		{ "stacks", json_u64(t->stacks) },
		{ "sites", json_u64(t->sites) },
		{ "stack_depth_mean", json_real(stack_totals_mean_depth(t)) },
		{ "stack_depth_max", json_u64(t->depth_max) },
		{ "allocations_without_stack", json_u64(t->without_stack) },
		{ "allocations_cut_off", json_u64(t->cut_off) },
		{ "allocations_unknown_caller", json_u64(t->unknown_caller) },
		{ "frames_with_function", json_u64(t->named_frames) },
		{ "frames_with_line", json_u64(t->located_frames) },
	};
	const size_t n = sizeof(keys) / sizeof(keys[0]);

	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, keys[i].key, keys[i].value);
	return n;
}

static bool
print_json(struct out *o, const struct info *info)
{
	const struct hatf_reader_stats *const read = &info->read;
	const struct hatf_events_stats *const seen = &info->seen;
	struct {
		const char *key;
		json_t *value;
	} const keys[] = {
		{ "format", json_string(format_name(info)) },
		{ "version", is_hatf(info) ? json_string("1.0") : json_null() },
		{ "complete", json_boolean(info->complete) },
		{ "written_by",
		  info->writer != 0 ? json_u64(info->writer) : json_null() },
		{ "events", json_u64(seen->event_count) },
		{ "records", json_records(info) },
		{ "lost", json_u64(read->lost_count) },
		{ "threads", json_u64(seen->thread_count) },
		{ "duration_ns", info->has_duration
					 ? json_u64(info->duration_ns)
					 : json_null() },
		{ "file_bytes", json_u64(read->file_nbytes) },
		{ "hatf_bytes", json_u64(read->hatf_nbytes) },
		{ "bytes_per_record", json_real(bytes_per_record(info)) },
		{ "metadata_records",
		  json_u64(read->record_count[HATF_METADATA]) },
		{ "blocks", json_u64(read->block_count) },
		{ "peak_live_bytes", json_u64(seen->peak_live_nbytes) },
		{ "peak_live_objects", json_u64(seen->peak_live_count) },
		{ "end_live_objects", json_u64(seen->live_count) },
		{ "segment", json_number(info, "segment") },
		{ "events_before", json_number(info, "events_before") },
		{ "carried_objects", json_carried(info, seen->carried_count) },
		{ "carried_bytes", json_carried(info, seen->carried_nbytes) },
		{ "heritage", json_heritage(seen->heritage) },
		{ "start_live_objects", json_u64(seen->start_live_count) },
		{ "start_live_bytes", json_u64(seen->start_live_nbytes) },
		{ "inherited_live_objects",
		  json_u64(seen->inherited_live_count) },
		{ "inherited_live_bytes",
		  json_u64(seen->inherited_live_nbytes) },
		{ "pid", json_number(info, "pid") },
		{ "command", json_text(header(info, "command")) },
		{ "clock", json_text(header(info, "clock")) },
		{ "sample_rate", is_sampled(info) ? json_real(sample_rate(info))
						  : json_null() },
	};
	const size_t n = sizeof(keys) / sizeof(keys[0]);
	json_t *const object = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, keys[i].key, keys[i].value);
	return json_print(o, object, n + add_stacks(object, &info->stacks));
}

/* Print a label, padded to the column of the values. */
static void
label(struct out *o, const char *text)
{
	out_printf(o, "  %-18s", text);
}

static void
print_count(struct out *o, const char *text, uint64_t n)
{
	label(o, text);
	out_printf(o, "%s\n", figure_count(n).text);
}

/* Print the command, and "process 4242 on host, 2025-11-21 07:23:00 UTC". */
static void
print_origin(struct out *o, const struct info *info)
{
	const char *const pid = header(info, "pid");
	const char *const host = header(info, "host");
	const char *const start = header(info, "start_time");
	const char *const command = header(info, "command");
	char when[64];
	struct tm tm;

	if (command != NULL) {
		label(o, "command");
		out_text(o, command);
		out_str(o, "\n");
	}
	if (pid == NULL)
		return;
	label(o, "process");
	out_text(o, pid);
	if (host != NULL) {
		out_str(o, " on ");
		out_text(o, host);
	}
	if (start != NULL) {
		const time_t s =
			(time_t)(strtoull(start, NULL, 10) / 1000000000u);

		if (gmtime_r(&s, &tm) != NULL &&
		    strftime(when, sizeof(when), ", %Y-%m-%d %H:%M:%S UTC",
			     &tm) != 0)
			out_str(o, when);
	}
	out_str(o, "\n");
}

/*
 * Print which segment or snapshot the trace is, as in "segment 3, after 123 456
 * events", and what was live at its start.
 */
static void
print_segment(struct out *o, const struct info *info)
{
	const char *const number = header(info, "segment");
	const char *const before = header(info, "events_before");
	const char *const snapshot = header(info, "snapshot_of");
	const uint64_t carried = info->seen.carried_count;
	const bool is_late = scan_began_late(info->scan);

	if (snapshot != NULL) {
		label(o, "snapshot of");
		out_text(o, snapshot);
		out_str(o, "\n");
	}
	if (number != NULL) {
		label(o, "segment");
		out_text(o, number);
		if (before != NULL)
			out_printf(
				o, ", after %s event%s",
				figure_count(strtoull(before, NULL, 10)).text,
				figure_plural(strtoull(before, NULL, 10)));
		out_str(o, "\n");
	}
	if (number == NULL && carried == 0 &&
	    (!is_late || info->seen.heritage != HATF_HERITAGE_NONE))
		return;
	label(o, "live at the start");
	if (carried != 0 || !is_late)
		out_printf(o, "%s object%s, %s%s", figure_count(carried).text,
			   figure_plural(carried),
			   figure_nbytes(info->seen.carried_nbytes).text,
			   is_late ? ", and others that are " : "\n");
	if (is_late)
		out_str(o, "not known\n");
}

/* Print "sampled  about 1 in 50 allocated words; the trace has only ...". */
static void
print_sampling(struct out *o, const struct info *info)
{
	if (!is_sampled(info))
		return;
	label(o, "sampled");
	out_printf(o,
		   "about %s allocated words; the trace has only the blocks "
		   "that contain a sampled word\n",
		   figure_part(sample_rate(info)).text);
}

/* Print "names  none in a raw file of heaptrack; ... adds them". */
static void
print_advice(struct out *o, const struct info *info)
{
	const char *const advice = name_hint_find(info->scan->reader);

	if (advice == NULL)
		return;
	label(o, "names");
	out_printf(o, "%s\n", advice);
}

static void
print_clock(struct out *o, const struct info *info)
{
	const char *const clock = header(info, "clock");
	const char *const unit = header(info, "unit");

	if (clock != NULL) {
		label(o, "clock");
		out_text(o, clock);
		if (unit != NULL && strcmp(unit, "none") != 0) {
			out_str(o, ", in ");
			out_text(o, unit);
		}
		out_str(o, "\n");
	}
	label(o, "duration");
	out_printf(o, "%s\n",
		   info->has_duration ? figure_ns(info->duration_ns).text
				      : "unknown");
}

/* Return 'part' as a percentage of 'whole'. */
static double
percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : 100 * (double)part / (double)whole;
}

/* Print "without a stack  12 of 5 000 allocations (0.2 %)". */
static void
print_share(struct out *o, const char *text, uint64_t n,
	    const struct stack_totals *t)
{
	label(o, text);
	out_printf(o, "%s of ", figure_count(n).text);
	out_printf(o, "%s allocation%s (%.1f %%)\n",
		   figure_count(t->allocations).text,
		   figure_plural(t->allocations), percent(n, t->allocations));
}

static void
print_stacks(struct out *o, const struct stack_totals *t)
{
	label(o, "call stacks");
	out_printf(o, "%s with ", figure_count(t->stacks).text);
	out_printf(o, "%s frame%s, ", figure_count(t->frames).text,
		   figure_plural(t->frames));
	out_printf(o, "%.0f %% with a function, ",
		   percent(t->named_frames, t->frames));
	out_printf(o, "%.0f %% with a source file\n",
		   percent(t->located_frames, t->frames));
	label(o, "sites");
	out_printf(o, "%s, stacks of %.1f frames on average, at most %s\n",
		   figure_count(t->sites).text, stack_totals_mean_depth(t),
		   figure_count(t->depth_max).text);
	print_share(o, "without a stack", t->without_stack, t);
	if (t->cut_off != 0)
		print_share(o, "stack cut off", t->cut_off, t);
	if (t->unknown_caller != 0)
		print_share(o, "unknown caller", t->unknown_caller, t);
}

static void
print_records(struct out *o, const struct info *info)
{
	print_count(o, "events", info->seen.event_count);
	print_count(o, "lost events", info->read.lost_count);
	print_count(o, "records", info->data_records);
	for (unsigned tag = 0; tag < HATF_METADATA; tag++) {
		if (info->read.record_count[tag] == 0)
			continue;
		label(o, "");
		out_printf(o, "%s %s\n",
			   figure_count(info->read.record_count[tag]).text,
			   hatf_tag_name(tag));
	}
	if (info->stacks.frames != 0)
		print_stacks(o, &info->stacks);
	print_count(o, "threads", info->seen.thread_count);
}

static void
print_objects(struct out *o, uint64_t count, uint64_t nbytes)
{
	out_printf(o, "%s object%s, %s", figure_count(count).text,
		   figure_plural(count), figure_nbytes(nbytes).text);
}

static void
print_live(struct out *o, const struct info *info)
{
	const struct hatf_events_stats *const seen = &info->seen;

	label(o, "most live bytes");
	out_printf(o, "%s (%s)\n", figure_count(seen->peak_live_nbytes).text,
		   figure_nbytes(seen->peak_live_nbytes).text);
	print_count(o, "most live objects", seen->peak_live_count);
	if (seen->heritage == HATF_HERITAGE_EXACT) {
		label(o, "live at the start");
		print_objects(o, seen->start_live_count,
			      seen->start_live_nbytes);
		out_str(o, " inherited from the parent\n");
	} else if (seen->heritage != HATF_HERITAGE_NONE) {
		label(o, "live at the start");
		out_printf(o, "unknown: %s\n",
			   hatf_heritage_text(seen->heritage));
	}
	label(o, "live at the end");
	print_objects(o, seen->live_count, seen->live_nbytes);
	if (seen->inherited_live_count != 0) {
		out_str(o, ", of these inherited: ");
		print_objects(o, seen->inherited_live_count,
			      seen->inherited_live_nbytes);
	}
	out_str(o, "\n");
}

static void
print_sizes(struct out *o, const struct info *info)
{
	const struct hatf_reader_stats *const read = &info->read;

	label(o, "file");
	out_printf(o, "%s bytes", figure_count(read->file_nbytes).text);
	if (info->seen.event_count != 0)
		out_printf(o, ", %.2f an event",
			   (double)read->file_nbytes /
				   (double)info->seen.event_count);
	out_str(o, "\n");
	label(o, format_name(info));
	out_printf(o, "%s bytes, %.2f a record\n",
		   figure_count(read->hatf_nbytes).text,
		   bytes_per_record(info));
	if (!is_hatf(info))
		return;
	print_count(o, "metadata records", read->record_count[HATF_METADATA]);
	print_count(o, "blocks", read->block_count);
}

static void
print_human(struct out *o, const struct info *info, bool first)
{
	if (!first)
		out_str(o, "\n");
	out_text(o, message_path(info->scan->path));
	out_printf(o, ": %s%s%s%s, %s\n", format_name(info),
		   is_hatf(info) ? " 1.0" : "",
		   info->read.compressed ? ", " : "",
		   info->read.compressed ? info->read.compression : "",
		   info->complete      ? "complete"
		   : info->writer != 0 ? "NOT COMPLETE YET"
				       : "NOT COMPLETE");
	print_origin(o, info);
	print_segment(o, info);
	print_sampling(o, info);
	print_advice(o, info);
	print_clock(o, info);
	print_records(o, info);
	print_live(o, info);
	print_sizes(o, info);
}

/* Print the figures of one file.  Return the exit status. */
static int
info_file(struct scan *s, const char *path, const struct ask *ask, bool first)
{
	struct out *const o = out_stdout();
	struct info info = {
		.scan = s,
		.read.struct_nbytes = sizeof(info.read),
		.seen.struct_nbytes = sizeof(info.seen),
	};
	char buf[512];
	size_t n;

	if (!scan_open(s, path, &ask->reading, !ask->no_parent))
		return EXIT_BAD_INPUT;
	info.counter = stack_counter_open();
	if (info.counter == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		scan_close(s);
		return EXIT_BAD_INPUT;
	}
	while ((n = scan_read(s)) > 0)
		note_stacks(&info, n);

	const char *const fault = scan_fault(s, buf, sizeof(buf));
	int exit_status = fault == NULL ? EXIT_FINE : EXIT_BAD_INPUT;

	info_collect(&info, s, fault == NULL);
	if (!ask->json)
		print_human(o, &info, first);
	else if (!print_json(o, &info))
		exit_status = EXIT_BAD_INPUT;
	/*
	 * Flush now, to keep the order of the lines if stdout and stderr are
	 * the same file.
	 */
	out_flush(o);
	if (fault != NULL)
		message_print("%s: %s", message_path(path), fault);
	stack_counter_close(info.counter);
	scan_close(s);
	return exit_status;
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;

	if (idx == OPT_JOBS)
		return opt_parse_jobs(value, &ask->reading.jobs);
	if (idx == OPT_NO_PARENT)
		ask->no_parent = true;
	else
		ask->json = true;
	return true;
}

int
command_info(int argc, char **argv)
{
	struct ask ask = {
		.reading.struct_nbytes = sizeof(ask.reading),
	};
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &ask, &exit_status);

	if (first < 0)
		return exit_status;
	if (first == argc)
		return opt_complain(&page, "a FILE is missing");

	struct scan *const s = malloc(sizeof(*s));

	if (s == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	for (int i = first; i < argc && !out_failed(out_stdout()); i++)
		if (info_file(s, argv[i], &ask, i == first) != EXIT_FINE)
			exit_status = EXIT_BAD_INPUT;
	free(s);
	return out_finish(out_stdout(), exit_status);
}

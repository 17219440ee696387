/* SPDX-License-Identifier: MIT */
/* dump.c - hatf dump: print the records of a trace, one per line */
#include "hatf/hatf.h"
#include "tools/commands/commands.h"
#include "tools/sites/site_options.h"
#include "tools/trace/cutoff.h"
#include "tools/ui/escape.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"
#include "tools/ui/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Records per batch. */
#define BATCH 512

enum {
	OPT_META,
	OPT_FROM,
	OPT_COUNT,
	OPT_FORMAT,
	OPT_JOBS,
	OPT_STACKS,
	OPT_SITES, /* the first option of enum site_option */
};

/* Maximum number of frames of a stack to print. */
#define FRAMES_MAX 512

static const struct opt options[] = {
	{ "meta", 'm', NULL, "also show comments, metadata and byte offsets" },
	{ "from", 'f', "N", "begin with record number N; the first one is 0" },
	{ "count", 'n', "N", "stop after N records, not counting metadata" },
	{ "format", 't', "FORMAT",
	  "text (as above), ascii, csv, json, or any other format\n"
	  "of 'hatf convert'" },
	{ "jobs", 'w', "N",
	  "decompress the input with N more threads (default 0)" },
	{ "stacks", 'k', NULL, "also print the call stacks, innermost first" },
	SITE_OPTIONS,
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf dump",
	"[OPTIONS] FILE",
	"Print the records of a trace, one per line:\n"
	"\n"
	"  NUMBER NAME KEY=VALUE...\n"
	"\n"
	"NUMBER counts all records except metadata, and counts comments even\n"
	"if they are not shown.  --meta shows metadata and all comments.\n"
	"Without --meta, the only comments shown are events that the program\n"
	"itself logged, as 'NUMBER event ...'.  The same record has different\n"
	"numbers in different formats; to compare traces, use csv or json.\n"
	"FILE is in any format of 'hatf convert', compressed or not; '-' is\n"
	"standard input.\n",
	"Exit status: 0 if all is well, 1 if the trace is bad or\n"
	"incomplete, 2 for wrong usage.\n",
	false,
	options
};

struct dump {
	struct out *out;
	/*
	 * The first record to print, and how many records remain to be printed;
	 * metadata does not count.
	 */
	uint64_t from, count;
	uint64_t number; /* number of the next record */
	bool meta;
	struct hatf_reader_options reading;
	/* the attributes are those that FORMAT.md defines */
	bool ours;
	const char *format;	    /* a format of libhatf; NULL: "text" */
	struct hatf_writer *writer; /* NULL if 'format' is NULL */
	struct progress progress;
	bool has_stacks; /* print the stacks */
	struct site_options sites;
	struct site_choice choice;
};

/* Return the name of an attribute key, or NULL. */
static const char *
attribute_name(uint8_t key)
{
	switch (key) {
	case HATF_ATTR_ZEROED:
		return "zeroed";
	case HATF_ATTR_CARRIED:
		return "carried";
	case HATF_ATTR_ALIGNMENT:
		return "alignment";
	case HATF_ATTR_PARENT:
		return "parent";
	case HATF_ATTR_TID:
		return "tid";
	case HATF_ATTR_START:
		return "start";
	case HATF_ATTR_STACK:
		return "stack";
	case HATF_ATTR_SAMPLES:
		return "samples";
	case HATF_ATTR_NAME:
		return "name";
	default:
		return NULL;
	}
}

static void
print_raw(struct out *o, const uint8_t *next, const uint8_t *end)
{
	static const char digits[] = "0123456789abcdef";

	out_str(o, " attributes=");
	for (; next < end; next++) {
		const char pair[2] = { digits[*next >> 4], digits[*next & 15] };

		out_bytes(o, pair, 2);
	}
}

static void
print_attribute(struct out *o, const struct hatf_attr_item *item)
{
	const char *const name = attribute_name(item->key);

	if (name != NULL)
		out_printf(o, " %s=", name);
	else
		out_printf(o, " key0x%02x=", item->key);
	switch (item->key >> 6) {
	case 0:
		out_str(o, "1");
		break;
	case 1:
		if (item->key == HATF_ATTR_START)
			out_hex(o, item->value);
		else
			out_u64(o, item->value);
		break;
	default:
		out_quoted(o, item->text, item->text_nbytes);
		break;
	}
}

/*
 * Print each attribute as NAME=VALUE, with the name "key0xNN" for a key that
 * attribute_name() does not know.  Print malformed attributes, and those of
 * other producers, as bytes.
 */
static void
print_attributes(const struct dump *d, const struct hatf_record *r)
{
	const uint8_t *next = r->attributes;
	const uint8_t *end = r->attributes;
	struct hatf_attr_item item;

	if (r->attributes_nbytes == 0)
		return;
	end += r->attributes_nbytes;
	while (d->ours && hatf_attr_next(&next, end, &item))
		print_attribute(d->out, &item);
	if (next != end)
		print_raw(d->out, next, end);
}

static inline void
print_key_u64(struct out *o, const char *key, uint64_t n)
{
	out_str(o, key);
	out_u64(o, n);
}

static inline void
print_key_hex(struct out *o, const char *key, uint64_t n)
{
	out_str(o, key);
	out_hex(o, n);
}

#define EVENT_KIND "HATF event\n"

/*
 * Is the record a comment in which the traced program logged an event of its
 * own?
 */
static bool
is_program_event(const struct hatf_record *r)
{
	return r->tag == HATF_COMMENT &&
	       r->attributes_nbytes >= sizeof(EVENT_KIND) - 1 &&
	       memcmp(r->attributes, EVENT_KIND, sizeof(EVENT_KIND) - 1) == 0;
}

/*
 * Does 's' begin with \xHH for a printable character?  If so, store this
 * character in '*c_ret'.  In the trace, comments must escape some printable
 * characters.  The dump prints these characters without an escape.
 */
static bool
is_needless_escape(const uint8_t *s, size_t nbytes, char *c_ret)
{
	char digits[3] = "";
	char *end;

	if (nbytes < 4 || s[0] != '\\' || s[1] != 'x')
		return false;
	memcpy(digits, s + 2, 2);
	*c_ret = (char)strtoul(digits, &end, 16);
	return *end == '\0' && *c_ret >= ' ' && *c_ret <= '~';
}

/*
 * Print an event that the program logged: all lines of the comment except the
 * first, in one line.
 */
static void
print_program_event(struct out *o, const struct hatf_record *r)
{
	const uint8_t *next = r->attributes + sizeof(EVENT_KIND) - 1;
	const uint8_t *const end = r->attributes + r->attributes_nbytes;
	char text[ESCAPE_MAX_NBYTES];
	size_t nbytes;

	out_str(o, "event ");
	while (next < end) {
		if (is_needless_escape(next, (size_t)(end - next), text)) {
			out_bytes(o, text, 1);
			next += 4;
		} else if (*next != '\n') {
			next += escape_next(next, (size_t)(end - next), false,
					    text, &nbytes);
			out_bytes(o, text, nbytes);
		} else if (++next < end) {
			out_str(o, " ");
		}
	}
}

static void
print_data(const struct dump *d, const struct hatf_record *r)
{
	struct out *const o = d->out;

	switch (r->tag) {
	case HATF_COMMENT:
		out_str(o, " text=");
		out_quoted(o, r->attributes, r->attributes_nbytes);
		return;
	case HATF_ALLOC:
		print_key_u64(o, " size=", r->size);
		print_key_hex(o, " addr=", r->address);
		break;
	case HATF_FREE:
		print_key_hex(o, " addr=", r->address);
		break;
	case HATF_REALLOC_NO_ALLOC:
	case HATF_REALLOC_ALLOC_FREE:
	case HATF_REALLOC_ALLOC:
	case HATF_REALLOC_FREE:
		print_key_u64(o, " size=", r->size);
		print_key_hex(o, " addr=", r->address);
		print_key_hex(o, " old=", r->old_address);
		break;
	default:
		break;
	}
	print_key_u64(o, " thread=", r->thread);
	if (r->tag != HATF_CREATE_THREAD && r->tag != HATF_DESTROY_THREAD)
		print_key_u64(o, " heap=", r->heap);
	print_key_u64(o, " time=", r->time);
	print_attributes(d, r);
}

static void
print_metadata(struct out *o, const struct hatf_metadata *m)
{
	static const char *const fields[] = {
		"size", "address", "time", "thread", "heap", "attributes"
	};
	static const char *const names[] = { "none", "default", "baseOffset",
					     "delta", "stride" };
	static const char *const values[] = { NULL, " default=", " base=",
					      " initial=", " initial=" };
	const bool is_address = m->field == HATF_FIELD_ADDRESS;

	out_str(o, m->op == HATF_SET_FIELD_SIZE ? " setFieldSize field="
						: " setFieldInterpretation "
						  "field=");
	out_str(o, fields[m->field]);
	if (m->op == HATF_SET_FIELD_SIZE) {
		if (m->argument == HATF_WIDTH_V1 ||
		    m->argument == HATF_WIDTH_V2)
			print_key_u64(o, " width=v",
				      m->argument - HATF_WIDTH_V1 + 1u);
		else
			print_key_u64(o, " width=", m->argument);
		return;
	}
	out_str(o, " interpretation=");
	out_str(o, names[m->argument]);
	if (values[m->argument] == NULL)
		return;
	out_str(o, values[m->argument]);
	if (is_address)
		out_hex(o, m->value);
	else
		out_u64(o, m->value);
	/*
	 * A stride is a difference modulo 2^64.  Print it as a signed number,
	 * because a large value is a negative stride.
	 */
	if (m->argument == HATF_STRIDE)
		out_printf(o, " stride=%" PRId64, (int64_t)m->stride);
}

/* Do --from and --meta select this record? */
static bool
is_wanted(const struct dump *d, const struct hatf_record *r)
{
	if (d->number < d->from)
		return false;
	if (d->writer == NULL && is_program_event(r))
		return true;
	if (r->tag == HATF_COMMENT || r->tag == HATF_METADATA)
		return d->meta;
	return true;
}

/* Print the frames of a stack, one per line. */
static void
print_stack(struct dump *d, const struct hatf_record *r)
{
	uint64_t id = stack_view_top(d->choice.view, hatf_record_stack(r));
	char text[STACK_VIEW_TEXT_NBYTES];
	struct hatf_stack stack;
	struct hatf_frame frame;

	for (unsigned n = 0; hatf_stacks_get(d->choice.stacks, id, &stack);
	     n++) {
		if (n == FRAMES_MAX) {
			out_str(d->out, "    ... (more frames)\n");
			break;
		}
		hatf_stacks_get_frame(d->choice.stacks, stack.frame, &frame);
		out_str(d->out, "    ");
		out_str(d->out, stack_view_frame_text(&frame, text));
		out_str(d->out, "\n");
		id = stack_view_caller(d->choice.view, id);
	}
}

static void
print_record(struct dump *d, const struct hatf_record *r)
{
	struct out *const o = d->out;

	if (d->meta) {
		out_hex(o, r->offset);
		out_str(o, " ");
	}
	if (r->tag == HATF_METADATA) {
		out_str(o, "- metadata");
		print_metadata(o, &r->metadata);
	} else if (!d->meta && r->tag == HATF_COMMENT) {
		out_u64(o, d->number);
		out_str(o, " ");
		print_program_event(o, r);
	} else {
		out_u64(o, d->number);
		out_str(o, " ");
		out_str(o, hatf_tag_name(r->tag));
		print_data(d, r);
	}
	out_str(o, "\n");
	if (d->has_stacks && r->tag <= HATF_REALLOC_FREE)
		print_stack(d, r);
}

/*
 * Print the selected records of a batch.  If there is a writer, do not print
 * the records, but move them to the front of the batch and write them.  Return
 * false after the last record that --count allows, or if writing fails.
 */
static bool
dump_batch(struct dump *d, struct hatf_record *records, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n && d->count > 0; i++) {
		const struct hatf_record *const r = &records[i];
		const bool is_chosen = r->tag == HATF_METADATA ||
				       site_choice_keeps(&d->choice, r);

		if (is_chosen && is_wanted(d, r)) {
			if (d->writer == NULL)
				print_record(d, r);
			else
				records[kept++] = *r;
			d->count -= r->tag != HATF_METADATA;
		}
		d->number += r->tag != HATF_METADATA;
	}
	return (d->writer == NULL ||
		hatf_writer_write(d->writer, records, kept) == HATF_OK) &&
	       d->count > 0;
}

static void
show_progress(struct dump *d, const struct hatf_reader *reader)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	if (!d->progress.enabled)
		return;
	hatf_reader_get_stats(reader, &stats);
	progress_update(&d->progress, stats.file_nbytes, d->number);
}

/*
 * Report lost events and an incomplete trace, after the end of the trace.
 * Return the exit status.
 */
static int
report_end(const char *path, const struct hatf_reader *reader,
	   enum hatf_status status)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	hatf_reader_get_stats(reader, &stats);
	if (stats.lost_count != 0)
		message_print("%s: %" PRIu64
			      " events were lost while recording",
			      message_path(path), stats.lost_count);
	if (status != HATF_END) {
		cutoff_report(path, hatf_reader_error(reader));
		return EXIT_BAD_INPUT;
	}
	if (!stats.complete && stats.lost_count == 0)
		message_print("%s: the trace says that it is not complete",
			      message_path(path));
	return stats.complete ? EXIT_FINE : EXIT_BAD_INPUT;
}

static int
dump_reader(struct dump *d, const char *path, struct hatf_reader *reader)
{
	static struct hatf_record records[BATCH];
	enum hatf_status status;
	size_t n;

	for (;;) {
		status = hatf_reader_read(reader, records, BATCH, &n);
		if (status != HATF_OK)
			break;
		if (!dump_batch(d, records, n) || out_failed(d->out)) {
			progress_end(&d->progress);
			return EXIT_FINE;
		}
		show_progress(d, reader);
	}
	progress_end(&d->progress);
	out_flush(d->out);
	return report_end(path, reader, status);
}

/*
 * Open the writer, unless the format is "text".  The writer writes no header,
 * because an excerpt of a trace has none.
 */
static bool
open_writer(struct dump *d)
{
	const struct hatf_writer_options o = {
		.struct_nbytes = sizeof(o),
		.format = d->format,
		.plain = true,
		.bare = true,
		.drop = d->meta ? 0 : HATF_DROP_COMMENTS,
	};
	struct hatf_error err;

	if (d->format == NULL ||
	    hatf_writer_open("-", &o, &d->writer, &err) == HATF_OK)
		return true;
	message_error("standard output", &err);
	return false;
}

static int
close_writer(struct dump *d, int exit_status)
{
	struct hatf_error err;

	if (hatf_writer_close(d->writer, &err) == HATF_OK)
		return exit_status;
	/*
	 * Print no message for EPIPE, because the reader of a pipe may close it
	 * early.
	 */
	if (err.status != HATF_IO || err.sys_errno != EPIPE)
		message_error("standard output", &err);
	return EXIT_BAD_INPUT;
}

static int
dump_file(struct dump *d, const char *path)
{
	const bool metadata = d->meta && d->format == NULL;
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hatf_error err;

	if (metadata)
		d->reading.flags |= HATF_READER_METADATA;
	if (hatf_reader_open(path, &d->reading, &reader, &err) != HATF_OK) {
		message_error(path, &err);
		return EXIT_BAD_INPUT;
	}
	hatf_reader_get_stats(reader, &stats);
	d->ours = stats.ours || stats.foreign;
	if (!open_writer(d)) {
		hatf_reader_close(reader);
		return EXIT_BAD_INPUT;
	}
	progress_begin(&d->progress, path, isatty(STDOUT_FILENO) == 1);

	int exit_status = dump_reader(d, path, reader);

	if (!site_choice_report(&d->choice, path))
		exit_status = EXIT_BAD_INPUT;
	hatf_reader_close(reader);
	return close_writer(d, exit_status);
}

/* Accept "text", too, which is not a format of the library. */
static bool
take_format(struct dump *d, const char *value)
{
	static const char text[] = "text";

	if (!opt_parse_format("--format", value, text, true, &d->format))
		return false;
	if (strcmp(value, text) == 0)
		d->format = NULL;
	return true;
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct dump *const d = ctx;

	switch (idx) {
	case OPT_META:
		d->meta = true;
		return true;
	case OPT_FROM:
		return opt_parse_u64("--from", value, &d->from);
	case OPT_FORMAT:
		return take_format(d, value);
	case OPT_JOBS:
		return opt_parse_jobs(value, &d->reading.jobs);
	case OPT_COUNT:
		return opt_parse_u64("--count", value, &d->count);
	case OPT_STACKS:
		d->has_stacks = true;
		return true;
	default:
		return site_options_take(&d->sites, idx - OPT_SITES, value);
	}
}

int
command_dump(int argc, char **argv)
{
	struct dump d = {
		.out = out_stdout(),
		.count = UINT64_MAX,
		.reading.struct_nbytes = sizeof(d.reading),
	};
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &d, &exit_status);

	if (first < 0)
		return exit_status;
	if (argc - first != 1)
		return opt_complain(&page, argc == first
						   ? "a FILE is missing"
						   : "one FILE at a time");
	if (d.has_stacks && d.format != NULL)
		return opt_complain(&page, "--stacks needs --format text");
	exit_status = site_choice_open(&d.choice, &d.sites)
			      ? dump_file(&d, argv[first])
			      : EXIT_BAD_INPUT;
	site_choice_close(&d.choice);
	return out_finish(d.out, exit_status);
}

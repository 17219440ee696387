/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_source.c - convert files of heaptrack to records (FORMATS
 * "heaptrack")
 *
 * A raw file has the program's calls, with addresses:
 *
 * 	t 7fed81f52b9f 0		stack: address of a call, parent stack
 * 	+ 18 4 55a3d7bad530		size, stack, address
 * 	- 55a3d7bad530
 *
 * An interpreted file has names for the addresses of calls.  From version 1 of
 * the format on, the file does not say which block a call concerns, but only
 * the block's kind (size and stack):
 *
 * 	i 7fed81f52b9f 1 2 3 1a	in object 1, function 2, file 3, line 26
 * 	t 1 0				stack: number of its 'i', parent stack
 * 	a 18 4				kind 0: size, stack
 * 	+ 0
 * 	- 0
 *
 * If several blocks of a kind are live, the file does not say which of them '-'
 * frees.  The source assumes that '-' frees the newest.  The count of temporary
 * allocations (freed before anything else is allocated) is then the same as in
 * heaptrack.  The lifetimes are plausible, since most short-lived blocks are
 * freed in this order.  When a block is allocated, its address is made of its
 * kind and of the number of live blocks of that kind.  So the source needs only
 * one counter per kind, and a file always gives the same addresses.
 */
#include "hatf/formats/common/call_address.h"
#include "hatf/formats/common/textio.h"
#include "hatf/formats/heaptrack/heaptrack.h"

#include <stdlib.h>

#define VERSION_MAX 3

/* From this version on, the length of a string precedes the string. */
#define VERSION_SIZED 3

/* Microseconds per millisecond, which is the unit of the times in a file. */
#define TIME_US 1000

/*
 * An interpreted file lacks the addresses of blocks, so the source makes them.
 * From bit KIND_SHIFT on, an address has the number of the block's kind.  From
 * bit BLOCK_SHIFT on, the address has the number of the block among the blocks
 * of that kind.  Kinds and blocks are numbered from 1.
 */
#define KIND_SHIFT  36
#define BLOCK_SHIFT 4
#define KIND_MAX    (((uint64_t)1 << (64 - KIND_SHIFT)) - 1)
#define BLOCK_MAX   (((uint64_t)1 << (KIND_SHIFT - BLOCK_SHIFT)) - 1)

/*
 * Maximum number of frames of a return address.  There is a limit, because
 * every stack that contains a return address takes memory for all frames of
 * that address.
 */
#define INLINED_MAX 1024

/* The frames of a return address, innermost first. */
struct ip {
	size_t first; /* index in 'frames' of the innermost frame */
	uint32_t count;
};

/* A kind of block: blocks of the same size and stack. */
struct kind {
	uint64_t size; /* size in bytes */
	uint64_t stack;
	uint64_t live_count;
};

/* ----------------------------------------------- lines of interpreted files */

static const char *
on_string(struct source *s, struct heaptrack_fields f)
{
	struct heaptrack *const h = s->ctx;
	struct heaptrack_fields string;
	uint32_t number, *row;

	if (!heaptrack_take_string(&f, h->has_string_lengths, true, &string))
		return "string";
	if (!heaptrack_add_name(s, &string, &number))
		return NULL;
	row = heaptrack_add_row(s, &h->strings, sizeof(*row));
	if (row != NULL)
		*row = number;
	return NULL;
}

/*
 * Parse the number of a string, and store the text of the string; NULL for
 * number 0.
 */
static bool
take_text(const struct heaptrack *h, struct heaptrack_fields *f,
	  const char **text_ret)
{
	const uint32_t *const numbers = h->strings.rows;
	uint64_t n;

	if (!heaptrack_take_number(f, &n) || n > h->strings.count)
		return false;
	*text_ret = n == 0 ? NULL : heaptrack_name(h, numbers[n - 1]);
	return true;
}

/* Parse a function, and the file and line number if they follow. */
static bool
take_place(const struct heaptrack *h, struct heaptrack_fields *f,
	   struct hatf_frame *frame)
{
	frame->file = NULL;
	frame->line = 0;
	return take_text(h, f, &frame->function) &&
	       (f->next == f->end || (take_text(h, f, &frame->file) &&
				      heaptrack_take_number(f, &frame->line)));
}

/* Parse a line "i IP OBJECT [FUNCTION [FILE LINE [FUNCTION FILE LINE]...]]". */
static const char *
on_ip(struct source *s, struct heaptrack_fields f)
{
	struct heaptrack *const h = s->ctx;
	struct hatf_frame frame = { .function = NULL };
	struct ip *const ip = heaptrack_add_row(s, &h->ips, sizeof(*ip));

	if (ip == NULL)
		return NULL;
	*ip = (struct ip){ .first = h->frames.count };
	if (!heaptrack_take_number(&f, &frame.address))
		return "ip";
	frame.address = return_address_of(frame.address);
	if (!take_text(h, &f, &frame.object))
		return "object";
	do {
		uint64_t id;

		if (ip->count == INLINED_MAX) {
			source_stop(s, HATF_LIMIT, "ip");
			return NULL;
		}
		if (f.next != f.end && !take_place(h, &f, &frame))
			return "place";
		if (!heaptrack_add_frame(s, &frame, &id) ||
		    !heaptrack_add_u64(s, &h->frames, id))
			return NULL;
		ip->count++;
	} while (f.next != f.end);
	return NULL;
}

/*
 * Parse a line "t IP-NUMBER PARENT".  'number' is IP-NUMBER, and 'stack' is the
 * stack of trace number PARENT.
 */
static const char *
on_interpreted_trace(struct source *s, uint64_t number, uint64_t stack)
{
	struct heaptrack *const h = s->ctx;
	const struct ip *const ips = h->ips.rows;
	const uint64_t *const frames = h->frames.rows;

	if (number > h->ips.count)
		return "ip";
	if (number != 0) {
		const struct ip *const ip = &ips[number - 1];

		for (uint32_t i = ip->count; i-- > 0;)
			if (!heaptrack_add_stack(s, frames[ip->first + i],
						 &stack))
				return NULL;
	}
	heaptrack_add_u64(s, &h->traces, stack);
	return NULL;
}

/* Parse a line "a SIZE TRACE", which defines a kind of block. */
static const char *
on_kind(struct source *s, struct heaptrack_fields f)
{
	struct heaptrack *const h = s->ctx;
	struct kind kind = { 0 }, *row;
	uint64_t trace;

	if (!heaptrack_take_number(&f, &kind.size))
		return "size";
	if (!heaptrack_take_number(&f, &trace) ||
	    !heaptrack_find_stack(h, trace, &kind.stack))
		return "trace";
	if (h->kinds.count == KIND_MAX) {
		source_stop(s, HATF_LIMIT, "kind");
		return NULL;
	}
	row = heaptrack_add_row(s, &h->kinds, sizeof(*row));
	if (row != NULL)
		*row = kind;
	return NULL;
}

/* ------------------------------------------------------ lines of both kinds */

static const char *
on_trace(struct source *s, struct heaptrack_fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t what, parent, stack;

	if (!heaptrack_take_number(&f, &what))
		return "ip";
	if (!heaptrack_take_number(&f, &parent) ||
	    !heaptrack_find_stack(h, parent, &stack))
		return "parent";
	return h->is_interpreted ? on_interpreted_trace(s, what, stack)
				 : heaptrack_on_raw_trace(s, what, stack);
}

/*
 * Parse a line "v HEAPTRACK FILE": the versions of heaptrack and of the file
 * format.
 */
static const char *
on_version(struct source *s, struct heaptrack_fields f)
{
	/*
	 * Release 1.2.0 wrote files of format 1, which state no format version.
	 */
	const uint64_t release_1_2_0 = 0x10200;
	struct heaptrack *const h = s->ctx;
	uint64_t program;

	/*
	 * Refuse a second file that was appended to the first, because it
	 * numbers its stacks and strings from 1 again.
	 */
	if (h->has_version || !heaptrack_take_number(&f, &program))
		return "version";
	h->has_version = true;
	h->version = 0;
	if (f.next == f.end)
		h->version = program == release_1_2_0;
	else if (!heaptrack_take_number(&f, &h->version) ||
		 h->version > VERSION_MAX)
		return "version";
	h->has_string_lengths = h->version >= VERSION_SIZED;
	return NULL;
}

static const char *
on_time(struct source *s, struct heaptrack_fields f)
{
	struct heaptrack *const h = s->ctx;
	uint64_t time;

	if (!heaptrack_take_number(&f, &time) ||
	    __builtin_mul_overflow(time, TIME_US, &h->time))
		return "time";
	return NULL;
}

static const char *
on_command(struct source *s, struct heaptrack_fields f)
{
	heaptrack_put_header(s, HEAPTRACK_HEADER_COMMAND, f.next,
			     (size_t)(f.end - f.next));
	return NULL;
}

static void
put_header_u64(struct source *s, enum heaptrack_header what, uint64_t n)
{
	uint8_t text[TEXTIO_NUMBER_MAX];

	heaptrack_put_header(s, what, text,
			     (size_t)(textio_put_u64(text, n) - text));
}

static const char *
on_system(struct source *s, struct heaptrack_fields f)
{
	struct heaptrack *const h = s->ctx;
	uint64_t page_nbytes, page_count;

	if (!heaptrack_take_number(&f, &page_nbytes))
		return "page_size";
	if (page_nbytes != 0)
		h->page_nbytes = page_nbytes;
	put_header_u64(s, HEAPTRACK_HEADER_PAGE_SIZE, page_nbytes);
	if (heaptrack_take_number(&f, &page_count) && page_count != 0)
		put_header_u64(s, HEAPTRACK_HEADER_PAGE_COUNT, page_count);
	return NULL;
}

/* Append the time to the text of a note, and add the text as a comment. */
static void
add_note(struct source *s, struct text *t)
{
	struct heaptrack *const h = s->ctx;

	text_line_u64(t, "time", h->time);
	h->has_record = true;
	h->last_time = h->time;
	if (!batch_comment(&h->batch, t->buf, t->used, s->offset))
		source_stop(s, HATF_NO_MEMORY, NULL);
}

/* Parse a line "R PAGES": the resident set of the process, in pages. */
static const char *
on_resident(struct source *s, struct heaptrack_fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t nbytes;
	char buf[96];
	struct text t;

	if (!heaptrack_take_number(&f, &nbytes) ||
	    __builtin_mul_overflow(nbytes, h->page_nbytes, &nbytes))
		return "pages";
	text_init(&t, buf, sizeof(buf));
	text_str(&t, "HATF system\nuse=resident\n");
	text_line_u64(&t, "size", nbytes);
	add_note(s, &t);
	return NULL;
}

/*
 * Parse a line "S TEXT": a suppression, which describes leaks that
 * heaptrack_print must not show.
 */
static const char *
on_suppression(struct source *s, struct heaptrack_fields f)
{
	char buf[HEAPTRACK_NOTE_MAX];
	struct text t;

	text_init(&t, buf, sizeof(buf));
	text_str(&t, "HATF suppression\n");
	text_line(&t, "text", (const char *)f.next, (size_t)(f.end - f.next));
	if (!t.full)
		add_note(s, &t);
	return NULL;
}

/*
 * If the end time of the file is after the time of the last record or comment,
 * add a comment with the end time.
 */
static void
add_end_time(struct source *s)
{
	const struct heaptrack *const h = s->ctx;
	char buf[64];
	struct text t;

	if (h->time <= h->last_time)
		return;
	text_init(&t, buf, sizeof(buf));
	text_str(&t, "HATF time\n");
	add_note(s, &t);
}

/* ------------------------------------------------------------------- events */

static struct hatf_record *
add_record(struct source *s, unsigned tag)
{
	struct heaptrack *const h = s->ctx;
	struct hatf_record *rec;

	h->has_record = true;
	rec = batch_add(&h->batch, tag);
	if (rec == NULL) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return NULL;
	}
	rec->time = h->last_time = h->time;
	rec->offset = s->offset;
	return rec;
}

static void
add_alloc(struct source *s, uint64_t size, uint64_t stack, uint64_t address)
{
	struct heaptrack *const h = s->ctx;
	struct hatf_record *const rec = add_record(s, HATF_ALLOC);

	if (rec == NULL)
		return;
	rec->size = size;
	rec->address = address;
	if (!batch_stack(&h->batch, rec, stack))
		source_stop(s, HATF_NO_MEMORY, NULL);
}

static void
add_free(struct source *s, uint64_t address)
{
	struct hatf_record *const rec = add_record(s, HATF_FREE);

	if (rec != NULL)
		rec->address = address;
}

/*
 * Do the lines '+' and '-' of this file refer to a kind of block by its number?
 */
static bool
has_kinds(const struct heaptrack *h)
{
	return h->is_interpreted && h->version != 0;
}

static struct kind *
take_kind(const struct heaptrack *h, struct heaptrack_fields *f,
	  uint64_t *number_ret)
{
	struct kind *const kinds = h->kinds.rows;

	return heaptrack_take_number(f, number_ret) &&
			       *number_ret < h->kinds.count
		       ? &kinds[*number_ret]
		       : NULL;
}

static uint64_t
kind_address(uint64_t number, uint64_t block)
{
	return (number + 1) << KIND_SHIFT | block << BLOCK_SHIFT;
}

static const char *
on_alloc_of_kind(struct source *s, struct heaptrack_fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t number;
	struct kind *const kind = take_kind(h, &f, &number);

	if (kind == NULL)
		return "kind";
	if (kind->live_count == BLOCK_MAX) {
		source_stop(s, HATF_LIMIT, "kind");
		return NULL;
	}
	add_alloc(s, kind->size, kind->stack,
		  kind_address(number, ++kind->live_count));
	return NULL;
}

/* A free without an allocation gets block number 0, which no block has. */
static const char *
on_free_of_kind(struct source *s, struct heaptrack_fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t number;
	struct kind *const kind = take_kind(h, &f, &number);

	if (kind == NULL)
		return "kind";
	add_free(s, kind_address(number, kind->live_count));
	if (kind->live_count != 0)
		kind->live_count--;
	return NULL;
}

static const char *
on_alloc(struct source *s, struct heaptrack_fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t size, trace, stack, address;

	if (has_kinds(h))
		return on_alloc_of_kind(s, f);
	if (!heaptrack_take_number(&f, &size))
		return "size";
	if (!heaptrack_take_number(&f, &trace) ||
	    !heaptrack_find_stack(h, trace, &stack))
		return "trace";
	if (!heaptrack_take_number(&f, &address))
		return "address";
	add_alloc(s, size, stack, address);
	return NULL;
}

static const char *
on_free(struct source *s, struct heaptrack_fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t address;

	if (has_kinds(h))
		return on_free_of_kind(s, f);
	if (!heaptrack_take_number(&f, &address))
		return "address";
	add_free(s, address);
	return NULL;
}

/*
 * Add comments that define the frames and stacks that a line has added to
 * h->stacks.  Call this after each such line, so that few definitions are
 * waiting at any time.
 */
static void
add_definitions(struct source *s)
{
	struct heaptrack *const h = s->ctx;

	h->has_definitions = false;
	h->has_record = true;
	if (heaptrack_may_grow(s))
		batch_define(&h->batch, h->stacks, s->offset);
}

/* -------------------------------------------------------------------- lines */

enum file_kind {
	BOTH,
	RAW,
	INTERPRETED,
};

struct line_kind {
	char letter;
	/* the kinds of files that may have such lines, an enum file_kind */
	uint8_t file_kind;
	const char *(*take)(struct source *s, struct heaptrack_fields f);
};

/* The kinds of lines; the two most frequent come first. */
static const struct line_kind line_kinds[] = {
	{ '-', BOTH, on_free },
	{ '+', BOTH, on_alloc },
	{ 'a', INTERPRETED, on_kind },
	{ 't', BOTH, on_trace },
	{ 'i', INTERPRETED, on_ip },
	{ 's', INTERPRETED, on_string },
	{ 'c', BOTH, on_time },
	{ 'm', RAW, heaptrack_on_module },
	{ 'x', RAW, heaptrack_on_exe },
	{ 'v', BOTH, on_version },
	{ 'X', BOTH, on_command },
	{ 'I', BOTH, on_system },
	{ 'R', BOTH, on_resident },
	{ 'S', BOTH, on_suppression },
	{ '#', BOTH, NULL },
	/*
	 * A line 'A' says that heaptrack was attached to a running program,
	 * which may free blocks that it allocated before.
	 */
	{ 'A', BOTH, NULL },
};
#define LINE_KIND_COUNT (sizeof(line_kinds) / sizeof(line_kinds[0]))

/*
 * Remember that the file has a line of 'file_kind'.  Return false if the file
 * has had both a line that only raw files have, and a line that only
 * interpreted files have.  While the file has had neither, has_kinds() and
 * on_trace() treat the file as raw.
 */
static bool
note_file_kind(struct heaptrack *h, enum file_kind file_kind)
{
	if (file_kind == RAW)
		h->is_raw = true;
	else if (file_kind == INTERPRETED)
		h->is_interpreted = true;
	return !(h->is_raw && h->is_interpreted);
}

/* Parse a line.  Return NULL, or the malformed field. */
static const char *
take_line(struct source *s, struct textio_cell line)
{
	struct heaptrack *const h = s->ctx;
	const struct line_kind *kind = line_kinds;
	struct heaptrack_fields f = { line.start, line.end };

	if (f.next == f.end)
		return NULL;
	while (kind->letter != (char)*f.next)
		if (++kind == line_kinds + LINE_KIND_COUNT)
			return "line";
	if (!note_file_kind(h, kind->file_kind))
		return "line";
	f.next++;
	if (kind->file_kind == RAW)
		heaptrack_put_header(s, HEAPTRACK_HEADER_RAW,
				     (const uint8_t *)"raw", 3);
	if (kind->letter == 'A')
		heaptrack_put_header(s, HEAPTRACK_HEADER_START,
				     (const uint8_t *)"late", 4);
	if (kind->take == NULL)
		return NULL;
	if (f.next == f.end || *f.next++ != ' ')
		return "line";
	return kind->take(s, f);
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct heaptrack *const h = s->ctx;
	struct textio_cell line;

	batch_begin(&h->batch, records, max);
	while (batch_has_room(&h->batch) && s->err.status == HATF_OK &&
	       textio_line(s, true, &line)) {
		const size_t nbytes = (size_t)(line.end - line.start) + 1;
		const char *const fault = take_line(s, line);

		if (fault != NULL)
			source_stop(s, HATF_BAD_FIELD, fault);
		if (s->err.status != HATF_OK)
			break;
		if (h->has_definitions)
			add_definitions(s);
		if (s->err.status != HATF_OK)
			break;
		s->window.next += nbytes;
		s->offset += nbytes;
		s->line++;
	}
	if (s->err.status == HATF_END)
		add_end_time(s);
	return batch_end(&h->batch, s);
}

/* -------------------------------------------------------- opening, closing */

/*
 * Does the file begin with "v ", a number, and perhaps a blank and another
 * number?
 */
bool
heaptrack_recognize(const uint8_t *bytes, size_t nbytes)
{
	const uint8_t *const end = memchr(bytes, '\n', nbytes);
	struct heaptrack_fields f = { bytes + 2, end };
	uint64_t n;

	return end != NULL && end - bytes > 2 && bytes[0] == 'v' &&
	       bytes[1] == ' ' && heaptrack_take_number(&f, &n) &&
	       (f.next == f.end ||
		(heaptrack_take_number(&f, &n) && f.next == f.end));
}

static enum hatf_status
open_source(struct source *s)
{
	enum hatf_status status = textio_open(s, sizeof(struct heaptrack));
	struct heaptrack *const h = s->ctx;

	if (status != HATF_OK)
		return status;
	string_table_init(&h->names, UINT32_MAX, HATF_FRAME_TEXTS_MAX);
	u64_map_init(&h->known_ips);
	h->page_nbytes = 4096;
	modules_init(&h->modules);
	modules_init(&h->written_modules);
	status = hatf_stacks_open(&h->stacks);
	if (status != HATF_OK)
		return source_stop(s, status, NULL);
	if (!source_header(s, "unit", "us", 2))
		return s->err.status;
	return HATF_OK;
}

static void
close_source(struct source *s)
{
	struct heaptrack *const h = s->ctx;

	if (h == NULL)
		return;
	free(h->traces.rows);
	free(h->strings.rows);
	free(h->ips.rows);
	free(h->frames.rows);
	free(h->kinds.rows);
	modules_fini(&h->modules);
	modules_fini(&h->written_modules);
	u64_map_fini(&h->known_ips);
	string_table_fini(&h->names);
	hatf_stacks_close(h->stacks);
	batch_fini(&h->batch);
	textio_close(s);
}

const struct source_ops heaptrack_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

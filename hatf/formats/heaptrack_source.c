/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_source.c - heaptrack's files into records (FORMAT "heaptrack")
 *
 * A raw file has what the program did, with addresses:
 *
 *	t 7fed81f52b9f 0		a stack: return address, stack of the caller
 *	+ 18 4 55a3d7bad530		size, stack, address
 *	- 55a3d7bad530
 *
 * An interpreted one has names instead, and of a block no more than what kind it is:
 *
 *	i 7fed81f52b9f 1 2 3 1a		address in object 1, function 2, file 3:26
 *	t 1 0				a stack: its 'i', stack of the caller
 *	a 18 4				kind 0: size, stack
 *	+ 0
 *	- 0
 *
 * Which of several live blocks of a kind '-' frees is not known.  It is taken to
 * be the one that was allocated last.  That keeps heaptrack's count of temporary
 * allocations, those freed before anything else is allocated, and the lifetimes
 * that it makes are those of a stack, which most short-lived blocks have.  A block's address is
 * then its kind and how many of that kind live: all that must be kept is a number
 * a kind, and the same file always gives the same addresses.
 */
#include "batch.h"
#include "format.h"
#include "live.h"
#include "names.h"
#include "textio.h"

#include <stdlib.h>

#define VERSION_MAX 3

/* From this one on, a string has its length in front of it. */
#define VERSION_SIZED 3

/* Microseconds of a time in the file. */
#define TIME_US 1000

/* An address of an interpreted file: the kind from 1 on, the block from 1 on. */
#define KIND_SHIFT  36
#define BLOCK_SHIFT 4
#define KIND_MAX    (((uint64_t)1 << (64 - KIND_SHIFT)) - 1)
#define BLOCK_MAX   (((uint64_t)1 << (KIND_SHIFT - BLOCK_SHIFT)) - 1)

/*
 * Pieces of objects in memory at a time.  A process has some hundreds; finding a
 * place for one takes time that grows with their number.
 */
#define PIECE_MAX 16384

/* Frames of an address: a stack has them each time the address comes. */
#define INLINED_MAX 1024

/* The frames of a return address: the innermost function first. */
struct ip {
	size_t first; /* in 'frames' */
	uint32_t count;
};

/* Blocks that are alike. */
struct kind {
	uint64_t size; /* bytes */
	uint64_t stack;
	uint64_t live_count;
};

/* A piece of an object in the traced process's memory. */
struct piece {
	uint64_t start, end;
	uint32_t name; /* in 'names' */
};

/* Rows that grow. */
struct rows {
	void *rows;
	size_t count, cap;
};

struct heaptrack {
	struct batch batch;
	struct hatf_stacks *stacks;
	struct names names;
	struct rows traces; /* uint64_t: stacks */
	uint64_t version;
	uint64_t time; /* microseconds */
	bool is_raw, is_interpreted;
	bool has_news; /* definitions that have not been told */
	bool has_record;
	unsigned told; /* what the header has, as bits '1 << enum told' */
	/* Of interpreted files. */
	struct rows strings; /* uint32_t: numbers in 'names', from 1 on */
	struct rows ips;     /* struct ip, from 1 on */
	struct rows frames;  /* uint64_t */
	struct rows kinds;   /* struct kind */
	/* Of raw files. */
	uint32_t exe;	       /* in 'names'; 0: not known */
	struct rows pieces;    /* struct piece, by address */
	struct live known_ips; /* address -> 'object' is its frame */
};

/* What may be told once of the whole trace, in front of its records. */
enum told {
	TOLD_COMMAND,
	TOLD_EXE,
	TOLD_PAGE_SIZE,
	TOLD_START,
};

/* What is left of a line. */
struct fields {
	const uint8_t *next, *end;
};

/* ------------------------------------------------------------------- pieces */

/* A number, in hexadecimal digits, and the blank behind it. */
static bool
take_number(struct fields *f, uint64_t *n_ret)
{
	const uint8_t *p = f->next;
	uint64_t n = 0;

	for (; p != f->end && *p != ' '; p++) {
		unsigned digit = *p - (unsigned)'0';

		if (digit > 9)
			digit = *p - (unsigned)'a' + 10;
		if (digit > 15 || (digit > 9 && *p < 'a') || n >> 60 != 0)
			return false;
		n = n << 4 | digit;
	}
	if (p == f->next)
		return false;
	f->next = p == f->end ? p : p + 1;
	*n_ret = n;
	return true;
}

/*
 * A string: behind its length in the newer files; in the older ones a word, or
 * the 'rest' of the line.
 */
static bool
take_string(const struct heaptrack *h, struct fields *f, bool rest,
	    struct fields *string_ret)
{
	uint64_t nbytes = (uint64_t)(f->end - f->next);

	if (h->version >= VERSION_SIZED) {
		/* The blank behind the length is there if the string is. */
		if (!take_number(f, &nbytes) ||
		    nbytes > (uint64_t)(f->end - f->next))
			return false;
	} else if (!rest && nbytes != 0) {
		const uint8_t *const blank = memchr(f->next, ' ', nbytes);

		if (blank != NULL)
			nbytes = (uint64_t)(blank - f->next);
	}
	string_ret->next = f->next;
	string_ret->end = f->next + nbytes;
	f->next = string_ret->end;
	if (f->next != f->end && *f->next++ != ' ')
		return false;
	return true;
}

/* Room for one more; NULL if there is no memory, and reading has stopped. */
static void *
add_row(struct source *s, struct rows *r, size_t row_nbytes)
{
	if (r->count == r->cap) {
		const size_t cap = r->cap == 0 ? 64 : 2 * r->cap;
		void *const rows = reallocarray(r->rows, cap, row_nbytes);

		if (rows == NULL) {
			source_stop(s, HATF_NO_MEMORY, NULL);
			return NULL;
		}
		r->rows = rows;
		r->cap = cap;
	}
	return (uint8_t *)r->rows + r->count++ * row_nbytes;
}

static bool
add_u64(struct source *s, struct rows *r, uint64_t value)
{
	uint64_t *const row = add_row(s, r, sizeof(*row));

	if (row != NULL)
		*row = value;
	return row != NULL;
}

/* Stop for what a table says; false. */
static bool
refuse(struct source *s, enum hatf_status status)
{
	source_stop(s, status, NULL);
	return false;
}

static bool
add_name(struct source *s, const struct fields *string, uint32_t *number_ret)
{
	struct heaptrack *const h = s->ctx;
	const enum hatf_status status =
		names_put(&h->names, string->next,
			  (size_t)(string->end - string->next), number_ret);

	return status == HATF_OK || refuse(s, status);
}

static const char *
name(const struct heaptrack *h, uint32_t number)
{
	return number == 0 ? NULL : names_get(&h->names, number);
}

static bool
add_frame(struct source *s, const struct hatf_frame *frame, uint64_t *id_ret)
{
	struct heaptrack *const h = s->ctx;
	const enum hatf_status status =
		hatf_stacks_add_frame(h->stacks, frame, id_ret);

	h->has_news = true;
	return status == HATF_OK || refuse(s, status);
}

static bool
add_stack(struct source *s, uint64_t frame, uint64_t *stack)
{
	struct heaptrack *const h = s->ctx;
	const enum hatf_status status =
		hatf_stacks_add(h->stacks, *stack, frame, stack);

	h->has_news = true;
	return status == HATF_OK || refuse(s, status);
}

/* The stack of a trace number, 0 being none. */
static bool
find_stack(const struct heaptrack *h, uint64_t trace, uint64_t *stack_ret)
{
	const uint64_t *const stacks = h->traces.rows;

	*stack_ret = 0;
	if (trace > h->traces.count)
		return false;
	if (trace != 0)
		*stack_ret = stacks[trace - 1];
	return true;
}

static void
tell_header(struct source *s, enum told what, const uint8_t *value,
	    size_t nbytes)
{
	static const char *const keys[] = { [TOLD_COMMAND] = "command",
					    [TOLD_EXE] = "exe",
					    [TOLD_PAGE_SIZE] = "page_size",
					    [TOLD_START] = "start" };
	struct heaptrack *const h = s->ctx;

	if (h->has_record || (h->told & 1u << what) != 0)
		return;
	h->told |= 1u << what;
	source_header(s, keys[what], (const char *)value, nbytes);
}

/* ------------------------------------------------- lines of interpreted files */

static const char *
on_string(struct source *s, struct fields f)
{
	struct heaptrack *const h = s->ctx;
	struct fields string;
	uint32_t number, *row;

	if (!take_string(h, &f, true, &string))
		return "string";
	if (!add_name(s, &string, &number))
		return NULL;
	row = add_row(s, &h->strings, sizeof(*row));
	if (row != NULL)
		*row = number;
	return NULL;
}

/* The number of a string, as text; 0 stands for none. */
static bool
take_text(const struct heaptrack *h, struct fields *f, const char **text_ret)
{
	const uint32_t *const numbers = h->strings.rows;
	uint64_t n;

	if (!take_number(f, &n) || n > h->strings.count)
		return false;
	*text_ret = n == 0 ? NULL : name(h, numbers[n - 1]);
	return true;
}

/* A function, with file and line if there is one. */
static bool
take_place(const struct heaptrack *h, struct fields *f,
	   struct hatf_frame *frame)
{
	frame->file = NULL;
	frame->line = 0;
	return take_text(h, f, &frame->function) &&
	       (f->next == f->end || (take_text(h, f, &frame->file) &&
				      take_number(f, &frame->line)));
}

/* i IP OBJECT [FUNCTION [FILE LINE [FUNCTION FILE LINE]...]] */
static const char *
on_ip(struct source *s, struct fields f)
{
	struct heaptrack *const h = s->ctx;
	struct hatf_frame frame = { .function = NULL };
	struct ip *const ip = add_row(s, &h->ips, sizeof(*ip));

	if (ip == NULL)
		return NULL;
	*ip = (struct ip){ .first = h->frames.count };
	if (!take_number(&f, &frame.address))
		return "ip";
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
		if (!add_frame(s, &frame, &id) || !add_u64(s, &h->frames, id))
			return NULL;
		ip->count++;
	} while (f.next != f.end);
	return NULL;
}

/* t NUMBER OF i, PARENT */
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
			if (!add_stack(s, frames[ip->first + i], &stack))
				return NULL;
	}
	add_u64(s, &h->traces, stack);
	return NULL;
}

/* a SIZE TRACE */
static const char *
on_kind(struct source *s, struct fields f)
{
	struct heaptrack *const h = s->ctx;
	struct kind kind = { 0 }, *row;
	uint64_t trace;

	if (!take_number(&f, &kind.size))
		return "size";
	if (!take_number(&f, &trace) || !find_stack(h, trace, &kind.stack))
		return "trace";
	if (h->kinds.count == KIND_MAX) {
		source_stop(s, HATF_LIMIT, "kind");
		return NULL;
	}
	row = add_row(s, &h->kinds, sizeof(*row));
	if (row != NULL)
		*row = kind;
	return NULL;
}

/* --------------------------------------------------------- lines of raw files */

/* x NAME: of the program */
static const char *
on_exe(struct source *s, struct fields f)
{
	struct heaptrack *const h = s->ctx;
	struct fields string;

	if (!take_string(h, &f, true, &string))
		return "exe";
	if (add_name(s, &string, &h->exe))
		tell_header(s, TOLD_EXE, string.next,
			    (size_t)(string.end - string.next));
	return NULL;
}

/* Pieces that end before 'address'. */
static size_t
count_before(const struct heaptrack *h, uint64_t address)
{
	const struct piece *const pieces = h->pieces.rows;
	size_t first = 0, count = h->pieces.count;

	while (count != 0) {
		const size_t half = count / 2;

		if (pieces[first + half].end < address) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first;
}

static void
add_piece(struct source *s, const struct piece *piece)
{
	struct heaptrack *const h = s->ctx;
	const size_t place = count_before(h, piece->end);
	struct piece *pieces;

	if (h->pieces.count == PIECE_MAX) {
		source_stop(s, HATF_LIMIT, "module");
		return;
	}
	if (add_row(s, &h->pieces, sizeof(*pieces)) == NULL)
		return;
	pieces = h->pieces.rows;
	memmove(pieces + place + 1, pieces + place,
		(h->pieces.count - 1 - place) * sizeof(*pieces));
	pieces[place] = *piece;
}

/* m NAME BASE [OFFSET SIZE]...; or m -: there are no objects any more */
static const char *
on_module(struct source *s, struct fields f)
{
	struct heaptrack *const h = s->ctx;
	struct piece piece;
	struct fields string;
	uint64_t base, size;
	size_t nbytes;

	if (!take_string(h, &f, false, &string))
		return "module";
	nbytes = (size_t)(string.end - string.next);
	if (nbytes == 1 && string.next[0] == '-') {
		h->pieces.count = 0;
		return NULL;
	}
	if (!take_number(&f, &base))
		return "module";
	if (!add_name(s, &string, &piece.name))
		return NULL;
	/* The program itself. */
	if (nbytes == 1 && string.next[0] == 'x' && h->exe != 0)
		piece.name = h->exe;
	while (f.next != f.end && s->err.status == HATF_OK) {
		if (!take_number(&f, &piece.start) || !take_number(&f, &size))
			return "module";
		if (__builtin_add_overflow(piece.start, base, &piece.start) ||
		    __builtin_add_overflow(piece.start, size, &piece.end))
			return "module";
		add_piece(s, &piece);
	}
	return NULL;
}

/* The frame of an address, in the object that is there. */
static bool
find_frame(struct source *s, uint64_t address, uint64_t *id_ret)
{
	struct heaptrack *const h = s->ctx;
	const struct piece *const pieces = h->pieces.rows;
	const size_t place = count_before(h, address);
	struct hatf_frame frame = { .address = address };
	struct live_block *block;
	bool added;

	block = live_put(&h->known_ips, address, &added);
	if (block == NULL)
		return refuse(s, HATF_NO_MEMORY);
	if (added) {
		if (place < h->pieces.count && pieces[place].start <= address)
			frame.object = name(h, pieces[place].name);
		if (!add_frame(s, &frame, &block->object))
			return false;
	}
	*id_ret = block->object;
	return true;
}

/* t IP PARENT */
static const char *
on_raw_trace(struct source *s, uint64_t address, uint64_t stack)
{
	struct heaptrack *const h = s->ctx;
	uint64_t frame;

	if (address != 0 &&
	    (!find_frame(s, address, &frame) || !add_stack(s, frame, &stack)))
		return NULL;
	add_u64(s, &h->traces, stack);
	return NULL;
}

/* ------------------------------------------------------- lines of both kinds */

static const char *
on_trace(struct source *s, struct fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t what, parent, stack;

	if (!take_number(&f, &what))
		return "ip";
	if (!take_number(&f, &parent) || !find_stack(h, parent, &stack))
		return "parent";
	return h->is_interpreted ? on_interpreted_trace(s, what, stack)
				 : on_raw_trace(s, what, stack);
}

/* v HEAPTRACK FILE: the versions of the program and of the format */
static const char *
on_version(struct source *s, struct fields f)
{
	/* It had the number of the program where that of the file belongs. */
	const uint64_t odd_one = 0x10200;
	struct heaptrack *const h = s->ctx;
	uint64_t program;

	h->version = 0;
	if (!take_number(&f, &program))
		return "version";
	if (f.next == f.end)
		h->version = program == odd_one;
	else if (!take_number(&f, &h->version) || h->version > VERSION_MAX)
		return "version";
	return NULL;
}

static const char *
on_time(struct source *s, struct fields f)
{
	struct heaptrack *const h = s->ctx;
	uint64_t time;

	if (!take_number(&f, &time) ||
	    __builtin_mul_overflow(time, TIME_US, &h->time))
		return "time";
	return NULL;
}

static const char *
on_command(struct source *s, struct fields f)
{
	tell_header(s, TOLD_COMMAND, f.next, (size_t)(f.end - f.next));
	return NULL;
}

static const char *
on_system(struct source *s, struct fields f)
{
	uint8_t text[TEXTIO_NUMBER_MAX];
	uint64_t page_size;

	if (!take_number(&f, &page_size))
		return "page_size";
	tell_header(s, TOLD_PAGE_SIZE, text,
		    (size_t)(textio_put_u64(text, page_size) - text));
	return NULL;
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
	rec->time = h->time;
	rec->offset = s->offset;
	return rec;
}

static void
tell_alloc(struct source *s, uint64_t size, uint64_t stack, uint64_t address)
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
tell_free(struct source *s, uint64_t address)
{
	struct hatf_record *const rec = add_record(s, HATF_FREE);

	if (rec != NULL)
		rec->address = address;
}

/* Do '+' and '-' name a kind of block? */
static bool
has_kinds(const struct heaptrack *h)
{
	return h->is_interpreted && h->version != 0;
}

static struct kind *
take_kind(const struct heaptrack *h, struct fields *f, uint64_t *number_ret)
{
	struct kind *const kinds = h->kinds.rows;

	return take_number(f, number_ret) && *number_ret < h->kinds.count
		       ? &kinds[*number_ret]
		       : NULL;
}

static uint64_t
kind_address(uint64_t number, uint64_t block)
{
	return (number + 1) << KIND_SHIFT | block << BLOCK_SHIFT;
}

static const char *
on_alloc_of_kind(struct source *s, struct fields f)
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
	tell_alloc(s, kind->size, kind->stack,
		   kind_address(number, ++kind->live_count));
	return NULL;
}

/* One that was never allocated has an address that no block gets. */
static const char *
on_free_of_kind(struct source *s, struct fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t number;
	struct kind *const kind = take_kind(h, &f, &number);

	if (kind == NULL)
		return "kind";
	tell_free(s, kind_address(number, kind->live_count));
	if (kind->live_count != 0)
		kind->live_count--;
	return NULL;
}

static const char *
on_alloc(struct source *s, struct fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t size, trace, stack, address;

	if (has_kinds(h))
		return on_alloc_of_kind(s, f);
	if (!take_number(&f, &size))
		return "size";
	if (!take_number(&f, &trace) || !find_stack(h, trace, &stack))
		return "trace";
	if (!take_number(&f, &address))
		return "address";
	tell_alloc(s, size, stack, address);
	return NULL;
}

static const char *
on_free(struct source *s, struct fields f)
{
	const struct heaptrack *const h = s->ctx;
	uint64_t address;

	if (has_kinds(h))
		return on_free_of_kind(s, f);
	if (!take_number(&f, &address))
		return "address";
	tell_free(s, address);
	return NULL;
}

/*
 * Tell what a line has defined.  Were it left until it is referred to, there might
 * be any number of definitions.
 */
static void
tell_news(struct source *s)
{
	struct heaptrack *const h = s->ctx;

	h->has_news = false;
	h->has_record = true;
	batch_define(&h->batch, h->stacks, s->offset);
}

/* -------------------------------------------------------------------- lines */

enum only {
	BOTH,
	RAW,
	INTERPRETED,
};

struct line_kind {
	char letter;
	uint8_t only; /* enum only: such files have it */
	const char *(*take)(struct source *s, struct fields f);
};

/* Most frequent first. */
static const struct line_kind line_kinds[] = {
	{ '-', BOTH, on_free },
	{ '+', BOTH, on_alloc },
	{ 'a', INTERPRETED, on_kind },
	{ 't', BOTH, on_trace },
	{ 'i', INTERPRETED, on_ip },
	{ 's', INTERPRETED, on_string },
	{ 'c', BOTH, on_time },
	{ 'm', RAW, on_module },
	{ 'x', RAW, on_exe },
	{ 'v', BOTH, on_version },
	{ 'X', BOTH, on_command },
	{ 'I', BOTH, on_system },
	/* Comments; what heaptrack_print is not to show; resident memory. */
	{ '#', BOTH, NULL },
	{ 'S', BOTH, NULL },
	{ 'R', BOTH, NULL },
	/* The program had begun before: what is freed then may be older. */
	{ 'A', BOTH, NULL },
};
#define LINE_KIND_COUNT (sizeof(line_kinds) / sizeof(line_kinds[0]))

/* Until something says what the file is, it is taken to be raw. */
static bool
note_only(struct heaptrack *h, enum only only)
{
	if (only == RAW)
		h->is_raw = true;
	else if (only == INTERPRETED)
		h->is_interpreted = true;
	return !(h->is_raw && h->is_interpreted);
}

/* Take a line; NULL, or what is malformed. */
static const char *
take_line(struct source *s, struct textio_cell line)
{
	struct heaptrack *const h = s->ctx;
	const struct line_kind *kind = line_kinds;
	struct fields f = { line.start, line.end };

	if (f.next == f.end)
		return NULL;
	while (kind->letter != (char)*f.next)
		if (++kind == line_kinds + LINE_KIND_COUNT)
			return "line";
	if (!note_only(h, kind->only))
		return "line";
	f.next++;
	if (kind->letter == 'A')
		tell_header(s, TOLD_START, (const uint8_t *)"late", 4);
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
	while (batch_wants(&h->batch) && s->err.status == HATF_OK &&
	       textio_line(s, true, &line)) {
		const size_t nbytes = (size_t)(line.end - line.start) + 1;
		const char *const fault = take_line(s, line);

		if (fault != NULL)
			source_stop(s, HATF_BAD_FIELD, fault);
		if (s->err.status != HATF_OK)
			break;
		if (h->has_news)
			tell_news(s);
		s->window.next += nbytes;
		s->offset += nbytes;
		s->line++;
	}
	return batch_end(&h->batch, s);
}

/* -------------------------------------------------------- opening, closing */

/* "v ", a number, and a blank or the end of the line. */
bool
heaptrack_recognise(const uint8_t *bytes, size_t nbytes)
{
	const uint8_t *const end = memchr(bytes, '\n', nbytes);
	struct fields f = { bytes + 2, end };
	uint64_t n;

	return end != NULL && end - bytes > 2 && bytes[0] == 'v' &&
	       bytes[1] == ' ' && take_number(&f, &n) &&
	       (f.next == f.end || (take_number(&f, &n) && f.next == f.end));
}

static enum hatf_status
open_source(struct source *s)
{
	enum hatf_status status = textio_open(s, sizeof(struct heaptrack));
	struct heaptrack *const h = s->ctx;

	if (status != HATF_OK)
		return status;
	names_init(&h->names, UINT32_MAX, HATF_FRAME_TEXTS_MAX);
	live_init(&h->known_ips);
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
	free(h->pieces.rows);
	live_fini(&h->known_ips);
	names_fini(&h->names);
	hatf_stacks_close(h->stacks);
	batch_fini(&h->batch);
	textio_close(s);
}

const struct source_ops heaptrack_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

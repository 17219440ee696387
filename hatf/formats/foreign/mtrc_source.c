/* SPDX-License-Identifier: MIT */
/*
 * mtrc_source.c - convert mpatrol's tracing files to records
 *
 * A free or realloc names its block only by the allocation index, so the source
 * maps the indices of live blocks to their addresses.  A place of a call is a
 * function, a file and a line.  A program has a few thousand places; a cache of
 * recent places saves looking up their names.
 */
#include "hatf/formats/foreign/mtrc.h"

#include "hatf/codec/bytes.h"
#include "hatf/formats/common/batch.h"
#include "hatf/formats/common/paged_map.h"

#include <stdlib.h>

/*
 * The longest name that is accepted, in bytes; mptrace itself fails at 1024.  A
 * frame definition has room for two such names, even if every byte is escaped.
 */
#define NAME_MAX_NBYTES 4096

/*
 * Length in bytes of the longest number, and of the longest record: a letter,
 * five numbers and two names.
 */
#define NUMBER_NBYTES 10
#define RECORD_NBYTES (1 + 5 * NUMBER_NBYTES + 2 * (2 + NAME_MAX_NBYTES))

/*
 * A block with an unknown index gets this bit plus the index as its address.
 * On Linux, no program has such an address.
 */
#define UNKNOWN_BIT ((uint64_t)1 << 63)

/*
 * The number of places that are cached: a power of 2, small enough for the
 * first-level cache.
 */
#define SITE_COUNT 1024

enum {
	FUNCTION,
	FILE_NAME,
	KIND_COUNT
};

/* An entry of the file's name table. */
struct name {
	char *text;	 /* the name; NULL: not defined */
	uint32_t serial; /* serial number of this definition, from 1 */
};

/*
 * The place of a call.  'names' contains the serial numbers of the names of the
 * function and of the file; 0: none.
 */
struct site {
	uint32_t names[KIND_COUNT], line;
	uint32_t stack; /* id of its stack; 0: the place is unknown */
};

struct mtrc {
	struct batch batch;
	/* maps the index of a live block to its address */
	struct paged_map blocks;
	uint64_t highest_index; /* highest index so far */
	struct hatf_stacks *stacks;
	bool has_sites;
	uint32_t serial; /* serial number of the latest definition of a name */
	struct name names[KIND_COUNT][MTRC_NAME_COUNT];
	struct site sites[SITE_COUNT];
};

/* ------------------------------------------------------------------- items */

/*
 * The part of a record that is not decoded yet, and the first error in the
 * record.
 */
struct cursor {
	const uint8_t *next, *end;
	enum hatf_status status;
	const char *field; /* name of the field that is being decoded */
};

static bool
fail(struct cursor *c, enum hatf_status status)
{
	c->status = status;
	return false;
}

/*
 * Decode a number byte by byte.  Use this function for numbers that are long or
 * near the end of the window.
 */
static bool
take_long_number(struct cursor *c, uint64_t *n_ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0; c->next != c->end; shift += 7) {
		const uint64_t bits = *c->next & 0x7f;

		if (shift > 63 || (shift == 63 && bits > 1))
			return fail(c, HATF_BAD_FIELD);
		n |= bits << shift;
		if (*c->next++ < 0x80) {
			*n_ret = n;
			return true;
		}
	}
	return fail(c, HATF_TRUNCATED);
}

/*
 * Decode a ULEB128 number.  Up to 8 bytes are decoded at once.  The number ends
 * at the first byte whose top bit is 0.  Three steps of shifts join the groups
 * of 7 bits pairwise.
 */
static inline bool
take_number(struct cursor *c, const char *field, uint64_t *n_ret)
{
	uint64_t n, last;

	c->field = field;
	if (c->end - c->next < 8)
		return take_long_number(c, n_ret);
	n = get_le64(c->next);
	last = ~n & UINT64_C(0x8080808080808080);
	if (last == 0)
		return take_long_number(c, n_ret);
	c->next += (unsigned)__builtin_ctzll(last) / 8 + 1;
	n &= last ^ (last - 1);
	n = (n & UINT64_C(0x007f007f007f007f)) |
	    (n & UINT64_C(0x7f007f007f007f00)) >> 1;
	n = (n & UINT64_C(0x00003fff00003fff)) |
	    (n & UINT64_C(0x3fff00003fff0000)) >> 2;
	n = (n & UINT64_C(0x000000000fffffff)) |
	    (n & UINT64_C(0x0fffffff00000000)) >> 4;
	*n_ret = n;
	return true;
}

/* Decode a name and store it in a table entry. */
static bool
define_name(struct mtrc *m, struct cursor *c, struct name *name)
{
	const size_t left = (size_t)(c->end - c->next);
	const size_t most =
		left <= NAME_MAX_NBYTES ? left : NAME_MAX_NBYTES + 1;
	const uint8_t *const end =
		most == 0 ? NULL : memchr(c->next, '\0', most);
	char *text;

	if (end == NULL)
		return fail(c, most == left ? HATF_TRUNCATED : HATF_LIMIT);
	text = malloc((size_t)(end - c->next) + 1);
	if (text == NULL)
		return fail(c, HATF_NO_MEMORY);
	memcpy(text, c->next, (size_t)(end - c->next) + 1);
	free(name->text);
	name->text = text;
	/*
	 * After UINT32_MAX, there are no more serial numbers, and find_stack()
	 * caches no more places.
	 */
	if (m->serial != UINT32_MAX)
		m->serial++;
	name->serial = m->serial;
	c->next = end + 1;
	return true;
}

/*
 * Decode a name.  '*name_ret' is NULL if the record has no name in this field.
 */
static bool
take_name(struct mtrc *m, struct cursor *c, unsigned kind, const char *field,
	  const struct name **name_ret)
{
	struct name *name;
	uint8_t idx;

	c->field = field;
	if (c->next == c->end)
		return fail(c, HATF_TRUNCATED);
	idx = *c->next++;
	*name_ret = NULL;
	if (idx == 0)
		return true;
	if (idx == MTRC_NAME_NEW)
		return fail(c, HATF_BAD_FIELD);
	name = &m->names[kind][idx & ~MTRC_NAME_NEW];
	if ((idx & MTRC_NAME_NEW) != 0 && !define_name(m, c, name))
		return false;
	if (name->text == NULL)
		return fail(c, HATF_BAD_FIELD);
	*name_ret = name;
	return true;
}

/* -------------------------------------------------------------------- sites */

/*
 * Define a stack whose only frame is the place.  '*stack_ret' is 0 if the place
 * is unknown.
 */
static enum hatf_status
define_site(struct mtrc *m, const struct name *const names[KIND_COUNT],
	    uint64_t line, uint64_t *stack_ret)
{
	const struct name *const function = names[FUNCTION];
	const struct name *const file = names[FILE_NAME];
	const struct hatf_frame frame = {
		.function = function == NULL ? NULL : function->text,
		.file = file == NULL ? NULL : file->text,
		.line = line,
	};
	enum hatf_status status;
	uint64_t id;

	*stack_ret = 0;
	if ((frame.function == NULL || frame.function[0] == '\0') &&
	    (frame.file == NULL || frame.file[0] == '\0') && line == 0)
		return HATF_OK;
	status = hatf_stacks_add_frame(m->stacks, &frame, &id);
	if (status != HATF_OK)
		return status;
	return hatf_stacks_add(m->stacks, 0, id, stack_ret);
}

/*
 * Find the stack of a place.  If no comment has defined this stack yet, add the
 * definition to the batch.  The caller then adds the record of the call.
 */
static bool
find_stack(struct mtrc *m, struct cursor *c, uint64_t offset,
	   const struct name *const names[KIND_COUNT], uint64_t line,
	   uint64_t *stack_ret)
{
	const uint32_t function = names[FUNCTION] ? names[FUNCTION]->serial : 0;
	const uint32_t file = names[FILE_NAME] ? names[FILE_NAME]->serial : 0;
	struct site *const site =
		&m->sites[((function * 31 + file) * 127 + (uint32_t)line) %
			  SITE_COUNT];

	if (site->names[FUNCTION] == function &&
	    site->names[FILE_NAME] == file && site->line == line) {
		*stack_ret = site->stack;
		return true;
	}
	c->status = define_site(m, names, line, stack_ret);
	if (c->status != HATF_OK)
		return false;
	if (!batch_define(&m->batch, m->stacks, offset))
		return fail(c, HATF_NO_MEMORY);
	/*
	 * Cache the stack if all numbers fit into 32 bits.  Ids of stacks
	 * always fit, but lines and serial numbers may be larger.
	 */
	if (line <= UINT32_MAX && m->serial != UINT32_MAX)
		*site = (struct site){ { function, file },
				       (uint32_t)line,
				       (uint32_t)*stack_ret };
	return true;
}

/* Decode the thread and the place of a call.  Early versions have neither. */
static bool
take_site(struct mtrc *m, struct cursor *c, uint64_t offset,
	  uint64_t *thread_ret, uint64_t *stack_ret)
{
	const struct name *names[KIND_COUNT];
	uint64_t line;

	*thread_ret = *stack_ret = 0;
	if (!m->has_sites)
		return true;
	return take_number(c, "thread", thread_ret) &&
	       take_name(m, c, FUNCTION, "function", &names[FUNCTION]) &&
	       take_name(m, c, FILE_NAME, "file", &names[FILE_NAME]) &&
	       take_number(c, "line", &line) &&
	       find_stack(m, c, offset, names, line, stack_ret);
}

/* ------------------------------------------------------------------ records */

/*
 * Add a comment about memory that came from the system, since HATF has no such
 * event.
 */
static bool
take_system(struct mtrc *m, struct cursor *c, uint64_t offset, uint8_t letter)
{
	char text[100];
	uint64_t address, size;
	struct text t;

	if (!take_number(c, "address", &address) ||
	    !take_number(c, "size", &size))
		return false;
	text_init(&t, text, sizeof(text));
	text_str(&t, MTRC_SYSTEM_KIND);
	text_str(&t, letter == MTRC_HEAP ? "use=heap\n" : "use=internal\n");
	text_line_hex(&t, "address", address);
	text_line_u64(&t, "size", size);
	return batch_comment(&m->batch, text, t.used, offset) ||
	       fail(c, HATF_NO_MEMORY);
}

/*
 * If the index of an allocation is not the highest so far plus 1, add a comment
 * with the index, so that the sink can reproduce the file.  Files skip some
 * indices, because mpatrol also counts its own allocations.  Early versions of
 * mpatrol also reuse indices.
 */
static bool
note_index(struct mtrc *m, struct cursor *c, uint64_t offset, uint64_t index)
{
	char text[sizeof(MTRC_INDEX_KIND) + 40];
	struct text t;

	if (index == m->highest_index + 1) {
		m->highest_index = index;
		return true;
	}
	if (index > m->highest_index)
		m->highest_index = index;
	text_init(&t, text, sizeof(text));
	text_str(&t, MTRC_INDEX_KIND);
	text_line_u64(&t, "index", index);
	return batch_comment(&m->batch, text, t.used, offset) ||
	       fail(c, HATF_NO_MEMORY);
}

static bool
take_alloc(struct mtrc *m, struct cursor *c, uint64_t offset)
{
	uint64_t index, address, size, thread, stack;
	struct hatf_record *rec;

	if (!take_number(c, "index", &index) ||
	    !take_number(c, "address", &address) ||
	    !take_number(c, "size", &size) ||
	    !take_site(m, c, offset, &thread, &stack) ||
	    !note_index(m, c, offset, index))
		return false;
	rec = batch_add(&m->batch, HATF_ALLOC);
	/*
	 * If another block still has this index, the new block takes over the
	 * index.  Files of mpatrol reuse only the indices of freed blocks.
	 */
	if (rec == NULL || !paged_map_put(&m->blocks, index, address))
		return fail(c, HATF_NO_MEMORY);
	rec->size = size;
	rec->address = address;
	rec->thread = thread;
	rec->offset = offset;
	return batch_stack(&m->batch, rec, stack) || fail(c, HATF_NO_MEMORY);
}

/*
 * Return the address of the block with an index.  'address' is what
 * paged_map_find() returned for the index.  If 'address' is NULL, no live block
 * has the index.  Like mptrace, accept this index: return an address that no
 * other block has, so that the event stage reports a violation.
 */
static uint64_t
address_of(uint64_t index, const uint64_t *address)
{
	return address != NULL ? *address : UNKNOWN_BIT | index;
}

static bool
take_free(struct mtrc *m, struct cursor *c, uint64_t offset)
{
	uint64_t index, thread, stack;
	struct hatf_record *rec;
	const uint64_t *address;

	if (!take_number(c, "index", &index) ||
	    !take_site(m, c, offset, &thread, &stack))
		return false;
	rec = batch_add(&m->batch, HATF_FREE);
	if (rec == NULL)
		return fail(c, HATF_NO_MEMORY);
	address = paged_map_find(&m->blocks, index);
	rec->address = address_of(index, address);
	rec->thread = thread;
	rec->offset = offset;
	if (address != NULL)
		paged_map_remove(&m->blocks, index);
	return batch_stack(&m->batch, rec, stack) || fail(c, HATF_NO_MEMORY);
}

static bool
take_realloc(struct mtrc *m, struct cursor *c, uint64_t offset)
{
	struct hatf_record rec = { .offset = offset };
	uint64_t *address;
	uint64_t index, stack;

	if (!take_number(c, "index", &index) ||
	    !take_number(c, "address", &rec.address) ||
	    !take_number(c, "size", &rec.size) ||
	    !take_site(m, c, offset, &rec.thread, &stack))
		return false;
	address = paged_map_find(&m->blocks, index);
	rec.old_address = address_of(index, address);
	if (address != NULL)
		*address = rec.address;
	else if (!paged_map_put(&m->blocks, index, rec.address))
		return fail(c, HATF_NO_MEMORY);
	return (batch_stack(&m->batch, &rec, stack) &&
		batch_realloc(&m->batch, &rec, false)) ||
	       fail(c, HATF_NO_MEMORY);
}

/* ----------------------------------------------------------------- the file */

/*
 * Call this if the next bytes are not a known record.  If they are the trailer,
 * stop, and ignore all bytes after the trailer.  Otherwise report a malformed
 * record.
 */
static void
end(struct source *s)
{
	const size_t left = input_window_left(&s->window);
	const size_t n = left < MTRC_MAGIC_NBYTES ? left : MTRC_MAGIC_NBYTES;

	if (memcmp(s->window.next, MTRC_MAGIC, n) != 0) {
		source_stop(s, HATF_BAD_FIELD, "record");
		return;
	}
	if (n < MTRC_MAGIC_NBYTES) {
		source_stop_at_end(s, left, "trailer");
		return;
	}
	s->offset += MTRC_MAGIC_NBYTES;
	/*
	 * Read the file to its end, so that damage to compressed data is
	 * noticed.
	 */
	do
		s->window.next = s->window.end;
	while (input_window_more(&s->window));
	source_stop_at_end(s, 0, NULL);
}

/*
 * Decode the record at the start of the window.  Return false if reading has
 * stopped.
 */
static bool
take_record(struct source *s)
{
	struct mtrc *const m = s->ctx;
	struct cursor c = { .next = s->window.next, .end = s->window.end };
	const uint8_t letter = *c.next++;
	bool done;

	switch (letter) {
	case MTRC_ALLOC:
		done = take_alloc(m, &c, s->offset);
		break;
	case MTRC_FREE:
		done = take_free(m, &c, s->offset);
		break;
	case MTRC_REALLOC:
		done = take_realloc(m, &c, s->offset);
		break;
	case MTRC_HEAP:
	case MTRC_INTERNAL:
		done = take_system(m, &c, s->offset, letter);
		break;
	default:
		end(s);
		return false;
	}
	if (done) {
		s->offset += (size_t)(c.next - s->window.next);
		s->window.next = c.next;
	} else if (c.status == HATF_TRUNCATED) {
		source_stop_at_end(s, 1, c.field);
	} else {
		source_stop(s, c.status,
			    c.status == HATF_NO_MEMORY ? NULL : c.field);
	}
	return done;
}

/*
 * Load all of the next record into the window.  Return false if there is no
 * next record.
 */
static bool
has_record(struct source *s)
{
	struct input_window *const w = &s->window;

	if (input_window_left(w) >= RECORD_NBYTES ||
	    input_window_fill(w, RECORD_NBYTES) != 0)
		return true;
	/*
	 * A complete file has a trailer.  If the file ends without one, the
	 * program was probably killed before mpatrol wrote the trailer.
	 */
	if (w->input.status == HATF_END)
		source_stop(s, HATF_NO_TRAILER, NULL);
	else
		source_stop_at_end(s, 0, NULL);
	return false;
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct mtrc *const m = s->ctx;

	batch_begin(&m->batch, records, max);
	while (batch_has_room(&m->batch) && has_record(s) && take_record(s))
		;
	if (s->err.status == HATF_OK && !source_may_keep(s, m->stacks, 0))
		source_stop(s, HATF_LIMIT, "tables");
	return batch_end(&m->batch, s);
}

/* ------------------------------------------------------------------ opening */

/* The decoded header of a file. */
struct header {
	uint64_t version;
	unsigned word; /* word size in bits */
	/* length of the header in bytes, with the magic number */
	unsigned nbytes;
	bool big;
};

/*
 * Decode the header.  It has two numbers.  The first is a word with the value
 * 1, which shows the word size and the byte order.  The second is the version,
 * a 'long'.  A header with 32-bit words is never mistaken for one with 64-bit
 * words: its 1 and its version, read as one 64-bit word, have the value 1 only
 * if the version is 0, which is invalid.  If 'long' is shorter than a word, the
 * version fills only half of the second word, and the first record begins after
 * this half.
 */
static bool
get_header(const uint8_t *p, struct header *header_ret)
{
	const uint8_t *const words = p + MTRC_MAGIC_NBYTES;
	const bool big = words[0] == 0;
	const uint64_t first = big ? get_be64(words) : get_le64(words);
	const uint64_t second = big ? get_be64(words + 8) : get_le64(words + 8);
	const unsigned shift = big ? 32 : 0;

	header_ret->big = big;
	header_ret->word = first == 1 ? 64 : 32;
	if (first == 1) {
		header_ret->nbytes = second >> 32 == 0 ? 20 : 16;
		header_ret->version = second >> 32 == 0
					      ? second
					      : second >> shift & UINT32_MAX;
		return true;
	}
	header_ret->nbytes = 12;
	header_ret->version = first >> (32 - shift) & UINT32_MAX;
	return (first >> shift & UINT32_MAX) == 1;
}

static bool
put_keys(struct source *s, const struct header *header)
{
	const char *const order = header->big ? "big" : "little";

	return source_header(s, "unit", "none", strlen("none")) &&
	       source_header_u64(s, MTRC_KEY_VERSION, header->version) &&
	       source_header_u64(s, MTRC_KEY_WORD, header->word) &&
	       source_header(s, MTRC_KEY_ORDER, order, strlen(order));
}

static enum hatf_status
open_source(struct source *s)
{
	uint8_t bytes[MTRC_MAGIC_NBYTES + 16] = { 0 };
	const size_t left = input_window_fill(&s->window, sizeof(bytes));
	struct header header;
	struct mtrc *m;

	memcpy(bytes, s->window.next,
	       left < sizeof(bytes) ? left : sizeof(bytes));
	if (left < MTRC_MAGIC_NBYTES + 8)
		return source_stop_at_end(s, left, "header");
	if (!get_header(bytes, &header))
		return source_stop(s, HATF_NOT_HATF, "word");
	if (left < header.nbytes)
		return source_stop_at_end(s, left, "header");
	if (header.version == 0 || header.version > MTRC_VERSION_MAX)
		return source_stop(s, HATF_NOT_HATF, "version");
	m = s->ctx = calloc(1, sizeof(*m));
	if (m == NULL || hatf_stacks_open(&m->stacks) != HATF_OK)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	paged_map_init(&m->blocks);
	m->has_sites = header.version >= MTRC_VERSION_SITES;
	s->window.next += header.nbytes;
	s->offset = header.nbytes;
	return put_keys(s, &header) ? HATF_OK : s->err.status;
}

static void
close_source(struct source *s)
{
	struct mtrc *const m = s->ctx;

	if (m == NULL)
		return;
	for (unsigned kind = 0; kind < KIND_COUNT; kind++)
		for (unsigned i = 0; i < MTRC_NAME_COUNT; i++)
			free(m->names[kind][i].text);
	batch_fini(&m->batch);
	paged_map_fini(&m->blocks);
	hatf_stacks_close(m->stacks);
	free(m);
}

bool
mtrc_recognize(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= MTRC_MAGIC_NBYTES &&
	       memcmp(bytes, MTRC_MAGIC, MTRC_MAGIC_NBYTES) == 0;
}

const struct source_ops mtrc_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

/* SPDX-License-Identifier: MIT */
/*
 * mtrace_source.c - convert logs of glibc's mtrace() to records (FORMATS
 * "mtrace")
 *
 * 	= Start
 * 	@ ./app:(main+1a)[0x123f] + 0x37922a0 0xa
 * 	@ ./app:[0x1275] < 0x3792510
 * 	@ ./app:[0x1275] > 0x3792510 0x28
 * 	@ ./app:[0x1290] ! 0x3792510 0x7fffffffffffffff
 * 	@ ./app:[0x129c] - 0x3792510
 * 	= End
 *
 * Names of objects may contain blanks, so the parser starts at the end of a
 * line.  glibc writes the two lines of a realloc under one lock, so they are
 * adjacent.
 *
 * glibc logs a malloc or realloc after the call, but a free before the call.
 * If there are several threads, the lines may therefore be in another order
 * than the calls.  When a realloc in one thread has freed an address, another
 * thread may allocate this address, and this allocation may be logged before
 * the realloc.  The log then shows two allocations of the address before the
 * realloc, and later one free too many.  The log does not show which lines were
 * reordered.  The source passes the lines on as they are; the event stage
 * reports the violations.
 */
#include "hatf/formats/foreign/mtrace.h"

#include "hatf/formats/common/batch.h"

#include <ctype.h>
#include <stdlib.h>

struct mtrace {
	struct batch batch;
	struct hatf_stacks *stacks;
	/*
	 * id of the stack of the caller in the line that is being parsed; 0:
	 * the line has no caller
	 */
	uint64_t stack;
	uint64_t old_address; /* the address in the '<' line before this line */
	bool has_old;
	char operation;
};

/* Find the last word before '*end', and set '*end' to its start. */
static struct textio_cell
last_word(const uint8_t *start, uint8_t **end)
{
	struct textio_cell word;

	while (*end != start && (*end)[-1] == ' ')
		--*end;
	word.end = *end;
	while (*end != start && (*end)[-1] != ' ')
		--*end;
	word.start = *end;
	return word;
}

static bool
get_number(const struct textio_cell *word, uint64_t *n_ret)
{
	uint8_t *next = word->start;

	return textio_number(&next, n_ret) && next == word->end;
}

static bool
get_pointer(const struct textio_cell *word, uint64_t *address_ret)
{
	static const char nil[] = "(nil)";

	*address_ret = 0;
	if (word->end - word->start == (ptrdiff_t)strlen(nil) &&
	    memcmp(word->start, nil, strlen(nil)) == 0)
		return true;
	return word->end - word->start > 2 && word->start[0] == '0' &&
	       word->start[1] == 'x' && get_number(word, address_ret);
}

static bool
is_one_of(const struct textio_cell *word, const char *operations)
{
	return word->end - word->start == 1 && *word->start != '\0' &&
	       strchr(operations, *word->start) != NULL;
}

/* ----------------------------------------------------------------- callers */

/* Return the position of the last 'c' in the cell, or NULL. */
static uint8_t *
find_last(struct textio_cell cell, int c)
{
	return memrchr(cell.start, c, (size_t)(cell.end - cell.start));
}

/*
 * Make a string of the bytes from 'start' to 'end': store a NUL at 'end', in
 * place of a byte that is no longer needed.  Return the string, or NULL if it
 * is empty.
 */
static const char *
terminate(uint8_t *start, uint8_t *end)
{
	*end = '\0';
	return start == end ? NULL : (const char *)start;
}

uint8_t *
mtrace_find_offset(struct textio_cell symbol)
{
	uint8_t *p = symbol.end;

	while (p != symbol.start && isxdigit(p[-1]))
		p--;
	/* Skip "0x", too, because some glibc versions write "+0x1a". */
	if (p != symbol.start && p[-1] == 'x')
		p = p - symbol.start > 2 && p[-2] == '0' ? p - 2 : p;
	return p != symbol.end && p != symbol.start &&
			       (p[-1] == '+' || p[-1] == '-')
		       ? p - 1
		       : symbol.end;
}

/*
 * Remove "(symbol+offset)" from the end of '*where' and store the symbol.  The
 * offset is not needed, because the address includes it.  A symbol may contain
 * parentheses; the name of an object must not contain ":(".
 */
static void
take_symbol(struct textio_cell *where, struct hatf_frame *frame)
{
	const size_t nbytes = (size_t)(where->end - where->start);
	struct textio_cell symbol = { where->start, where->end - 1 };

	if (nbytes == 0 || *symbol.end != ')')
		return;
	if (*symbol.start != '(') {
		symbol.start = memmem(where->start, nbytes, ":(", 2);
		if (symbol.start == NULL)
			return;
		symbol.start++;
	}
	where->end = symbol.start++;
	frame->function = terminate(symbol.start, mtrace_find_offset(symbol));
}

/*
 * Remove an address, such as "[0x123f]", from the end of '*where' and store the
 * address.  Return false if '*where' does not end in an address.
 */
static bool
take_address(struct textio_cell *where, struct hatf_frame *frame)
{
	uint8_t *const bracket = find_last(*where, '[');
	struct textio_cell word = { bracket, where->end };
	uint64_t address;

	if (bracket == NULL || where->end[-1] != ']')
		return false;
	word.start++;
	word.end--;
	if (!get_number(&word, &address))
		return false;
	frame->address = address;
	where->end = bracket;
	return true;
}

/*
 * Parse "FILE:LINE", the form in which the sink writes a frame that has a file
 * but no address.
 */
static bool
take_line(struct textio_cell *where, struct hatf_frame *frame)
{
	uint8_t *const colon = find_last(*where, ':');
	struct textio_cell word = { colon, where->end };
	uint64_t line;

	if (colon == NULL)
		return false;
	word.start++;
	if (!get_number(&word, &line))
		return false;
	frame->line = line;
	frame->file = terminate(where->start, colon);
	return true;
}

/*
 * Store the name of a function.  Remove the parentheses in which the sink
 * encloses an ambiguous name.
 */
static void
take_function(struct textio_cell where, struct hatf_frame *frame)
{
	if (where.end - where.start > 2 && *where.start == '(' &&
	    where.end[-1] == ')') {
		where.start++;
		where.end--;
	}
	frame->function = terminate(where.start, where.end);
}

/*
 * Parse a caller.  If its form is unknown, take all of it as the name of a
 * function.
 */
static void
take_frame(struct textio_cell where, struct hatf_frame *frame)
{
	if (!take_address(&where, frame)) {
		if (!take_line(&where, frame))
			take_function(where, frame);
		return;
	}
	take_symbol(&where, frame);
	if (where.end != where.start && where.end[-1] == ':')
		where.end--;
	frame->object = terminate(where.start, where.end);
}

static enum hatf_status
note_caller(struct mtrace *m, struct textio_cell where)
{
	struct hatf_frame frame = { .function = NULL };
	enum hatf_status status;
	uint64_t id;

	m->stack = 0;
	if (memchr(where.start, '\0', (size_t)(where.end - where.start)) !=
	    NULL)
		return HATF_BAD_FIELD;
	take_frame(where, &frame);
	status = hatf_stacks_add_frame(m->stacks, &frame, &id);
	return status == HATF_OK ? hatf_stacks_add(m->stacks, 0, id, &m->stack)
				 : status;
}

/*
 * If "@ WHERE " precedes the operation, parse it.  Return NULL, or the
 * malformed field.
 */
static const char *
take_caller(struct source *s, struct textio_cell left)
{
	struct mtrace *const m = s->ctx;
	enum hatf_status status;

	m->stack = 0;
	while (left.end != left.start && left.end[-1] == ' ')
		left.end--;
	if (left.end == left.start)
		return NULL;
	if (left.end - left.start < 3 || left.start[0] != '@' ||
	    left.start[1] != ' ')
		return "caller";
	left.start += 2;
	status = note_caller(m, left);
	if (status == HATF_OK)
		return NULL;
	if (status != HATF_BAD_FIELD)
		source_stop(s, status, "caller");
	return "caller";
}

/* ------------------------------------------------------------------- lines */

/*
 * Parse the operation and its numbers, which are at the end of the line
 * '*left'.  Remove them from '*left'.  Return NULL, or the malformed field.
 */
static const char *
take_operation(struct mtrace *m, struct textio_cell *left,
	       struct hatf_record *rec)
{
	const struct textio_cell last = last_word(left->start, &left->end);
	const struct textio_cell middle = last_word(left->start, &left->end);
	struct textio_cell operation = middle;
	const bool has_size = !is_one_of(&operation, "-<");

	if (has_size)
		operation = last_word(left->start, &left->end);
	if (has_size && !is_one_of(&operation, "+>!"))
		return "operation";
	m->operation = (char)*operation.start;
	if (!get_pointer(has_size ? &middle : &last, &rec->address))
		return "address";
	if (has_size && !get_number(&last, &rec->size))
		return "size";
	return NULL;
}

static const char *
parse_line(struct source *s, struct textio_cell line, struct hatf_record *rec,
	   bool *is_record_ret)
{
	struct mtrace *const m = s->ctx;
	const bool had_old = m->has_old;
	const char *field;

	/* Tracing may restart, so "= Start" may follow "= End". */
	if (line.end != line.start && *line.start == '=') {
		*is_record_ret = false;
		return had_old ? "operation" : NULL;
	}
	field = take_operation(m, &line, rec);
	if (field != NULL)
		return field;
	if (had_old != (m->operation == '>'))
		return "operation";
	m->has_old = m->operation == '<';
	if (m->has_old) {
		m->old_address = rec->address;
		*is_record_ret = false;
		return NULL;
	}
	return take_caller(s, line);
}

/*
 * Add the records of a line to the batch: stack definitions, the call, and the
 * records that a realloc announces.  Return false if memory runs out.
 */
static bool
add_call(struct mtrace *m, const struct hatf_record *line)
{
	struct batch *const b = &m->batch;
	struct hatf_record rec = *line, *out;

	if (!batch_define(b, m->stacks, line->offset) ||
	    !batch_stack(b, &rec, m->stack))
		return false;
	if (m->operation == '>') {
		rec.old_address = m->old_address;
		return batch_realloc(b, &rec, false);
	}
	if (m->operation == '!') {
		rec.tag = HATF_REALLOC_NO_ALLOC;
		rec.old_address = line->address;
		rec.address = 0;
	} else {
		rec.tag = m->operation == '+' ? HATF_ALLOC : HATF_FREE;
	}
	out = batch_add(b, rec.tag);
	if (out == NULL)
		return false;
	*out = rec;
	return true;
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct mtrace *const m = s->ctx;
	struct hatf_record line;

	batch_begin(&m->batch, records, max);
	while (batch_has_room(&m->batch)) {
		if (textio_read(s, parse_line, &line, 1) == 0) {
			/*
			 * If the log ends between the two lines of a realloc,
			 * the log is incomplete.
			 */
			if (s->err.status == HATF_END && m->has_old)
				source_stop(s, HATF_TRUNCATED, "realloc");
			break;
		}
		if (!add_call(m, &line)) {
			source_stop(s, HATF_NO_MEMORY, NULL);
			break;
		}
	}
	if (s->err.status == HATF_OK && !source_may_keep(s, m->stacks, 0))
		source_stop(s, HATF_LIMIT, "tables");
	return batch_end(&m->batch, s);
}

static bool
begins_call(uint8_t c)
{
	return c == '+' || c == '-' || c == '<' || c == '!';
}

/*
 * Does the line have an operation and a pointer, with or without a caller
 * before them?
 */
static bool
has_operation(const uint8_t *line, size_t nbytes)
{
	for (size_t i = 0; i + 4 <= nbytes; i++)
		if ((i == 0 || line[i - 1] == ' ') && begins_call(line[i]) &&
		    line[i + 1] == ' ' &&
		    (memcmp(line + i + 2, "0x", 2) == 0 ||
		     memcmp(line + i + 2, "(n", 2) == 0))
			return true;
	return false;
}

bool
mtrace_recognize(const uint8_t *bytes, size_t nbytes)
{
	static const char start[] = "= Start", caller[] = "@ ";
	const uint8_t *const newline = memchr(bytes, '\n', nbytes);
	const size_t length =
		newline == NULL ? nbytes : (size_t)(newline - bytes);

	if (nbytes >= strlen(start) && memcmp(bytes, start, strlen(start)) == 0)
		return true;
	if (nbytes >= strlen(caller) &&
	    memcmp(bytes, caller, strlen(caller)) == 0)
		return newline == NULL || has_operation(bytes, length);
	return nbytes != 0 && begins_call(bytes[0]) &&
	       has_operation(bytes, length < 4 ? length : 4);
}

static enum hatf_status
open_source(struct source *s)
{
	enum hatf_status status = textio_open(s, sizeof(struct mtrace));

	if (status != HATF_OK)
		return status;
	status = hatf_stacks_open(&((struct mtrace *)s->ctx)->stacks);
	if (status != HATF_OK)
		return source_stop(s, status, NULL);
	return source_header(s, "unit", "none", 4) ? HATF_OK : s->err.status;
}

static void
close_source(struct source *s)
{
	struct mtrace *const m = s->ctx;

	if (m == NULL)
		return;
	batch_fini(&m->batch);
	hatf_stacks_close(m->stacks);
	free(m);
}

const struct source_ops mtrace_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

/* SPDX-License-Identifier: MIT */
/*
 * mtrace_sink.c - convert records to a log for glibc's mtrace script (FORMATS
 * "mtrace")
 *
 * The script splits a line at blanks, so the sink replaces blanks and control
 * characters in the text of a caller by '_'.  If this text is
 * "OBJECT:[0xADDRESS]", the script passes it to addr2line, which needs the
 * address within the object's file.  The script prints the text of any other
 * caller unchanged.
 *
 * Some function names look like an offset, an address or a line number, so
 * mtrace_source.c would misread them.  The sink encloses such names in
 * parentheses or appends "+0"; the script accepts both.
 */
#include "hatf/formats/foreign/mtrace.h"

#include "hatf/containers/modules.h"
#include "hatf/formats/common/calls.h"
#include "hatf/formats/common/loss.h"

#include <stdlib.h>

/*
 * The longest name to write, in bytes.  Longer names are truncated, so that a
 * line fits into the output buffer.
 */
#define NAME_MAX_NBYTES 4096

/*
 * Upper bound of the length of a line, in bytes, not counting the names that
 * describe the caller.
 */
#define LINES_NBYTES 120

struct mtrace {
	struct calls calls;
	struct hatf_stacks *stacks;
	struct modules modules;
};

static uint8_t *
put_name(uint8_t *p, const char *name)
{
	const size_t nbytes = strnlen(name, NAME_MAX_NBYTES);

	for (size_t i = 0; i < nbytes; i++) {
		const uint8_t c = (uint8_t)name[i];

		*p++ = c <= ' ' || c == 0x7f ? '_' : c;
	}
	return p;
}

/*
 * Write "(FUNCTION)".  If the end of the name looks like an offset, append
 * "+0", so that mtrace_source.c removes only this suffix.
 */
static uint8_t *
put_symbol(uint8_t *p, const char *function)
{
	struct textio_cell name = { p + 1, p + 1 };

	*p = '(';
	name.end = p = put_name(name.start, function);
	if (mtrace_find_offset(name) != name.end)
		p = textio_put_bytes(p, "+0", 2);
	*p++ = ')';
	return p;
}

/*
 * Write the name of a function whose address is unknown.  Enclose the name in
 * parentheses if mtrace_source.c would misread it as a line number, an address
 * or a name in parentheses.
 */
static uint8_t *
put_function(uint8_t *p, const char *function)
{
	const size_t nbytes = strnlen(function, NAME_MAX_NBYTES);
	const char *const colon = memrchr(function, ':', nbytes);
	const bool looks_like_more =
		function[0] == '(' || function[nbytes - 1] == ']' ||
		(colon != NULL && colon[1] >= '0' && colon[1] <= '9');

	if (!looks_like_more)
		return put_name(p, function);
	*p++ = '(';
	p = put_name(p, function);
	*p++ = ')';
	return p;
}

/* Write "OBJECT:(FUNCTION)[0xADDRESS]"; omit an unknown object or function. */
static uint8_t *
put_code(uint8_t *p, const struct mtrace *m, const struct hatf_frame *frame)
{
	const struct module *const piece =
		modules_find(&m->modules, frame->address);

	if (frame->object != NULL) {
		p = put_name(p, frame->object);
		*p++ = ':';
	}
	if (frame->function != NULL)
		p = put_symbol(p, frame->function);
	*p++ = '[';
	p = textio_put_hex(p,
			   frame->address - (piece != NULL ? piece->base : 0));
	*p++ = ']';
	return p;
}

/* Write the innermost frame of the record's stack, if it has one. */
static uint8_t *
put_caller(uint8_t *p, const struct mtrace *m, const struct hatf_record *rec)
{
	struct hatf_stack stack;
	struct hatf_frame frame;

	if (!hatf_stacks_get(m->stacks, hatf_record_stack(rec), &stack) ||
	    !hatf_stacks_get_frame(m->stacks, stack.frame, &frame))
		return p;
	p = textio_put_bytes(p, "@ ", 2);
	if (frame.address != 0 ||
	    (frame.file == NULL && frame.function == NULL)) {
		p = put_code(p, m, &frame);
	} else if (frame.file != NULL) {
		p = put_name(p, frame.file);
		*p++ = ':';
		p = textio_put_u64(p, frame.line);
	} else {
		p = put_function(p, frame.function);
	}
	*p++ = ' ';
	return p;
}

static uint8_t *
put_pointer(uint8_t *p, char operation, uint64_t address)
{
	*p++ = (uint8_t)operation;
	*p++ = ' ';
	return address != 0 ? textio_put_hex(p, address)
			    : textio_put_bytes(p, "(nil)", 5);
}

/* Write a size in the form of printf("%#lx"). */
static uint8_t *
put_size(uint8_t *p, uint64_t size)
{
	*p++ = ' ';
	if (size == 0) {
		*p++ = '0';
		return p;
	}
	return textio_put_hex(p, size);
}

/*
 * Write a line that begins with the caller of 'rec'.  If 'size' is NULL, the
 * line has no size.
 */
static void
put_line(struct sink *s, const struct hatf_record *rec, char operation,
	 uint64_t address, const uint64_t *size)
{
	uint8_t *const start =
		outfile_room(&s->out, LINES_NBYTES + 2 * NAME_MAX_NBYTES);
	uint8_t *p = put_caller(start, s->ctx, rec);

	p = put_pointer(p, operation, address);
	if (size != NULL)
		p = put_size(p, *size);
	*p++ = '\n';
	outfile_advance(&s->out, (size_t)(p - start));
}

static void
put_call(struct sink *s, const struct call *call)
{
	const struct hatf_record *const rec = call->rec;

	switch (call->kind) {
	case LEDGER_ALLOC:
		put_line(s, rec, '+', call->address, &call->size);
		break;
	case LEDGER_FREE:
		put_line(s, rec, '-', call->old_address, NULL);
		break;
	case LEDGER_REALLOC:
		put_line(s, rec, '<', call->old_address, NULL);
		put_line(s, rec, '>', call->address, &call->size);
		break;
	case LEDGER_FAILED:
		put_line(s, rec, call->old_address != 0 ? '!' : '+',
			 call->old_address, &call->size);
		break;
	default:
		break;
	}
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct mtrace *const m = s->ctx;

	for (size_t i = 0; i < n; i++) {
		enum hatf_status status;

		if (records[i].tag != HATF_COMMENT) {
			status = calls_write(&m->calls, s, &records[i], 1,
					     put_call);
		} else {
			status = loss_note_stack(s, m->stacks, &records[i]);
			if (status == HATF_OK &&
			    modules_note(&m->modules, &records[i]) != HATF_OK)
				status = sink_fail(s, HATF_NO_MEMORY, NULL);
		}
		if (status != HATF_OK)
			return status;
	}
	return HATF_OK;
}

static enum hatf_status
open_sink(struct sink *s)
{
	struct mtrace *const m = malloc(sizeof(*m));
	enum hatf_status status;

	if (m == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = m;
	calls_init(&m->calls);
	modules_init(&m->modules);
	m->stacks = NULL;
	status = hatf_stacks_open(&m->stacks);
	if (status != HATF_OK)
		return sink_fail(s, status, NULL);
	outfile_bytes(&s->out, "= Start\n", 8);
	return HATF_OK;
}

static enum hatf_status
finish(struct sink *s)
{
	if (!s->options.incomplete)
		outfile_bytes(&s->out, "= End\n", 6);
	return HATF_OK;
}

static void
close_sink(struct sink *s)
{
	struct mtrace *const m = s->ctx;

	if (m == NULL)
		return;
	calls_fini(&m->calls);
	modules_fini(&m->modules);
	hatf_stacks_close(m->stacks);
	free(m);
}

const struct sink_ops mtrace_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};

/* SPDX-License-Identifier: MIT */
/*
 * mptrace_sink.c - convert records to the text form of HATF that mpatrol's
 * mptrace writes
 */
#include "hatf/formats/foreign/mptrace.h"

#include "hatf/formats/common/calls.h"
#include "hatf/formats/common/loss.h"
#include "hatf/formats/common/textio.h"
#include "hatf/formats/foreign/mtrc.h"

/* The longest record, in bytes: a tag and three numbers. */
#define RECORD_NBYTES (2 + 3 * (1 + TEXTIO_NUMBER_MAX))

static void
put_call(struct sink *s, const struct call *call)
{
	uint8_t *const start = outfile_room(&s->out, RECORD_NBYTES);
	uint8_t *p = start;

	switch (call->kind) {
	case LEDGER_ALLOC:
		p = textio_put_bytes(p, "1 ", 2);
		p = textio_put_u64(p, call->size);
		*p++ = ' ';
		p = textio_put_hex(p, call->address);
		break;
	case LEDGER_FREE:
		p = textio_put_bytes(p, "2 ", 2);
		p = textio_put_hex(p, call->old_address);
		break;
	case LEDGER_REALLOC:
		p = textio_put_bytes(p, "4 ", 2);
		p = textio_put_u64(p, call->size);
		*p++ = ' ';
		p = textio_put_hex(p, call->old_address);
		*p++ = ' ';
		p = textio_put_hex(p, call->address);
		break;
	case LEDGER_FAILED:
		loss_count(s, SINK_LOSS_FAILED);
		return;
	default:
		return;
	}
	*p++ = '\n';
	outfile_advance(&s->out, (size_t)(p - start));
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	return calls_write(s->ctx, s, records, n, put_call);
}

/*
 * Return the default value of a header line, for a trace that gives no value.
 * If mpatrol wrote the trace, the description must name mptrace as the
 * converter, so that the file equals the one that mptrace would write.
 */
static const char *
default_value(const struct sink *s, unsigned line)
{
	static const char ours[] =
		"Converted to HATF by hatf " HATF_VERSION ".";
	static const char *const values[MPTRACE_LINE_COUNT] = {
		NULL, "Unknown", "Unknown", "hatf.dtd", ours
	};
	const char *const header =
		s->options.header == NULL ? "" : s->options.header;

	if (line == 0)
		return s->path == NULL ? "-" : s->path;
	if (line == MPTRACE_LINE_COUNT - 1 &&
	    text_find(header, strlen(header), MTRC_KEY_VERSION, NULL, 0) >= 0)
		return "Converted to HATF by mptrace 1.4.";
	return values[line];
}

/*
 * Write one header line.  Replace line breaks in its value, since they would
 * end the line.
 */
static void
put_line(struct sink *s, unsigned line)
{
	const char *const header =
		s->options.header == NULL ? "" : s->options.header;
	char value[1024];
	const char *text = value;

	if (text_find(header, strlen(header), mptrace_lines[line].key, value,
		      sizeof(value)) < 0)
		text = default_value(s, line);
	outfile_bytes(&s->out, MPTRACE_MARK, MPTRACE_MARK_NBYTES);
	outfile_bytes(&s->out, mptrace_lines[line].name,
		      strlen(mptrace_lines[line].name));
	outfile_bytes(&s->out, ": ", 2);
	for (; *text != '\0'; text++)
		outfile_bytes(&s->out,
			      *text == '\n' || *text == '\r' ? "?" : text, 1);
	outfile_bytes(&s->out, "\n", 1);
}

static enum hatf_status
open_sink(struct sink *s)
{
	const enum hatf_status status = calls_open(s);

	for (unsigned i = 0; status == HATF_OK && i < MPTRACE_LINE_COUNT; i++)
		put_line(s, i);
	if (status == HATF_OK)
		outfile_bytes(&s->out, "\n", 1);
	return status;
}

const struct sink_ops mptrace_sink = {
	.open = open_sink,
	.write = write_records,
	.close = calls_close,
};

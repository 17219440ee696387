/* SPDX-License-Identifier: MIT */
/* sink.c - functions for the writer and the sinks, see format.h */
#include "hatf/formats/common/format.h"

#define PRODUCER "libhatf " HATF_VERSION

/*
 * The longest value, in bytes, that is copied into a trailer: enough for
 * numbers and keywords.  SINK_TRAILER_MAX has room for four such values,
 * escaped, and for the rest of the trailer.
 */
#define TRAILER_VALUE_MAX 20

enum hatf_status
sink_fail(struct sink *s, enum hatf_status status, const char *field)
{
	s->err = (struct hatf_error){
		.status = status,
		.sys_errno = status == HATF_IO ? s->out.sys_errno : 0,
		.offset = s->offset,
		.file_offset = s->out.file_nbytes,
		.record = s->tally.record_count,
		.field = field,
	};
	return status;
}

static void
count_record(struct sink *s, const struct hatf_record *rec)
{
	const char *const text = (const char *)rec->attributes;
	uint64_t lost;

	tally_note(&s->tally, rec);
	if (rec->tag != HATF_COMMENT)
		s->last_time = rec->time;
	else if (framing_is_loss(rec) &&
		 text_find_u64(text, rec->attributes_nbytes, "count", &lost) &&
		 __builtin_add_overflow(s->lost_count, lost, &s->lost_count))
		s->lost_count = UINT64_MAX;
}

void
sink_count(struct sink *s, const struct hatf_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		count_record(s, &records[i]);
}

bool
sink_header(const struct sink *s, struct text *t)
{
	const char *const lines = s->options.header;

	text_str(t, "HATF 1.0\n");
	if (lines == NULL ||
	    text_find(lines, strlen(lines), "producer", NULL, 0) < 0)
		text_line(t, "producer", PRODUCER, strlen(PRODUCER));
	if (lines != NULL)
		text_str(t, lines);
	return !t->full;
}

/* Return the text that says how the trace ended: the caller's, or a default. */
static const char *
end_reason(const struct sink *s)
{
	const char *const end = comment_lines_find(&s->trailer, "end");

	if (end != NULL && strlen(end) <= TRAILER_VALUE_MAX)
		return end;
	return s->options.incomplete ? "source incomplete" : "exit";
}

void
sink_trailer(const struct sink *s, struct text *t)
{
	/*
	 * Copy these values from the caller's trailer, because only the
	 * recorder knows them.
	 */
	static const char *const kept[] = { "waits", "wait_ns", "cpu_ns" };
	const char *const end = end_reason(s);

	text_str(t, "HATF end\n");
	text_line_u64(t, "complete", !s->options.incomplete);
	text_line(t, "end", end, strlen(end));
	text_line_u64(t, "events", s->tally.event_count);
	text_line_u64(t, "records", s->tally.record_count);
	text_line_u64(t, "lost", s->lost_count);
	text_line_u64(t, "threads", s->tally.tag_count[HATF_CREATE_THREAD] + 1);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		const char *const value =
			comment_lines_find(&s->trailer, kept[i]);

		if (value != NULL && strlen(value) <= TRAILER_VALUE_MAX)
			text_line(t, kept[i], value, strlen(value));
	}
	text_line_u64(t, "time", s->last_time);
}

/* SPDX-License-Identifier: MIT */
/*
 * event_text.h - an event of the program as a comment and as a Meta-TF record
 *
 * In HATF, such an event is a comment (FORMAT "Events of the program").  In
 * Meta-TF it is a record of its own.  Both have the same content:
 *
 *	HATF event		event : (tag, time, thread, name, text)
 *	thread=0
 *	time=93
 *	name=note
 *	text=ready
 *
 *	HATF event		app_step : (tag, time, thread,
 *	thread=0				app : (id, data))
 *	time=95
 *	name=app.step
 *	fields=id=7 data="ab"
 *
 * The name of a record with fields is DTD_RECORD, and the record nested in it
 * has the name of the DTD.  If the DTD gives the record no fields, a number
 * with the name of the DTD replaces the nested record.
 */
#ifndef HATF_EVENT_TEXT_H
#define HATF_EVENT_TEXT_H

#include "hatf/metatf/schema.h"
#include "hatf/metatf/trace/mtf_reader.h"

/* Name of the record that holds an event without fields. */
#define EVENT_TEXT_RECORD "event"

/* How an event record holds its content. */
enum event_shape {
	EVENT_SHAPE_NONE, /* the record is not an event record */
	EVENT_SHAPE_TEXT,
	EVENT_SHAPE_FIELDS,
};

/* Judge by the name and the fields of 'r' how the record holds an event. */
enum event_shape event_text_shape(const struct schema_record *r);

/*
 * Write the comment of an event to 'buf'.  'r' is an event record.  Return the
 * length of the comment, or 0 if the comment is too long (for 'cap' bytes or
 * for an internal buffer) or 'values' has too few values.
 */
size_t event_text_comment(const struct schema_record *r,
			  const struct mtf_value *values, size_t value_count,
			  char *buf, size_t cap);

/*
 * Maximum number of values of an event, and maximum number of bytes of its
 * content.
 */
#define EVENT_VALUES 4096
#define EVENT_NBYTES ((size_t)1 << 16)

struct event_values {
	struct mtf_value values[EVENT_VALUES];
	size_t value_count;
	char bytes[EVENT_NBYTES];
	size_t byte_count;
};

/* The event that a comment describes. */
struct event_head {
	uint64_t time, thread;
	char name[256];
	bool has_fields;
	char content[EVENT_NBYTES]; /* the text, or the fields */
	size_t content_nbytes;
};

/* If the comment is an event, read its lines into '*head' and return true. */
bool event_text_head(const char *comment, size_t nbytes,
		     struct event_head *head);

/*
 * Make the values of the event record 'r' from the event in 'head'.  Return
 * false if the event's content does not begin with the fields of the record, or
 * has more than EVENT_VALUES values.  Text after the fields is ignored.
 */
bool event_text_values(const struct schema_record *r,
		       const struct event_head *head, struct event_values *v);

#endif /* HATF_EVENT_TEXT_H */

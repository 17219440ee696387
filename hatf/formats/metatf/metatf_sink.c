/* SPDX-License-Identifier: MIT */
/*
 * metatf_sink.c - write records as Meta-TF, with a DTD from hatf/metatf/dtd
 *
 * The header of a trace has the offsets of its sections.  The Meta-TF writer
 * therefore writes the sections to temporary files and puts them together at
 * the end.
 */
#include "hatf/formats/metatf/metatf.h"

#include "hatf/formats/metatf/event_dtds.h"
#include "hatf/formats/metatf/event_text.h"
#include "hatf/formats/metatf/metatf_place.h"
#include "hatf/metatf/trace/mtf_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct metatf_sink {
	FILE *file;
	bool is_compressed;
	struct dtd *dtd;
	struct schema *schema;
	struct mtf_writer *writer;
	struct metatf_place *place;
	/* the record of the schema for each HATF tag */
	const struct schema_record *records[HATF_COMMENT + 1];
	struct metatf_map maps[HATF_COMMENT + 1];
	struct event_dtds *dtds;
	/* The event of the traced program that write_event() handles. */
	struct event_head head;
	struct event_values event;
	char comment[UINT16_MAX];
};

/* Stop because the Meta-TF writer has failed, or because memory has run out. */
static enum hatf_status
stop(struct sink *s)
{
	const struct metatf_sink *const m = s->ctx;
	const struct mtf_error *const err =
		m->writer != NULL ? mtf_writer_error(m->writer) : NULL;

	if (err == NULL || strcmp(err->text, strerror(ENOMEM)) == 0)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	return sink_fail(s, HATF_IO, "temporary file");
}

/*
 * Set m->records and m->maps: for each HATF tag, the corresponding record of
 * the schema and its map.  Return the section that has these records.
 */
static const struct schema_section *
map_tags(struct metatf_sink *m)
{
	const struct schema_section *const heap =
		schema_section_named(m->schema, "heap");

	for (uint32_t i = 0; i < heap->record_count; i++) {
		const struct schema_record *const r = &heap->records[i];
		const struct metatf_map map = metatf_map_record(r);

		if (r->role != ROLE_DATA || map.tag > HATF_COMMENT)
			continue;
		m->records[map.tag] = r;
		m->maps[map.tag] = map;
	}
	return heap;
}

static enum hatf_status
open_sink(struct sink *s, const struct metatf_dtd *dtd)
{
	struct metatf_sink *const m = calloc(1, sizeof(*m));
	const struct mtf_writer_options options = {
		.class = MTF_64_BIT,
		.byte_order = MTF_LITTLE_ENDIAN,
		.is_compressed = !s->options.plain,
		.level = s->options.level,
		.dtd_name = dtd->name,
		.dtd_text = dtd->text,
		.dtd_nbytes = strlen(dtd->text),
	};
	struct dtd_error err;

	s->ctx = m;
	if (m == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	if (s->options.level < 0 || s->options.level > OUTFILE_LEVEL_MAX)
		return sink_fail(s, HATF_BAD_OPTION, "level");
	m->is_compressed = options.is_compressed;
	m->file = tmpfile();
	if (m->file == NULL)
		return sink_fail(s, HATF_IO, "temporary file");
	m->dtd = dtd_parse(options.dtd_text, options.dtd_nbytes, &err);
	if (m->dtd != NULL)
		m->schema = schema_open(m->dtd, NULL, NULL, &err);
	if (m->schema != NULL)
		m->writer =
			mtf_writer_open(fileno(m->file), m->schema, &options);
	if (m->writer != NULL)
		m->place = metatf_place_open(m->writer, m->schema, map_tags(m),
					     m->is_compressed);
	m->dtds = event_dtds_open(dtd->text);
	return m->place != NULL && m->dtds != NULL
		       ? HATF_OK
		       : sink_fail(s, HATF_NO_MEMORY, NULL);
}

static enum hatf_status
open_hatf(struct sink *s)
{
	return open_sink(s, &metatf_hatf_dtd);
}

static enum hatf_status
open_splitaddr(struct sink *s)
{
	return open_sink(s, &metatf_splitaddr_dtd);
}

static enum hatf_status
open_split(struct sink *s)
{
	return open_sink(s, &metatf_split_dtd);
}

/* Return the value of the field of 'rec' whose role is 'role'. */
static struct mtf_value
value_of(const struct hatf_record *rec, unsigned role)
{
	static const uint8_t none[1];
	struct mtf_value v = { 0, NULL };

	switch (role) {
	case METATF_SIZE:
		v.number = rec->size;
		break;
	case METATF_ADDRESS:
		v.number = rec->address;
		break;
	case METATF_OLD_ADDRESS:
		v.number = rec->old_address;
		break;
	case METATF_TIME:
		v.number = rec->time;
		break;
	case METATF_THREAD:
		v.number = rec->thread;
		break;
	case METATF_HEAP:
		v.number = rec->heap;
		break;
	case METATF_BYTES:
		v.bytes = rec->attributes_nbytes != 0 ? rec->attributes : none;
		v.number = rec->attributes_nbytes;
		break;
	case METATF_NBYTES:
		v.number = rec->attributes_nbytes;
		break;
	default:
		break;
	}
	return v;
}

/* ------------------------------------------------------------------- events */

/*
 * Replace the present DTD by 'text', which must be the present DTD with more
 * records.  If 'text' is not a valid DTD, keep the present DTD; events that
 * need the additional records then stay comments.  Return false if the writer
 * has failed or there is no memory.
 */
static bool
extend(struct metatf_sink *m, const char *text)
{
	struct dtd_error err;
	struct dtd *const dtd = dtd_parse(text, strlen(text), &err);
	struct schema *const schema =
		dtd != NULL ? schema_open(dtd, NULL, NULL, &err) : NULL;

	if (schema == NULL) {
		dtd_close(dtd);
		return true;
	}
	if (!metatf_place_flush(m->place) ||
	    !mtf_writer_extend(m->writer, schema, text, strlen(text))) {
		schema_close(schema);
		dtd_close(dtd);
		return false;
	}
	event_dtds_accept(m->dtds);
	metatf_place_close(m->place);
	schema_close(m->schema);
	dtd_close(m->dtd);
	m->schema = schema;
	m->dtd = dtd;
	m->place = metatf_place_open(m->writer, m->schema, map_tags(m),
				     m->is_compressed);
	return m->place != NULL;
}

/* Return the record of the schema for the event in m->head, or NULL. */
static const struct schema_record *
event_record(const struct metatf_sink *m)
{
	const struct schema_section *const heap =
		schema_section_named(m->schema, "heap");
	char name[sizeof(m->head.name)];
	const struct schema_record *r;
	char *dot;

	if (!m->head.has_fields)
		return schema_record_named(heap, EVENT_TEXT_RECORD);
	memcpy(name, m->head.name, sizeof(name));
	dot = strchr(name, '.');
	if (dot == NULL)
		return NULL;
	*dot = '_';
	r = schema_record_named(heap, name);
	return r != NULL && event_text_shape(r) == EVENT_SHAPE_FIELDS ? r
								      : NULL;
}

/*
 * 'rec' is a comment.  If the comment is an event, and metatf_source.c would
 * make the same comment from the event record, write the event record and set
 * '*is_written_ret' to true.  If the comment has a part of a DTD, keep that
 * part for later events.  Return false on failure.
 */
static bool
write_event(struct metatf_sink *m, const struct hatf_record *rec,
	    bool *is_written_ret)
{
	const char *const comment = (const char *)rec->attributes;
	const size_t nbytes = rec->attributes_nbytes;
	const struct schema_record *r;
	const char *text;

	*is_written_ret = false;
	if (!event_dtds_note(m->dtds, comment, nbytes))
		return false;
	if (!event_text_head(comment, nbytes, &m->head))
		return true;
	text = m->head.has_fields ? event_dtds_extend(m->dtds, m->head.name)
				  : NULL;
	if (text != NULL && !extend(m, text))
		return false;
	r = event_record(m);
	if (r == NULL || !event_text_values(r, &m->head, &m->event) ||
	    event_text_comment(r, m->event.values, m->event.value_count,
			       m->comment, sizeof(m->comment)) != nbytes ||
	    memcmp(comment, m->comment, nbytes) != 0)
		return true;
	*is_written_ret = true;
	return metatf_place_put(m->place, r, m->event.values,
				m->event.value_count, metatf_single_count(r));
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct metatf_sink *const m = s->ctx;
	struct mtf_value values[PLACE_FIELDS];

	for (size_t i = 0; i < n; i++) {
		const unsigned tag = records[i].tag;
		const struct schema_record *r;
		bool is_written = false;

		if (tag == HATF_COMMENT &&
		    !write_event(m, &records[i], &is_written))
			return stop(s);
		s->offset += is_written ? records[i].attributes_nbytes : 0;
		if (is_written)
			continue;
		r = m->records[tag];
		for (uint32_t j = 0; j < r->field_count; j++) {
			values[j] =
				value_of(&records[i], m->maps[tag].roles[j]);
			s->offset += r->fields[j].is_bytes ? values[j].number
							   : r->fields[j].width;
		}
		if (!metatf_place_put(m->place, r, values, r->field_count,
				      r->field_count))
			return stop(s);
	}
	return s->out.status;
}

static enum hatf_status
finish(struct sink *s)
{
	struct metatf_sink *const m = s->ctx;
	uint8_t bytes[16384];
	off_t offset = 0;
	ssize_t n;

	if (!metatf_place_flush(m->place) || !mtf_writer_finish(m->writer))
		return stop(s);
	while ((n = pread(fileno(m->file), bytes, sizeof(bytes), offset)) > 0) {
		outfile_bytes(&s->out, bytes, (size_t)n);
		offset += n;
	}
	return n < 0 ? sink_fail(s, HATF_IO, "temporary file") : s->out.status;
}

static void
close_sink(struct sink *s)
{
	struct metatf_sink *const m = s->ctx;

	if (m == NULL)
		return;
	metatf_place_close(m->place);
	mtf_writer_close(m->writer);
	schema_close(m->schema);
	dtd_close(m->dtd);
	event_dtds_close(m->dtds);
	if (m->file != NULL)
		fclose(m->file);
	free(m);
}

const struct sink_ops metatf_sink = {
	.open = open_hatf,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};

const struct sink_ops metatf_splitaddr_sink = {
	.open = open_splitaddr,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};

const struct sink_ops metatf_split_sink = {
	.open = open_split,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};

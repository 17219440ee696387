/* SPDX-License-Identifier: MIT */
/*
 * metatf_sink.c - write records as Meta-TF, by a DTD of hatf/metatf/dtd
 *
 * The header of a trace has the offsets of its sections.  The writer therefore
 * writes the sections to temporary files and copies them at the end.
 */
#include "hatf/formats/metatf/metatf.h"

#include "hatf/formats/metatf/metatf_place.h"
#include "hatf/metatf/trace/mtf_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct metatf_sink {
	FILE *file;
	struct dtd *dtd;
	struct schema *schema;
	struct mtf_writer *writer;
	struct metatf_place *place;
	const struct schema_record *records[HATF_COMMENT + 1]; /* by tag */
	struct metatf_map maps[HATF_COMMENT + 1];
};

/* Stop because the writer has failed. */
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

/* Find the record of the schema for each HATF tag. */
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
		m->place = metatf_place_open(m->writer, map_tags(m));
	return m->place != NULL ? HATF_OK : sink_fail(s, HATF_NO_MEMORY, NULL);
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

/* Return the value of a field. */
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

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct metatf_sink *const m = s->ctx;
	struct mtf_value values[PLACE_FIELDS];

	for (size_t i = 0; i < n; i++) {
		const unsigned tag = records[i].tag;
		const struct schema_record *const r = m->records[tag];

		for (uint32_t j = 0; j < r->field_count; j++) {
			values[j] =
				value_of(&records[i], m->maps[tag].roles[j]);
			s->offset += r->fields[j].is_bytes ? values[j].number
							   : r->fields[j].width;
		}
		if (!metatf_place_put(m->place, r, values, r->field_count))
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

/* SPDX-License-Identifier: MIT */
/*
 * metatf_source.c - read records from a Meta-TF trace that contains its DTD
 *
 * The Meta-TF reader reads all sections of such a trace at the same time, which
 * a pipe or a compressed input does not allow.  The source therefore first
 * copies the whole input into a temporary file.
 */
#include "hatf/formats/metatf/metatf.h"

#include "hatf/formats/common/batch.h"
#include "hatf/formats/metatf/event_text.h"
#include "hatf/metatf/trace/mtf_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct metatf_source {
	struct batch batch;
	FILE *file;
	struct mtf_header header;
	struct mtf_reader *reader;
	struct dtd *dtd;
	char *dtd_text;
	struct schema *schema;
	/*
	 * For each section: an array with an element for each record of the
	 * section.
	 */
	struct metatf_map **maps;
	char comment[UINT16_MAX]; /* an event of the program, as text */
};

bool
metatf_recognize(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= 4 && memcmp(bytes, "\177MTF", 4) == 0;
}

/* Does the header of the trace name this DTD? */
static bool
names_dtd(const uint8_t *bytes, size_t nbytes, const struct metatf_dtd *dtd)
{
	const size_t name_nbytes = strlen(dtd->name);
	/* Three numbers precede the name (see mtf_header.h). */
	const size_t name_at =
		16 + 3 * (nbytes >= 5 && bytes[4] == MTF_32_BIT ? 4u : 8u);

	return metatf_recognize(bytes, nbytes) &&
	       nbytes >= name_at + name_nbytes && bytes[6] == name_nbytes &&
	       memcmp(bytes + name_at, dtd->name, name_nbytes) == 0;
}

bool
metatf_splitaddr_recognize(const uint8_t *bytes, size_t nbytes)
{
	return names_dtd(bytes, nbytes, &metatf_splitaddr_dtd);
}

bool
metatf_split_recognize(const uint8_t *bytes, size_t nbytes)
{
	return names_dtd(bytes, nbytes, &metatf_split_dtd);
}

/* ------------------------------------------------------------------ opening */

/*
 * Copy the input to a file.  On failure, call source_stop() and return false.
 */
static bool
copy_input(struct source *s, FILE *file)
{
	struct input_window *const w = &s->window;

	do {
		const size_t left = input_window_left(w);

		if (left != 0 && fwrite(w->next, 1, left, file) != left) {
			source_stop(s, HATF_IO, "temporary file");
			return false;
		}
		w->next += left;
	} while (input_window_more(w));
	if (w->input.status != HATF_END) {
		source_stop_at_end(s, 0, NULL);
		return false;
	}
	if (fflush(file) == 0)
		return true;
	source_stop(s, HATF_IO, "temporary file");
	return false;
}

/* Stop because the Meta-TF reader has reported an error. */
static void
stop(struct source *s, const struct mtf_error *err)
{
	static const char truncated[] = "the trace ends inside this record";
	const struct metatf_source *const m = s->ctx;
	enum hatf_status status = HATF_BAD_FIELD;

	if (err->offset != MTF_NOWHERE)
		s->offset = err->offset;
	if (strcmp(err->text, "no memory") == 0)
		status = HATF_NO_MEMORY;
	else if (strcmp(err->text, MTF_TOO_MANY) == 0)
		status = HATF_LIMIT;
	else if (m->header.is_cut || strstr(err->text, truncated) != NULL ||
		 strstr(err->text, "the file ends inside the ") != NULL)
		status = HATF_TRUNCATED;
	source_stop(s, status,
		    status == HATF_BAD_FIELD || status == HATF_LIMIT ? "Meta-TF"
								     : NULL);
}

static bool
read_dtd(struct source *s, struct metatf_source *m)
{
	struct mtf_error err;
	struct dtd_error dtd_err;
	size_t nbytes;

	m->dtd_text = mtf_read_dtd(fileno(m->file), &m->header, &nbytes, &err);
	if (err.has_failed) {
		stop(s, &err);
		return false;
	}
	if (m->dtd_text != NULL)
		m->dtd = dtd_parse(m->dtd_text, nbytes, &dtd_err);
	if (m->dtd != NULL)
		m->schema = schema_open(m->dtd, NULL, NULL, &dtd_err);
	if (m->schema == NULL)
		source_stop(s, HATF_BAD_FIELD, "DTD");
	return m->schema != NULL;
}

/*
 * Map each record of the schema to a HATF record.  Return false if there is no
 * memory.
 */
static bool
map_records(struct metatf_source *m)
{
	const struct schema *const schema = m->schema;

	m->maps = calloc(schema->section_count, sizeof(struct metatf_map *));
	for (uint32_t i = 0; m->maps != NULL && i < schema->section_count;
	     i++) {
		const struct schema_section *const from = &schema->sections[i];

		m->maps[i] =
			calloc(from->record_count + 1, sizeof(*m->maps[i]));
		if (m->maps[i] == NULL)
			return false;
		for (uint32_t j = 0; j < from->record_count; j++)
			m->maps[i][j] = metatf_map_record(&from->records[j]);
	}
	return m->maps != NULL;
}

/*
 * Does the schema have a record that corresponds to a HATF record other than a
 * comment?
 */
static bool
has_hatf_records(const struct metatf_source *m)
{
	for (uint32_t i = 0; i < m->schema->section_count; i++)
		for (uint32_t j = 0; j < m->schema->sections[i].record_count;
		     j++)
			if (m->maps[i][j].tag < HATF_COMMENT ||
			    m->maps[i][j].tag == METATF_ANY_REALLOC)
				return true;
	return false;
}

static enum hatf_status
open_source(struct source *s)
{
	struct metatf_source *const m = calloc(1, sizeof(*m));
	struct mtf_error err;

	s->ctx = m;
	if (m == NULL)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	m->file = tmpfile();
	if (m->file == NULL)
		return source_stop(s, HATF_IO, "temporary file");
	if (!copy_input(s, m->file))
		return s->err.status;
	s->offset = 0;
	if (!mtf_read_header(fileno(m->file), &m->header, &err)) {
		stop(s, &err);
		return s->err.status;
	}
	s->window.input.compressed |= m->header.is_compressed;
	if (!read_dtd(s, m))
		return s->err.status;
	m->reader = mtf_reader_open(fileno(m->file), &m->header, m->schema);
	if (m->reader == NULL || !map_records(m))
		return source_stop(s, HATF_NO_MEMORY, NULL);
	mtf_reader_limit(m->reader, input_consumed(&s->window.input));
	if (!has_hatf_records(m))
		return source_stop(
			s, HATF_NOT_READ,
			"a Meta-TF trace without HATF records; print "
			"it with 'hatf metatf dump'");
	return HATF_OK;
}

static void
close_source(struct source *s)
{
	struct metatf_source *const m = s->ctx;

	if (m == NULL)
		return;
	for (uint32_t i = 0; m->maps != NULL && i < m->schema->section_count;
	     i++)
		free(m->maps[i]);
	free(m->maps);
	mtf_reader_close(m->reader);
	schema_close(m->schema);
	dtd_close(m->dtd);
	free(m->dtd_text);
	if (m->file != NULL)
		fclose(m->file);
	batch_fini(&m->batch);
	free(m);
}

/* ------------------------------------------------------------------ records */

/*
 * Copy the bytes of 'v' to the batch, as the attributes of 'rec'.  Return false
 * if memory runs out.  If there are too many bytes, call source_stop() and
 * return false.
 */
static bool
take_bytes(struct source *s, struct batch *b, struct hatf_record *rec,
	   const struct mtf_value *v)
{
	uint8_t *copy;

	if (v->number == 0)
		return true;
	if (v->number > UINT16_MAX) {
		source_stop(s, HATF_LIMIT, "attributes");
		return false;
	}
	copy = batch_bytes(b, (size_t)v->number);
	if (copy == NULL)
		return false;
	memcpy(copy, v->bytes, (size_t)v->number);
	rec->attributes = copy;
	rec->attributes_nbytes = (uint32_t)v->number;
	return true;
}

static bool
take_value(struct source *s, struct batch *b, struct hatf_record *rec,
	   unsigned role, const struct mtf_value *v)
{
	switch (role) {
	case METATF_SIZE:
		rec->size = v->number;
		break;
	case METATF_ADDRESS:
		rec->address = v->number;
		break;
	case METATF_OLD_ADDRESS:
		rec->old_address = v->number;
		break;
	case METATF_TIME:
		rec->time = v->number;
		break;
	case METATF_THREAD:
		rec->thread = v->number;
		break;
	case METATF_HEAP:
		rec->heap = v->number;
		break;
	case METATF_BYTES:
		return take_bytes(s, b, rec, v);
	default:
		break;
	}
	return true;
}

/*
 * A realloc record of appendix C of the HATF paper does not state its kind.
 * Set the HATF tag that the addresses of 'rec' imply.
 */
static void
tell_realloc(struct hatf_record *rec)
{
	if (rec->old_address == rec->address)
		rec->tag = HATF_REALLOC_NO_ALLOC;
	else if (rec->old_address == 0)
		rec->tag = HATF_REALLOC_ALLOC;
	else if (rec->address == 0)
		rec->tag = HATF_REALLOC_FREE;
	else
		rec->tag = HATF_REALLOC_ALLOC_FREE;
}

/*
 * Add a comment record for an event that the traced program itself reported
 * with hatftrace_event().  (HATF stores such events as comments.)
 */
static bool
take_event(struct source *s, const struct mtf_record *r)
{
	struct metatf_source *const m = s->ctx;
	const size_t nbytes =
		event_text_comment(r->type, r->values, r->value_count,
				   m->comment, sizeof(m->comment));
	const struct mtf_value v = { nbytes, (const uint8_t *)m->comment };
	struct hatf_record *rec;

	if (nbytes == 0) {
		source_stop(s, HATF_LIMIT, "event");
		return false;
	}
	rec = batch_add(&m->batch, HATF_COMMENT);
	if (rec == NULL)
		return false;
	rec->offset = r->position;
	return take_bytes(s, &m->batch, rec, &v);
}

/*
 * If a record of the trace corresponds to a HATF record, add the HATF record.
 * Return false if memory runs out.  On any other failure, call source_stop()
 * and return false.
 */
static bool
take_record(struct source *s, const struct mtf_record *r)
{
	struct metatf_source *const m = s->ctx;
	const struct metatf_map *const map =
		&m->maps[r->section - m->schema->sections]
			[r->type - r->section->records];
	struct hatf_record *rec;

	s->offset = r->position;
	if (map->tag == METATF_NO_TAG)
		return true;
	if (map->tag == METATF_EVENT)
		return take_event(s, r);
	/*
	 * A realloc without a stated kind gets its tag below.  Fields with
	 * index METATF_FIELDS or more are ignored, since they correspond to no
	 * field of a HATF record.
	 */
	rec = batch_add(&m->batch, map->tag == METATF_ANY_REALLOC
					   ? HATF_REALLOC_NO_ALLOC
					   : map->tag);
	if (rec == NULL)
		return false;
	rec->offset = r->position;
	for (size_t i = 0; i < r->value_count && i < METATF_FIELDS; i++)
		if (!take_value(s, &m->batch, rec, map->roles[i],
				&r->values[i]))
			return false;
	if (map->tag == METATF_ANY_REALLOC)
		tell_realloc(rec);
	return true;
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct metatf_source *const m = s->ctx;
	struct mtf_record r;

	batch_begin(&m->batch, records, max);
	while (batch_has_room(&m->batch) && s->err.status == HATF_OK) {
		if (mtf_reader_next(m->reader, &r)) {
			if (!take_record(s, &r))
				break;
		} else if (mtf_reader_error(m->reader) != NULL) {
			stop(s, mtf_reader_error(m->reader));
		} else {
			source_stop(s, HATF_END, NULL);
		}
	}
	return batch_end(&m->batch, s);
}

const struct source_ops metatf_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

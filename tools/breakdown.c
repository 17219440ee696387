/* SPDX-License-Identifier: MIT */
/*
 * breakdown.c - see breakdown.h
 *
 * Follows the metadata to know the widths, as FORMAT "Metadata" has it, and adds
 * up; the sum must be the length of the stream.
 */
#include "breakdown.h"

#include "feeder.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 256

struct widths {
	uint8_t code[HATF_FIELD_COUNT];	    /* of what is stored */
	uint8_t last[HATF_FIELD_COUNT];	    /* that was not 0 */
	bool stores_none[HATF_FIELD_COUNT]; /* default and stride */
};

static uint64_t
note_metadata(struct widths *w, const struct hatf_metadata *m)
{
	const unsigned f = m->field;

	if (m->op == HATF_SET_FIELD_SIZE) {
		w->code[f] = w->stores_none[f] ? 0 : m->argument;
		if (m->argument != 0)
			w->last[f] = m->argument;
		return 4;
	}
	w->stores_none[f] =
		m->argument == HATF_DEFAULT || m->argument == HATF_STRIDE;
	w->code[f] = w->stores_none[f] ? 0 : w->last[f];
	if (m->argument == HATF_NONE)
		return 4;
	return m->argument == HATF_STRIDE ? 20 : 12;
}

/* Bytes of one value. */
static uint64_t
stored_nbytes(const struct widths *w, enum hatf_field field,
	      const struct hatf_record *rec)
{
	switch (w->code[field]) {
	case HATF_WIDTH_V1:
		return 1 + (uint64_t)rec->attributes_nbytes;
	case HATF_WIDTH_V2:
		return 2 + (uint64_t)rec->attributes_nbytes;
	default:
		return w->code[field];
	}
}

static void
add_record(struct breakdown *b, struct widths *w, const struct hatf_record *rec)
{
	const bool is_block = rec->tag <= HATF_REALLOC_FREE;
	const bool is_realloc = is_block && rec->tag >= HATF_REALLOC_NO_ALLOC;
	const unsigned counts[HATF_FIELD_COUNT] = {
		[HATF_FIELD_SIZE] = rec->tag == HATF_ALLOC || is_realloc,
		[HATF_FIELD_ADDRESS] = is_block ? 1u + is_realloc : 0,
		[HATF_FIELD_TIME] = 1,
		[HATF_FIELD_THREAD] = 1,
		[HATF_FIELD_HEAP] = rec->tag <= HATF_DESTROY_HEAP,
		[HATF_FIELD_ATTRIBUTES] = 1,
	};

	if (rec->tag == HATF_METADATA) {
		const uint64_t nbytes = note_metadata(w, &rec->metadata);

		b->field_nbytes[rec->metadata.field] += nbytes;
		b->total_nbytes += nbytes;
		return;
	}
	if (rec->tag == HATF_COMMENT) {
		b->comment_nbytes += 3 + (uint64_t)rec->attributes_nbytes;
		b->total_nbytes += 3 + (uint64_t)rec->attributes_nbytes;
		return;
	}
	b->tag_nbytes++;
	b->total_nbytes++;
	for (unsigned f = 0; f < HATF_FIELD_COUNT; f++) {
		const uint64_t nbytes = counts[f] * stored_nbytes(w, f, rec);

		b->field_nbytes[f] += nbytes;
		b->total_nbytes += nbytes;
	}
}

/* Add up all that the reader has; returns how it ends. */
static enum hatf_status
take_apart(struct breakdown *b, struct hatf_reader *reader)
{
	struct hatf_record *const records = calloc(BATCH, sizeof(*records));
	struct widths w = {
		.code = { [HATF_FIELD_SIZE] = 4, [HATF_FIELD_ADDRESS] = 4 },
		.last = { [HATF_FIELD_SIZE] = 4, [HATF_FIELD_ADDRESS] = 4 },
	};
	enum hatf_status status = HATF_NO_MEMORY;
	size_t n;

	while (records != NULL) {
		status = hatf_reader_read(reader, records, BATCH, &n);
		if (status != HATF_OK)
			break;
		for (size_t i = 0; i < n; i++)
			add_record(b, &w, &records[i]);
	}
	free(records);
	return status;
}

enum hatf_status
breakdown_take(struct breakdown *b, const struct spool *trace, enum encoding e,
	       struct hatf_error *err)
{
	struct hatf_reader_stats stats;
	struct feeder f;
	enum hatf_status status;

	memset(b, 0, sizeof(*b));
	if (feeder_open(&f, trace, e, ENCODING_WHOLE | ENCODING_FAST,
			HATF_READ_METADATA)) {
		status = take_apart(b, f.reader);
		hatf_reader_get_stats(f.reader, &stats);
		b->file_nbytes = stats.file_nbytes;
		feeder_close(&f, status);
		/* The sum is a check of both sides. */
		b->is_known = f.status == HATF_OK &&
			      b->total_nbytes == stats.hatf_nbytes;
		if (f.status == HATF_OK && !b->is_known)
			f.err.status = f.status = HATF_BAD_METADATA;
	}
	*err = f.err;
	return f.status;
}

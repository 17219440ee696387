/* SPDX-License-Identifier: MIT */
/*
 * breakdown.c - see breakdown.h
 *
 * The bytes of all fields, tags and comments must add up to the length of the
 * stream.
 */
#include "tools/measure/breakdown.h"

#include "tools/measure/feeder.h"
#include "tools/measure/stored.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 256

static void
add_record(struct breakdown *b, struct stored *stored,
	   const struct hatf_record *rec)
{
	if (rec->tag == HATF_METADATA) {
		const uint64_t nbytes = stored_note(stored, &rec->metadata);

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
		const uint64_t nbytes = stored_count(rec->tag, f) *
					stored_nbytes(stored, f, rec);

		b->field_nbytes[f] += nbytes;
		b->total_nbytes += nbytes;
	}
}

/*
 * Subtract a stack that was counted twice.  A stream may store the stack of a
 * record in a comment.  The reader adds the stack to the attributes of the
 * record, so add_record() counts it in the comment, and again in the record.
 *
 * The last counted record ends at 'offset' in the stream, and has
 * 'attributes_nbytes' bytes of attributes.  If more than 'offset' bytes are
 * counted, the surplus is such a stack.  A surplus that exceeds the attributes
 * cannot be a stack, so leave it; breakdown_take() then finds the error.
 */
static void
settle(struct breakdown *b, uint64_t attributes_nbytes, uint64_t offset)
{
	const uint64_t surplus = b->total_nbytes - offset;

	if (b->total_nbytes <= offset || surplus > attributes_nbytes)
		return;
	b->field_nbytes[HATF_FIELD_ATTRIBUTES] -= surplus;
	b->total_nbytes -= surplus;
}

/*
 * Count all records of the reader.  Return the status of the last read, or
 * HATF_NO_MEMORY.  Set '*last_nbytes_ret' to the bytes of the last record's
 * attributes, or to 0 if this record is a comment or metadata.
 */
static enum hatf_status
take_apart(struct breakdown *b, struct hatf_reader *reader,
	   uint64_t *last_nbytes_ret)
{
	struct hatf_record *const records = calloc(BATCH, sizeof(*records));
	struct stored stored;
	enum hatf_status status = HATF_NO_MEMORY;
	uint64_t last_nbytes = 0;
	size_t n;

	stored_init(&stored);
	while (records != NULL) {
		status = hatf_reader_read(reader, records, BATCH, &n);
		if (status != HATF_OK)
			break;
		for (size_t i = 0; i < n; i++) {
			settle(b, last_nbytes, records[i].offset);
			add_record(b, &stored, &records[i]);
			last_nbytes = records[i].tag <= HATF_DESTROY_THREAD
					      ? records[i].attributes_nbytes
					      : 0;
		}
	}
	free(records);
	*last_nbytes_ret = last_nbytes;
	return status;
}

enum hatf_status
breakdown_take(struct breakdown *b, const struct spool *trace, enum encoding e,
	       struct hatf_error *err)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct feeder f;
	enum hatf_status status;
	uint64_t last_nbytes;

	memset(b, 0, sizeof(*b));
	if (feeder_open(&f, trace, e, ENCODING_WHOLE | ENCODING_FAST,
			HATF_READER_METADATA)) {
		status = take_apart(b, f.reader, &last_nbytes);
		hatf_reader_get_stats(f.reader, &stats);
		settle(b, last_nbytes, stats.hatf_nbytes);
		b->file_nbytes = stats.file_nbytes;
		feeder_close(&f, status);
		/*
		 * A sum that differs from the length means a bug here or in the
		 * encoder.
		 */
		b->is_known = f.status == HATF_OK &&
			      b->total_nbytes == stats.hatf_nbytes;
		if (f.status == HATF_OK && !b->is_known)
			f.err.status = f.status = HATF_BAD_METADATA;
	}
	*err = f.err;
	return f.status;
}

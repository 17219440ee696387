/* SPDX-License-Identifier: MIT */
/*
 * mtf_cursor.h - the state of a reader (used by mtf_reader.c and mtf_values.c)
 *
 * A cursor is the state of reading one section.  mtf_reader.c goes from record
 * to record and from section to section; mtf_values.c reads the fields of a
 * record.
 */
#ifndef HATF_MTF_CURSOR_H
#define HATF_MTF_CURSOR_H

#include "hatf/metatf/trace/byte_source.h"
#include "hatf/metatf/trace/field_state.h"
#include "hatf/metatf/trace/mtf_reader.h"
#include "hatf/metatf/trace/record_plan.h"

#include <endian.h>
#include <string.h>

/* The state of reading one section. */
struct cursor {
	struct section_state state;
	/* The source of the section, if the header lists the section. */
	struct byte_source own;
	/* 'own' of this cursor, or 'outer' of the reader */
	struct byte_source *source;
	bool is_open, has_own;
	bool is_busy; /* the reader is reading an element of this section */
	/* in a column: number of elements to skip before the next number */
	uint64_t skipped_count;
	bool is_held; /* the stride is 0: the next number is 'held' again */
	uint64_t held;
	const struct schema_record *by_tag[UINT8_MAX + 1];
	struct record_plan *plans; /* one for each record of the section */
};

struct mtf_reader {
	int fd;
	const struct mtf_header *header;
	const struct schema *schema;
	struct mtf_error err;
	uint64_t file_nbytes;
	/*
	 * length of the file; if the file is an unpacked copy, the length of
	 * the packed file
	 */
	uint64_t packed_nbytes;
	/* records, values, repetitions and bytes of strings read so far */
	uint64_t item_count;
	/* source of the bytes outside the sections that the header lists */
	struct byte_source outer;
	/*
	 * Arrays in the order of schema->sections.  'sections' has the cursors
	 * that read the records of the sections.  'columns' has the cursors
	 * that read the numbers which records take from a column.
	 */
	struct cursor *sections, *columns;
	bool *is_column;
	struct cursor *current;
	/*
	 * true: a section that the header lists has ended, so only comments
	 * and a section record may follow
	 */
	bool is_between;
	uint64_t record_count;
	/*
	 * In a plain section (without tags): how many consecutive records, up
	 * to now, took no byte of the section and no number of a column.
	 */
	size_t empty_count;
	/* The record being read. */
	const struct schema_record *type;
	uint64_t position;
	struct mtf_value *values;
	size_t value_count, value_capacity;
	size_t repeat_count;
	bool has_bytes;
	uint8_t *bytes;
	size_t byte_count, byte_capacity;
	/* the most recent value of each field of the record */
	uint64_t last[SCHEMA_MAX_FIELDS];
};

/* Record an error at the current record.  Return false. */
#define FAIL(r, ...) \
	mtf_fail(&(r)->err, (r)->position, (r)->record_count, __VA_ARGS__)
bool reader_no_memory(struct mtf_reader *r);

/*
 * Add 'n' records, values or bytes to 'item_count'.  If the sum is too large
 * for the length of the file, record an error and return false.
 */
bool reader_count(struct mtf_reader *r, uint64_t n);

/*
 * Record the error of 's', which has failed, or has ended inside a record.
 * Return false.
 */
bool reader_fail_source(struct mtf_reader *r, const struct byte_source *s);

/* Read a stored number of 'width' bytes. */
static inline bool
reader_read_stored(struct mtf_reader *r, struct byte_source *s, unsigned width,
		   uint64_t *stored_ret)
{
	const bool is_big = r->header->byte_order == MTF_BIG_ENDIAN;
	uint64_t word;

	if (width == 0) {
		*stored_ret = 0;
		return true;
	}
	if ((size_t)(s->end - s->next) < sizeof(word)) {
		if (!byte_source_need(s, width))
			return reader_fail_source(r, s);
		*stored_ret = mtf_get(s->next, width, r->header->byte_order);
		s->next += width;
		return true;
	}
	memcpy(&word, s->next, sizeof(word));
	s->next += width;
	*stored_ret =
		is_big ? be64toh(word) >> (64 - 8 * width)
		       : le64toh(word) << (64 - 8 * width) >> (64 - 8 * width);
	return true;
}

/*
 * Append 'value' to r->values.  Record an error and return false if there are
 * too many values, or if there is no memory.
 */
bool reader_add_value(struct mtf_reader *r, struct mtf_value value);

/*
 * Set 'bytes' of each value in r->values that is a byte string.  Call this when
 * the record is complete, because r->bytes may move before then.
 */
void reader_fix_bytes(struct mtf_reader *r);

/* Read the fields of a record of type r->type.  The caller has read the tag. */
bool reader_read_fields(struct mtf_reader *r, struct cursor *c);

/*
 * Read and carry out a metadata record.  The caller has read the record's tag.
 */
bool reader_read_metadata(struct mtf_reader *r, struct cursor *c);

/*
 * Read a tag and set r->type.  In a plain section, which has no tags, only set
 * r->type.
 */
bool reader_read_tag(struct mtf_reader *r, struct cursor *c);

/*
 * Begin to read a section at the offset in 'entry'.  If 'entry' is NULL, the
 * bytes of the section come from r->outer.
 */
bool cursor_open(struct mtf_reader *r, struct cursor *c,
		 const struct schema_section *section,
		 const struct mtf_section_entry *entry);

void cursor_close(struct cursor *c);

/*
 * Has the section of the cursor ended?  Return false if bytes are left, or if
 * the source has failed.
 */
bool cursor_is_at_end(const struct cursor *c);

#endif /* HATF_MTF_CURSOR_H */

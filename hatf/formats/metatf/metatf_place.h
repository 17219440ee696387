/* SPDX-License-Identifier: MIT */
/*
 * metatf_place.h - choose how the fields of Meta-TF records are stored
 *
 * The placer collects records in batches.  For each field of each kind of
 * record, the placer finds the form in which the batch takes the fewest bytes.
 * If all values are equal, this form has the interpretation 'default'.
 * Otherwise, it has 'none' or 'delta', and a width of 1, 2, 4 or 8 bytes.  The
 * placer changes the form of a field if the change saves more bytes than one
 * metadata record takes.  For numbers that fields take from another section,
 * metatf_column.h chooses the form.
 *
 * Memory is one batch.  Only one thread at a time may use a placer.
 */
#ifndef HATF_METATF_PLACE_H
#define HATF_METATF_PLACE_H

#include "hatf/metatf/trace/mtf_writer.h"

/*
 * Maximum number of fields of a HATF record.  A batch has room for this number
 * of values for each of its records.
 */
#define PLACE_FIELDS 12

struct metatf_place;

/*
 * Begin to write records of one section of 'schema'.  'is_compressed' says
 * whether the trace is compressed; it affects only the numbers that fields take
 * from other sections.  The writer and the schema must outlive the placer.
 * Return NULL if there is no memory.
 */
struct metatf_place *metatf_place_open(struct mtf_writer *w,
				       const struct schema *schema,
				       const struct schema_section *section,
				       bool is_compressed);
void metatf_place_close(struct metatf_place *p);

/*
 * Take a record, and copy the bytes to which its values point: at most 1 MiB.
 * The first 'single_count' values belong to fields that precede all repeated
 * fields; the placer chooses forms for these fields only.  Return false if
 * there is no memory or the writer has failed.
 */
bool metatf_place_put(struct metatf_place *p,
		      const struct schema_record *record,
		      const struct mtf_value *values, size_t value_count,
		      size_t single_count);

/* Write the collected records.  Return false if the writer has failed. */
bool metatf_place_flush(struct metatf_place *p);

#endif /* HATF_METATF_PLACE_H */

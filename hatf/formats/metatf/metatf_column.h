/* SPDX-License-Identifier: MIT */
/*
 * metatf_column.h - choose how the numbers of a section are stored
 *
 * A field with the interpretation 'sectionStride' takes its numbers from
 * another section.  A column gets the numbers of one such section in batches.
 * For each batch, the column finds the form in which the numbers take the
 * fewest bytes, after compression if the trace is compressed.  A form is an
 * interpretation ('none', 'baseOffset' or 'delta') and a width of 1, 2, 4 or 8
 * bytes.  If a change to this form saves more bytes than the metadata of the
 * change takes, the column writes the metadata into the section.  The Meta-TF
 * writer then writes the numbers.
 *
 * Memory is a few buffers for a batch.  Only one thread at a time may use a
 * column.
 */
#ifndef HATF_METATF_COLUMN_H
#define HATF_METATF_COLUMN_H

#include "hatf/metatf/trace/mtf_writer.h"

/* Maximum count of numbers in a batch. */
#define COLUMN_MOST 8192

struct metatf_column;

/*
 * Begin to choose forms for the numbers of 'section', which must have exactly
 * one record of its own, with a tag and a number.  The writer must outlive the
 * column.  Return NULL if there is no memory.
 */
struct metatf_column *metatf_column_open(struct mtf_writer *w,
					 const struct schema_section *section,
					 bool is_compressed);
void metatf_column_close(struct metatf_column *c);

/*
 * Choose the form of the next 'count' numbers, at most COLUMN_MOST.  If the
 * form changes, write the metadata.  Return false if the writer has failed.
 */
bool metatf_column_place(struct metatf_column *c, const uint64_t *numbers,
			 size_t count);

#endif /* HATF_METATF_COLUMN_H */

/* SPDX-License-Identifier: MIT */
/*
 * binary.h - Simple Binary: definitions shared by source and sink
 *
 * See FORMATS "Simple Binary".  A file is a magic number and sections, the last
 * of which is empty.  A section is a header and rows of numbers of equal width.
 */
#ifndef HATF_BINARY_H
#define HATF_BINARY_H

#include "hatf/formats/common/format.h"
#include "hatf/formats/ours/columns.h"

#define BINARY_MAGIC \
	"\xfe"       \
	"HATFbin"
#define BINARY_MAGIC_NBYTES 8

/*
 * The fields of a section's header, by offset in bytes:
 *
 *	0  width         1  columns       2  reserved      4  rows
 *	8  base
 */
#define BINARY_HEADER_NBYTES 16

/* The longest row, in bytes: the tag and all columns. */
#define BINARY_ROW_MAX_NBYTES (8 * (1 + COLUMN_COUNT))

/*
 * The number of optional columns, each of which has a bit in the header.  The
 * other columns are in every section.
 */
#define BINARY_OPTIONAL (COLUMN_COUNT - COLUMN_ALWAYS)

#endif /* HATF_BINARY_H */

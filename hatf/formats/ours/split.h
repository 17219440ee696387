/* SPDX-License-Identifier: MIT */
/*
 * split.h - Split Stream: definitions shared by source and sink
 *
 * See FORMATS "Split Stream".  The streams of a group are the tags, the columns
 * in their order, and the bytes of attributes and comments.  Tags and bytes
 * have form 1; the form of a column is its width, 4 or 8.
 */
#ifndef HATF_SPLIT_H
#define HATF_SPLIT_H

#include "hatf/formats/ours/columns.h"
#include "hatf/formats/ours/group.h"

#define SPLIT_MAGIC "\xfeHATFspl"

#define SPLIT_TAGS	   0u
#define SPLIT_COLUMN(i)	   (1u + (i))
#define SPLIT_BYTES	   (1u + COLUMN_COUNT)
#define SPLIT_STREAM_COUNT (2u + COLUMN_COUNT)
_Static_assert(SPLIT_STREAM_COUNT <= GROUP_STREAM_MAX,
	       "a group must have room for a piece of each stream");

#define SPLIT_FORM_BYTES 1

#endif /* HATF_SPLIT_H */

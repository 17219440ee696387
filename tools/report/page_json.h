/* SPDX-License-Identifier: MIT */
/*
 * page_json.h - write the JSON of page/DATA.md, piece by piece
 *
 * Texts come from a trace and are escaped.  The JSON is inside a <script>
 * element, so '<' is escaped, too.
 */
#ifndef PAGE_JSON_H
#define PAGE_JSON_H

#include "tools/summary/census.h"
#include "tools/ui/out.h"

/* Stands for "no value".  page_put_column() writes it as -1. */
#define PAGE_NONE UINT32_MAX

/* Write a string with its quotes; invalid UTF-8 becomes \xHH. */
void page_put_text(struct out *o, const char *text);

/*
 * Return the maximum number of bytes that page_put_text() writes for a text,
 * plus 1 for a comma.
 */
uint64_t page_text_nbytes(const char *text);

/* Write a key, after a comma unless it is the 'first' key. */
void page_put_key(struct out *o, bool first, const char *key);

/*
 * Write a key and its value.  The key must not be the first one of an object.
 */
void page_put_u64(struct out *o, const char *key, uint64_t n);
void page_put_named(struct out *o, const char *key, const char *text);

/*
 * Write a key and an array of numbers.  The key must not be the first one of an
 * object.
 */
void page_put_column(struct out *o, const char *key, const uint32_t *values,
		     uint32_t count);

/*
 * Write a distance from the start of the census's axis, in microseconds or
 * events.  UINT64_MAX stands for an unknown time.
 */
void page_put_time(struct out *o, const struct census *c, uint64_t distance);

#endif /* PAGE_JSON_H */

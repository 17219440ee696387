/* SPDX-License-Identifier: MIT */
/*
 * page_json.h - write the JSON of page/DATA.md, piece by piece
 *
 * Texts come from a trace and are escaped, also for the <script> element that
 * the JSON is in: no '<' is written.
 */
#ifndef PAGE_JSON_H
#define PAGE_JSON_H

#include "tools/summary/census.h"
#include "tools/ui/out.h"

/* No value: written as -1. */
#define PAGE_NONE UINT32_MAX

/* A string, with its quotes; invalid UTF-8 as \xHH. */
void page_put_text(struct out *o, const char *text);

/* A key, with the comma before it if it is not the 'first' one. */
void page_put_key(struct out *o, bool first, const char *key);

/* A key and an integer, or a text; not the first ones of an object. */
void page_put_u64(struct out *o, const char *key, uint64_t n);
void page_put_named(struct out *o, const char *key, const char *text);

/* A key and a column of numbers, not the first one of an object. */
void page_put_column(struct out *o, const char *key, const uint32_t *values,
		     uint32_t count);

/*
 * A distance on the census's axis, in microseconds or events; UINT64_MAX is no
 * time.
 */
void page_put_time(struct out *o, const struct census *c, uint64_t distance);

#endif /* PAGE_JSON_H */

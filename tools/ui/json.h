/* SPDX-License-Identifier: MIT */
/*
 * json.h - additions to jansson
 *
 * jansson silently skips a key whose value is NULL, so running out of memory
 * would drop a key. json_print() therefore takes the expected number of keys.
 */
#ifndef JSON_H
#define JSON_H

#include "hatf/hatf.h"
#include "tools/ui/out.h"

#include <jansson.h>

/*
 * An integer, or a string if 'n' is above INT64_MAX, which jansson lacks.  NULL
 * if out of memory.
 */
json_t *json_u64(uint64_t n);

/*
 * A string, with invalid UTF-8 as \xHH; null for NULL.  Returns NULL if out of
 * memory.
 */
json_t *json_text(const char *s);

/* 'heritage' as one word: none, exact, unknown, inexact, missing, damaged. */
json_t *json_heritage(enum hatf_heritage heritage);

/*
 * Print 'object' as one line and release the reference.  If 'object' does not
 * have 'key_count' keys or memory runs out, print an error message and return
 * false.
 */
bool json_print(struct out *o, json_t *object, size_t key_count);

#endif /* JSON_H */

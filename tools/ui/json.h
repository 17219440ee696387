/* SPDX-License-Identifier: MIT */
/*
 * json.h - additions to jansson
 *
 * If memory runs out, a value is NULL, and jansson silently leaves out its key.
 * Therefore json_print() takes the expected number of keys and checks it.
 */
#ifndef JSON_H
#define JSON_H

#include "hatf/hatf.h"
#include "tools/ui/out.h"

#include <jansson.h>

/*
 * Return an integer.  If 'n' is above INT64_MAX, which jansson does not
 * support, return a string.  NULL if out of memory.
 */
json_t *json_u64(uint64_t n);

/*
 * Return a string, with invalid UTF-8 as \xHH, or JSON's null if 's' is NULL.
 * NULL if out of memory.
 */
json_t *json_text(const char *s);

/*
 * Return 'heritage' as one word: none, exact, unknown, inexact, missing or
 * damaged.
 */
json_t *json_heritage(enum hatf_heritage heritage);

/*
 * Print 'object' as one line and release the caller's reference to 'object'.
 * If 'object' does not have 'key_count' keys or memory runs out, print an error
 * message and return false.
 */
bool json_print(struct out *o, json_t *object, size_t key_count);

#endif /* JSON_H */

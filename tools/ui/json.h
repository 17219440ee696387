/* SPDX-License-Identifier: MIT */
/*
 * json.h - what the tools need on top of jansson
 *
 * Setting a NULL value in an object fails quietly in jansson, so running out of
 * memory would drop a key: json_print() therefore wants the number of keys.
 */
#ifndef JSON_H
#define JSON_H

#include "hatf/hatf.h"
#include "tools/ui/out.h"

#include <jansson.h>

/* An integer; beyond INT64_MAX, which jansson does not have, a string. */
json_t *json_u64(uint64_t n);

/* A string, with invalid UTF-8 as \xHH; null for NULL. */
json_t *json_text(const char *s);

/* One word for it: none, exact, unknown, inexact, missing, damaged. */
json_t *json_heritage(enum hatf_heritage heritage);

/*
 * Print 'object' as one line and drop it.  False if it does not have
 * 'key_count' keys or there is no memory, which has been said then.
 */
bool json_print(struct out *o, json_t *object, size_t key_count);

#endif /* JSON_H */

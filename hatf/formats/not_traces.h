/* SPDX-License-Identifier: MIT */
/*
 * not_traces.h - files that one may take for traces, and that are told by name
 *
 * They belong to systems whose traces are read, or are what a sink has written, and
 * cannot be read themselves.
 */
#ifndef HATF_NOT_TRACES_H
#define HATF_NOT_TRACES_H

#include <stddef.h>
#include <stdint.h>

/*
 * What the file is that begins with these bytes, a phrase that says what would be
 * right; static.  NULL: none of these.
 */
const char *not_traces_recognise(const uint8_t *bytes, size_t nbytes);

#endif /* HATF_NOT_TRACES_H */

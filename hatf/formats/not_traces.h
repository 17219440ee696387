/* SPDX-License-Identifier: MIT */
/*
 * not_traces.h - recognize files that a user may mistake for traces
 *
 * Such a file belongs to a system whose traces hatf can read, or has a format
 * that hatf can only write.  The error message can then name the kind of file
 * instead of calling it a malformed trace.
 */
#ifndef HATF_NOT_TRACES_H
#define HATF_NOT_TRACES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Return a phrase that names the kind of file that begins with these bytes and
 * says what hatf does with it; NULL if the kind is unknown.  Look at no more
 * than FORMAT_PREFIX_NBYTES bytes.  The string is static.
 */
const char *not_traces_recognize(const uint8_t *bytes, size_t nbytes);

#endif /* HATF_NOT_TRACES_H */

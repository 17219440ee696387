/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_header.h - the first lines of an interpreted file of heaptrack
 *
 * heaptrack_header.c makes these lines from the header lines of the trace
 * (FORMAT.md, "Header").
 */
#ifndef HATF_HEAPTRACK_HEADER_H
#define HATF_HEAPTRACK_HEADER_H

#include "hatf/formats/common/format.h"

/* Does the trace have a header line with this key and this value? */
bool heaptrack_header_is(const struct sink *s, const char *key,
			 const char *value);

/*
 * Write the lines that precede all definitions and events.  Return the size of
 * a page in bytes.  The caller checks s->out for errors.
 */
uint64_t heaptrack_write_header(struct sink *s);

#endif /* HATF_HEAPTRACK_HEADER_H */

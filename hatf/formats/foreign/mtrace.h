/* SPDX-License-Identifier: MIT */
/* mtrace.h - find the offset in a function name that glibc's mtrace() wrote */
#ifndef HATF_MTRACE_H
#define HATF_MTRACE_H

#include "hatf/formats/common/textio.h"

/*
 * Return the position of the offset, such as "+1a", that mtrace() appends to
 * the name of a function.  Return symbol.end if there is no offset, as in
 * "operator-".  Thread-safe.
 */
uint8_t *mtrace_find_offset(struct textio_cell symbol);

#endif /* HATF_MTRACE_H */

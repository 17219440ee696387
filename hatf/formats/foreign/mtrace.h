/* SPDX-License-Identifier: MIT */
/*
 * mtrace.h - how glibc's mtrace() writes a function: common to source and sink
 */
#ifndef HATF_MTRACE_H
#define HATF_MTRACE_H

#include "hatf/formats/common/textio.h"

/*
 * Return where the offset "+1a" that mtrace() appends to a function begins.
 * Return symbol.end if there is none, as after "operator-".  Thread-safe.
 */
uint8_t *mtrace_find_offset(struct textio_cell symbol);

#endif /* HATF_MTRACE_H */

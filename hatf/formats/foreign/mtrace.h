/* SPDX-License-Identifier: MIT */
/*
 * mtrace.h - how glibc's mtrace() writes a name, for the source and the sink
 */
#ifndef HATF_MTRACE_H
#define HATF_MTRACE_H

#include "hatf/formats/common/textio.h"

/*
 * Where the "+1a" begins that mtrace() puts behind the name of a function; the end if
 * there is none, as behind "operator-".
 */
uint8_t *mtrace_find_offset(struct textio_cell symbol);

#endif /* HATF_MTRACE_H */

/* SPDX-License-Identifier: MIT */
/* reader.h - what the library asks of a reader beyond hatf.h */
#ifndef HATF_READER_H
#define HATF_READER_H

#include "hatf/hatf.h"

/* The descriptor that 'reader' reads from; it stays the reader's or the
 * caller's. */
int reader_fd(const struct hatf_reader *reader);

#endif /* HATF_READER_H */

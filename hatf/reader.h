/* SPDX-License-Identifier: MIT */
/* reader.h - what the library asks of a reader beyond hatf.h */
#ifndef HATF_READER_H
#define HATF_READER_H

#include "hatf/hatf.h"

/* Open a reader with the default options on 'fd', which stays the caller's. */
enum hatf_status reader_open_fd(int fd, struct hatf_reader **reader_ret);

/* The descriptor that 'reader' reads from; it stays the reader's or the
 * caller's. */
int reader_fd(const struct hatf_reader *reader);

#endif /* HATF_READER_H */

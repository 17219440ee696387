/* SPDX-License-Identifier: MIT */
/* reader.h - functions of a reader that only the library uses */
#ifndef HATF_READER_H
#define HATF_READER_H

#include "hatf/hatf.h"

/* Open a reader with the default options on 'fd', which the caller closes. */
enum hatf_status reader_open_fd(int fd, struct hatf_reader **reader_ret);

/*
 * Return the descriptor from which 'reader' reads.  The caller must not close
 * it.
 */
int reader_fd(const struct hatf_reader *reader);

#endif /* HATF_READER_H */

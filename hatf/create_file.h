/* SPDX-License-Identifier: MIT */
/* create_file.h - report that a file could not be created or opened */
#ifndef HATF_CREATE_FILE_H
#define HATF_CREATE_FILE_H

#include "hatf/hatf.h"

/* Store HATF_IO and errno in '*err', which may be NULL.  Return HATF_IO. */
enum hatf_status file_fail(struct hatf_error *err);

#endif /* HATF_CREATE_FILE_H */

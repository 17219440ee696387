/* SPDX-License-Identifier: MIT */
/* newfile.h - how a call fails when a file cannot be opened */
#ifndef HATF_NEWFILE_H
#define HATF_NEWFILE_H

#include "hatf.h"

/* Store HATF_IO and errno in '*err', which may be NULL; returns HATF_IO. */
enum hatf_status file_fail(struct hatf_error *err);

#endif /* HATF_NEWFILE_H */

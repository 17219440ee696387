/* SPDX-License-Identifier: MIT */
/*
 * cutoff.h - explain a trace without a trailer
 *
 * If the trace has a ring file, the ring file tells the cause: the process is
 * still writing the trace, or ended abruptly and left its last events in the
 * ring file.
 */
#ifndef CUTOFF_H
#define CUTOFF_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * If reading the trace 'path' ended with the status HATF_NO_TRAILER or
 * HATF_TRUNCATED, look for its ring file, store the ring file's summary in
 * '*ret', and return whether there is a ring file.  With any other 'status',
 * return false.  If the ring file is damaged or cannot be read, all members of
 * '*ret' but 'struct_nbytes' are 0.
 */
bool cutoff_find_rings(const char *path, enum hatf_status status,
		       struct hatf_rings *ret);

/*
 * Describe the error 'err' with which reading 'path' ended, and the state of
 * the ring file if there is one.  Write the text to 'buf', truncated to
 * 'nbytes' bytes.
 */
void cutoff_describe(const char *path, const struct hatf_error *err, char *buf,
		     size_t nbytes);

/* Print "PATH: " and the text of cutoff_describe() on standard error. */
void cutoff_report(const char *path, const struct hatf_error *err);

#endif /* CUTOFF_H */

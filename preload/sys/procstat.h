/* SPDX-License-Identifier: MIT */
/*
 * procstat.h - read /proc/PID/stat (proc(5))
 *
 * Any thread may call these functions.  They neither allocate nor keep state.
 */
#ifndef PROCSTAT_H
#define PROCSTAT_H

#include <stddef.h>
#include <stdint.h>

/* Size of the buffer for the line, in bytes. */
#define PROCSTAT_NBYTES 1024

/*
 * Read the line of the file 'path', relative to the open folder 'folder' or
 * AT_FDCWD, into 'buf', which has PROCSTAT_NBYTES bytes.  Return a pointer to
 * the line's third field, the state.  Return NULL if the file cannot be read or
 * has no such line.
 */
const char *procstat_read(int folder, const char *path, char *buf);

/* Like procstat_read(), but read the open file 'fd' from its beginning. */
const char *procstat_read_open(int fd, char *buf);

/*
 * Return the number in field 'n' of the line, or 0 if the field is missing.
 * 'n' is at least 3.  'state' is the result of procstat_read().
 */
uint64_t procstat_field(const char *state, int n);

#endif /* PROCSTAT_H */

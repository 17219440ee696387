/* SPDX-License-Identifier: MIT */
/*
 * procstat.h - the line that the system has about a process, proc(5)'s stat
 *
 * For any thread, the writer's too: nothing here allocates or keeps state.
 */
#ifndef PROCSTAT_H
#define PROCSTAT_H

#include <stddef.h>
#include <stdint.h>

/* Room for the line. */
#define PROCSTAT_NBYTES 1024

/*
 * Read the line in the file at 'path', of the open folder 'folder' or AT_FDCWD,
 * into 'buf', PROCSTAT_NBYTES long.  Returns where its third field, the state,
 * begins; NULL: there is no such line.
 */
const char *procstat_read(int folder, const char *path, char *buf);

/* The same for the open file itself, from its beginning. */
const char *procstat_read_open(int fd, char *buf);

/* The number that is field 'n' of the line, from 3 on; 0 if it is not there. */
uint64_t procstat_field(const char *state, int n);

#endif /* PROCSTAT_H */

/* SPDX-License-Identifier: MIT */
/*
 * progress.h - progress of a long read
 *
 * The progress is one line on standard error, rewritten in place.  It appears
 * only on a terminal, after one second.  progress_end() erases it.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *path;
	uint64_t total_nbytes; /* size of the file; 0: unknown, as for a pipe */
	uint64_t start_ns, shown_ns;
	bool enabled, visible;
};

/*
 * Begin to show the progress of reading 'path'.  If 'shares_terminal', results
 * go to the same terminal.  In this case show no progress, because the progress
 * line would garble the results.
 */
void progress_begin(struct progress *p, const char *path, bool shares_terminal);

/*
 * Report that 'done_nbytes' of the file and 'event_count' events have been
 * read.  Cheap enough to call for each batch.
 */
void progress_update(struct progress *p, uint64_t done_nbytes,
		     uint64_t event_count);

/*
 * Report that 'done' of 'total' steps are done.  'work' says what the steps
 * are, such as "sizes".
 */
void progress_step(struct progress *p, const char *work, uint64_t done,
		   uint64_t total);

void progress_end(struct progress *p);

#endif /* PROGRESS_H */

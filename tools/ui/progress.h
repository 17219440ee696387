/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far a long read has come
 *
 * One line on standard error, rewritten in place, and only if that is a
 * terminal and a second has passed; wiped when the work is done.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *path;
	uint64_t total_nbytes; /* of the file; 0: unknown (a pipe) */
	uint64_t start_ns, shown_ns;
	bool enabled, visible;
};

/* 'shares_terminal': results go to the same terminal, where a line that comes
 * and goes would cut them up. */
void progress_begin(struct progress *p, const char *path, bool shares_terminal);

/* 'done_nbytes' of the file and 'event_count' events have been read.  Cheap
 * enough for each batch. */
void progress_update(struct progress *p, uint64_t done_nbytes,
		     uint64_t event_count);

/* Of 'total' steps of a work ("sizes"), 'done' are done. */
void progress_step(struct progress *p, const char *work, uint64_t done,
		   uint64_t total);

void progress_end(struct progress *p);

#endif /* PROGRESS_H */

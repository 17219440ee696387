/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the blocks that live at a point of a trace, as a trace
 *
 * Of a trace that may still be written.  The snapshot has what the header of the
 * trace says of the process, no events, and carried blocks (FORMAT "Segments"), so
 * that it can be read alone.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of the blocks that lived when a trace began. */
enum snapshot_live {
	SNAPSHOT_EXACT,
	SNAPSHOT_UNCERTAIN, /* events have been lost */
	SNAPSHOT_UNKNOWN,   /* it does not have those from before it began */
};

struct snapshot {
	const char *from;     /* the trace's name */
	int from_fd;	      /* the trace, a file open for reading */
	uint64_t event_count; /* of it, to be read; it may have fewer */
	/*
	 * Where to write, a file that is not there yet; "-": standard output.
	 * NULL: "snapshot.PID.hatf.gz" for 'pid', and if that is taken the first
	 * of "snapshot.PID.1.hatf.gz" and so on that is not.
	 */
	const char *to;
	long pid;
	/* Set: the file's name, and what is in it. */
	char name[64]; /* of the default's */
	uint64_t live_count, live_nbytes;
	enum snapshot_live live;
};

/*
 * Read the trace and write the snapshot, which only its owner may read.  On
 * failure says what is wrong, leaves no file behind and returns false.
 */
bool snapshot_write(struct snapshot *s);

/* Of the header of the trace in the file 'fd', what "live" says; without one,
 * EXACT. */
enum snapshot_live snapshot_live_of(int fd);

/* The word that a header has for it. */
const char *snapshot_live_word(enum snapshot_live live);

#endif /* SNAPSHOT_H */

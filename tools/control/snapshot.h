/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - write the live blocks at a point of a trace as a new trace
 *
 * The source trace may still be written.  The snapshot has the process's header
 * lines of the source, no events, and the live blocks as carried blocks (FORMAT
 * "Segments").  It can be read on its own.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

/* How much is known of the blocks that were live when a trace began. */
enum snapshot_live {
	SNAPSHOT_EXACT,
	SNAPSHOT_UNCERTAIN, /* events were lost */
	SNAPSHOT_UNKNOWN,   /* blocks from before the trace are missing */
};

struct snapshot {
	const char *from;     /* name of the source trace */
	int from_fd;	      /* the source trace, open for reading; borrowed */
	uint64_t event_count; /* events to read; the source may have fewer */
	/*
	 * Path of the new file, which must not exist; "-": standard output.
	 * NULL: the first of "snapshot.PID.hatf.gz", "snapshot.PID.1.hatf.gz"
	 * and so on that does not exist, with PID 'pid'.
	 */
	const char *to;
	long pid;
	/* Results: the default name chosen, and the content. */
	char name[64]; /* set if 'to' is NULL */
	uint64_t live_count, live_nbytes;
	enum snapshot_live live;
};

/*
 * Read the trace and write the snapshot, readable only by its owner.  On
 * failure print an error message, remove the file and return false.
 */
bool snapshot_write(struct snapshot *s);

/*
 * Return the value of "live" in the header of the trace open as 'fd';
 * SNAPSHOT_EXACT if there is none.
 */
enum snapshot_live snapshot_live_of(int fd);

/* Return the word that stands for 'live' in a header.  Static. */
const char *snapshot_live_word(enum snapshot_live live);

#endif /* SNAPSHOT_H */

/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - write the live blocks at a point of a trace as a new trace
 *
 * The recorder may still be writing the source trace.  The snapshot contains
 * the source's header lines about the process, no events, and the live blocks
 * in the form of blocks carried over from an earlier segment (FORMAT
 * "Segments").  The snapshot can be read without any other trace.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

/* How completely a trace knows the blocks that were live when it began. */
enum snapshot_live {
	SNAPSHOT_EXACT,
	/* Events were lost before or in the source: blocks may be wrong. */
	SNAPSHOT_UNCERTAIN,
	SNAPSHOT_UNKNOWN, /* blocks from before the trace are missing */
};

struct snapshot {
	const char *from; /* path of the source trace */
	int from_fd;	  /* the source trace, open for reading; borrowed */
	/*
	 * How many events to read, after the blocks that were live at the start
	 * of the source.  The source may have fewer events.
	 */
	uint64_t event_count;
	/*
	 * Path of the new file, which must not exist; "-": standard output.
	 * NULL: the first of "snapshot.PID.hatf.gz", "snapshot.PID.1.hatf.gz"
	 * and so on that does not exist, with PID 'pid'.
	 */
	const char *to;
	long pid;
	/* Results: the name of the file and its content. */
	char name[64]; /* the default name; set if 'to' is NULL */
	uint64_t live_count, live_nbytes;
	enum snapshot_live live;
};

/*
 * Read the trace and write the snapshot, readable only by its owner.  On
 * failure print an error message, remove the file and return false.
 */
bool snapshot_write(struct snapshot *s);

/*
 * Return how completely the trace that is open as 'fd' knows the blocks that
 * were live at its start.  The lines "live" and "start" of the header say so;
 * without these lines, return SNAPSHOT_EXACT.
 */
enum snapshot_live snapshot_live_of(int fd);

/* Return the word that stands for 'live' in a header, a static string. */
const char *snapshot_live_word(enum snapshot_live live);

#endif /* SNAPSHOT_H */

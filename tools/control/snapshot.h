/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - write the blocks live after N events of a trace as a new trace
 *
 * The recorder may still be writing the source trace.  The snapshot contains
 * the source's header lines about the process, and the live blocks with their
 * threads and call stacks, but no events.  The live blocks have the form of
 * blocks carried over from an earlier segment (FORMAT "Segments").  No other
 * trace is needed to read the snapshot.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

/* What a trace states about the blocks that were live when it began. */
enum snapshot_live {
	SNAPSHOT_EXACT,
	/*
	 * Events were lost before the trace began, so the blocks may be wrong.
	 */
	SNAPSHOT_UNCERTAIN,
	/* blocks that were allocated before the trace began are missing */
	SNAPSHOT_UNKNOWN,
};

struct snapshot {
	const char *from; /* path of the source trace */
	int from_fd;	  /* the source trace, open for reading; borrowed */
	/*
	 * How many events of the source to read.  The blocks that were live at
	 * the start of the source do not count as events.  The source may have
	 * fewer events.
	 */
	uint64_t event_count;
	/*
	 * Path of the new file, which must not exist; "-": standard output.
	 * NULL: the first of "snapshot.PID.hatf.gz", "snapshot.PID.1.hatf.gz"
	 * and so on that does not exist, where PID is 'pid'.
	 */
	const char *to;
	long pid;
	/* Results of snapshot_write(): */
	char name[64]; /* set if 'to' was NULL; 'to' then points here */
	uint64_t live_count, live_nbytes;
	enum snapshot_live live;
};

/*
 * Read the trace and write the snapshot, readable only by its owner.  On
 * failure print an error message, remove the file and return false.
 */
bool snapshot_write(struct snapshot *s);

/*
 * Read the header lines "live" and "start" of the trace that is open as 'fd'.
 * Return what they say about the blocks that were live when the trace began.
 * If the header has neither line, or cannot be read, return SNAPSHOT_EXACT.
 */
enum snapshot_live snapshot_live_of(int fd);

/*
 * Return the value of the header line "live" that means 'live'.  The string is
 * static.
 */
const char *snapshot_live_word(enum snapshot_live live);

#endif /* SNAPSHOT_H */

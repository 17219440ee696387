/* SPDX-License-Identifier: MIT */
/*
 * inflate_ahead.h - threads that decompress gzip members ahead of the reader
 *
 * A queue of complete members.  They leave the queue in the order in which they
 * entered it, decompressed in the meantime by the threads.  The threads access
 * members only.  The owner's thread reads the file and makes all calls below.
 *
 * Memory is INFLATE_AHEAD_MEMBER_NBYTES for the input and as many for the data
 * of each of 2 * jobs + 2 members.  Only the part that the members need is
 * touched.
 */
#ifndef HATF_INFLATE_AHEAD_H
#define HATF_INFLATE_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The longest member and the longest data: more than a writer of blocks makes.
 */
#define INFLATE_AHEAD_MEMBER_NBYTES ((size_t)512 * 1024)

struct inflate_ahead_member {
	uint8_t *in, *out; /* INFLATE_AHEAD_MEMBER_NBYTES each */
	size_t in_nbytes, out_nbytes;
	uint64_t file_end; /* its end in the file */
	bool good;	   /* 'out' has the data; else it is damaged */
	bool done;	   /* private to the queue */
};

struct inflate_ahead;

/*
 * Start 'jobs' threads, at most HATF_READER_JOBS_MAX.  Return NULL if none can
 * be started.
 */
struct inflate_ahead *inflate_ahead_open(unsigned jobs);

/*
 * Stop the threads and free everything.  Blocks until the threads have finished
 * their current members.  NULL is allowed.
 */
void inflate_ahead_close(struct inflate_ahead *a);

/* Return the next member to fill in, or NULL if the queue is full. */
struct inflate_ahead_member *inflate_ahead_room(struct inflate_ahead *a);

/*
 * Append the member of inflate_ahead_room(), with 'in', both lengths and
 * 'file_end' set.
 */
void inflate_ahead_put(struct inflate_ahead *a);

/* Is there no member in the queue? */
bool inflate_ahead_is_empty(const struct inflate_ahead *a);

/*
 * Return the member at the front, or NULL if the queue is empty.  Blocks until
 * the member is decompressed.
 */
const struct inflate_ahead_member *inflate_ahead_front(struct inflate_ahead *a);

/* Remove the member at the front.  Its bytes and data become invalid. */
void inflate_ahead_drop(struct inflate_ahead *a);

#endif /* HATF_INFLATE_AHEAD_H */

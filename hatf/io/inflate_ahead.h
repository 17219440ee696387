/* SPDX-License-Identifier: MIT */
/*
 * inflate_ahead.h - threads that decompress gzip members ahead of the reader
 *
 * This is a queue of complete members.  The reader's thread reads the file,
 * puts members into the queue, and takes them out in the same order.  In the
 * meantime, other threads decompress them; these threads access only the queue
 * and its members.  Only the reader's thread may call the functions below.
 *
 * The queue holds up to 2 * jobs + 2 members.  Each of them has two buffers of
 * INFLATE_AHEAD_MEMBER_NBYTES, one for its compressed and one for its
 * decompressed bytes.  The unused ends of these buffers are never touched.
 */
#ifndef HATF_INFLATE_AHEAD_H
#define HATF_INFLATE_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Maximum length of a member in the queue, both compressed and decompressed.
 * The members that the recorder writes are shorter.  input.c decompresses
 * longer members itself, with zlib's inflate().
 */
#define INFLATE_AHEAD_MEMBER_NBYTES ((size_t)512 * 1024)

struct inflate_ahead_member {
	uint8_t *in, *out; /* memory of INFLATE_AHEAD_MEMBER_NBYTES each */
	size_t in_nbytes, out_nbytes;
	uint64_t file_end; /* offset of the member's end in the file */
	/*
	 * true: 'out' has the data; false: the member is damaged, or memory ran
	 * out
	 */
	bool good;
	bool done; /* for the queue's own use */
};

struct inflate_ahead;

/*
 * Start 'jobs' threads, at most HATF_READER_JOBS_MAX.  Return NULL if none can
 * be started.
 */
struct inflate_ahead *inflate_ahead_open(unsigned jobs);

/*
 * Stop the threads and free everything.  Wait until the threads have finished
 * their current members.  'a' may be NULL.
 */
void inflate_ahead_close(struct inflate_ahead *a);

/*
 * Return the next member for the caller to fill in; NULL if the queue is full.
 */
struct inflate_ahead_member *inflate_ahead_room(struct inflate_ahead *a);

/*
 * Append the member that inflate_ahead_room() returned.  The caller must have
 * stored the compressed bytes at 'in', and must have set 'in_nbytes',
 * 'out_nbytes' and 'file_end'.
 */
void inflate_ahead_put(struct inflate_ahead *a);

/* Is there no member in the queue? */
bool inflate_ahead_is_empty(const struct inflate_ahead *a);

/*
 * Wait until the member at the front is decompressed, and return it; NULL if
 * the queue is empty.
 */
const struct inflate_ahead_member *inflate_ahead_front(struct inflate_ahead *a);

/* Remove the member at the front.  Its 'in' and 'out' become invalid. */
void inflate_ahead_drop(struct inflate_ahead *a);

#endif /* HATF_INFLATE_AHEAD_H */

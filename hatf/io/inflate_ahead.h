/* SPDX-License-Identifier: MIT */
/*
 * inflate_ahead.h - gzip members, inflated ahead by threads
 *
 * A queue of whole members: what is put in at its end comes out at its front in
 * the same order, inflated meanwhile by as many threads as were asked for.  The
 * threads touch nothing but the members; the file is its owner's, and so is every
 * call here.
 *
 * Memory is AHEAD_MEMBER_NBYTES for the bytes and as many for the data of each of
 * 2 * jobs + 2 members, touched as far as they are that long.
 */
#ifndef HATF_AHEAD_H
#define HATF_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest member, and its data: more than a writer of blocks makes. */
#define AHEAD_MEMBER_NBYTES ((size_t)512 * 1024)

struct ahead_member {
	uint8_t *in, *out; /* AHEAD_MEMBER_NBYTES each */
	size_t in_nbytes, out_nbytes;
	uint64_t file_end; /* where it ends in the file */
	bool good;	   /* 'out' holds its data; else it is damaged */
	bool done;	   /* the queue's own */
};

struct ahead;

/* Start 'jobs' threads, or HATF_READ_JOBS_MAX; NULL if there can be none. */
struct ahead *ahead_open(unsigned jobs);

/* Stop the threads, which takes as long as a member; NULL is allowed. */
void ahead_close(struct ahead *a);

/* The member to be put in next, or NULL if the queue is full. */
struct ahead_member *ahead_room(struct ahead *a);

/* Put in what ahead_room() gave: 'in', both lengths and 'file_end' are set. */
void ahead_put(struct ahead *a);

bool ahead_is_empty(const struct ahead *a);

/* The member at the front, once it has been inflated; NULL if there is none. */
const struct ahead_member *ahead_front(struct ahead *a);

/* Take it out; its bytes and data end with that. */
void ahead_drop(struct ahead *a);

#endif /* HATF_AHEAD_H */

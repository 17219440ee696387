/* SPDX-License-Identifier: MIT */
/*
 * inflate_ahead.h - gzip members, inflated ahead by threads
 *
 * A queue of whole members: what is put in at its end comes out at its front in
 * the same order, inflated meanwhile by as many threads as were asked for.  The
 * threads touch nothing but the members; the file is its owner's, and so is every
 * call here.
 *
 * Memory is INFLATE_AHEAD_MEMBER_NBYTES for the bytes and as many for the data of each of
 * 2 * jobs + 2 members, touched as far as they are that long.
 */
#ifndef HATF_INFLATE_AHEAD_H
#define HATF_INFLATE_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest member, and its data: more than a writer of blocks makes. */
#define INFLATE_AHEAD_MEMBER_NBYTES ((size_t)512 * 1024)

struct inflate_ahead_member {
	uint8_t *in, *out; /* INFLATE_AHEAD_MEMBER_NBYTES each */
	size_t in_nbytes, out_nbytes;
	uint64_t file_end; /* where it ends in the file */
	bool good;	   /* 'out' holds its data; else it is damaged */
	bool done;	   /* the queue's own */
};

struct inflate_ahead;

/* Start 'jobs' threads, or HATF_READ_JOBS_MAX; NULL if there can be none. */
struct inflate_ahead *inflate_ahead_open(unsigned jobs);

/* Stop the threads, which takes as long as a member; NULL is allowed. */
void inflate_ahead_close(struct inflate_ahead *a);

/* The member to be put in next, or NULL if the queue is full. */
struct inflate_ahead_member *inflate_ahead_room(struct inflate_ahead *a);

/* Put in what inflate_ahead_room() gave: 'in', both lengths and 'file_end' are set. */
void inflate_ahead_put(struct inflate_ahead *a);

bool inflate_ahead_is_empty(const struct inflate_ahead *a);

/* The member at the front, once it has been inflated; NULL if there is none. */
const struct inflate_ahead_member *inflate_ahead_front(struct inflate_ahead *a);

/* Take it out; its bytes and data end with that. */
void inflate_ahead_drop(struct inflate_ahead *a);

#endif /* HATF_INFLATE_AHEAD_H */

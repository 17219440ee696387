/* SPDX-License-Identifier: MIT */
/*
 * input.h - the bytes of a trace, whatever they come from
 *
 * Reads a file, pipe or terminal that holds HATF or gzip members of it, and hands
 * on plain HATF bytes.  Which of the two it is shows in the first two bytes: a
 * trace begins with a tag, at most 11, gzip with 0x1f.
 *
 * Memory is one buffer of INPUT_BUF_NBYTES and zlib's state, whatever the input.
 * Used by one thread at a time.
 *
 * Invariant: every byte that can be had of what precedes damage or the end of
 * the file is delivered before the error that stops the reading.
 */
#ifndef HATF_INPUT_H
#define HATF_INPUT_H

#include "hatf.h"

#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>

/* Large enough that the system calls do not show, small enough for a cache. */
#define INPUT_BUF_NBYTES (64 * 1024)

struct input {
	int fd; /* the caller's */
	bool compressed;
	bool in_member; /* bytes of a gzip member have been read */
	bool file_ended;
	bool zlib_in_use;
	int sys_errno;		 /* of HATF_IO */
	enum hatf_status status; /* HATF_OK until there is nothing more */
	uint64_t file_nbytes;	 /* read from 'fd' */
	uint8_t *buf;
	const uint8_t *next, *end; /* what is left in 'buf' */
	z_stream zlib;
};

/*
 * Start to read from 'fd', which stays the caller's, and find out whether it is
 * compressed.  Errors: HATF_NO_MEMORY, HATF_IO.  Needs input_fini() whatever the
 * result.
 */
enum hatf_status input_init(struct input *in, int fd);

/*
 * Read some bytes, at least one and at most 'nbytes' (which is not 0), into 'to'.
 * Returns how many, or 0 if there are no more; in->status then says why, and is
 * the same for every later call:
 *
 *   HATF_END             the end of the file, between members
 *   HATF_TRUNCATED       the end of the file inside a gzip member
 *   HATF_BAD_COMPRESSION a member is damaged, or is followed by something else
 *   HATF_IO              see in->sys_errno
 */
size_t input_read(struct input *in, uint8_t *to, size_t nbytes);

/* Bytes of the file that have been consumed. */
uint64_t input_consumed(const struct input *in);

void input_fini(struct input *in);

#endif /* HATF_INPUT_H */

/* SPDX-License-Identifier: MIT */
/*
 * input.h - the bytes of a trace, whatever they come from
 *
 * Reads a file, pipe or terminal that holds a trace, or gzip members or frames of
 * zstd or lz4 of one, and hands on the trace's bytes.  Which of them it is shows in
 * the first bytes: no trace begins as gzip does, with 1f 8b, or as frame_reader.h says.
 *
 * Members that tell their length (FORMAT "Compression") are inflated whole, which
 * is much faster, and by threads ahead of the reading if there are any ('ahead').
 * All others, and those with which anything is wrong, go through zlib's streams,
 * which give every byte before the damage.
 *
 * Memory is one buffer of INPUT_BUF_NBYTES, one member's data, zlib's state, and
 * what inflate_ahead.h says, whatever the input.  Used by one thread at a time.
 *
 * Invariant: every byte that can be had of what precedes damage or the end of
 * the file is delivered before the error that stops the reading.
 */
#ifndef HATF_INPUT_H
#define HATF_INPUT_H

#include "hatf/hatf.h"
#include "hatf/io/frame_reader.h"

#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>

/* Holds a member that is to be inflated whole. */
#define INPUT_BUF_NBYTES (512 * 1024)

struct inflate_ahead;
struct inflate;

struct input {
	int fd; /* the caller's */
	bool compressed;
	bool in_member; /* bytes of a gzip member are with zlib */
	bool file_ended;
	bool never_waits; /* 'fd' is a file's */
	bool zlib_in_use;
	bool distrusts;		 /* a member's length was wrong, or its data */
	bool from_ahead;	 /* next, data_next: in the front of 'ahead' */
	int sys_errno;		 /* of HATF_IO */
	enum hatf_status status; /* HATF_OK until there is nothing more */
	unsigned jobs;		 /* threads that are wanted; 0: none */
	uint64_t file_nbytes;	 /* read from 'fd' */
	uint64_t out_nbytes;	 /* inflated and handed on */
	uint8_t *buf;
	const uint8_t *next, *end;	     /* what is left in 'buf' */
	const uint8_t *buf_next, *buf_end;   /* the same, while in 'ahead' */
	uint8_t *data;			     /* of a member; NULL: none yet */
	const uint8_t *data_next, *data_end; /* what is left of a member's */
	z_stream zlib;
	struct inflate *inflate;
	struct inflate_ahead *ahead;
	enum frame_kind kind; /* FRAME_NONE: gzip, or nothing */
	struct frame_reader *frames;
};

/*
 * Start to read from 'fd', which stays the caller's, and find out whether it is
 * compressed.  'jobs' is the number of threads that may inflate ahead.  Errors:
 * HATF_NO_MEMORY, HATF_IO, HATF_NO_LIBRARY.  Needs input_fini() whatever the result.
 */
enum hatf_status input_init(struct input *in, int fd, unsigned jobs);

/*
 * Read some bytes, at least one and at most 'nbytes' (which is not 0), into 'to'.
 * Returns how many, or 0 if there are no more; in->status then says why, and is
 * the same for every later call:
 *
 *   HATF_END             the end of the file, between members
 *   HATF_TRUNCATED       the end of the file inside a gzip member or a frame
 *   HATF_BAD_COMPRESSION a member or frame is damaged, or is followed by something else
 *   HATF_LIMIT           the data is far longer than its file, or a frame wants
 *                        too much memory (FORMAT "Limits")
 *   HATF_IO              see in->sys_errno
 */
size_t input_read(struct input *in, uint8_t *to, size_t nbytes);

/* "gzip", "zstd", "lz4", or NULL if it is not compressed; static. */
const char *input_compression(const struct input *in);

/* Bytes of the file that have been consumed. */
uint64_t input_consumed(const struct input *in);

void input_fini(struct input *in);

#endif /* HATF_INPUT_H */

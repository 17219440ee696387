/* SPDX-License-Identifier: MIT */
/*
 * trailer.h - read only the trailer of a trace
 *
 * 'hatf record' prints one line after hours of recording.  The last block of
 * the trace has all the figures, so the trace need not be read.
 */
#ifndef TRAILER_H
#define TRAILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The content of the "HATF end" comment. */
struct trailer {
	bool complete;
	uint64_t event_count, lost_count;
	uint64_t time;	  /* in the unit of the header */
	char end[24];	  /* how the program ended; empty: unknown */
	char error[80];	  /* why the recorder could write no more, or empty */
	char missed[208]; /* which calls were not recorded, or empty */
};

/*
 * Read the trailer.  False if the file has no trailer or cannot be read.
 * 'is_found': 'path' comes from a directory, not from the user
 * (HATF_READER_FOUND).
 */
bool trailer_read(const char *path, bool is_found, struct trailer *ret);

/*
 * Find "KEY=" at the start of a line and parse its decimal value.  False if
 * there is none.
 */
bool trailer_find_number(const char *text, size_t nbytes, const char *key,
			 uint64_t *n_ret);

#endif /* TRAILER_H */

/* SPDX-License-Identifier: MIT */
/*
 * trailer.h - the trailer of a trace, without reading the trace
 *
 * After hours of recording, 'hatf record' has one line to print; the last block
 * has all that it says.
 */
#ifndef TRAILER_H
#define TRAILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From the "HATF end" comment. */
struct trailer {
	bool complete;
	uint64_t event_count, lost_count;
	uint64_t time;	  /* in the unit of the header */
	char end[24];	  /* how the program ended; empty if it does not say */
	char error[80];	  /* why nothing more could be written; or empty */
	char missed[208]; /* whose calls were not recorded; or empty */
};

/*
 * False if the file does not end in a trailer, or cannot be read.  'is_found':
 * a directory gave 'path', no user (HATF_READER_FOUND).
 */
bool trailer_read(const char *path, bool is_found, struct trailer *ret);

/* The decimal value of "KEY=" at the start of a line; false if there is
 * none. */
bool trailer_find_number(const char *text, size_t nbytes, const char *key,
			 uint64_t *n_ret);

#endif /* TRAILER_H */

/* SPDX-License-Identifier: MIT */
/* page_bytes.h - the pages of page/dist as bytes of the program */
#ifndef PAGE_BYTES_H
#define PAGE_BYTES_H

#include <stddef.h>

/* report.html: the first byte, and the byte after the last. */
extern const char page_bytes[];
extern const char page_bytes_end[];

/* replay.html: the first byte, and the byte after the last. */
extern const char page_replay_bytes[];
extern const char page_replay_bytes_end[];

/*
 * The parts of a page before and after the place where the data block belongs.
 */
struct page_parts {
	const char *head, *rest;
	size_t head_nbytes, rest_nbytes;
};

struct page_parts page_parts_of(const char *begin, const char *end);

#endif /* PAGE_BYTES_H */

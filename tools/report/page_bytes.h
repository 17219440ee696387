/* SPDX-License-Identifier: MIT */
/* page_bytes.h - the pages of page/dist, as they are in the program */
#ifndef PAGE_BYTES_H
#define PAGE_BYTES_H

#include <stddef.h>

/* report.html: its first byte, and that after its last one. */
extern const char page_bytes[];
extern const char page_bytes_end[];

/* replay.html */
extern const char page_replay_bytes[];
extern const char page_replay_bytes_end[];

/* What stands before the place for the data block, and after it. */
struct page_parts {
	const char *head, *rest;
	size_t head_nbytes, rest_nbytes;
};

struct page_parts page_parts_of(const char *begin, const char *end);

#endif /* PAGE_BYTES_H */

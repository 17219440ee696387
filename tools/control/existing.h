/* SPDX-License-Identifier: MIT */
/*
 * existing.h - the threads and heaps that exist after an event of a trace
 *
 * A new trace that begins after that event states these threads and heaps in
 * carried records (FORMAT "Segments"), with their attributes and with the names
 * of the threads.
 *
 * Memory is O(threads + heaps).  Attributes and names of more than
 * EXISTING_NBYTES_MAX bytes are left out.  Only one thread at a time may use a
 * struct existing.
 */
#ifndef EXISTING_H
#define EXISTING_H

#include "hatf/hatf.h"
#include "tools/sites/id_rows.h"

#include <stdbool.h>

#define EXISTING_NBYTES_MAX 512

/* A string of bytes that this struct owns; NULL and 0: there is none. */
struct existing_bytes {
	uint8_t *bytes;
	uint32_t nbytes;
};

struct existing_row {
	bool exists;
	/*
	 * attributes of the record that created the thread or heap; the first
	 * attribute is CARRIED
	 */
	struct existing_bytes attributes;
	/* threads: text of the last comment that gave the thread a name */
	struct existing_bytes name;
};

struct existing_list {
	struct id_rows ids;
	struct existing_row *rows;
	uint64_t *row_ids;
	uint32_t cap;
};

/* The existing threads and heaps.  Zero-initialize. */
struct existing {
	struct existing_list threads, heaps;
};

/* Take note of the next event.  Return false if there is no memory. */
bool existing_note(struct existing *x, const struct hatf_event *e);

/*
 * Write carried records for the threads that exist, and the names of these
 * threads.  This function reports no errors, because hatf_writer_close()
 * returns the first error of the writer.
 */
void existing_write_threads(const struct existing *x, uint64_t time,
			    struct hatf_writer *writer);

/* Write a carried record for a heap. */
void existing_write_heap(const struct existing *x, uint64_t heap, uint64_t time,
			 struct hatf_writer *writer);

void existing_free(struct existing *x);

#endif /* EXISTING_H */

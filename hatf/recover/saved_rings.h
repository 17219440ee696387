/* SPDX-License-Identifier: MIT */
/*
 * saved_rings.h - the ring file of a process that is no more, read and checked
 *
 * Everything in the file is untrusted: it may be another file, cut off, or written
 * into by a program that went astray.  What is handed on has been copied and
 * checked, so that order.h can work on it as on live rings: each ring holds whole
 * events of known kinds from 'pos' to its head.
 */
#ifndef HATF_SAVED_RINGS_H
#define HATF_SAVED_RINGS_H

#include "hatf/hatf.h"
#include "hatf/rings/image.h"

struct saved_ring {
	struct order_source source;
	bool is_nested, is_gone;
	uint64_t lost_count, lost_first; /* dropped, and not told in the ring */
};

struct saved_rings {
	struct image *image;		   /* the header, a copy */
	const struct image_commit *commit; /* in it; NULL: there was none */
	struct saved_ring *rings;
	uint32_t count, max;
	uint64_t stamp_max;  /* the latest of all events */
	uint64_t word_count; /* that no block has */
	bool is_cut;	     /* something was damaged and left out */
};

/*
 * Read from 'fd', a regular file.  With 'salvage', damage in a ring costs what
 * comes after it there rather than everything.  Errors: HATF_BAD_RINGS, with
 * 'field' and 'file_offset'; HATF_IO, HATF_NO_MEMORY.  Needs saved_rings_fini()
 * whatever the result.
 */
enum hatf_status saved_rings_read(struct saved_rings *set, int fd, bool salvage,
				  struct hatf_error *err);

/* The header alone. */
enum hatf_status saved_rings_read_header(struct saved_rings *set, int fd,
					 struct hatf_error *err);

/* Does the file begin with the bytes of the trace that the commits are about? */
bool saved_rings_is_begun_by(const struct saved_rings *set, int fd);

void saved_rings_fini(struct saved_rings *set);

#endif /* HATF_SAVED_RINGS_H */

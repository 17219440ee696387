/* SPDX-License-Identifier: MIT */
/*
 * saved_rings.h - read and check a ring file
 *
 * Everything in the file is untrusted, because the file may be some other file,
 * truncated, or corrupted by the traced program.  The result is a checked copy,
 * which order.h can read like live rings: between 'producer.pos' and the head
 * of a ring are only complete events of known types.  Only one thread may use a
 * 'struct saved_rings'.
 */
#ifndef HATF_SAVED_RINGS_H
#define HATF_SAVED_RINGS_H

#include "hatf/hatf.h"
#include "hatf/rings/image.h"

/* The copy of one ring. */
struct saved_ring {
	struct order_producer producer;
	bool is_nested, is_gone;
	/*
	 * number of lost events that no EVENT_LOST in the ring reports; stamp
	 * of the first of them
	 */
	uint64_t lost_count, lost_first;
};

/* The copy of a ring file. */
struct saved_rings {
	struct image *image; /* a copy of the header of the file */
	/* the last commit, in 'image'; NULL: there is none */
	const struct image_commit *commit;
	struct saved_ring *rings;
	uint32_t count, max;
	uint64_t stamp_max;  /* the latest stamp of any event */
	uint64_t word_count; /* number of words not yet in a trace block */
	/* The file is damaged, and the copy lacks the damaged part. */
	bool is_cut;
	/*
	 * The recorder has created the file, but has not written its magic
	 * number yet, so the file has no events.  The copy of the header is all
	 * zeros.
	 */
	bool is_unwritten;
};

/*
 * Read the ring file 'fd' of a process that has ended.  Copy no rings if there
 * is no commit, or if the last commit has IMAGE_COMMIT_STOPPED.  If a ring is
 * damaged and 'salvage' is false, fail.  If a ring is damaged and 'salvage' is
 * true, omit
 *
 *  - the first invalid event and all later events of the ring;
 *  - the whole ring if its header is invalid;
 *  - the ring and all later rings if its size is invalid.
 *
 * Errors: HATF_BAD_RINGS, with 'field' and 'file_offset'; HATF_LIMIT; HATF_IO;
 * HATF_NO_MEMORY.  Whatever the result, the caller must call
 * saved_rings_fini().
 */
enum hatf_status saved_rings_read(struct saved_rings *set, int fd, bool salvage,
				  struct hatf_error *err);

/*
 * Like saved_rings_read(), but read the header only.  The process may still be
 * alive.
 */
enum hatf_status saved_rings_read_header(struct saved_rings *set, int fd,
					 struct hatf_error *err);

/*
 * Is the file 'fd' the trace of the last commit, judging by the hash of its
 * first bytes?  There must be a commit.
 */
bool saved_rings_is_begun_by(const struct saved_rings *set, int fd);

/* Free the header and the rings. */
void saved_rings_fini(struct saved_rings *set);

#endif /* HATF_SAVED_RINGS_H */

/* SPDX-License-Identifier: MIT */
/*
 * ringfile_state.h - the state shared by ring_room.c, ringfile.c, ring_spares.c
 *
 * Each of these files calls only files that precede it in this list.
 */
#ifndef RINGFILE_STATE_H
#define RINGFILE_STATE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/record/ringfile.h"
#include "preload/sys/file.h"

#define SPARES_MAX 16u

/*
 * Wait this long after a failed try to make or extend a ring before the next
 * try.
 */
#define RETRY_NS NS_PER_SEC

struct ringfile {
	struct image *image; /* NULL: there is no file */
	int fd, dir_fd;
	struct file_id id;
	uint64_t end; /* offset in the file after the last ring */
	/*
	 * The largest capacity of a ring: 'initial_words' for the initial
	 * thread's ring, 'words' for all other rings.
	 */
	uint64_t initial_words, words;
	/*
	 * Give each ring its full size at once, since producers never wait
	 * (HATFTRACE_FULL is "drop").  A ring can grow only while its producer
	 * waits.
	 */
	bool reserve_all;
	bool is_removed;
	uint64_t generation; /* number of tries to make a ring file so far */
	/*
	 * 'retry_ns' is the earliest time to try again to make a ring, and
	 * 'refused_ns' is the earliest time to try again to extend a ring.
	 */
	uint64_t retry_ns, refused_ns;
	char path[2 * PATH_MAX + 32];
	/*
	 * Spare rings.  The writer puts them here, and producers take them.
	 * 'initial' is for the initial thread.
	 */
	_Atomic(struct ring *) initial, spare[SPARES_MAX];
	/* number of spare rings to keep, or AHEAD_NEVER (ring_spares.c) */
	_Atomic uint32_t ahead;
	/* number of producers that began to wait for a spare ring */
	_Atomic uint32_t wanted;
	/*
	 * futex word; changes each time the writer has tried to make spare
	 * rings
	 */
	_Atomic uint32_t made;
};

/* NULL until ringfile_init().  The struct is wiped in the child of a fork. */
extern struct ringfile *rf;

/*
 * Allocate the bytes of the file on the disk.  Return false and set errno on
 * failure.
 */
bool ringfile_reserve(uint64_t offset, uint64_t nbytes);

/*
 * Map the bytes of the file at the address 'at', replacing what is mapped
 * there.  If 'at' is NULL, map them at any address.  Return NULL on failure.
 */
void *ringfile_map(void *at, uint64_t offset, uint64_t nbytes);

/*
 * Add a ring at the end of the file.  Return NULL and set errno if there is no
 * room on the disk or no memory.
 */
struct ring *ringfile_make_ring(uint64_t words_max);

/*
 * Make the file, with a first ring unless 'will_adopt' is set: see
 * ringfile_open().  On failure there is no file.
 */
void ringfile_make(const struct config *config, const char *trace_path,
		   bool will_adopt);

/* Close the descriptors; the mappings stay. */
void ringfile_close(void);

#endif /* RINGFILE_STATE_H */

/* SPDX-License-Identifier: MIT */
/*
 * image.h - the file of a process's rings, and the commits in it
 *
 * The rings of a process are shared mappings of one file, the ring file, so
 * their contents survive if the process is killed.  This header defines the
 * layout of the file, and the protocol that tells a reader which events are not
 * yet in the trace.  RINGS.md specifies the layout and the protocol byte by
 * byte.  Two programs use such a file: the process that writes it, and recovery
 * on the same kind of machine.
 *
 *   offset 0          struct image, IMAGE_HEADER_NBYTES
 *          header     ring: struct ring, RING_HEADER_NBYTES, then its words
 *          + 4096 + 8 * words_max   the next ring
 *          ...        to the end of the file; the last ring may be truncated
 *
 * The protocol.  A commit is a point in time: a trace block has just reached
 * the trace file, and 'pos' of every ring is the first word that is in no trace
 * block.  Commit n
 *
 *   1. overwrites the older of the two slots (struct ring_commit) of each ring
 *      that the writer thread knows and whose state has changed;
 *   2. writes slot n & 1 of the image;
 *   3. sets image.seq to n;
 *   4. only then releases the room in the rings.
 *
 * If the process is killed at any instruction, commit n - 1 or commit n is
 * intact.  The valid slot of the image is slot 'seq' & 1; the valid slot of a
 * ring is the newest one whose number is at most 'seq'.  Bytes of the trace
 * file beyond the committed length were written for a later commit; their
 * events are still in the rings.  If a ring has no valid slot, no commit covers
 * any of its events, and all of them are still in the ring.
 *
 * A drained ring starts a new life when another thread gets it: 'life' is 0
 * while 'head' and the slots still belong to the old life.  But a thread may
 * take over the ring of a thread that has just ended, with the events in it
 * (preload/record/thread.h).  The life then continues: an EVENT_HANDOVER
 * separates the events of the two threads, and each slot names the thread that
 * produced the word at 'pos'.
 *
 * The thread that starts the trace initializes the image and the first ring.
 * Then the writer thread owns the image and calls all functions here, except
 * image_begin_ring(), which the ring's producer calls.  Other threads only add
 * to 'unattached' and 'hidden'.  Other processes call the readers,
 * image_last_*(): recovery after the process has ended, hatf_rings_get() at any
 * time.  Nothing here allocates, locks or makes a system call.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/rings/order.h"
#include "hatf/rings/ring.h"
#include "hatf/rings/timeline.h"

/*
 * "HATFring" in this machine's byte order; in a file of the other byte order
 * the number differs.
 */
#define IMAGE_MAGIC	    0x676e697246544148ull
#define IMAGE_RING_MAGIC    0x31676e6952544148ull
#define IMAGE_VERSION	    11u
#define IMAGE_PATH_NBYTES   8192u
#define IMAGE_HEADER_NBYTES 20480u
/*
 * Limits of the numbers in a file.  A reader refuses a file in which a number
 * is outside these limits.
 */
#define IMAGE_WORDS_MIN 512u
#define IMAGE_WORDS_MAX (1ull << 27)
#define IMAGE_RINGS_MAX 65536u /* maximum number of rings in use at a time */
/* Maximum length of the first block of a trace. */
#define IMAGE_HEAD_NBYTES_MAX (4u << 20)

#define IMAGE_COMMIT_ENDED   1u /* the last block of the trace has a trailer */
#define IMAGE_COMMIT_STAMPED 2u /* 'is_stamped' of struct narrator is true */
/* Recording has stopped: the events in the rings belong to no trace. */
#define IMAGE_COMMIT_STOPPED 4u
/* some allocator calls bypassed the recorder */
#define IMAGE_COMMIT_MISSED	   8u
#define IMAGE_COMMIT_STACKED_FREES 16u /* frees have call stacks, too */

/*
 * The state of the trace at a commit: all that recovery needs to continue the
 * trace.
 */
struct image_commit {
	/*
	 * number of the commit; IMAGE_NO_COMMIT while the slot is being written
	 */
	_Atomic uint64_t seq;
	uint64_t trace;	 /* index of the trace file in image.trace */
	uint64_t nbytes; /* length of the trace file in bytes */
	/*
	 * Copies of the members with these names in struct narrator and in its
	 * encoder.
	 */
	uint64_t event_count, record_count, block_count, stream_nbytes;
	uint64_t lost_count, time, time_stamp;
	struct timeline timeline;
	uint64_t unit_ns, grain, flags;
	int64_t level; /* level of compression, see deflate.h; 0: none */
	/*
	 * Values for the trailer; they may be slightly older than the commit.
	 */
	uint64_t threads, waits, wait_ns, cpu_ns;
	/* how many events of image.unattached the trace reports as lost */
	uint64_t unattached;
	uint64_t sum; /* image_commit_sum() of the slot */
};

#define IMAGE_NO_COMMIT UINT64_MAX

/* A trace file, to which commits refer by its index. */
struct image_trace {
	/*
	 * Length and hash of the first bytes of the file, which identify the
	 * file.
	 */
	uint64_t head_nbytes, head_hash;
	/*
	 * Number of the last commit at the time when the process stored 'path'.
	 * Until there is a later commit, no commit refers to the file at
	 * 'path', even if the file exists.
	 */
	uint64_t announced_seq;
	char path[IMAGE_PATH_NBYTES]; /* path of the file, NUL-terminated */
};

/* A reading of both clocks (see timeline.h). */
struct image_reading {
	uint64_t stamp, ns;
};

struct image {
	uint64_t magic;
	uint32_t version, header_nbytes;
	uint64_t boot_id[2]; /* boot id of the running kernel; 0: unknown */
	uint64_t pid;
	_Atomic uint64_t seq; /* number of the last commit; 0: there is none */
	/*
	 * 'unattached' counts events that were not recorded for lack of memory.
	 * 'hidden' counts rings that are not in this file.
	 */
	_Atomic uint64_t unattached, hidden;
	struct image_commit commit[2];
	struct image_trace trace[2];
	/*
	 * Start of the process, in ns since the boot of the system; 0: unknown.
	 */
	uint64_t pid_start;
	/*
	 * Device and inode of the ring file, by which a reader recognizes a
	 * copy.
	 */
	uint64_t file_dev, file_ino;
	/* The last reading of the clocks is in slot 'reading_count' & 1.  The
	 * reading may be older than the last commit. */
	_Atomic uint64_t reading_count;
	struct image_reading reading[2];
};

_Static_assert(sizeof(struct image) <= IMAGE_HEADER_NBYTES,
	       "the image must fit into the header of the file");

/* Initialize the header of a file; '*image' must be zeroed. */
void image_init(struct image *image, const uint64_t boot_id[2], uint64_t pid);

/*
 * Continue an FNV-1a hash.  'hash' is the hash of the bytes before 'bytes';
 * IMAGE_HASH_START if there are none.  Return the hash of those bytes and the
 * 'nbytes' bytes at 'bytes' together.
 */
#define IMAGE_HASH_START 0xcbf29ce484222325ull
uint64_t image_hash(uint64_t hash, const void *bytes, size_t nbytes);

/*
 * Initialize a new ring in the file; its 'life' is 0.  'memory' is the mapping
 * of the file from 'offset' (bytes) on.  The ring has room for 'words_max'
 * words, of which the first 'capacity' have memory.
 */
struct ring *image_init_ring(void *memory, uint64_t offset, uint64_t words_max,
			     uint64_t capacity);

/*
 * Begin a life of a ring that is new or whose life has ended.  The ring belongs
 * to thread 'id' (a HATF thread number) until an EVENT_HANDOVER.  The producer
 * calls this before its first event, even for a ring that is not in a file.
 */
void image_begin_ring(struct ring *r, uint64_t id, bool is_nested);

/*
 * End the life of a ring.  The consumer calls this after a commit with
 * RING_COMMIT_GONE set for the ring, or if the ring's events belong to no
 * trace.
 */
void image_end_ring(struct ring *r);

/*
 * Do step 1 of the protocol (see the top of this file) for commit 'seq' and one
 * ring.  'is_gone' says whether the trace has the destroyThread record of the
 * ring's thread.
 */
void image_commit_ring(struct ring *r, const struct order_producer *producer,
		       bool is_gone, uint64_t seq);

/*
 * Return the checksum of the slot of commit 'seq': a CRC-32C of 'seq' and of
 * the members between c->seq and c->sum.
 */
uint64_t image_commit_sum(const struct image_commit *c, uint64_t seq);
uint64_t image_ring_commit_sum(const struct ring_commit *c, uint64_t seq);

/* Return the number of the next commit. */
uint64_t image_next_seq(const struct image *image);

/*
 * Do steps 2 and 3 of the protocol for the next commit.  Ignore 'commit->seq'
 * and 'commit->sum'.
 */
void image_commit(struct image *image, const struct image_commit *commit);

/*
 * Store a reading of the clocks.  Recovery needs the reading for the times of
 * the events after the last commit.
 */
void image_note_reading(struct image *image, uint64_t stamp, uint64_t ns);

/* Return the last reading, or NULL if there is none. */
const struct image_reading *image_last_reading(const struct image *image);

/* Return the valid slot of the image or of a ring; NULL if there is none. */
const struct image_commit *image_last_commit(const struct image *image);
const struct ring_commit *image_last_ring_commit(const struct ring *r,
						 uint64_t seq);

#endif /* IMAGE_H */

/* SPDX-License-Identifier: MIT */
/*
 * image.h - the rings of a process in a file, and how far they have been
 * written
 *
 * The rings of a process are shared mappings of one file, so that what is in
 * them outlives the process.  This header is its layout, and the protocol by
 * which a reader finds out which events are not in the trace yet.  RINGS.md
 * specifies it in bytes; only the process that writes such a file and
 * recovery on the same kind of machine read it.
 *
 *   offset 0          struct image, IMAGE_HEADER_NBYTES
 *          header     ring: struct ring, RING_HEADER_NBYTES, then its words
 *          + 4096 + 8 * words_max   the next ring
 *          ...        to the end of the file; the last one may be cut off there
 *
 * The protocol.  A commit is a point in time at which a block has just reached
 * the trace file and 'pos' of every ring is the first word that no block has.
 * Commit n
 *
 *   1. writes, for each ring that the writer knows, the older of its two slots;
 *   2. writes slot n & 1 of the image;
 *   3. sets image.seq to n;
 *   4. only then gives the rings' room back.
 *
 * So a process killed at any instruction leaves either n - 1 or n whole: the
 * image's slot is the one that 'seq' names, and a ring's is the younger one of
 * those not above 'seq'.  What the trace file has beyond the committed length
 * was written under way to n, and its events are still in the rings.  A ring
 * without such a slot has had none of its events taken out.
 *
 * A ring that has been drained, and that another thread gets, starts a new
 * life:  'life' is 0 while 'head' and the slots still are those of the old one.
 * A thread may also take over the ring of a thread that has ended before
 * anything of it has been drained.  The life then goes on: an EVENT_HANDOVER
 * divides the events of the two threads, and each slot says which thread the
 * word at 'pos' belongs to.
 *
 * Nothing here allocates, locks or makes a system call.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/rings/order.h"
#include "hatf/rings/ring.h"
#include "hatf/rings/timeline.h"

/* "HATFring" as a number of this machine: another byte order does not match. */
#define IMAGE_MAGIC	    0x676e697246544148ull
#define IMAGE_RING_MAGIC    0x31676e6952544148ull
#define IMAGE_VERSION	    6u
#define IMAGE_PATH_NBYTES   8192u
#define IMAGE_HEADER_NBYTES 20480u
/* Bounds for what a file may claim. */
#define IMAGE_WORDS_MIN 512u
#define IMAGE_WORDS_MAX (1ull << 27)
#define IMAGE_RINGS_MAX 65536u /* in use at a time, one for each thread */
/* Of the first block of a trace: four times what a recorder's buffer holds. */
#define IMAGE_HEAD_NBYTES_MAX (4u << 20)

#define IMAGE_COMMIT_ENDED   1u /* the last block has a trailer */
#define IMAGE_COMMIT_STAMPED 2u /* as in struct narrator */
#define IMAGE_COMMIT_STOPPED 4u /* what the rings hold is of no trace */
#define IMAGE_COMMIT_MISSED  8u /* calls went past the recorder */

/* The state of the trace: what is needed to go on with it. */
struct image_commit {
	_Atomic uint64_t seq; /* IMAGE_NO_COMMIT while it is being written */
	uint64_t trace;	      /* which of image.trace it is about */
	uint64_t nbytes;      /* length of the trace file */
	/* As in struct narrator and its encoder. */
	uint64_t event_count, record_count, block_count, stream_nbytes;
	uint64_t lost_count, time, time_stamp;
	struct line line;
	uint64_t unit_ns, grain, flags;
	int64_t level; /* of compression, see deflate.h; 0: none */
	/* Of the trailer, at about this time. */
	uint64_t threads, waits, wait_ns, cpu_ns;
	uint64_t unattached; /* of image.unattached, so many are in the trace */
};

#define IMAGE_NO_COMMIT UINT64_MAX

/* A trace file that commits are about. */
struct image_trace {
	/* Its first bytes, which tell it from all others, and their hash. */
	uint64_t head_nbytes, head_hash;
	/* If that of the last commit: there may be something at 'path', but no
	 * commit is about it. */
	uint64_t announced_seq;
	char path[IMAGE_PATH_NBYTES]; /* NUL-terminated */
};

/* Of the clocks, as in timeline.h. */
struct image_reading {
	uint64_t stamp, ns;
};

struct image {
	uint64_t magic;
	uint32_t version, header_nbytes;
	uint64_t boot_id[2]; /* of the system, 0: unknown */
	uint64_t pid;
	_Atomic uint64_t seq; /* of the last commit; 0: there is none */
	/* Events not recorded for lack of memory; rings that are elsewhere. */
	_Atomic uint64_t unattached, hidden;
	struct image_commit commit[2];
	struct image_trace trace[2];
	/* Of the process, in ns since the system's start; 0: unknown. */
	uint64_t pid_start;
	/* The file itself, which a copy is not. */
	uint64_t file_dev, file_ino;
	/* Readings of the clocks; the last one is in slot 'reading_count' & 1,
	 * and there may be none since the last commit. */
	_Atomic uint64_t reading_count;
	struct image_reading reading[2];
};

_Static_assert(sizeof(struct image) <= IMAGE_HEADER_NBYTES, "one header");

/* Make 'memory', zeroed, the header of a file. */
void image_init(struct image *image, const uint64_t boot_id[2], uint64_t pid);

/* FNV-1a; 'hash' is that of the bytes before, at first IMAGE_HASH_START. */
#define IMAGE_HASH_START 0xcbf29ce484222325ull
uint64_t image_hash(uint64_t hash, const void *bytes, size_t nbytes);

/*
 * A ring for the first time: 'memory' is where 'offset' of the file is mapped, of
 * 'words_max' words the first 'capacity' have memory.  It has no life yet.
 */
struct ring *image_init_ring(void *memory, uint64_t offset, uint64_t words_max,
			     uint64_t capacity);

/*
 * The producer, before its first event: the ring, new or of an ended life, is that
 * of thread 'id' until an EVENT_HANDOVER.  Also for a ring that is in no file.
 */
void image_begin_ring(struct ring *r, uint64_t id, bool is_nested);

/* The consumer, once a commit has said that the thread is gone. */
void image_end_ring(struct ring *r);

/* Step 1 of commit 'seq' for a ring; 'is_gone': its destroyThread is written. */
void image_commit_ring(struct ring *r, const struct order_source *source,
		       bool is_gone, uint64_t seq);

/* The number of the commit that comes next. */
uint64_t image_next_seq(const struct image *image);

/* Steps 2 and 3; 'commit->seq' is ignored. */
void image_commit(struct image *image, const struct image_commit *commit);

/*
 * The clocks have been read: between two commits many events may come, whose
 * times must be right, too.
 */
void image_note_reading(struct image *image, uint64_t stamp, uint64_t ns);

/* The last reading; NULL: there was none. */
const struct image_reading *image_last_reading(const struct image *image);

/* What a reader is to believe: NULL if there is nothing. */
const struct image_commit *image_last_commit(const struct image *image);
const struct ring_commit *image_last_ring_commit(const struct ring *r,
						 uint64_t seq);

#endif /* IMAGE_H */

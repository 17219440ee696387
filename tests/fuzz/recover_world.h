/* SPDX-License-Identifier: MIT */
/*
 * recover_world.h - an input's ring file and trace (prefix: world_)
 *
 * An input is a program: it makes threads record and a writer commit, by the
 * recorder's code; then it overwrites or truncates the ring file, or appends to
 * the trace.  So inputs are short, and stay valid when the layout changes.
 */
#ifndef TESTS_RECOVER_WORLD_H
#define TESTS_RECOVER_WORLD_H

#include "hatf/rings/image.h"
#include "preload/trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No process ever has this number. */
#define PID "2147483000"

#define RINGS	    3
#define WORDS	    512
#define RING_NBYTES (RING_HEADER_NBYTES + WORDS * sizeof(uint64_t))
#define FILE_NBYTES (IMAGE_HEADER_NBYTES + RINGS * RING_NBYTES)
#define TRACE_MAX   (2u << 20)
#define PATCHES_MAX 64

/* Bits of an input's first byte. */
#define WITH_FORCE     1u
#define WITH_DEFLATE   2u
#define WITH_TRACE     4u  /* it is named by the caller */
#define WITH_ELSEWHERE 8u  /* the ring file is in another folder */
#define WITH_COPY      32u /* ... and has been copied there */
#define WITHOUT_COMMIT 16u /* killed before the first */
#define WITHOUT_SUMS   64u /* patches do not repair the checksums of commits */

/* Bytes to write over the ring file at the end. */
struct patch {
	size_t offset;
	unsigned how;
	uint64_t value;
};

struct thread {
	struct ring *ring;
	struct order_producer producer;
	bool is_alive, is_gone;
};

extern struct world {
	struct thread threads[RINGS];
	struct order_producer *list[RINGS], *heap[RINGS];
	struct order order;
	struct trace trace;
	uint64_t clock, thread_count, commit_flags;
	uint8_t *bytes; /* of the trace */
	size_t rings_nbytes;
	struct patch patches[PATCHES_MAX];
	unsigned patch_count;
	unsigned options;
	bool is_announced, has_false_header, is_torn;
} world;

/* The ring file. */
extern uint8_t world_file[FILE_NBYTES];

/* Make the world of an input, without its patches of the ring file. */
void world_make(const uint8_t *data, size_t nbytes);

void world_apply_patches(void);

void world_set_path(struct image_trace *trace, const char *path);

/*
 * Write the text with which a trace begins and return its length.  Segments
 * differ from one another.
 */
size_t world_put_header(char *text, size_t nbytes, unsigned start,
			unsigned segment);

#endif /* TESTS_RECOVER_WORLD_H */

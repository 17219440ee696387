/* SPDX-License-Identifier: MIT */
/*
 * heap_model.h - allocators of the textbook, simulated
 *
 * First fit and best fit: a heap that begins at 0 and grows at its end.  A
 * block takes its size rounded up to 16 bytes.  It goes to the first, or the
 * smallest, hole that it fits in, at the beginning of that; else to the end of
 * the heap.  Holes that touch are joined, and a hole at the end makes the heap
 * shorter.  A realloc stays in its place if the size after rounding does not
 * grow, or if the hole after it, or the end of the heap, has room.
 *
 * Segregated: a block takes a size of a table.  Blocks of one size are cut from
 * chunks of MODEL_CHUNK_NBYTES, which only that size uses, and which are never
 * freed.  A block that is larger than the table's sizes, or than half a chunk,
 * takes whole pages, which its free gives back.  A realloc to the same size
 * stays; others are a new block and a free.
 *
 * All of them: no headers, and alignments beyond 16 bytes do not count.
 */
#ifndef HEAP_MODEL_H
#define HEAP_MODEL_H

#include "tools/model/holes.h"

#define MODEL_CHUNK_NBYTES 65536
#define MODEL_CLASSES_MAX  512

enum model_kind {
	MODEL_FIRST_FIT,
	MODEL_BEST_FIT,
	MODEL_SEGREGATED,
};

struct model {
	const char *label; /* as the user wrote it; borrowed */
	enum model_kind kind;
	uint32_t classes[MODEL_CLASSES_MAX]; /* ascending */
	unsigned class_count;
};

/* Where a block is; 'taken' is 0 if there is none. */
struct model_block {
	uint64_t start, taken, asked;
};

struct heap_model {
	const struct model *model;
	struct holes holes;
	struct u64_map free_counts; /* size of a class -> free blocks */
	struct model_block *blocks; /* by slot */
	uint64_t heap_nbytes, peak_nbytes;
	uint64_t taken_nbytes, peak_taken_nbytes;
	uint64_t moved_count; /* reallocs */
};

/* False: no memory; close it, too. */
bool heap_model_open(struct heap_model *m, const struct model *model,
		     uint64_t slot_count);
void heap_model_close(struct heap_model *m);

/*
 * Make, resize and free the block in a slot.  Return false if there is no
 * memory, or if the heap would exceed 2^63 bytes.
 */
bool heap_model_alloc(struct heap_model *m, uint32_t slot, uint64_t size);
bool heap_model_resize(struct heap_model *m, uint32_t slot, uint64_t size);
bool heap_model_free(struct heap_model *m, uint32_t slot);

/* Forget the peaks: a window begins. */
void heap_model_restart(struct heap_model *m);

#endif /* HEAP_MODEL_H */

/* SPDX-License-Identifier: MIT */
/*
 * heap_model.h - simulate textbook allocators
 *
 * First fit and best fit: a heap that begins at 0 and grows at its end.  A
 * block takes its size rounded up to a multiple of 16 bytes.  First fit places
 * the block at the start of the first hole in which it fits, best fit at the
 * start of the smallest such hole.  If the block fits into no hole, both place
 * it at the end of the heap.  Both join adjacent holes, and shorten the heap
 * instead of keeping a hole at its end.  A realloc leaves the block in its
 * place if the rounded size does not grow, if the block is at the end of the
 * heap, or if the hole after the block has room.
 *
 * Segregated: the size of a block is rounded up to a size from a table.  Blocks
 * of one size are cut from chunks of MODEL_CHUNK_NBYTES.  A chunk has blocks of
 * one size only, and is never freed.  If the size exceeds all sizes of the
 * table, or if the rounded size exceeds half a chunk, the block takes whole
 * pages of 4096 bytes instead.  The free of the block gives these pages back.
 * A realloc to the same rounded size leaves the block in its place; any other
 * realloc is a new block and a free.
 *
 * In all models, blocks have no headers, and alignments above 16 bytes are
 * ignored.
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
	uint32_t classes[MODEL_CLASSES_MAX]; /* in ascending order */
	unsigned class_count;
};

/* The place of the block in a slot; 'taken' is 0 if the slot has no block. */
struct model_block {
	uint64_t start, taken;
};

struct heap_model {
	const struct model *model;
	struct holes holes;
	/* size of a class -> number of free blocks of this class */
	struct u64_map free_counts;
	struct model_block *blocks; /* indexed by slot */
	uint64_t heap_nbytes, peak_nbytes;
	uint64_t taken_nbytes, peak_taken_nbytes;
	uint64_t moved_count; /* number of reallocs that moved a block */
};

/*
 * Open a model.  Return false if there is no memory; close the model even then.
 */
bool heap_model_open(struct heap_model *m, const struct model *model,
		     uint64_t slot_count);
void heap_model_close(struct heap_model *m);

/*
 * These functions allocate, resize and free the block in a slot.  Return false
 * if there is no memory, if the heap would exceed 2^63 bytes, or if 'size'
 * exceeds 2^62 bytes.
 */
bool heap_model_alloc(struct heap_model *m, uint32_t slot, uint64_t size);
bool heap_model_resize(struct heap_model *m, uint32_t slot, uint64_t size);
bool heap_model_free(struct heap_model *m, uint32_t slot);

/*
 * Set the peaks to the present values, and 'moved_count' to 0.  Call this
 * function when the window begins (WORD_BEGIN in replay_words.h).
 */
void heap_model_restart(struct heap_model *m);

#endif /* HEAP_MODEL_H */

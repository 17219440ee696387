/* SPDX-License-Identifier: MIT */
/* model_run.h - run a simulated allocator with a compiled trace */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include "tools/compile/compile.h"
#include "tools/model/heap_model.h"

struct model_result {
	/*
	 * Size of the heap: the maximum since the window (--from) began, and
	 * the size at the end.
	 */
	uint64_t peak_nbytes, end_nbytes;
	/*
	 * Bytes that live blocks take after the model has rounded up their
	 * sizes: the maximum since the window began, and the sum at the end.
	 */
	uint64_t peak_taken_nbytes, end_taken_nbytes;
	uint64_t moved_count; /* number of reallocs that moved a block */
};

/*
 * Make the calls of a compiled trace with a model.  The trace must have been
 * compiled for one thread.  On failure print a message and return false.
 */
bool model_run(struct model_result *result, const struct model *model,
	       const struct compiled *compiled);

#endif /* MODEL_RUN_H */

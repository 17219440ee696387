/* SPDX-License-Identifier: MIT */
/* model_run.c - see model_run.h */
#include "tools/model/model_run.h"

#include "tools/compile/word_reader.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Apply one word of the compiled trace (replay_words.h) to the model. */
static bool
take(struct heap_model *m, const struct word_item *item)
{
	switch (item->kind) {
	case WORD_MALLOC:
	case WORD_CALLOC:
	case WORD_MEMALIGN:
	case WORD_REALLOC_NULL:
		return heap_model_alloc(m, item->number, item->size);
	case WORD_REALLOC:
		return heap_model_resize(m, item->number, item->size);
	case WORD_FREE:
		return heap_model_free(m, item->number);
	case WORD_BEGIN:
		heap_model_restart(m);
		return true;
	default:
		return true;
	}
}

static bool
run_words(struct heap_model *m, struct word_reader *reader)
{
	struct word_item item;

	do {
		if (!word_reader_next(reader, &item))
			return false;
		errno = ENOMEM;
		if (!take(m, &item))
			return false;
	} while (item.kind != WORD_END);
	return true;
}

bool
model_run(struct model_result *result, const struct model *model,
	  const struct compiled *compiled)
{
	struct word_reader *const reader = malloc(sizeof(*reader));
	struct heap_model m;
	bool ok = heap_model_open(&m, model, compiled->slot_count) &&
		  reader != NULL;

	ok = ok && word_reader_open(reader, &compiled->file, 0) &&
	     run_words(&m, reader);
	if (!ok)
		message_print("%s: %s", model->label,
			      errno == EOVERFLOW
				      ? "the heap would exceed 2^63 bytes"
				      : strerror(errno));
	*result = (struct model_result){
		.peak_nbytes = m.peak_nbytes,
		.end_nbytes = m.heap_nbytes,
		.peak_taken_nbytes = m.peak_taken_nbytes,
		.end_taken_nbytes = m.taken_nbytes,
		.moved_count = m.moved_count,
	};
	heap_model_close(&m);
	free(reader);
	return ok;
}

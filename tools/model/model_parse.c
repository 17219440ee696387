/* SPDX-License-Identifier: MIT */
/* model_parse.c - see model_parse.h */
#include "tools/model/model_parse.h"

#include "tools/summary/size_tables.h"
#include "tools/ui/message.h"

#include <stdlib.h>
#include <string.h>

static bool
add_class(struct model *model, uint64_t size)
{
	if (model->class_count == MODEL_CLASSES_MAX ||
	    size > MODEL_CHUNK_NBYTES)
		return false;
	model->classes[model->class_count++] = (uint32_t)size;
	return true;
}

/* Set the model's size classes to those of an allocator. */
static bool
add_allocator(struct model *model, enum size_table table)
{
	struct size_tables tables;
	uint64_t last = 0;

	size_tables_init(&tables);
	for (uint64_t size = 1; size <= MODEL_CHUNK_NBYTES / 2;
	     size = last + 1) {
		last = size_table_taken(&tables, table, size);
		if (last <= MODEL_CHUNK_NBYTES && !add_class(model, last))
			return false;
	}
	return true;
}

/* Parse a list of ascending sizes, such as "16,32,64". */
static bool
add_list(struct model *model, const char *text)
{
	uint64_t last = 0;

	for (;;) {
		char *end;
		const uint64_t size = strtoull(text, &end, 10);

		if (*text < '0' || *text > '9' || size <= last ||
		    !add_class(model, size))
			return false;
		if (*end == '\0')
			return true;
		if (*end != ',')
			return false;
		last = size;
		text = end + 1;
	}
}

static bool
parse_table(struct model *model, const char *text)
{
	if (strcmp(text, "powers") == 0) {
		for (uint64_t n = 16; n <= MODEL_CHUNK_NBYTES / 2; n *= 2)
			add_class(model, n);
		return true;
	}
	/* Skip glibc, which has no size classes. */
	for (int t = SIZE_JEMALLOC; t < SIZE_TABLE_COUNT; t++)
		if (strcmp(text, size_table_name((enum size_table)t)) == 0)
			return add_allocator(model, (enum size_table)t);
	return add_list(model, text);
}

bool
model_parse(struct model *model, const char *text)
{
	static const char segregated[] = "segregated:";

	*model = (struct model){ .label = text };
	if (strcmp(text, "first-fit") == 0) {
		model->kind = MODEL_FIRST_FIT;
		return true;
	}
	if (strcmp(text, "best-fit") == 0) {
		model->kind = MODEL_BEST_FIT;
		return true;
	}
	model->kind = MODEL_SEGREGATED;
	if (strncmp(text, segregated, sizeof(segregated) - 1) == 0 &&
	    parse_table(model, text + sizeof(segregated) - 1))
		return true;
	message_print("--model: invalid model '%s' (want first-fit, best-fit "
		      "or segregated:TABLE; TABLE is jemalloc, tcmalloc, "
		      "mimalloc, powers, or ascending sizes up to 65536 such "
		      "as 16,32,64)",
		      text);
	return false;
}

/* SPDX-License-Identifier: MIT */
/* excerpt.c - see excerpt.h */
#include "tools/trace/excerpt.h"

#include "tools/ui/message.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 1024

static bool
grow(struct excerpt *x, size_t *cap)
{
	const size_t more = *cap == 0 ? 65536 : 2 * *cap;
	struct excerpt_record *const records =
		reallocarray(x->records, more, sizeof(*records));

	if (records == NULL)
		return false;
	x->records = records;
	*cap = more;
	return true;
}

static void
keep(struct excerpt *x, const struct hatf_record *rec)
{
	x->records[x->count++] = (struct excerpt_record){
		.tag = rec->tag,
		.size = rec->size,
		.address = rec->address,
		.old_address = rec->old_address,
	};
}

/*
 * Copy at most 'max' records.  Return false if out of memory.  Do not report a
 * read error, because an earlier pass, which counted the records, has reported
 * the same error.
 */
static bool
fill(struct excerpt *x, struct hatf_reader *reader, uint64_t max)
{
	struct hatf_record *const batch = calloc(BATCH, sizeof(*batch));
	bool has_memory = batch != NULL;
	size_t cap = 0, n;

	while (has_memory && x->count < max &&
	       hatf_reader_read(reader, batch, BATCH, &n) == HATF_OK) {
		if (cap - x->count < n)
			has_memory = grow(x, &cap);
		for (size_t i = 0; has_memory && i < n; i++)
			if (batch[i].tag <= HATF_REALLOC_FREE && x->count < max)
				keep(x, &batch[i]);
	}
	free(batch);
	return has_memory;
}

bool
excerpt_take(struct excerpt *x, const struct spool *trace, uint64_t max)
{
	struct hatf_reader *reader;
	struct hatf_error err;
	bool has_memory;

	memset(x, 0, sizeof(*x));
	if (spool_reader(trace, 0, &reader, &err) != HATF_OK) {
		message_error(trace->path, &err);
		return false;
	}
	has_memory = fill(x, reader, max);
	hatf_reader_close(reader);
	if (!has_memory) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		excerpt_free(x);
	}
	return has_memory;
}

void
excerpt_get(const struct excerpt *x, size_t first, size_t n,
	    struct hatf_record *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct excerpt_record *const kept =
			&x->records[first + i];

		out[i] = (struct hatf_record){
			.tag = kept->tag,
			.size = kept->size,
			.address = kept->address,
			.old_address = kept->old_address,
		};
	}
}

bool
excerpt_has(const struct excerpt *x, size_t i, const struct hatf_record *rec)
{
	const struct excerpt_record *const kept = &x->records[i];

	return i < x->count && rec->tag == kept->tag &&
	       rec->size == kept->size && rec->address == kept->address &&
	       rec->old_address == kept->old_address;
}

void
excerpt_free(struct excerpt *x)
{
	free(x->records);
	memset(x, 0, sizeof(*x));
}

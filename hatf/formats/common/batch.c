/* SPDX-License-Identifier: MIT */
/*
 * batch.c - see batch.h
 */
#include "hatf/formats/common/batch.h"

#include "hatf/codec/hatf_record.h"

#include <stdlib.h>

void
batch_fini(struct batch *b)
{
	for (unsigned i = 0; i < 2; i++) {
		struct batch_memory *const m = &b->memory[i];

		for (size_t k = 0; k < m->chunk_count; k++)
			free(m->chunks[k]);
		free(m->chunks);
	}
	free(b->kept);
	*b = (struct batch){ 0 };
}

/*
 * Choose the memory for the records of the new items, and mark it as empty.  If
 * there is a surplus, its records point into memory[memory_idx], so change to
 * the other memory.  Earlier batches have already returned all records that
 * point into the other memory, so these records are no longer in use.
 */
static void
begin_memory(struct batch *b)
{
	if (b->kept_count != 0)
		b->memory_idx ^= 1;
	b->memory[b->memory_idx].chunks_used = 0;
	b->memory[b->memory_idx].used = 0;
}

void
batch_begin(struct batch *b, struct hatf_record *records, size_t max)
{
	const size_t n = b->kept_count < max ? b->kept_count : max;

	b->records = records;
	b->max = max;
	b->count = n;
	/* Choose memory only if the surplus leaves room for new items. */
	if (n < max)
		begin_memory(b);
	if (n == 0)
		return;
	memcpy(records, b->kept + b->kept_first, n * sizeof(*records));
	b->kept_count -= n;
	b->kept_first = b->kept_count == 0 ? 0 : b->kept_first + n;
}

/*
 * Return memory for one more record in the surplus, or NULL if memory runs out.
 */
static struct hatf_record *
keep(struct batch *b)
{
	if (b->kept_first + b->kept_count == b->kept_cap) {
		const size_t cap = b->kept_cap == 0 ? 16 : 2 * b->kept_cap;
		struct hatf_record *const kept =
			realloc(b->kept, cap * sizeof(*kept));

		if (kept == NULL) {
			b->no_memory = true;
			return NULL;
		}
		b->kept = kept;
		b->kept_cap = cap;
	}
	return &b->kept[b->kept_first + b->kept_count++];
}

struct hatf_record *
batch_add(struct batch *b, unsigned tag)
{
	struct hatf_record *const rec =
		b->count < b->max ? &b->records[b->count++] : keep(b);

	if (rec != NULL) {
		hatf_record_clear(rec);
		rec->tag = (uint8_t)tag;
	}
	return rec;
}

/* Begin a chunk.  Return false if memory runs out. */
static bool
begin_chunk(struct batch_memory *m)
{
	if (m->chunks_used == m->chunk_cap) {
		const size_t cap = m->chunk_cap == 0 ? 8 : 2 * m->chunk_cap;
		uint8_t **const chunks =
			realloc(m->chunks, cap * sizeof(*chunks));

		if (chunks == NULL)
			return false;
		m->chunks = chunks;
		m->chunk_cap = cap;
	}
	if (m->chunks_used == m->chunk_count) {
		uint8_t *const chunk = malloc(BATCH_CHUNK_NBYTES);

		if (chunk == NULL)
			return false;
		m->chunks[m->chunk_count++] = chunk;
	}
	m->chunks_used++;
	m->used = 0;
	return true;
}

uint8_t *
batch_bytes(struct batch *b, size_t nbytes)
{
	struct batch_memory *const m = &b->memory[b->memory_idx];
	uint8_t *bytes;

	if ((m->chunks_used == 0 || nbytes > BATCH_CHUNK_NBYTES - m->used) &&
	    !begin_chunk(m)) {
		b->no_memory = true;
		return NULL;
	}
	bytes = m->chunks[m->chunks_used - 1] + m->used;
	m->used += nbytes;
	return bytes;
}

/* Return the tag that describes how the realloc ended. */
static unsigned
realloc_tag(const struct hatf_record *rec, bool frees)
{
	if (rec->address == 0)
		return frees && rec->old_address != 0 ? HATF_REALLOC_FREE
						      : HATF_REALLOC_NO_ALLOC;
	if (rec->old_address == 0)
		return HATF_REALLOC_ALLOC;
	return rec->address == rec->old_address ? HATF_REALLOC_NO_ALLOC
						: HATF_REALLOC_ALLOC_FREE;
}

/*
 * Add a record that the realloc announces.  It has no attributes, because the
 * attributes of the realloc describe the whole event.
 */
static bool
add_part(struct batch *b, const struct hatf_record *rec, unsigned tag,
	 uint64_t address, uint64_t size)
{
	struct hatf_record *const part = batch_add(b, tag);

	if (part == NULL)
		return false;
	part->address = address;
	part->size = size;
	part->thread = rec->thread;
	part->heap = rec->heap;
	part->time = rec->time;
	part->offset = rec->offset;
	return true;
}

bool
batch_realloc(struct batch *b, const struct hatf_record *rec, bool frees)
{
	/*
	 * Copy the record, because 'rec' may point into the surplus, whose
	 * array may move when it grows.
	 */
	const struct hatf_record whole = *rec;
	const unsigned tag = realloc_tag(&whole, frees);
	struct hatf_record *const first = batch_add(b, tag);

	if (first == NULL)
		return false;
	*first = whole;
	first->tag = (uint8_t)tag;
	if ((tag == HATF_REALLOC_ALLOC_FREE || tag == HATF_REALLOC_ALLOC) &&
	    !add_part(b, &whole, HATF_ALLOC, whole.address, whole.size))
		return false;
	if (tag == HATF_REALLOC_ALLOC_FREE || tag == HATF_REALLOC_FREE)
		return add_part(b, &whole, HATF_FREE, whole.old_address, 0);
	return true;
}

bool
batch_stack(struct batch *b, struct hatf_record *rec, uint64_t stack)
{
	const struct hatf_attr_item item = { .key = HATF_ATTR_STACK,
					     .value = stack };
	const size_t cap = rec->attributes_nbytes + 1 + 10;
	size_t used = rec->attributes_nbytes;
	uint8_t *bytes;

	if (stack == 0)
		return true;
	bytes = batch_bytes(b, cap);
	if (bytes == NULL)
		return false;
	if (used != 0)
		memcpy(bytes, rec->attributes, used);
	hatf_attr_put(bytes, cap, &used, &item);
	rec->attributes = bytes;
	rec->attributes_nbytes = (uint32_t)used;
	return true;
}

bool
batch_comment(struct batch *b, const char *text, size_t nbytes, uint64_t offset)
{
	uint8_t *const bytes = batch_bytes(b, nbytes);
	struct hatf_record *const rec =
		bytes == NULL ? NULL : batch_add(b, HATF_COMMENT);

	if (rec == NULL)
		return false;
	memcpy(bytes, text, nbytes);
	rec->attributes = bytes;
	rec->attributes_nbytes = (uint32_t)nbytes;
	rec->offset = offset;
	return true;
}

bool
batch_define(struct batch *b, struct hatf_stacks *stacks, uint64_t offset)
{
	char text[HATF_DEFINITION_MAX];
	size_t nbytes;

	while ((nbytes = hatf_stacks_next(stacks, text, sizeof(text))) != 0)
		if (!batch_comment(b, text, nbytes, offset))
			return false;
	return true;
}

size_t
batch_end(struct batch *b, struct source *s)
{
	if (b->no_memory && s->err.status == HATF_OK)
		source_stop(s, HATF_NO_MEMORY, NULL);
	if (s->err.status != HATF_OK) {
		b->end = s->err;
		b->has_ended = true;
	}
	/*
	 * The reader does not call a source again after the source has reported
	 * its end.  So report the end only when no surplus is left.
	 */
	if (b->has_ended)
		s->err = b->kept_count == 0
				 ? b->end
				 : (struct hatf_error){ .status = HATF_OK };
	return b->count;
}

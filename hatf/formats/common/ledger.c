/* SPDX-License-Identifier: MIT */
/*
 * ledger.c - see ledger.h
 */
#include "hatf/formats/common/ledger.h"

#include <stdlib.h>

void
ledger_init(struct ledger *ledger)
{
	*ledger = (struct ledger){ .call_count = 0 };
	heaps_init(&ledger->heaps, false);
}

void
ledger_fini(struct ledger *ledger)
{
	heaps_fini(&ledger->heaps);
}

/* Remove the block at 'address', if a block is live there. */
static void
end_block(struct ledger *ledger, struct heap *heap, uint64_t address,
	  struct ledger_entry *entry)
{
	entry->known = heaps_take(&ledger->heaps, heap, address, &entry->old);
}

/*
 * Add a block.  If 'entry' is a realloc of a known block, the block keeps its
 * object and birth.
 */
static bool
begin_block(struct ledger *ledger, struct heap *heap,
	    const struct hatf_record *rec, struct ledger_entry *entry)
{
	entry->block = (struct block){
		.size = rec->size,
		.object = entry->known ? entry->old.object : 0,
		.birth_time = entry->known ? entry->old.birth_time : rec->time,
		.birth_event = entry->known
				       ? entry->old.birth_event
				       : ledger->call_count & BLOCK_EVENT_MAX,
	};

	entry->lives = heaps_put(&ledger->heaps, heap, rec->address,
				 &entry->block, &entry->replaced, &entry->lost);
	return entry->lives;
}

bool
ledger_keep(struct ledger *ledger, const struct hatf_record *rec,
	    const struct ledger_entry *entry)
{
	struct heap *const heap = heaps_get(&ledger->heaps, rec->heap);
	struct block block = entry->block;
	bool replaced;

	return heap != NULL && heaps_put(&ledger->heaps, heap, rec->address,
					 &block, &replaced, NULL);
}

static bool
enter_realloc(struct ledger *ledger, struct heap *heap,
	      const struct hatf_record *rec, struct ledger_entry *entry)
{
	const bool frees = rec->tag == HATF_REALLOC_FREE;

	if (!frees && rec->address == 0) {
		entry->kind = LEDGER_FAILED;
		return true;
	}
	if (rec->old_address != 0)
		end_block(ledger, heap, rec->old_address, entry);
	if (frees) {
		entry->kind = LEDGER_FREE;
		return true;
	}
	entry->kind = rec->old_address != 0 ? LEDGER_REALLOC : LEDGER_ALLOC;
	return begin_block(ledger, heap, rec, entry);
}

/* Apply a record that is a call of the program. */
static bool
enter_call(struct ledger *ledger, const struct hatf_record *rec,
	   struct ledger_entry *entry)
{
	struct heap *const heap = heaps_get(&ledger->heaps, rec->heap);

	if (heap == NULL)
		return false;
	ledger->call_count++;
	if (rec->tag == HATF_FREE) {
		entry->kind = LEDGER_FREE;
		end_block(ledger, heap, rec->address, entry);
		return true;
	}
	if (rec->tag != HATF_ALLOC)
		return enter_realloc(ledger, heap, rec, entry);
	if (rec->address == 0) {
		entry->kind = LEDGER_FAILED;
		return true;
	}
	entry->kind = LEDGER_ALLOC;
	return begin_block(ledger, heap, rec, entry);
}

bool
ledger_enter(struct ledger *ledger, const struct hatf_record *rec,
	     struct ledger_entry *entry_ret)
{
	entry_ret->kind = LEDGER_NONE;
	entry_ret->known = false;
	entry_ret->replaced = false;
	entry_ret->lives = false;
	if (pairing_role(&ledger->pairing, rec) != PAIRING_EVENT)
		return true;
	return enter_call(ledger, rec, entry_ret);
}

/* A block that is freed because its heap is destroyed. */
struct death {
	uint64_t address, birth;
};

static int
compare_births(const void *a, const void *b)
{
	const uint64_t x = ((const struct death *)a)->birth;
	const uint64_t y = ((const struct death *)b)->birth;

	return (x > y) - (x < y);
}

/*
 * Return the blocks in the order of their birth, because their order in the
 * block set is random.  The caller frees the array.  Return NULL if memory runs
 * out.
 */
static struct death *
sort_by_birth(const struct block_set *live)
{
	struct death *const deaths = calloc(live->count, sizeof(*deaths));
	struct block_walk walk = { 0 };
	struct block block;
	uint64_t address;
	size_t n = 0;

	if (deaths == NULL)
		return NULL;
	while (block_set_next(live, &walk, &address, &block))
		deaths[n++] = (struct death){ address, block.birth_event };
	qsort(deaths, n, sizeof(*deaths), compare_births);
	return deaths;
}

bool
ledger_destroy(struct ledger *ledger, uint64_t id,
	       void (*visit)(void *ctx, uint64_t address,
			     const struct block *block),
	       void *ctx)
{
	const struct heap *const heap = heaps_get(&ledger->heaps, id);
	const struct block_set *const live = heap != NULL ? &heap->live : NULL;

	if (visit != NULL && live != NULL && live->count != 0) {
		struct death *const deaths = sort_by_birth(live);
		struct block block;

		if (deaths == NULL)
			return false;
		for (size_t i = 0; i < live->count; i++)
			if (block_set_find(live, deaths[i].address, &block))
				visit(ctx, deaths[i].address, &block);
		free(deaths);
	}
	heaps_clear(&ledger->heaps, id);
	return true;
}

bool
ledger_is_live(struct ledger *ledger, uint64_t address)
{
	struct block ignored;

	return block_set_find(&ledger->heaps.first.live, address, &ignored);
}

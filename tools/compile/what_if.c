/* SPDX-License-Identifier: MIT */
/* what_if.c - see what_if.h */
#include "tools/compile/what_if.h"

#include "tools/sites/site_options.h"
#include "tools/ui/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Value in 'blocks' for a block that --what-if drops. */
#define DROPPED 0

/* Sizes in the pool are multiples of this. */
#define POOL_STEP 16

/* Chunks get addresses from here on, where no program has blocks. */
#define CHUNK_ADDRESS ((uint64_t)1 << 63)

/* --------------------------------------------------------------------- plan */

static bool
parse_round(struct what_if_plan *plan, const char *number)
{
	char *end;
	const unsigned long long n = strtoull(number, &end, 10);

	if (*number < '0' || *number > '9' || *end != '\0' || n == 0 ||
	    n > 1u << 30)
		return false;
	plan->round = n;
	return true;
}

static bool
add_site(struct block_filter_options *options, const char *glob)
{
	struct block_filter_patterns *const p = &options->site;

	if (*glob == '\0' || p->count == BLOCK_FILTER_PATTERNS_MAX)
		return false;
	p->texts[p->count++] = glob;
	return true;
}

/*
 * Return the part of 'text' after 'prefix', or NULL if 'text' does not begin
 * with 'prefix'.
 */
static const char *
after(const char *text, const char *prefix)
{
	const size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static bool
take_change(struct what_if_plan *plan, const char *text)
{
	const char *value;

	if (strcmp(text, "merge:threads") == 0) {
		plan->merges_threads = true;
		return true;
	}
	if ((value = after(text, "sizes:round=")) != NULL)
		return parse_round(plan, value);
	if ((value = after(text, "drop:site=")) != NULL)
		return add_site(&plan->drop, value);
	if ((value = after(text, "pool:site=")) != NULL)
		return add_site(&plan->pool, value);
	return false;
}

bool
what_if_parse(struct what_if_plan *plan, const char *text)
{
	const size_t used = strlen(plan->text);

	if (!take_change(plan, text)) {
		message_print("--what-if: invalid change '%s' (want "
			      "sizes:round=N, drop:site=GLOB, "
			      "pool:site=GLOB, merge:threads)",
			      text);
		return false;
	}
	snprintf(plan->text + used, sizeof(plan->text) - used, "%s%s",
		 used != 0 ? " " : "", text);
	return true;
}

bool
what_if_is_needed(const struct what_if_plan *plan)
{
	return plan->text[0] != '\0';
}

/* ----------------------------------------------------------- open and close */

static bool
open_filter(struct block_filter **filter,
	    const struct block_filter_options *options, struct stack_view *view)
{
	*filter = NULL;
	if (!block_filter_is_needed(options))
		return true;
	*filter = block_filter_open(options, view);
	return *filter != NULL;
}

bool
what_if_open(struct what_if *w, const struct what_if_plan *plan)
{
	const struct stack_view_options viewing = {
		.fold_std = plan->fold_std,
	};

	*w = (struct what_if){ .plan = plan, .chunk_used = POOL_CHUNK_NBYTES };
	u64_map_init(&w->blocks);
	u64_map_init(&w->free_counts);
	if (hatf_stacks_open(&w->stacks) != HATF_OK)
		return false;
	w->view = stack_view_open(w->stacks, &viewing);
	return w->view != NULL && open_filter(&w->drop, &plan->drop, w->view) &&
	       open_filter(&w->pool, &plan->pool, w->view);
}

void
what_if_close(struct what_if *w)
{
	block_filter_close(w->drop);
	block_filter_close(w->pool);
	stack_view_close(w->view);
	hatf_stacks_close(w->stacks);
	u64_map_fini(&w->blocks);
	u64_map_fini(&w->free_counts);
}

/* -------------------------------------------------------------------- sites */

static void
note_comment(struct what_if *w, const struct hatf_event *e)
{
	const struct hatf_record rec = {
		.tag = HATF_COMMENT,
		.attributes = e->attributes,
		.attributes_nbytes = e->attributes_nbytes,
		.offset = e->offset,
	};

	if (hatf_stacks_note(w->stacks, &rec, NULL) == HATF_NO_MEMORY)
		w->no_memory = true;
}

/* Return whether a filter chooses the block of an allocation. */
static bool
is_chosen(struct block_filter *filter, const struct hatf_event *e)
{
	struct hatf_record rec = {
		.tag = HATF_ALLOC,
		.size = e->size,
		.address = e->address,
		.thread = e->thread,
		.attributes = e->attributes,
		.attributes_nbytes = e->attributes_nbytes,
	};
	bool chosen;

	if (filter == NULL)
		return false;
	chosen = block_filter_keeps(filter, &rec);
	/*
	 * Tell the filter at once that the block was freed, so that the filter
	 * forgets the block.  'blocks' in struct what_if keeps track of chosen
	 * blocks instead.
	 */
	rec.tag = HATF_FREE;
	rec.attributes_nbytes = 0;
	block_filter_keeps(filter, &rec);
	return chosen;
}

static void
report_unused(const struct what_if *w, const struct block_filter *filter,
	      const char *what, uint64_t calls, const char *path)
{
	if (filter == NULL || calls != 0)
		return;
	message_print("%s: %s was allocated at a matching site%s",
		      message_path(path), what,
		      w->plan->fold_std || !block_filter_has_no_match(filter)
			      ? ""
			      : SITE_OPTIONS_FOLD_HINT);
}

void
what_if_report(const struct what_if *w, const char *path)
{
	if ((w->drop != NULL && block_filter_lacks_stacks(w->drop)) ||
	    (w->pool != NULL && block_filter_lacks_stacks(w->pool))) {
		message_print(
			"%s: the trace has no call stacks, which drop:site and "
			"pool:site need",
			message_path(path));
		return;
	}
	report_unused(w, w->drop, "drop:site has no effect: no block",
		      w->counts.dropped_calls, path);
	report_unused(w, w->pool,
		      "pool:site has no effect: no block of at most 16 KiB",
		      w->counts.pooled_calls, path);
}

bool
what_if_did_nothing(const struct what_if_counts *counts)
{
	return counts->rounded_nbytes == 0 && counts->dropped_calls == 0 &&
	       counts->pooled_calls == 0;
}

/* --------------------------------------------------------------------- pool */

/*
 * Track the block at 'address'.  'size' is the block's size in the pool, or
 * DROPPED.
 */
static void
track(struct what_if *w, uint64_t address, uint64_t size)
{
	bool added;
	struct u64_map_entry *const block =
		u64_map_put(&w->blocks, address, &added);

	if (block == NULL)
		w->no_memory = true;
	else
		block->value = size;
}

/*
 * If 'change' is 1, add a free block of 'size' bytes to the pool.  If 'change'
 * is -1, take such a block; return false if there is none.
 */
static bool
count_free(struct what_if *w, uint64_t size, int change)
{
	bool added;
	struct u64_map_entry *const entry =
		u64_map_put(&w->free_counts, size, &added);

	if (entry == NULL) {
		w->no_memory = true;
		return true;
	}
	if (change < 0 && entry->value == 0)
		return false;
	entry->value += (uint64_t)(int64_t)change;
	return true;
}

/*
 * Take the event's block from the pool.  If the pool needs a new chunk for the
 * block, change the event to the allocation of the chunk and return true.
 * Otherwise return false, to remove the event.
 */
static bool
pool_alloc(struct what_if *w, struct hatf_event *e)
{
	const uint64_t asked = e->size != 0 ? e->size : 1;
	const uint64_t size = (asked + POOL_STEP - 1) / POOL_STEP * POOL_STEP;

	track(w, e->address, size);
	w->counts.pooled_calls++;
	w->counts.pooled_nbytes += e->size;
	if (count_free(w, size, -1))
		return false;
	w->chunk_used += size;
	if (w->chunk_used <= POOL_CHUNK_NBYTES)
		return false;
	w->chunk_used = size;
	e->kind = HATF_EVENT_ALLOC;
	e->size = POOL_CHUNK_NBYTES;
	e->address = CHUNK_ADDRESS + w->counts.chunks++;
	e->old_address = 0;
	e->attributes_nbytes = 0;
	return true;
}

/* ------------------------------------------------------------------- events */

/*
 * Leave a new block unchanged, drop it, or take it from the pool.  Return false
 * to remove the event.
 */
static bool
on_new(struct what_if *w, struct hatf_event *e)
{
	if (is_chosen(w->drop, e)) {
		track(w, e->address, DROPPED);
		w->counts.dropped_calls++;
		w->counts.dropped_nbytes += e->size;
		return false;
	}
	if (is_chosen(w->pool, e) && e->size <= POOL_BLOCK_MAX)
		return pool_alloc(w, e);
	return true;
}

/*
 * Handle a realloc of a tracked block.  'size' is the block's old size in the
 * pool, or DROPPED.  Return false to remove the event.
 */
static bool
on_resize(struct what_if *w, struct hatf_event *e, uint64_t size)
{
	if (size == DROPPED) {
		track(w, e->address, DROPPED);
		w->counts.dropped_calls++;
		return false;
	}
	count_free(w, size, 1);
	if (e->size <= POOL_BLOCK_MAX)
		return pool_alloc(w, e);
	/* The block leaves the pool, so the realloc becomes an allocation. */
	e->kind = HATF_EVENT_ALLOC;
	e->old_address = 0;
	e->attributes_nbytes = 0;
	return true;
}

/*
 * Handle the free of a tracked block.  'size' is the block's size in the pool,
 * or DROPPED.  Return false to remove the event.
 */
static bool
on_end(struct what_if *w, uint64_t size)
{
	if (size == DROPPED) {
		w->counts.dropped_calls++;
		return false;
	}
	w->counts.pooled_calls++;
	count_free(w, size, 1);
	return false;
}

/*
 * Stop tracking the block at 'address'.  Return false if the block is not
 * tracked.
 */
static bool
forget(struct what_if *w, uint64_t address, uint64_t *size_ret)
{
	struct u64_map_entry *const block = u64_map_find(&w->blocks, address);

	if (block == NULL)
		return false;
	*size_ret = block->value;
	u64_map_remove(&w->blocks, block);
	return true;
}

/* Change a successful call of heap 0.  Return false to remove the call. */
static bool
change_call(struct what_if *w, struct hatf_event *e)
{
	uint64_t size;

	if (e->address == 0) /* a free, or a realloc that frees */
		return !forget(w, e->old_address, &size) || on_end(w, size);
	if (e->old_address != 0 && forget(w, e->old_address, &size))
		return on_resize(w, e, size);
	/*
	 * If a tracked block is at the new address, the trace lacks the free of
	 * that block.  Count that free now.
	 */
	if (e->address != e->old_address && forget(w, e->address, &size))
		on_end(w, size);
	return e->old_address != 0 || on_new(w, e);
}

static void
round_size(struct what_if *w, struct hatf_event *e)
{
	const uint64_t n = w->plan->round;
	const uint64_t more = (n - e->size % n) % n;

	if (e->kind == HATF_EVENT_FREE || e->address == 0 ||
	    e->size > UINT64_MAX - more)
		return;
	e->size += more;
	w->counts.rounded_nbytes += more;
}

bool
what_if_change(struct what_if *w, struct hatf_event *e)
{
	if (e->kind == HATF_EVENT_COMMENT)
		note_comment(w, e);
	if (e->kind > HATF_EVENT_REALLOC || e->heap != 0)
		return true;
	/* A failed call changes no block, so leave the call as it is. */
	if (e->kind != HATF_EVENT_FREE && e->address == 0 &&
	    e->tag != HATF_REALLOC_FREE)
		return true;
	if (!change_call(w, e))
		return false;
	if (w->plan->round != 0)
		round_size(w, e);
	return true;
}

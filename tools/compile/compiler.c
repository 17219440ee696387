/* SPDX-License-Identifier: MIT */
/* compiler.c - see compiler.h */
#include "tools/compile/compiler.h"

/*
 * Ignore a larger alignment, which comes from a damaged trace, not from a
 * program.
 */
#define ALIGNMENT_MAX ((uint64_t)1 << 40)

/* Omit pauses that are shorter than this. */
#define PAUSE_MIN_NS 10000

/* A week.  With real time, refuse a replay that would take longer. */
#define REAL_MAX_NS ((uint64_t)7 * 24 * 3600 * 1000000000)

/* ------------------------------------------------------------------ streams */

/* Return the stream for a new thread; SLOTS_NONE on failure. */
static uint32_t
find_stream(struct compiler *c)
{
	struct word_file *const f = &c->out->file;
	const uint32_t stream = f->stream_count;

	if (c->idle_count > 0)
		return c->idle[--c->idle_count];
	if (stream == REPLAY_THREADS_MAX) {
		c->limit = "more than 4096 threads at once (--threads 1 "
			   "replays the trace on one thread)";
		return SLOTS_NONE;
	}
	if (!word_file_add_stream(f))
		return SLOTS_NONE;
	return slots_add_stream(&c->slots, stream) ? stream : SLOTS_NONE;
}

/* Begin thread 'id', which the thread of stream 'creator' creates. */
static bool
begin_thread(struct compiler *c, uint64_t id, uint32_t creator,
	     uint32_t *stream_ret)
{
	const uint32_t stream = find_stream(c);
	const uint64_t names[] = { WORD_THREAD | WORD_CONTROL, id };
	struct u64_map_entry *entry;
	struct word_stream *s;
	uint64_t offset;
	bool added;

	if (stream == SLOTS_NONE)
		return false;
	if (c->out->thread_count == REPLAY_STARTS_MAX &&
	    !c->options->many_threads) {
		c->limit = "more than 100000 threads "
			   "(--threads original starts them all, "
			   "--threads 1 replays the trace on one thread)";
		return false;
	}
	entry = u64_map_put(&c->threads, id, &added);
	if (entry == NULL)
		return false;
	entry->value = stream;
	*stream_ret = stream;
	s = &c->out->file.streams[stream];
	s->is_live = true;
	c->out->thread_count++;
	if (++c->live_threads > c->out->peak_threads)
		c->out->peak_threads = c->live_threads;
	if (stream != 0) {
		const uint64_t words[] = {
			WORD_CREATE | WORD_CONTROL |
				(uint64_t)stream << WORD_SLOT_SHIFT,
			s->lives++,
		};

		if (!word_file_put(&c->out->file, creator, words, 2, &offset))
			return false;
	}
	return word_file_put(&c->out->file, stream, names, 2, &offset);
}

bool
compiler_find_thread(struct compiler *c, uint64_t id, uint32_t *stream_ret)
{
	const struct u64_map_entry *entry;

	if (c->options->one_thread)
		id = 0;
	entry = u64_map_find(&c->threads, id);
	if (entry == NULL)
		return begin_thread(c, id, 0, stream_ret);
	*stream_ret = (uint32_t)entry->value;
	return true;
}

/*
 * Find the stream of the thread that created the thread of 'e'.  If the creator
 * is unknown, take stream 0, which the initial thread runs.  If there is no
 * stream yet, begin the creator as the initial thread.
 */
static bool
find_creator(struct compiler *c, const struct hatf_event *e,
	     uint32_t *stream_ret)
{
	const uint8_t *next = e->attributes;
	struct hatf_attr_item item;

	*stream_ret = 0;
	if (e->attributes_nbytes == 0)
		return true;
	while (hatf_attr_next(&next, e->attributes + e->attributes_nbytes,
			      &item))
		if (item.key == HATF_ATTR_PARENT && item.value != e->thread) {
			const struct u64_map_entry *const entry =
				u64_map_find(&c->threads, item.value);

			if (entry != NULL)
				*stream_ret = (uint32_t)entry->value;
			else if (c->out->file.stream_count == 0)
				return compiler_find_thread(c, item.value,
							    stream_ret);
		}
	return true;
}

static bool
on_create(struct compiler *c, const struct hatf_event *e)
{
	uint32_t creator, stream;

	if (c->options->one_thread ||
	    u64_map_find(&c->threads, e->thread) != NULL)
		return true;
	return find_creator(c, e, &creator) &&
	       begin_thread(c, e->thread, creator, &stream);
}

static bool
on_destroy(struct compiler *c, const struct hatf_event *e)
{
	struct u64_map_entry *const entry =
		u64_map_find(&c->threads, e->thread);
	const uint64_t word = WORD_EXIT | WORD_CONTROL;
	uint64_t offset;
	uint32_t stream;

	if (c->options->one_thread || entry == NULL)
		return true;
	stream = (uint32_t)entry->value;
	u64_map_remove(&c->threads, entry);
	c->live_threads--;
	slots_release(&c->slots, stream);
	/*
	 * Stream 0 does not end, because its thread is the initial thread,
	 * which creates other threads.
	 */
	if (stream == 0)
		return true;
	c->out->file.streams[stream].is_live = false;
	c->idle[c->idle_count++] = stream;
	return word_file_put(&c->out->file, stream, &word, 1, &offset);
}

/* -------------------------------------------------------------------- calls */

/*
 * Mark the slot's previous call as one that hands the slot over, because
 * another thread makes the next call.
 */
static bool
hand_over(struct compiler *c, struct slot *slot)
{
	slot->turn++;
	c->out->handovers++;
	return word_file_hand_over(&c->out->file, slot->stream, slot->offset);
}

static bool
put_call(struct compiler *c, const struct call *call)
{
	struct slot *const slot = &c->slots.slots[call->slot];
	const bool waits = slot->offset != 0 && slot->stream != call->stream;
	const bool is_big = call->size >= WORD_BIG_SIZE;
	const bool has_old = call->old_size >= REPLAY_PAGE_NBYTES;
	const bool is_fast = (call->kind == WORD_FREE ||
			      (call->kind == WORD_MALLOC && call->size != 0 &&
			       call->size <= REPLAY_PAGE_NBYTES)) &&
			     !waits;
	uint64_t words[WORDS_MAX];
	size_t n = 1;

	if (waits && !hand_over(c, slot))
		return false;
	words[0] = call->kind | WORD_LONE | (waits ? WORD_WAITS : 0) |
		   (has_old ? WORD_OLD : 0) | (is_fast ? 0 : WORD_SLOW) |
		   (uint64_t)call->slot << WORD_SLOT_SHIFT |
		   (is_big ? WORD_BIG_SIZE : call->size) << WORD_SIZE_SHIFT;
	if (is_big)
		words[n++] = call->size;
	if (call->kind == WORD_MEMALIGN)
		words[n++] = call->alignment;
	if (has_old)
		words[n++] = call->old_size;
	if (waits)
		words[n++] = slot->turn;
	slot->stream = call->stream;
	c->out->calls++;
	/*
	 * A pair is a word with two calls (replay_words.h).  A mix of pairs and
	 * lone words would be slower than lone words alone.  Therefore write
	 * pairs only while the numbers of all slots fit in pairs.
	 */
	if (c->slots.count <= PAIR_SLOT_MAX + 1 && word_fits_pair(words[0]))
		return word_file_put_half(&c->out->file, call->stream, words[0],
					  &slot->offset);
	return word_file_put(&c->out->file, call->stream, words, n,
			     &slot->offset);
}

/*
 * Return how many bytes of a block may be resident in a run with TOUCH_FIRST:
 * those of the first page, or those that the last realloc has copied if the
 * allocator moved the block, whichever is more.
 */
static uint64_t
written_nbytes(const struct compiler *c, uint32_t slot, uint64_t size)
{
	const uint64_t copied =
		(uint64_t)c->slots.slots[slot].copied * REPLAY_PAGE_NBYTES;
	const uint64_t most =
		copied > REPLAY_PAGE_NBYTES ? copied : REPLAY_PAGE_NBYTES;

	return size < most ? size : most;
}

/*
 * Count a block as live.  Return false if the sum of the live bytes overflows:
 * then the trace is damaged, because no program can have so many bytes.
 */
static bool
count_live(struct compiler *c, uint32_t slot, uint64_t size)
{
	struct compiled *const out = c->out;

	if (__builtin_add_overflow(c->live_nbytes, size, &c->live_nbytes)) {
		c->limit = "the trace is damaged: its live blocks have more "
			   "than 2^64 bytes";
		return false;
	}
	c->live_count++;
	c->live_first_nbytes += written_nbytes(c, slot, size);
	if (c->live_count > out->peak_count)
		out->peak_count = c->live_count;
	if (c->live_nbytes > out->peak_nbytes)
		out->peak_nbytes = c->live_nbytes;
	if (c->live_first_nbytes > out->peak_first_nbytes)
		out->peak_first_nbytes = c->live_first_nbytes;
	return true;
}

static void
count_dead(struct compiler *c, uint32_t slot, uint64_t size)
{
	c->live_count--;
	c->live_nbytes -= size;
	c->live_first_nbytes -= written_nbytes(c, slot, size);
}

static bool
put_free(struct compiler *c, uint32_t stream, struct u64_map_entry *block)
{
	const struct call call = { .kind = WORD_FREE,
				   .stream = stream,
				   .slot = (uint32_t)block->value };

	count_dead(c, call.slot, block->extra);
	c->slots.slots[call.slot].copied = 0;
	u64_map_remove(&c->blocks, block);
	c->out->frees++;
	if (!put_call(c, &call))
		return false;
	slots_put(&c->slots, stream, call.slot);
	return true;
}

/*
 * Note that the block in 'slot' is at 'address'.  If another block is live at
 * 'address', first free that block.
 */
static bool
put_block(struct compiler *c, uint32_t stream, uint64_t address, uint32_t slot,
	  uint64_t size)
{
	struct u64_map_entry *block = u64_map_find(&c->blocks, address);
	bool added;

	if (block != NULL) {
		c->out->replaced++;
		if (!put_free(c, stream, block))
			return false;
	}
	block = u64_map_put(&c->blocks, address, &added);
	if (block == NULL)
		return false;
	block->value = slot;
	block->extra = size;
	return count_live(c, slot, size);
}

void
compiler_choose_call(const struct hatf_event *e, struct call *call)
{
	const uint8_t *next = e->attributes;
	struct hatf_attr_item item;

	call->kind = WORD_MALLOC;
	if (e->attributes_nbytes == 0)
		return;
	while (hatf_attr_next(&next, e->attributes + e->attributes_nbytes,
			      &item)) {
		if (item.key == HATF_ATTR_ZEROED && call->kind == WORD_MALLOC)
			call->kind = WORD_CALLOC;
		if (item.key != HATF_ATTR_ALIGNMENT || item.value == 0 ||
		    item.value > ALIGNMENT_MAX)
			continue;
		call->kind = WORD_MEMALIGN;
		/*
		 * memalign() requires a power of two, so round the alignment
		 * up.  Begin with the size of a pointer, the smallest alignment
		 * that posix_memalign() accepts.
		 */
		call->alignment = sizeof(void *);
		while (call->alignment < item.value)
			call->alignment *= 2;
	}
}

bool
compiler_put_new(struct compiler *c, const struct hatf_event *e,
		 struct call *call)
{
	call->size = e->size;
	call->slot = slots_take(&c->slots, call->stream);
	if (call->slot == SLOTS_NONE) {
		if (c->slots.count > WORD_SLOT_MAX - SLOTS_FRESH_MAX)
			c->limit = "more than 268 million live blocks";
		return false;
	}
	return put_block(c, call->stream, e->address, call->slot, e->size) &&
	       put_call(c, call);
}

static bool
on_alloc(struct compiler *c, const struct hatf_event *e, uint32_t stream)
{
	struct call call = { .stream = stream };

	if (e->address == 0) {
		c->out->failed++;
		return true;
	}
	compiler_choose_call(e, &call);
	c->out->mallocs += call.kind == WORD_MALLOC;
	c->out->callocs += call.kind == WORD_CALLOC;
	c->out->memaligns += call.kind == WORD_MEMALIGN;
	return compiler_put_new(c, e, &call);
}

static bool
on_free(struct compiler *c, const struct hatf_event *e, uint32_t stream)
{
	struct u64_map_entry *const block =
		u64_map_find(&c->blocks, e->old_address);

	if (block != NULL)
		return put_free(c, stream, block);
	c->out->unknown += e->old_address != 0;
	return true;
}

/* Note how many pages of the block in 'slot' a realloc may copy. */
static void
note_copy(struct compiler *c, uint32_t slot, uint64_t old_size, uint64_t size)
{
	const uint64_t pages =
		(old_size < size ? old_size : size) / REPLAY_PAGE_NBYTES;

	c->slots.slots[slot].copied =
		pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
}

/* Resize a known block. */
static bool
resize(struct compiler *c, const struct hatf_event *e, uint32_t stream,
       struct u64_map_entry *block)
{
	const struct call call = {
		.kind = WORD_REALLOC,
		.stream = stream,
		.slot = (uint32_t)block->value,
		/*
		 * Never resize to 0 bytes, because some allocators would then
		 * free the block.
		 */
		.size = e->size != 0 ? e->size : 1,
		.old_size = block->extra,
	};

	c->out->reallocs++;
	count_dead(c, call.slot, block->extra);
	note_copy(c, call.slot, call.old_size, e->size);
	u64_map_remove(&c->blocks, block);
	return put_block(c, stream, e->address, call.slot, e->size) &&
	       put_call(c, &call);
}

static bool
on_realloc(struct compiler *c, const struct hatf_event *e, uint32_t stream)
{
	struct u64_map_entry *const block =
		u64_map_find(&c->blocks, e->old_address);
	struct call call = { .kind = WORD_MALLOC, .stream = stream };

	if (e->address == 0) {
		if (e->tag == HATF_REALLOC_FREE)
			return on_free(c, e, stream);
		c->out->failed++;
		return true;
	}
	if (e->old_address != 0 && block != NULL)
		return resize(c, e, stream, block);
	if (e->old_address == 0) {
		call.kind = WORD_REALLOC_NULL;
		c->out->reallocs++;
	} else {
		c->out->mallocs++;
		c->out->unknown++;
	}
	return compiler_put_new(c, e, &call);
}

/* ------------------------------------------------------------------- events */

/* With real time, make the stream wait until the event's time. */
static bool
put_pause(struct compiler *c, const struct hatf_event *e, uint32_t stream)
{
	uint64_t ns, word, offset;

	if (c->unit_ns == 0 || e->time < c->begin_time)
		return true;
	if (__builtin_mul_overflow(e->time - c->begin_time, c->unit_ns, &ns) ||
	    ns > REAL_MAX_NS) {
		c->limit = "with --speed real, the replay would take more than "
			   "a week "
			   "(choose a part with --from and --to)";
		return false;
	}
	if (ns < c->paused_ns[stream] + PAUSE_MIN_NS)
		return true;
	c->paused_ns[stream] = ns;
	word = WORD_PAUSE | WORD_CONTROL | ns << WORD_TIME_SHIFT;
	return word_file_put(&c->out->file, stream, &word, 1, &offset);
}

static bool
on_call(struct compiler *c, const struct hatf_event *e)
{
	uint32_t stream;

	if (e->heap != 0) {
		c->out->pooled++;
		return true;
	}
	if (!compiler_find_thread(c, e->thread, &stream) ||
	    !put_pause(c, e, stream))
		return false;
	switch (e->kind) {
	case HATF_EVENT_ALLOC:
		return on_alloc(c, e, stream);
	case HATF_EVENT_FREE:
		return on_free(c, e, stream);
	default:
		return on_realloc(c, e, stream);
	}
}

bool
compiler_put_event(struct compiler *c, const struct hatf_event *e)
{
	switch (e->kind) {
	case HATF_EVENT_ALLOC:
	case HATF_EVENT_FREE:
	case HATF_EVENT_REALLOC:
		return on_call(c, e);
	case HATF_EVENT_THREAD_CREATE:
		return on_create(c, e);
	case HATF_EVENT_THREAD_DESTROY:
		return on_destroy(c, e);
	default:
		return true;
	}
}

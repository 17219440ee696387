/* SPDX-License-Identifier: MIT */
/*
 * interleave_model.h - the process of test_interleave.c, as actors with steps
 *
 * Each actor is a coroutine that does the work of one thread.  run_step(i) lets
 * actor i do one step; begin_world() starts from the beginning.
 */
#ifndef TESTS_INTERLEAVE_MODEL_H
#define TESTS_INTERLEAVE_MODEL_H

#include "tests/unit/support/checks.h"
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static void step(void);

#define IMAGE_STEP() step()
#include "hatf/rings/image.c"

#include "hatf/hatf.h"
#include "hatf/rings/narrate.h"
#include "preload/record/ring_wait.h"
#include "preload/trace/trace.h"

#define WORDS	    512
#define RING_NBYTES (RING_HEADER_NBYTES + WORDS * sizeof(uint64_t))
#define FILE_NBYTES (IMAGE_HEADER_NBYTES + 2 * RING_NBYTES)
#define TRACE_MAX   (64u << 10)
#define STACK	    (256u << 10)
#define THREADS	    3
#define ACTORS	    (THREADS + 1)
#define STEPS_MAX   256
#define EVENTS_MAX  600

/* The shared memory of the process, and the trace file it has written. */
static _Alignas(4096) uint8_t memory[FILE_NBYTES];
static uint8_t trace_bytes[TRACE_MAX];
static size_t trace_used;

static struct image *const image = (struct image *)memory;
static struct ring *rings[2];

/* An event that a thread has published, in the order of publishing. */
struct done {
	enum hatf_tag tag;
	uint64_t address;
};

static struct {
	ucontext_t context, scheduler;
	uint8_t *stack;
	bool is_done;
	/* The actor can only run while its ring has room for 'needs' words. */
	const struct ring *ring;
	uint64_t needs;
	unsigned steps;
} actors[ACTORS];

static struct {
	struct trace trace;
	struct order order;
	struct order_producer producers[THREADS], *list[THREADS],
		*heap[THREADS];
	bool is_active[THREADS], is_gone[THREADS];
	uint64_t head[THREADS];
	uint64_t clock;
	bool old_is_free;  /* the allocator has freed the realloc's old block */
	bool ring_is_free; /* the ring of the thread that ended has no life */
	bool is_taken;	   /* ... or the third thread has taken it over */
	struct done done[THREADS][EVENTS_MAX];
	unsigned done_count[THREADS];
} model;

/* The case: its threads, and the number of rounds of the writer. */
static bool has_thread[THREADS];
static unsigned rounds;
static bool in_words;	/* the realloc takes two words */
static bool takes_over; /* the third thread may take over a live ring */

static void *narrator_memory;
static unsigned current;

static void
step(void)
{
	/* Recovery and set-up also call image.c, but not as an actor. */
	if (current < ACTORS)
		swapcontext(&actors[current].context,
			    &actors[current].scheduler);
}

/* ---------------------------------------------------------------- threads */

static void
note_done(unsigned id, enum hatf_tag tag, uint64_t address)
{
	model.done[id][model.done_count[id]++] =
		(struct done){ .tag = tag, .address = address };
}

static void
publish(unsigned id, struct ring *r, unsigned n, const uint64_t *words,
	enum hatf_tag tag, uint64_t address)
{
	uint64_t head = model.head[id];

	if (ring_limit(r) < head + n) {
		actors[current].ring = r;
		actors[current].needs = head + n;
		step();
		actors[current].ring = NULL;
	}
	/* No other actor reads unpublished words, so this needs no step. */
	for (unsigned i = 0; i < n; i++)
		ring_put(r, head++, words[i]);
	model.head[id] = head;
	if (tag != HATF_METADATA)
		note_done(id, tag, address);
	ring_publish(r, head);
	step();
}

static void
do_alloc(unsigned id, struct ring *r, uint64_t address)
{
	const uint64_t stamp = ++model.clock;

	publish(id, r, 2,
		(uint64_t[]){ 24ull << EVENT_SIZE_SHIFT | address |
				      EVENT_KIND_ALLOC_STAMPED,
			      stamp },
		HATF_ALLOC, address);
}

static void
do_free(unsigned id, struct ring *r, uint64_t address)
{
	const uint64_t stamp = ++model.clock;

	publish(id, r, 2,
		(uint64_t[]){ address | EVENT_KIND_FREE_STAMPED, stamp },
		HATF_FREE, address);
}

static void
do_announce(unsigned id, struct ring *r)
{
	publish(id, r, 5,
		(uint64_t[]){ event_wide(EVENT_THREAD, 5, 0), ++model.clock, 0,
			      100 + id, 1 },
		HATF_METADATA, 0);
}

#define BLOCK_A 0x1000u
#define BLOCK_B 0x2000u
#define BLOCK_C 0x3000u
#define BLOCK_D 0x4000u
#define BLOCK_E 0x5000u

static void
do_realloc_begin(struct ring *r)
{
	if (in_words)
		publish(0, r, 3,
			(uint64_t[]){ event_wide(EVENT_TICK, 2, 0),
				      ++model.clock,
				      BLOCK_A | EVENT_KIND_REALLOC },
			HATF_METADATA, 0);
	else
		publish(0, r, 3,
			(uint64_t[]){ event_wide(EVENT_REALLOC_BEGIN, 3, 0),
				      ++model.clock, BLOCK_A },
			HATF_METADATA, 0);
}

static void
do_realloc_end(struct ring *r)
{
	if (in_words)
		publish(0, r, 3,
			(uint64_t[]){ event_wide(EVENT_TICK, 2, 0),
				      ++model.clock,
				      48ull << EVENT_SIZE_SHIFT |
					      EVENT_REALLOC_IS_END | BLOCK_B |
					      EVENT_KIND_REALLOC },
			HATF_REALLOC_ALLOC_FREE, BLOCK_B);
	else
		publish(0, r, 5,
			(uint64_t[]){ event_wide(EVENT_REALLOC_END, 5, 0),
				      ++model.clock, BLOCK_A, BLOCK_B, 48 },
			HATF_REALLOC_ALLOC_FREE, BLOCK_B);
}

/* The ring of the first thread has room for one event. */
static void
first_thread(void)
{
	do_alloc(0, rings[0], BLOCK_A);
	do_realloc_begin(rings[0]);
	model.old_is_free = true;
	step();
	do_realloc_end(rings[0]);
}

static void
second_thread(void)
{
	const uint64_t block = model.old_is_free ? BLOCK_A : BLOCK_D;

	do_alloc(1, rings[1], block);
	do_free(1, rings[1], block);
}

/* As in thread.h: the writer has not yet seen that the second thread ended. */
static bool
may_take_over(void)
{
	return takes_over && actors[1].is_done && !model.producers[1].is_dead;
}

static void
begin_ring_anew(void)
{
	image_begin_ring(rings[1], 2, false);
	model.producers[2] =
		(struct order_producer){ .id = 2, .ring = rings[1] };
	model.head[2] = 0;
	model.is_active[2] = true;
}

static void
take_over_ring(void)
{
	model.is_taken = true;
	model.head[2] = model.head[1];
	publish(2, rings[1], 3,
		(uint64_t[]){ event_wide(EVENT_HANDOVER, 3, 0), ++model.clock,
			      2 },
		HATF_METADATA, 0);
}

static void
third_thread(void)
{
	while (!model.ring_is_free && !may_take_over())
		step();
	if (model.ring_is_free)
		begin_ring_anew();
	else
		take_over_ring();
	do_announce(2, rings[1]);
	do_alloc(2, rings[1], BLOCK_E);
}

/* ----------------------------------------------------------------- writer */

static void
write_block(void)
{
	struct encoder *const e = &model.trace.narrator.encoder;
	const size_t half = e->used / 2;

	if (!model.trace.narrator.in_block)
		return;
	encoder_end(e);
	ck_assert_uint_le(trace_used + e->used, TRACE_MAX);
	memcpy(trace_bytes + trace_used, e->buf, half);
	trace_used += half;
	step();
	memcpy(trace_bytes + trace_used, e->buf + half, e->used - half);
	trace_used += e->used - half;
	model.trace.output.nbytes += e->used;
	encoder_reset(e);
	model.trace.narrator.in_block = false;
	step();
}

static unsigned
list_producers(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < THREADS; i++)
		if (model.is_active[i])
			model.list[n++] = &model.producers[i];
	return n;
}

/* Like tend_thread() of writer.c. */
static void
tend(unsigned id)
{
	struct order_producer *const s = &model.producers[id];

	if (!model.is_active[id] || model.is_gone[id] ||
	    s->pos != ring_head(s->ring))
		return;
	if (s->is_dead) {
		model.is_gone[id] = true;
		narrate_thread_end(&model.trace.narrator, s, s->stamp);
	}
	/* The initial thread ends only with the process. */
	s->is_dead =
		id != 0 && actors[id == 1 && model.is_taken ? 2 : id].is_done;
}

static void
commit(unsigned n)
{
	struct image_commit state;
	uint64_t pos[THREADS];

	write_block();
	for (unsigned i = 0; i < n; i++) {
		image_commit_ring(
			model.list[i]->ring, model.list[i],
			model.is_gone[model.list[i] - model.producers],
			image_next_seq(image));
		pos[i] = model.list[i]->pos;
	}
	trace_get_state(&model.trace, &state);
	state.threads = THREADS;
	image_commit(image, &state);
	for (unsigned i = 0; i < n; i++) {
		ring_wait_release(model.list[i]->ring, pos[i]);
		step();
	}
}

static void
round_of_writer(void)
{
	const uint64_t until = model.clock;
	unsigned n;

	step();
	n = list_producers();
	order_round(&model.order, model.list, n, until, true);
	for (unsigned i = 0; i < THREADS; i++)
		tend(i);
	commit(n);
	for (unsigned i = 0; i < THREADS; i++) {
		if (!model.is_active[i] || !model.is_gone[i])
			continue;
		image_end_ring(model.producers[i].ring);
		model.is_active[i] = false;
		model.ring_is_free = true;
	}
}

static void
writer(void)
{
	for (unsigned i = 0; i < rounds; i++)
		round_of_writer();
}

/* ------------------------------------------------------------------ world */

static void
run_actor(void)
{
	static void (*const bodies[ACTORS])(
		void) = { first_thread, second_thread, third_thread, writer };

	bodies[current]();
	actors[current].is_done = true;
	step();
}

/* Like trace_begin() and writer_start(). */
static void
begin_trace(void)
{
	struct trace *const t = &model.trace;
	static const char header[] = "HATF 1.0\nunit=us\npid=1\nstart_time=1\n";
	struct image_commit state;
	struct encoder *const e = &t->narrator.encoder;

	narrate_init(&t->narrator, narrator_memory, false);
	t->narrator.unit_ns = 1000;
	narrate_start_clock(&t->narrator, 0, 0);
	encoder_comment(e, header, strlen(header));
	narrate_open_block(&t->narrator);
	encoder_end(e);
	memcpy(trace_bytes, e->buf, e->used);
	trace_used = t->output.nbytes = e->used;
	image->trace[0].head_nbytes = e->used;
	image->trace[0].head_hash =
		image_hash(IMAGE_HASH_START, e->buf, e->used);
	strcpy(image->trace[0].path, "trace");
	encoder_reset(e);
	t->narrator.in_block = false;
	trace_get_state(t, &state);
	image_commit(image, &state);
	order_init(&model.order, model.heap, THREADS, narrate_event,
		   &t->narrator);
}

static void
begin_threads(void)
{
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t offset = IMAGE_HEADER_NBYTES + i * RING_NBYTES;

		rings[i] =
			image_init_ring(memory + offset, offset, WORDS, WORDS);
		image_begin_ring(rings[i], i, false);
		model.producers[i] =
			(struct order_producer){ .id = i, .ring = rings[i] };
		model.is_active[i] = true;
	}
	for (unsigned i = 0; i < (WORDS - 4) / 4; i++) {
		do_alloc(0, rings[0], BLOCK_C);
		do_free(0, rings[0], BLOCK_C);
	}
	do_announce(1, rings[1]);
}

static void
begin_world(void)
{
	static const uint64_t no_boot_id[2];

	current = ACTORS;
	memset(memory, 0, sizeof(memory));
	memset(&model, 0, sizeof(model));
	image_init(image, no_boot_id, 1);
	begin_trace();
	begin_threads();
	for (unsigned i = 0; i < ACTORS; i++) {
		uint8_t *const stack = actors[i].stack;

		memset(&actors[i], 0, sizeof(actors[i]));
		actors[i].stack = stack;
		getcontext(&actors[i].context);
		actors[i].context.uc_stack.ss_sp = stack;
		actors[i].context.uc_stack.ss_size = STACK;
		makecontext(&actors[i].context, run_actor, 0);
		actors[i].is_done = i < THREADS && !has_thread[i];
	}
}

static bool
is_runnable(unsigned i)
{
	if (actors[i].is_done)
		return false;
	if (actors[i].ring != NULL)
		return ring_limit(actors[i].ring) >= actors[i].needs;
	/* The third thread waits for the ring. */
	return i != 2 || actors[i].steps == 0 || model.ring_is_free ||
	       model.is_active[2] || model.is_taken || may_take_over();
}

static void
run_step(unsigned i)
{
	current = i;
	actors[i].steps++;
	swapcontext(&actors[i].scheduler, &actors[i].context);
	current = ACTORS;
}

/* Hash what a kill leaves; the count of the words determines the words. */
static uint64_t
hash_remains(void)
{
	/* The header up to 'trace', which does not change. */
	uint64_t h = image_hash(IMAGE_HASH_START, memory,
				offsetof(struct image, trace));

	for (unsigned i = 0; i < 2; i++)
		h = image_hash(h, rings[i],
			       offsetof(struct ring, commit) +
				       sizeof(rings[i]->commit));
	h = image_hash(h, trace_bytes + model.trace.output.nbytes,
		       trace_used - model.trace.output.nbytes);
	return image_hash(h, &trace_used, sizeof(trace_used));
}

/* Hash everything that the next steps depend on. */
static uint64_t
hash_world(uint64_t h)
{
	h = image_hash(h, model.head, sizeof(model.head));
	h = image_hash(h, &model.clock, sizeof(model.clock));
	for (unsigned i = 0; i < ACTORS; i++)
		h = image_hash(h, &actors[i].steps, sizeof(actors[i].steps));
	for (unsigned i = 0; i < THREADS; i++) {
		h = image_hash(h, &model.producers[i].pos, sizeof(uint64_t));
		h = image_hash(h, &model.producers[i].id, sizeof(uint64_t));
		h = image_hash(h, &model.is_gone[i], sizeof(bool));
		h = image_hash(h, &model.producers[i].is_dead, sizeof(bool));
	}
	h = image_hash(h, &model.is_taken, sizeof(bool));
	return image_hash(h, &model.trace.narrator.event_count,
			  sizeof(uint64_t));
}

#endif /* TESTS_INTERLEAVE_MODEL_H */

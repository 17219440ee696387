/* SPDX-License-Identifier: MIT */
/*
 * test_interleave.c - after a kill at any step, recovery finds every event
 *
 * The protocol of image.h, enumerated.  Actors that take the steps of the real
 * thing are run in every order: a thread whose ring is full and wraps around, in the
 * midst of a realloc, and one that gets the block which that gives up; or one that
 * ends, and one that gets its ring then, or takes it over with what is in it; and
 * the writer, which drains, writes blocks (torn ones too), commits and gives room
 * back.  Steps are as small as it takes: image.c is
 * compiled here with a step after each of its stores.  A state that has been
 * reached before, by another order, is not gone on with.
 *
 * After every step the process is killed: what its memory holds goes to a file, the
 * bytes of the trace to another, and hatf_recover() makes a trace of the two.  In
 * it must be every event that was published, once, each thread's in its order, and
 * the whole must be a story that can have happened.
 */
#include "support/checks.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static void step(void);

#define IMAGE_STEP() step()
#include "../../hatf/rings/image.c"

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

/* The shared memory of the process, and what it has written. */
static _Alignas(4096) uint8_t memory[FILE_NBYTES];
static uint8_t trace_bytes[TRACE_MAX];
static size_t trace_used;

static struct image *const image = (struct image *)memory;
static struct ring *rings[2];

/* What a thread has published, as tag and address; the tick is the order. */
struct done {
	enum hatf_tag tag;
	uint64_t address;
};

static struct {
	ucontext_t context, scheduler;
	uint8_t *stack;
	bool is_done;
	/* Runnable only when its ring has so much room. */
	const struct ring *ring;
	uint64_t needs;
	unsigned steps;
} actors[ACTORS];

static struct {
	struct trace trace;
	struct order order;
	struct order_source sources[THREADS], *list[THREADS], *heap[THREADS];
	bool is_active[THREADS], is_gone[THREADS];
	uint64_t head[THREADS];
	uint64_t clock;
	bool old_is_free;  /* the block that the realloc gives up */
	bool ring_is_free; /* that of the thread which has ended */
	bool is_taken;	   /* ... or its life goes on with the third one */
	struct done done[THREADS][EVENTS_MAX];
	unsigned done_count[THREADS];
} model;

/* Which of the threads there are, and rounds of the writer. */
static bool has_thread[THREADS];
static unsigned rounds;
static bool in_words;	/* the realloc */
static bool takes_over; /* the third thread, if the writer was not first */

static void *narrator_memory;
static unsigned current;

static void
step(void)
{
	/* Recovery and the set-up use the same functions. */
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
	/* What is not published yet nobody looks at. */
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
			(uint64_t[]){
				event_wide(EVENT_TICK, 2, 0), ++model.clock,
				48ull << EVENT_SIZE_SHIFT | EVENT_REALLOC_DONE |
					BLOCK_B | EVENT_KIND_REALLOC },
			HATF_REALLOC_ALLOC_FREE, BLOCK_B);
	else
		publish(0, r, 5,
			(uint64_t[]){ event_wide(EVENT_REALLOC_END, 5, 0),
				      ++model.clock, BLOCK_A, BLOCK_B, 48 },
			HATF_REALLOC_ALLOC_FREE, BLOCK_B);
}

/* Its ring is full but for one event. */
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

/* As thread.h has it: until the writer has found that the second one has ended. */
static bool
may_take_over(void)
{
	return takes_over && actors[1].is_done && !model.sources[1].is_dead;
}

static void
begin_ring_anew(void)
{
	image_begin_ring(rings[1], 2, false);
	model.sources[2] = (struct order_source){ .id = 2, .ring = rings[1] };
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
list_sources(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < THREADS; i++)
		if (model.is_active[i])
			model.list[n++] = &model.sources[i];
	return n;
}

/* As tend_thread() of writer.c. */
static void
tend(unsigned id)
{
	struct order_source *const s = &model.sources[id];

	if (!model.is_active[id] || model.is_gone[id] ||
	    s->pos != ring_head(s->ring))
		return;
	if (s->is_dead) {
		model.is_gone[id] = true;
		narrate_thread_gone(&model.trace.narrator, s, s->stamp);
	}
	/* The initial thread is the process. */
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
		image_commit_ring(model.list[i]->ring, model.list[i],
				  model.is_gone[model.list[i] - model.sources],
				  image_next_seq(image));
		pos[i] = model.list[i]->pos;
	}
	trace_get_state(&model.trace, &state);
	state.threads = THREADS;
	image_commit(image, &state);
	for (unsigned i = 0; i < n; i++) {
		room_release(model.list[i]->ring, pos[i]);
		step();
	}
}

static void
round_of_writer(void)
{
	const uint64_t until = model.clock;
	unsigned n;

	step();
	n = list_sources();
	order_round(&model.order, model.list, n, until, true);
	for (unsigned i = 0; i < THREADS; i++)
		tend(i);
	commit(n);
	for (unsigned i = 0; i < THREADS; i++) {
		if (!model.is_active[i] || !model.is_gone[i])
			continue;
		image_end_ring(model.sources[i].ring);
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

/* As trace_begin() and writer_start(). */
static void
begin_trace(void)
{
	struct trace *const t = &model.trace;
	static const char header[] = "HATF 1.0\nunit=us\npid=1\nstart_time=1\n";
	struct image_commit state;
	struct encoder *const e = &t->narrator.encoder;

	narrate_init(&t->narrator, narrator_memory);
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
		model.sources[i] =
			(struct order_source){ .id = i, .ring = rings[i] };
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
	/* It waits for the ring. */
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

/* What a kill leaves; words follow from how many there are. */
static uint64_t
hash_remains(void)
{
	/* The header up to the traces, which do not change. */
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

/* Everything that what comes depends on. */
static uint64_t
hash_world(uint64_t h)
{
	h = image_hash(h, model.head, sizeof(model.head));
	h = image_hash(h, &model.clock, sizeof(model.clock));
	for (unsigned i = 0; i < ACTORS; i++)
		h = image_hash(h, &actors[i].steps, sizeof(actors[i].steps));
	for (unsigned i = 0; i < THREADS; i++) {
		h = image_hash(h, &model.sources[i].pos, sizeof(uint64_t));
		h = image_hash(h, &model.sources[i].id, sizeof(uint64_t));
		h = image_hash(h, &model.is_gone[i], sizeof(bool));
		h = image_hash(h, &model.sources[i].is_dead, sizeof(bool));
	}
	h = image_hash(h, &model.is_taken, sizeof(bool));
	return image_hash(h, &model.trace.narrator.event_count,
			  sizeof(uint64_t));
}

/* --------------------------------------------------------------- the kill */

static char dir[64], rings_path[96], trace_path[96];

static void
write_file(const char *path, const void *bytes, size_t nbytes)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, nbytes), (ssize_t)nbytes);
	close(fd);
}

static void
recover(void)
{
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct hatf_error err;
	const enum hatf_status status =
		hatf_recover(rings_path, NULL, 0, &found, &err);

	ck_assert_msg(status == HATF_OK, "recover: %s, %s",
		      hatf_status_text(status),
		      err.field != NULL ? err.field : "");
	ck_assert(found.complete);
	ck_assert_int_ne(access(rings_path, F_OK), 0);
}

/* The next of a thread's events must be this one. */
static void
match(unsigned *seen, const struct hatf_record *rec)
{
	const uint64_t id = rec->thread;
	const struct done *d;

	ck_assert_uint_lt(id, THREADS);
	ck_assert_msg(seen[id] < model.done_count[id],
		      "thread %u: an event that was not published",
		      (unsigned)id);
	d = &model.done[id][seen[id]++];
	ck_assert_uint_eq(rec->tag, d->tag);
	ck_assert_uint_eq(rec->address, d->address);
}

/*
 * A realloc that had begun and whose block was handed out again is told as a free,
 * which the thread itself has not published, and an allocation.
 */
static void
match_record(unsigned *seen, struct hatf_record *rec, unsigned *announced)
{
	static bool early; /* of this trace */

	if (rec == NULL) {
		early = false;
		return;
	}
	if (rec->tag > HATF_REALLOC_FREE)
		return;
	if (*announced > 0) {
		--*announced;
		return;
	}
	if (!early && rec->tag == HATF_FREE && rec->thread == 0 &&
	    rec->address == BLOCK_A) {
		ck_assert(model.old_is_free);
		ck_assert_uint_ge(seen[0], model.done_count[0] - 1);
		early = true;
		return;
	}
	/* The rest of the same realloc. */
	if (early && rec->tag == HATF_ALLOC && rec->thread == 0) {
		rec->tag = HATF_REALLOC_ALLOC_FREE;
		match(seen, rec);
		return;
	}
	if (rec->tag == HATF_REALLOC_ALLOC_FREE)
		*announced = 2;
	match(seen, rec);
}

/* No block is handed out while live, none is freed while not. */
static void
check_story(bool *live, const struct hatf_record *rec)
{
	const uint64_t block = rec->address / 0x1000;

	if (rec->tag > HATF_FREE)
		return;
	ck_assert_uint_lt(block, 8);
	ck_assert_msg(live[block] == (rec->tag == HATF_FREE), "block %u is %s",
		      (unsigned)block,
		      live[block] ? "allocated while live"
				  : "freed while not live");
	live[block] = rec->tag == HATF_ALLOC;
}

/* A thread's end is told once, and behind all that the thread did. */
static void
check_end(bool *has_ended, const struct hatf_record *rec)
{
	if (rec->tag == HATF_COMMENT || rec->tag == HATF_METADATA)
		return;
	ck_assert_uint_lt(rec->thread, THREADS);
	ck_assert_msg(!has_ended[rec->thread],
		      "thread %u: tag %u after its end", (unsigned)rec->thread,
		      rec->tag);
	has_ended[rec->thread] = rec->tag == HATF_DESTROY_THREAD;
}

static void
check_records(void)
{
	bool live[8] = { false }, has_ended[THREADS] = { false };
	struct hatf_reader *reader;
	struct hatf_record batch[64];
	struct hatf_error err;
	enum hatf_status status;
	unsigned seen[THREADS] = { 0 }, announced = 0;
	size_t n;

	ck_assert_int_eq(hatf_reader_open(trace_path, NULL, &reader, &err),
			 HATF_OK);
	match_record(NULL, NULL, NULL);
	while ((status = hatf_reader_read(reader, batch, 64, &n)) == HATF_OK)
		for (size_t i = 0; i < n; i++) {
			check_story(live, &batch[i]);
			check_end(has_ended, &batch[i]);
			match_record(seen, &batch[i], &announced);
		}
	ck_assert_msg(status == HATF_END, "%s", hatf_status_text(status));
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_msg(seen[i] == model.done_count[i],
			      "thread %u: %u events published, %u recovered", i,
			      model.done_count[i], seen[i]);
	hatf_reader_close(reader);
}

static void
kill_here(void)
{
	write_file(rings_path, memory, sizeof(memory));
	write_file(trace_path, trace_bytes, trace_used);
	recover();
	check_records();
}

/* ------------------------------------------------------------ enumeration */

static uint64_t *visited;
static size_t visited_count, visited_max, kill_count;
static unsigned schedule[STEPS_MAX];

static bool
visit(uint64_t hash)
{
	if (hash == 0)
		hash = 1;
	for (size_t i = hash & (visited_max - 1);; i = (i + 1) % visited_max) {
		if (visited[i] == hash)
			return false;
		if (visited[i] == 0) {
			visited[i] = hash;
			visited_count++;
			ck_assert_uint_lt(visited_count, visited_max / 2);
			return true;
		}
	}
}

/* What of the others can run is gone back to after this. */
static void
go_back(unsigned depth)
{
	begin_world();
	for (unsigned i = 0; i < depth; i++)
		run_step(schedule[i]);
}

static void
explore(unsigned depth)
{
	bool is_first = true;

	ck_assert_uint_lt(depth, STEPS_MAX);
	for (unsigned i = 0; i < ACTORS; i++) {
		if (!is_first)
			go_back(depth);
		if (!is_runnable(i))
			continue;
		is_first = false;
		schedule[depth] = i;
		run_step(i);
		const uint64_t remains = hash_remains();

		if (!visit(hash_world(remains)))
			continue;
		/* Whoever else would be next, it is the same kill. */
		if (visit(remains)) {
			kill_count++;
			kill_here();
		}
		explore(depth + 1);
	}
}

static void
explore_all(const char *what, size_t least)
{
	visited_count = kill_count = 0;
	visited_max = 1u << 18;
	visited = calloc(visited_max, sizeof(*visited));
	ck_assert_ptr_nonnull(visited);
	begin_world();
	kill_here();
	explore(0);
	printf("test_interleave: %s: %zu states, %zu kills\n", what,
	       visited_count - kill_count, kill_count);
	ck_assert_uint_gt(kill_count, least);
	free(visited);
}

START_TEST(test_wrap_and_reuse)
{
	has_thread[0] = has_thread[1] = true;
	has_thread[2] = takes_over = false;
	rounds = 2;
	in_words = _i == 1;
	explore_all(in_words ? "wrap and reuse, in words" : "wrap and reuse",
		    500);
}
END_TEST

START_TEST(test_ring_of_another_life)
{
	has_thread[0] = takes_over = false;
	has_thread[1] = has_thread[2] = true;
	rounds = 4;
	explore_all("another life", 200);
}
END_TEST

START_TEST(test_ring_taken_over)
{
	has_thread[0] = false;
	has_thread[1] = has_thread[2] = takes_over = true;
	rounds = 4;
	explore_all("taken over", 500);
}
END_TEST

static void
set_up(void)
{
	strcpy(dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/hatf.XXXXXX"
						  : "/tmp/hatf.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(rings_path, sizeof(rings_path), "%s/trace.rings", dir);
	snprintf(trace_path, sizeof(trace_path), "%s/trace", dir);
	for (unsigned i = 0; i < ACTORS; i++)
		actors[i].stack = malloc(STACK);
	narrator_memory =
		aligned_alloc(64, (narrate_memory_nbytes() + 63) & ~(size_t)63);
}

static void
tear_down(void)
{
	unlink(rings_path);
	unlink(trace_path);
	rmdir(dir);
	for (unsigned i = 0; i < ACTORS; i++)
		free(actors[i].stack);
	free(narrator_memory);
}

int
main(void)
{
	Suite *const s = suite_create("interleave");
	TCase *const tc = tcase_create("interleave");
	SRunner *const runner = srunner_create(s);

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, test_wrap_and_reuse, 0, 2);
	tcase_add_test(tc, test_ring_of_another_life);
	tcase_add_test(tc, test_ring_taken_over);
	suite_add_tcase(s, tc);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

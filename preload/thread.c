/* SPDX-License-Identifier: MIT */
/* thread.c - see thread.h */

#include "thread.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "clock.h"
#include "image.h"
#include "memory.h"
#include "quota.h"
#include "ringfile.h"
#include "sys.h"

/*
 * Where the pool is.  The counters are part of the mapping, so that a fork wipes
 * them together with the threads they count.
 */
struct pool {
	_Atomic uint32_t used;	     /* threads [0, used) have been claimed */
	_Atomic uint32_t free_count; /* of these are free again, about */
	_Atomic uint32_t cursor;     /* where to look for a free one */
	_Atomic uint64_t next_id;    /* the initial thread is 0 */
};

/*
 * Its threads, in parts that are mapped when they are about to be needed: all of
 * them would be 24 MiB of what a program may have limited.  A part stays where it is.
 * In the child of a fork the parts are those of its parent, wiped.
 */
#define PART_THREADS 512u
#define PART_NBYTES  (PART_THREADS * sizeof(struct thread))
static _Atomic(struct thread *) parts[THREAD_MAX / PART_THREADS];
/* Stands for a thread whose part is not there. */
static struct thread absent = { .state = THREAD_MUTED };

static struct pool *pool;
static uint64_t pool_initial_ring_words, pool_ring_words, pool_first_ring_words;

struct thread thread_unattached, thread_muted = { .state = THREAD_MUTED };

__thread struct thread *thread_self __attribute__((tls_model("initial-exec"))) =
	&thread_unattached;

/*
 * What a ring that is in no file begins with: room for some thousand events, of which
 * only what is used takes memory.  One whose producer waits grows.
 */
#define FIRST_RING_WORDS 32768u

/* Above this a recycled ring's pages go back to the system. */
#define RING_KEEP_WORDS 8192

static bool
has_part(uint32_t i)
{
	/* acquire: pairs with the release in make_part(). */
	return atomic_load_explicit(&parts[i], memory_order_acquire) != NULL;
}

/* Have part 'i'; false: there is no memory. */
static bool
make_part(uint32_t i)
{
	struct thread *none = NULL, *part;

	if (has_part(i))
		return true;
	part = memory_map_wiped(PART_NBYTES);
	if (part == NULL)
		return false;
	/* release: for thread_pool_at(); another thread may have been first. */
	if (!atomic_compare_exchange_strong_explicit(&parts[i], &none, part,
						     memory_order_release,
						     memory_order_relaxed))
		memory_unmap(part, PART_NBYTES, MEMORY_LASTING);
	return true;
}

bool
thread_pool_init(uint64_t initial_ring_words, uint64_t ring_words,
		 bool may_wait)
{
	pool_initial_ring_words = initial_ring_words;
	pool_ring_words = ring_words;
	/* Who does not wait does not find out that it wants more. */
	pool_first_ring_words = may_wait ? FIRST_RING_WORDS : UINT64_MAX;
	if (pool == NULL)
		pool = memory_map_wiped(sizeof(*pool));
	if (pool == NULL || !make_part(0))
		return false;
	/* relaxed: no other thread has anything to do with the pool yet. */
	atomic_store_explicit(&pool->next_id, 1, memory_order_relaxed);
	return true;
}

uint32_t
thread_pool_count(void)
{
	/* relaxed: a thread that is missed is seen in the next round; its state
	 * is what publishes it. */
	const uint32_t n =
		atomic_load_explicit(&pool->used, memory_order_relaxed);

	return n < THREAD_MAX ? n : THREAD_MAX;
}

struct thread *
thread_pool_at(uint32_t idx)
{
	/* acquire: pairs with the release in make_part(). */
	struct thread *const part = atomic_load_explicit(
		&parts[idx / PART_THREADS], memory_order_acquire);

	return part != NULL ? &part[idx % PART_THREADS] : &absent;
}

void
thread_pool_extend(void)
{
	const uint32_t next = thread_pool_count() + PART_THREADS / 2;

	if (next < THREAD_MAX && !has_part(next / PART_THREADS) &&
	    quota_allows(PART_NBYTES, 0))
		make_part(next / PART_THREADS);
}

static bool
try_claim(struct thread *t)
{
	uint32_t expected = THREAD_FREE;

	/* acquire: pairs with the release in thread_recycle(). */
	return atomic_compare_exchange_strong_explicit(
		&t->state, &expected, THREAD_CLAIMED, memory_order_acquire,
		memory_order_relaxed);
}

/* The writer could not, or did not in time. */
static bool
get_part(uint32_t i)
{
	return has_part(i) || (quota_ask(PART_NBYTES) && make_part(i));
}

/* Claim one that was never used. */
static struct thread *
claim_fresh(void)
{
	for (;;) {
		const uint32_t next = thread_pool_count();
		uint32_t fresh;

		/* Before the number is taken, or each try would take one. */
		if (next >= THREAD_MAX || !get_part(next / PART_THREADS))
			return NULL;
		/* relaxed: a number; try_claim() orders. */
		fresh = atomic_fetch_add_explicit(&pool->used, 1,
						  memory_order_relaxed);
		/* Others may have taken numbers meanwhile. */
		if (fresh >= THREAD_MAX || !get_part(fresh / PART_THREADS))
			return NULL;
		/* It fails for one that thread_mend_interrupted() took. */
		if (try_claim(thread_pool_at(fresh)))
			return thread_pool_at(fresh);
	}
}

/* Take a thread that was used before, or one never used, or none. */
static struct thread *
claim(void)
{
	const uint32_t used = thread_pool_count();
	uint32_t i = 0;

	/* relaxed, these three: hints; try_claim() decides. */
	if (atomic_load_explicit(&pool->free_count, memory_order_relaxed) == 0)
		i = used;
	for (; i < used; i++) {
		const uint32_t at =
			atomic_fetch_add_explicit(&pool->cursor, 1,
						  memory_order_relaxed) %
			used;

		if (try_claim(thread_pool_at(at))) {
			atomic_fetch_sub_explicit(&pool->free_count, 1,
						  memory_order_relaxed);
			return thread_pool_at(at);
		}
	}
	return claim_fresh();
}

/* A ring for the initial thread, or another; the one it had before if it can be. */
static bool
give_ring(struct thread *t, bool is_initial)
{
	const uint64_t words =
		is_initial ? pool_initial_ring_words : pool_ring_words;
	void *memory;

	if (t->ring != NULL && ringfile_may_reuse(t->ring))
		return true;
	t->ring = ringfile_take(is_initial);
	if (t->ring != NULL)
		return true;
	if (!quota_ask(ring_nbytes(words)))
		return false;
	/* A writer that has been made to answer has made the file, too. */
	t->ring = ringfile_take(is_initial);
	if (t->ring != NULL)
		return true;
	memory = memory_map_shared(ring_nbytes(words));
	if (memory == NULL)
		return false;
	ringfile_count_hidden();
	t->ring = ring_init(memory, words < pool_first_ring_words
					    ? words
					    : pool_first_ring_words);
	t->ring->words_max = words;
	return true;
}

/* Claim a thread, and have a ring for it; NULL: there is no memory. */
static struct thread *
acquire(bool is_initial)
{
	struct thread *const t = claim();

	if (t == NULL || give_ring(t, is_initial))
		return t;
	thread_recycle(t);
	return NULL;
}

/* Prepare it to record for thread 'id'. */
static void
prepare(struct thread *t, uint64_t id, bool is_nested)
{
	image_begin_ring(t->ring, id, is_nested);
	t->head = 0;
	t->mask = ring_mask(t->ring);
	t->tick = CLOCK_NO_TICK;
	t->id = id;
	t->nested = NULL;
	t->deleting = NULL;
	t->tid = sys_tid();
	t->pid = sys_pid();
	t->pthread = (uint64_t)pthread_self();
	t->is_nested = is_nested;
	t->source = (struct order_source){ .id = id, .ring = t->ring };
	t->is_gone = t->is_told = false;
	t->name[0] = t->name[1] = 0;
	t->idle_since_ns = 0;
	/* release: pairs with the writer's acquire of 'state'. */
	atomic_store_explicit(&t->state, THREAD_ACTIVE, memory_order_release);
}

struct thread *
thread_attach(int initial_tid)
{
	const bool initial = sys_tid() == initial_tid;
	struct thread *const t = acquire(initial);
	uint64_t id = 0;

	if (t == NULL)
		return NULL;
	/*
	 * Only now: who has got no ring tries again at each event.  relaxed: a
	 * number, ordered with nothing.
	 */
	if (!initial)
		id = atomic_fetch_add_explicit(&pool->next_id, 1,
					       memory_order_relaxed);
	prepare(t, id, false);
	thread_self = t;
	/*
	 * Last, and behind a compiler barrier: from here on a signal handler
	 * may record through it.
	 */
	atomic_signal_fence(memory_order_release);
	t->limit = ring_limit(t->ring);
	return t;
}

struct thread *
thread_attach_nested(struct thread *t)
{
	struct thread *const n = acquire(false);

	if (n == NULL)
		return NULL;
	prepare(n, t->id, true);
	t->nested = n;
	n->limit = ring_limit(n->ring);
	return n;
}

/* Recordings that handlers can interrupt one in another; deeper is not mended. */
#define INTERRUPTED_MAX 4

static __thread struct {
	struct thread *thread;
	struct ring *ring;
	uint64_t words;
} interrupted[INTERRUPTED_MAX] __attribute__((tls_model("initial-exec")));

void
thread_note_interrupted(void)
{
	struct thread *t = thread_self;

	/*
	 * The first always: a recording may have got as far as reading 'limit',
	 * which does not show.
	 */
	for (size_t i = 0; i < INTERRUPTED_MAX; i++) {
		interrupted[i].thread = t;
		if (t == NULL || !thread_is_attached(t)) {
			interrupted[i].thread = NULL;
			return;
		}
		interrupted[i].ring = t->ring;
		interrupted[i].words = ring_mask(t->ring) + 1;
		t = t->limit == 0 ? t->nested : NULL;
	}
}

void
thread_mend_interrupted(void)
{
	for (size_t i = 0; i < INTERRUPTED_MAX; i++) {
		struct thread *const t = interrupted[i].thread;

		if (t == NULL)
			return;
		/* At the same place: its address may be in a register. */
		if (!memory_map_at(interrupted[i].ring,
				   ring_nbytes(interrupted[i].words)))
			return;
		t->ring = ring_init(interrupted[i].ring, interrupted[i].words);
		t->mask = interrupted[i].words - 1;
		/* relaxed: so that nobody in this process claims it. */
		atomic_store_explicit(&t->state, THREAD_CLAIMED,
				      memory_order_relaxed);
		thread_self = &thread_unattached;
	}
}

void
thread_mark_ending(void)
{
	for (struct thread *t = thread_self; t != NULL; t = t->nested) {
		uint32_t expected = THREAD_ACTIVE;

		/* relaxed: a hint that makes the writer look. */
		atomic_compare_exchange_strong_explicit(
			&t->state, &expected, THREAD_ENDING,
			memory_order_relaxed, memory_order_relaxed);
	}
}

void
thread_recycle(struct thread *t)
{
	if (t->ring != NULL) {
		image_end_ring(t->ring);
		if (t->source.pos > RING_KEEP_WORDS)
			ringfile_shrink(t->ring, RING_KEEP_WORDS);
	}
	t->limit = 0;
	/* relaxed: a hint. */
	atomic_fetch_add_explicit(&pool->free_count, 1, memory_order_relaxed);
	/* release: pairs with the acquire in try_claim(). */
	atomic_store_explicit(&t->state, THREAD_FREE, memory_order_release);
}

bool
thread_is_attached(const struct thread *t)
{
	/* relaxed: only the thread itself asks. */
	const uint32_t state =
		atomic_load_explicit(&t->state, memory_order_relaxed);

	return state == THREAD_ACTIVE || state == THREAD_ENDING;
}

uint64_t
thread_id_count(void)
{
	return atomic_load_explicit(&pool->next_id, memory_order_relaxed);
}

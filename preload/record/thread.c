/* SPDX-License-Identifier: MIT */
/* thread.c - see thread.h */

#include "preload/record/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "hatf/rings/image.h"
#include "preload/clock/clock.h"
#include "preload/clock/owners.h"
#include "preload/record/memory_limit.h"
#include "preload/record/ringfile.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

/*
 * At most this many ended threads offer their rings to new threads.  The writer
 * recycles the rings of other ended threads.
 */
#define ENDED_MAX 64u

/*
 * A new thread stops looking for a ring to take over when it has met this many
 * ENDING threads that the kernel still knows.  The kernel may know a thread for
 * a few microseconds after the thread was joined.
 */
#define PROBES_MAX 8u

/*
 * The state of the pool.  The counters are in a mapping of their own, so that a
 * fork wipes them together with the threads that they count.
 */
struct pool {
	_Atomic uint32_t used; /* threads [0, used) have been claimed */
	/* about how many of the claimed threads are free again */
	_Atomic uint32_t free_count;
	/* where the next search for a free struct begins, modulo 'used' */
	_Atomic uint32_t cursor;
	/* next HATF thread number; the initial thread has number 0 */
	_Atomic uint64_t next_id;
	/*
	 * 'ended' lists threads that have become ENDING.  The thread with the
	 * index i is in ended[i % ENDED_MAX].  The oldest thread has the index
	 * 'ended_from' or a later one; 'ended_to' is one more than the index of
	 * the newest thread.  The list is only a hint: a thread may be missing,
	 * may be listed twice, or may be in use again.
	 */
	_Atomic uint32_t ended_to, ended_from;
	_Atomic(struct thread *) ended[ENDED_MAX];
};

/*
 * The structs of the pool, in parts that are mapped shortly before they are
 * needed.  (All parts together take 28 MiB of address space, which is too much
 * under some limits.)  A part is never moved or unmapped.  The child of a fork
 * has the parts of its parent, wiped.
 */
#define PART_THREADS 512u
#define PART_NBYTES  (PART_THREADS * sizeof(struct thread))
static _Atomic(struct thread *) parts[THREAD_MAX / PART_THREADS];
/* thread_pool_at() returns this struct if the thread's part is not mapped. */
static struct thread absent = { .state = THREAD_MUTED };

/*
 * Has thread_end_handovers() been called?  The child of a fork keeps this flag.
 */
static _Atomic bool has_no_handovers;

static struct pool *pool;
static uint64_t pool_initial_ring_words, pool_ring_words, pool_first_ring_words;

struct thread thread_unattached, thread_muted = { .state = THREAD_MUTED };

__thread struct thread *thread_self __attribute__((tls_model("initial-exec"))) =
	&thread_unattached;

/*
 * The initial capacity of a ring that is not in the ring file, if producers may
 * wait.  Only used pages take memory.  The ring grows if its producer waits.
 */
#define FIRST_RING_WORDS 32768u

/*
 * Of a ring in the ring file, thread_recycle() keeps this many words, and
 * releases the memory of the others (ringfile_shrink()).
 */
#define RING_KEEP_WORDS 8192

static bool
has_part(uint32_t i)
{
	/* acquire: pairs with the release in make_part(). */
	return atomic_load_explicit(&parts[i], memory_order_acquire) != NULL;
}

/* Map part 'i' if it is not mapped yet.  Return false if there is no memory. */
static bool
make_part(uint32_t i)
{
	struct thread *none = NULL, *part;

	if (has_part(i))
		return true;
	part = memory_map_wiped(PART_NBYTES);
	if (part == NULL)
		return false;
	/*
	 * If the exchange fails, another thread has mapped the part first.
	 * release: pairs with the acquire in thread_pool_at().
	 */
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
	/* If producers never wait, rings cannot grow, so begin at full size. */
	pool_first_ring_words = may_wait ? FIRST_RING_WORDS : UINT64_MAX;
	if (pool == NULL)
		pool = memory_map_wiped(sizeof(*pool));
	if (pool == NULL || !make_part(0))
		return false;
	/* relaxed: no other thread uses the pool yet. */
	atomic_store_explicit(&pool->next_id, 1, memory_order_relaxed);
	return true;
}

uint32_t
thread_pool_count(void)
{
	/*
	 * relaxed: if the writer misses a new thread, the writer sees this
	 * thread in the next round.  The thread is published by its state, not
	 * by this count.
	 */
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
	    memory_limit_allows(PART_NBYTES, 0))
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

/* Make sure that part 'i' is mapped.  Return false if there is no memory. */
static bool
get_part(uint32_t i)
{
	return has_part(i) || (memory_limit_take(PART_NBYTES) && make_part(i));
}

/* Claim a thread that was never used. */
static struct thread *
claim_fresh(void)
{
	for (;;) {
		const uint32_t next = thread_pool_count();
		uint32_t fresh;

		/* Check this first, so that a failed try uses up no index. */
		if (next >= THREAD_MAX || !get_part(next / PART_THREADS))
			return NULL;
		/* relaxed: only an index; try_claim() orders the accesses. */
		fresh = atomic_fetch_add_explicit(&pool->used, 1,
						  memory_order_relaxed);
		/* Other threads may have taken indices meanwhile. */
		if (fresh >= THREAD_MAX || !get_part(fresh / PART_THREADS))
			return NULL;
		/* thread_repair_interrupted() may have claimed the struct. */
		if (try_claim(thread_pool_at(fresh)))
			return thread_pool_at(fresh);
	}
}

/*
 * Claim a struct that is free again, or else one that was never used.  Return
 * NULL if there is no memory, or if there are THREAD_MAX threads already.
 */
static struct thread *
claim(void)
{
	const uint32_t used = thread_pool_count();
	uint32_t i = 0;

	/* relaxed, all three accesses: these are hints; try_claim() decides. */
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

/*
 * Give 't' a ring: its earlier one if that can be reused, else a spare ring of
 * the ring file, else one in memory only.  Return false if there is no memory.
 */
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
	if (!memory_limit_take(ring_nbytes(words)))
		return false;
	/* Try again, since memory_limit_take() may have made the ring file. */
	t->ring = ringfile_take(is_initial);
	if (t->ring != NULL)
		return true;
	memory = memory_map_ring(ring_nbytes(words));
	if (memory == NULL)
		return false;
	ringfile_count_hidden();
	t->ring = ring_init(memory, words < pool_first_ring_words
					    ? words
					    : pool_first_ring_words);
	t->ring->words_max = words;
	return true;
}

/* Claim a struct and give it a ring.  Return NULL if either step fails. */
static struct thread *
acquire(bool is_initial)
{
	struct thread *const t = claim();

	if (t == NULL || give_ring(t, is_initial))
		return t;
	thread_recycle(t);
	return NULL;
}

/* The kernel's ids of a thread. */
struct kernel_id {
	int tid, pid;
};

static struct kernel_id
own_kernel_id(void)
{
	return (struct kernel_id){ .tid = sys_tid(), .pid = sys_pid() };
}

/* Make the calling thread the owner of 't', with this HATF thread number. */
static void
set_owner(struct thread *t, uint64_t id, struct kernel_id self)
{
	t->id = id;
	t->nested = NULL;
	t->deleting = NULL;
	t->epoch = 0;
	t->owner = owners_new_number();
	/*
	 * relaxed, both: thread_has_ended() reads 'tid' and 'pid' again once
	 * 't' is PROBED.
	 */
	atomic_store_explicit(&t->tid, self.tid, memory_order_relaxed);
	atomic_store_explicit(&t->pid, self.pid, memory_order_relaxed);
	t->pthread = (uint64_t)pthread_self();
}

/* Prepare 't' to record for HATF thread 'id', and make it ACTIVE. */
static void
prepare(struct thread *t, uint64_t id, struct kernel_id self, bool is_nested)
{
	image_begin_ring(t->ring, id, is_nested);
	t->head = 0;
	t->mask = (uint32_t)ring_mask(t->ring);
	t->tick = t->alloc_tick = t->free_tick = CLOCK_NO_TICK;
	set_owner(t, id, self);
	t->is_nested = is_nested;
	t->producer = (struct order_producer){ .id = id, .ring = t->ring };
	t->is_gone = t->is_announced = false;
	t->name[0] = t->name[1] = 0;
	t->idle_since_ns = 0;
	/* release: pairs with the acquire in thread_is_in_use(). */
	atomic_store_explicit(&t->state, THREAD_ACTIVE, memory_order_release);
}

/* Does the kernel still know the owner of 't'? */
static bool
exists(const struct thread *t)
{
	/*
	 * relaxed, both: the two ids are constant in state PROBED.  For other
	 * states, see thread_has_ended().
	 */
	const int pid = atomic_load_explicit(&t->pid, memory_order_relaxed);
	const int tid = atomic_load_explicit(&t->tid, memory_order_relaxed);

	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno != ESRCH;
}

/*
 * If 't' is ENDING, make it PROBED and return true.  The caller must then
 * change the state again.
 */
static bool
try_probe(struct thread *t)
{
	uint32_t expected = THREAD_ENDING;

	/* acquire: pairs with each release store that ends the state PROBED. */
	return atomic_compare_exchange_strong_explicit(
		&t->state, &expected, THREAD_PROBED, memory_order_acquire,
		memory_order_relaxed);
}

/*
 * May the calling thread take over the ring of 't', which is PROBED?  The old
 * thread must be a thread of this process that is gone, and
 * ringfile_may_hand_over() must return true.  Three kinds of rings cannot be
 * taken over:
 *
 * - the ring of a thread whose 'limit' is 0: the thread was killed within a
 *   recording;
 * - a ring of a thread that had further rings for its signal handlers: nothing
 *   would order the events of the other rings before the new thread's events;
 * - the initial thread's ring, which has another size.
 */
static bool
may_take_over(const struct thread *t, int own_pid)
{
	/* relaxed: 'pid' is constant in state PROBED. */
	if (atomic_load_explicit(&t->pid, memory_order_relaxed) != own_pid ||
	    exists(t))
		return false;
	/*
	 * acquire: read the fields below only after the kernel has said that
	 * the thread is gone.  Everything that the old thread did is then
	 * visible.
	 */
	(void)atomic_load_explicit(&t->state, memory_order_acquire);
	return t->limit != 0 && t->nested == NULL && !t->is_nested &&
	       t->id != 0 && ringfile_may_hand_over(t->ring);
}

enum probe {
	PROBE_TAKEN,   /* 't' is PROBED, and the caller takes over its ring */
	PROBE_ALIVE,   /* 't' stays ENDING, or another thread probes it */
	PROBE_USELESS, /* 't' is not ENDING any more */
};

static enum probe
probe(struct thread *t, int own_pid)
{
	if (!try_probe(t))
		/* relaxed: only a hint. */
		return atomic_load_explicit(&t->state, memory_order_relaxed) ==
				       THREAD_PROBED
			       ? PROBE_ALIVE
			       : PROBE_USELESS;
	if (may_take_over(t, own_pid))
		return PROBE_TAKEN;
	/* release: pairs with the acquire in try_probe(). */
	atomic_store_explicit(&t->state, THREAD_ENDING, memory_order_release);
	return PROBE_ALIVE;
}

/*
 * Put 't' back into its slot of the list 'ended', so that another thread can
 * probe 't'.  If the slot has been filled meanwhile, do nothing.
 */
static void
put_ended(_Atomic(struct thread *) *slot, struct thread *t)
{
	struct thread *none = NULL;

	/* relaxed: only a hint; the thread's state orders the accesses. */
	atomic_compare_exchange_strong_explicit(
		slot, &none, t, memory_order_relaxed, memory_order_relaxed);
}

/*
 * Return the index of the oldest thread in the list 'ended'.  'to' is one more
 * than the index of the newest thread.  The result is only a hint, so all
 * accesses are relaxed.  If a search skips a thread, a later search finds it,
 * or the writer recycles it.
 */
static uint32_t
oldest_ended(uint32_t to)
{
	const uint32_t from =
		atomic_load_explicit(&pool->ended_from, memory_order_relaxed);

	return to - from <= ENDED_MAX ? from : to - ENDED_MAX;
}

/* Return an ended thread, now PROBED, whose ring can be taken over, or NULL. */
static struct thread *
find_ended(int own_pid)
{
	/* relaxed, all accesses: these are hints; try_probe() decides. */
	const uint32_t to =
		atomic_load_explicit(&pool->ended_to, memory_order_relaxed);
	uint32_t from = oldest_ended(to);
	struct thread *found = NULL;
	unsigned alive = 0;

	for (uint32_t i = from; i != to && found == NULL && alive < PROBES_MAX;
	     i++) {
		_Atomic(struct thread *) *const slot =
			&pool->ended[i % ENDED_MAX];
		struct thread *t =
			atomic_load_explicit(slot, memory_order_relaxed);
		enum probe how = PROBE_USELESS;

		if (t != NULL)
			t = atomic_exchange_explicit(slot, NULL,
						     memory_order_relaxed);
		if (t != NULL)
			how = probe(t, own_pid);
		if (how == PROBE_TAKEN)
			found = t;
		if (how == PROBE_ALIVE) {
			put_ended(slot, t);
			alive++;
		} else if (alive == 0) {
			from = i + 1;
		}
	}
	atomic_store_explicit(&pool->ended_from, from, memory_order_relaxed);
	return found;
}

void
thread_end_handovers(void)
{
	/* relaxed: threads come under the filter only after this store. */
	atomic_store_explicit(&has_no_handovers, true, memory_order_relaxed);
}

/* Take over the ring of a thread that has ended; NULL: there is none. */
static struct thread *
take_over(struct kernel_id self)
{
	/* relaxed: see thread_end_handovers(). */
	struct thread *const t =
		atomic_load_explicit(&has_no_handovers, memory_order_relaxed)
			? NULL
			: find_ended(self.pid);

	if (t == NULL)
		return NULL;
	t->limit = 0;
	/* relaxed: the number must be unique; no other access depends on it. */
	set_owner(t,
		  atomic_fetch_add_explicit(&pool->next_id, 1,
					    memory_order_relaxed),
		  self);
	/* release: pairs with the acquire in thread_is_in_use(). */
	atomic_store_explicit(&t->state, THREAD_ACTIVE, memory_order_release);
	return t;
}

/* Give the calling thread a ring of its own. */
static struct thread *
attach_anew(struct kernel_id self, bool is_initial)
{
	struct thread *const t = acquire(is_initial);
	uint64_t id = 0;

	if (t == NULL)
		return NULL;
	/*
	 * Assign the number only now, because a thread that gets no ring tries
	 * again at each event, and must not use up a number each time.
	 * relaxed: the number must be unique; no other access depends on it.
	 */
	if (!is_initial)
		id = atomic_fetch_add_explicit(&pool->next_id, 1,
					       memory_order_relaxed);
	prepare(t, id, self, false);
	return t;
}

struct thread *
thread_attach(int initial_tid, bool *is_handover_ret)
{
	const struct kernel_id self = own_kernel_id();
	const bool is_initial = self.tid == initial_tid;
	struct thread *t = is_initial ? NULL : take_over(self);

	*is_handover_ret = t != NULL;
	if (t == NULL)
		t = attach_anew(self, is_initial);
	if (t == NULL)
		return NULL;
	t->stack_generation = 0;
	thread_self = t;
	/*
	 * Set 'limit' last, after a compiler barrier, because a signal handler
	 * may record in this ring once 'limit' is set.
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
	prepare(n, t->id, own_kernel_id(), true);
	n->stack_generation = 0;
	t->nested = n;
	n->limit = ring_limit(n->ring);
	return n;
}

/* Offer the ring of 't' to new threads. */
static void
offer(struct thread *t)
{
	/* relaxed, all accesses: these are hints; try_probe() decides. */
	const uint32_t to = atomic_fetch_add_explicit(&pool->ended_to, 1,
						      memory_order_relaxed);

	atomic_store_explicit(&pool->ended[to % ENDED_MAX], t,
			      memory_order_relaxed);
}

void
thread_mark_ending(void)
{
	/* Make a thread that joins this thread stamp its next event. */
	clock_bump();
	for (struct thread *t = thread_self; t != NULL; t = t->nested) {
		uint32_t expected = THREAD_ACTIVE;

		/* release: pairs with the acquire in try_probe(). */
		if (atomic_compare_exchange_strong_explicit(
			    &t->state, &expected, THREAD_ENDING,
			    memory_order_release, memory_order_relaxed) &&
		    t == thread_self && t->nested == NULL)
			offer(t);
	}
}

bool
thread_has_ended(struct thread *t)
{
	uint32_t expected = THREAD_ACTIVE;

	/*
	 * If 't' is ACTIVE, the thread has not called thread_mark_ending(), so
	 * ask the kernel whether the thread exists.  The answer may be wrong:
	 * if a new thread has just taken over the ring, t->tid may still be the
	 * id of the old thread.  Therefore exists() is called again below, in
	 * state PROBED.  relaxed: only the owner and the writer change the
	 * state ACTIVE.
	 */
	if (atomic_load_explicit(&t->state, memory_order_relaxed) ==
	    THREAD_ACTIVE) {
		if (exists(t))
			return false;
		atomic_compare_exchange_strong_explicit(
			&t->state, &expected, THREAD_ENDING,
			memory_order_relaxed, memory_order_relaxed);
	}
	/* This fails if 't' is DEAD already, or if a new thread probes it. */
	if (!try_probe(t))
		return atomic_load_explicit(&t->state, memory_order_relaxed) ==
		       THREAD_DEAD;

	const bool ended = !exists(t);

	/* release: pairs with the acquire in try_probe(). */
	atomic_store_explicit(&t->state, ended ? THREAD_DEAD : THREAD_ENDING,
			      memory_order_release);
	return ended;
}

void
thread_recycle(struct thread *t)
{
	if (t->ring != NULL) {
		image_end_ring(t->ring);
		if (t->producer.pos > RING_KEEP_WORDS)
			ringfile_shrink(t->ring, RING_KEEP_WORDS);
	}
	t->limit = 0;
	/* relaxed: only a hint. */
	atomic_fetch_add_explicit(&pool->free_count, 1, memory_order_relaxed);
	/* release: pairs with the acquire in try_claim(). */
	atomic_store_explicit(&t->state, THREAD_FREE, memory_order_release);
}

bool
thread_is_attached(const struct thread *t)
{
	/* relaxed: the answer is exact only for the calling thread itself. */
	const uint32_t state =
		atomic_load_explicit(&t->state, memory_order_relaxed);

	return state >= THREAD_ACTIVE && state <= THREAD_PROBED;
}

bool
thread_is_in_use(const struct thread *t)
{
	/* acquire: pairs with the releases in prepare() and take_over(). */
	const uint32_t state =
		atomic_load_explicit(&t->state, memory_order_acquire);

	return state >= THREAD_ACTIVE && state <= THREAD_DEAD;
}

uint64_t
thread_id_count(void)
{
	return atomic_load_explicit(&pool->next_id, memory_order_relaxed);
}

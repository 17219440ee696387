/* SPDX-License-Identifier: MIT */
/* record_steps.c - see record_steps.h */

#include "preload/record/record_steps.h"

#include <errno.h>
#include <string.h>

#include "preload/config/environment.h"
#include "preload/process/attach.h"
#include "preload/record/ring_wait.h"
#include "preload/record/ringfile.h"
#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/sys.h"

bool record_has_stacks;
bool record_frees_have_stacks;

/*
 * A thread that waits for room looks again after WAIT_NS, and then after twice
 * the time before, but at most WAIT_MAX_NS.  It looks because the trace may
 * have ended, or the writer may have been killed.  Many threads may wait, and
 * each look takes CPU time from the writer.
 */
#define WAIT_NS	    2000000ull
#define WAIT_MAX_NS 32000000ull

/*
 * A signal handler can interrupt a recording and begin another one.  A thread
 * can have at most this many such nested recordings.
 */
#define DEPTH_MAX 16u

static void
count_unattached(void)
{
	wake_count_unattached();
	ringfile_count_unattached();
}

struct thread *
record_enter(void)
{
	struct thread *t = thread_self;

	for (unsigned depth = 0;; depth++) {
		/*
		 * A signal handler that leaves by longjmp() never releases its
		 * ring, so limit the number of rings.
		 */
		if (depth > DEPTH_MAX) {
			count_unattached();
			return NULL;
		}
		if (t->limit != 0) {
			t->limit = 0;
			atomic_signal_fence(memory_order_seq_cst);
			return t;
		}
		if (atomic_load_explicit(&t->state, memory_order_relaxed) ==
		    THREAD_MUTED)
			return NULL;
		/*
		 * If 't' is wiped, free or unattached, the thread has no ring
		 * yet.  attach_thread() and attach_nested() are in
		 * preload/process, a higher room; code of preload/record calls
		 * that room only here.  In turn, attach.c calls record_event()
		 * to record the beginning of the thread.
		 */
		if (!thread_is_attached(t))
			t = attach_thread(0, 0);
		else
			t = attach_nested(t);
		if (t == NULL) {
			if (process_is_tracing() && !record_is_dormant())
				count_unattached();
			return NULL;
		}
	}
}

static void
count_lost(struct thread *t)
{
	/*
	 * relaxed, all accesses of the count: the writer takes the count when
	 * the thread is dead or the trace ends.  The writer may miss an event
	 * that is dropped at that moment, just as it may miss an event that is
	 * recorded at that moment.  At other times the count is only a hint for
	 * the writer.
	 */
	if (atomic_fetch_add_explicit(&t->ring->lost_count, 1,
				      memory_order_relaxed) == 0)
		atomic_store_explicit(&t->ring->lost_first, clock_stamp(),
				      memory_order_relaxed);
}

/*
 * Is the ring in memory only, and can it grow?  If so, the producer can extend
 * the ring without the writer.
 */
static bool
is_extensible(const struct ring *r)
{
	return r->offset == 0 && ring_mask(r) + 1 < r->words_max;
}

bool
record_has_room(uint64_t words)
{
	const struct thread *const t = thread_self;

	return thread_is_attached(t) && t->ring->offset == 0 &&
	       t->ring->words_max - (t->head - ring_tail(t->ring)) >= words;
}

bool
record_await_room(struct thread *t, unsigned words)
{
	const uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);
	uint64_t timeout_ns = WAIT_NS;

	while (t->head + words > ring_limit(t->ring)) {
		if (!process_is_tracing())
			return false;
		/*
		 * A signal handler has interrupted this recording and forked,
		 * and this is the child.  The child's writer does not know the
		 * ring, so it will never make room.
		 */
		if (!thread_is_attached(t)) {
			count_unattached();
			return false;
		}
		ring_wait_announce(t->ring);
		wake_writer();
		/*
		 * If there is no writer, and this process is a child that
		 * shares its parent's memory, the process cannot make a writer.
		 * Extend the ring on this thread, or drop the event.
		 */
		if (!wake_has_writer() && !process_is_own()) {
			if (is_extensible(t->ring)) {
				ringfile_extend(t->ring, UINT64_MAX);
				continue;
			}
			count_lost(t);
			return false;
		}
		ring_wait_sleep(t->ring, t->head + words, timeout_ns);
		if (timeout_ns < WAIT_MAX_NS)
			timeout_ns *= 2;
	}
	/* relaxed, both: statistics, written by this thread only. */
	atomic_fetch_add_explicit(&t->wait_count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&t->wait_ns,
				  sys_clock_ns(CLOCK_MONOTONIC) - start,
				  memory_order_relaxed);
	return true;
}

/*
 * Read 'clock_tick'.  If the writer sleeps and is needed now, wake it.  If
 * another thread owns the tick, revoke the tick.  If the clock is in unfenced
 * mode although there is another thread, end that mode.  Return the tick if 't'
 * may use it, else CLOCK_STAMPED.
 */
static uint64_t
read_tick(const struct thread *t)
{
	for (;;) {
		/* acquire: pairs with the release in clock_grant_end(). */
		const uint64_t tick =
			atomic_load_explicit(&clock_tick, memory_order_acquire);

		if (tick == CLOCK_STAMPED ||
		    (tick == CLOCK_UNFENCED && clock_omits_fences()))
			return CLOCK_STAMPED;
		if (tick == CLOCK_IDLE) {
			if (!wake_is_wanted(t->head - ring_tail(t->ring),
					    t->mask + 1))
				return CLOCK_STAMPED;
			if (clock_wake())
				wake_writer();
		} else if (tick != CLOCK_UNFENCED && clock_is_owned(tick, t)) {
			return tick == CLOCK_PENDING ? CLOCK_STAMPED : tick;
		} else {
			clock_revoke(tick);
		}
	}
}

void
record_confirm_order(const struct thread *t)
{
	const int saved_errno = errno;

	read_tick(t);
	errno = saved_errno;
}

/* Store 'tick' as the last tick in the ring of 't'. */
static void
set_tick(struct thread *t, uint64_t tick)
{
	t->tick = tick;
	t->alloc_tick = record_has_stacks ? CLOCK_NO_TICK : tick;
	t->free_tick = record_frees_have_stacks ? CLOCK_NO_TICK : tick;
}

static uint64_t
put_wide(struct thread *t, uint64_t head, enum event_type type, unsigned flags,
	 uint64_t stamp, const uint64_t *operand, unsigned n)
{
	ring_put(t->ring, head++, event_wide(type, 2 + n, flags));
	ring_put(t->ring, head++, stamp);
	for (unsigned i = 0; i < n; i++)
		ring_put(t->ring, head++, operand[i]);
	return head;
}

/*
 * Is the last tick in the ring recent enough to serve as a brief tick?  The
 * tick may be younger than the result of clock_glance(), so the difference may
 * be negative.
 */
static bool
is_in_brief_tick(const struct thread *t)
{
	return t->tick != CLOCK_NO_TICK &&
	       (int64_t)(clock_glance() - t->tick) < (int64_t)CLOCK_BRIEF;
}

/*
 * May events of 't' use a brief tick?  They may only while the process has a
 * single ring, because only stamps order the events of several rings.
 */
static bool
may_have_brief_tick(const struct thread *t)
{
	return !clock_expects_threads() && !t->is_nested;
}

bool
record_has_brief_tick(const struct thread *t)
{
	return may_have_brief_tick(t) && is_in_brief_tick(t);
}

/*
 * Put a brief tick into the ring.  If the producer needs the writer instead,
 * put no tick and return false.
 */
static __attribute__((noinline)) bool
put_brief_tick(struct thread *t)
{
	const int saved_errno = errno;
	const uint64_t now = clock_stamp();
	const bool can =
		!wake_is_wanted(t->head - ring_tail(t->ring), t->mask + 1);

	if (can) {
		t->head = put_wide(t, t->head, EVENT_TICK, EVENT_FLAG_BRIEF,
				   now, NULL, 0);
		set_tick(t, now);
	}
	errno = saved_errno;
	return can;
}

bool
record_have_brief_tick(struct thread *t)
{
	return may_have_brief_tick(t) &&
	       (is_in_brief_tick(t) || put_brief_tick(t));
}

/*
 * May events of this type be dropped?  Events of all other types are needed to
 * understand the trace.
 */
static bool
may_drop(enum event_type type)
{
	switch (type) {
	case EVENT_ALLOC:
	case EVENT_FREE:
	case EVENT_REALLOC_BEGIN:
	case EVENT_HEAP_ALLOC:
	case EVENT_HEAP_FREE:
	case EVENT_HEAP_REALLOC:
	case EVENT_HEAP_REALLOC_BEGIN:
	case EVENT_CLIENT:
	case EVENT_CLIENT_DTD:
		return true;
	default:
		return false;
	}
}

/*
 * Return what is known about the memory that an event concerns.  A fork
 * concerns memory of unknown size, since the child gets a copy of every block.
 */
static struct record_block
block_of(enum event_type type, const uint64_t *operand)
{
	switch (type) {
	case EVENT_ALLOC:
	case EVENT_HEAP_ALLOC:
		return (struct record_block){ operand[0], operand[1], false };
	case EVENT_REALLOC_END:
	case EVENT_HEAP_REALLOC_END:
		return (struct record_block){ operand[1], operand[2], false };
	case EVENT_FREE:
	case EVENT_REALLOC_BEGIN:
	case EVENT_HEAP_FREE:
	case EVENT_HEAP_REALLOC:
	case EVENT_HEAP_REALLOC_BEGIN:
	case EVENT_DESTROY_HEAP:
	case EVENT_FORK:
		return (struct record_block){ 0, SIZE_MAX, true };
	default:
		return (struct record_block){ 0, SIZE_MAX, false };
	}
}

#define ROOM_WORDS (RECORD_PRELUDE_WORDS + EVENT_WORDS_MAX)

bool
record_make_room(struct thread *t, enum event_type type, unsigned words)
{
	if (t->head + words <= ring_limit(t->ring))
		return true;
	if (may_drop(type) && environment_own()->drop) {
		count_lost(t);
		wake_writer();
		return false;
	}
	return record_await_room(t, words);
}

/*
 * Put the words that precede the next event: a report of loss if events were
 * lost, and the event's tick if the event needs one.  The event needs no tick
 * if 'stamped' is set, or if the ring already has this tick.  Return the new
 * head.
 */
static uint64_t
put_prelude(struct thread *t, uint64_t tick, bool stamped)
{
	uint64_t head = t->head;

	if (atomic_load_explicit(&t->ring->lost_count, memory_order_relaxed) !=
	    0) {
		const uint64_t lost[2] = {
			atomic_exchange_explicit(&t->ring->lost_count, 0,
						 memory_order_relaxed),
			atomic_load_explicit(&t->ring->lost_first,
					     memory_order_relaxed),
		};

		head = put_wide(t, head, EVENT_LOST, 0, clock_stamp(), lost, 2);
	}
	if (!stamped && tick != t->tick) {
		head = put_wide(t, head, EVENT_TICK, 0, tick, NULL, 0);
		set_tick(t, tick);
	}
	return head;
}

uint64_t
record_put_block(struct thread *t, enum event_type type, unsigned flags,
		 const uint64_t *operand, const struct record_block *block)
{
	const uint64_t tick = read_tick(t);
	const bool stamped = tick == CLOCK_STAMPED || t->is_nested;
	uint64_t head;

	if (!record_make_room(t, type, ROOM_WORDS))
		return t->head;
	head = put_prelude(t, tick, stamped);
	if (!stamped)
		return put_wide(t, head, type, flags, tick, operand,
				event_operand_count(type));

	const uint64_t stamp = record_stamp(t, block);

	/* No later event may use a tick from before this event. */
	set_tick(t, clock_omits_fences() ? CLOCK_UNFENCED_OWN : CLOCK_NO_TICK);
	/*
	 * If the clock has left stamped mode meanwhile, change the clock back
	 * to stamped mode, or confirm that 't' owns the tick, as
	 * record_confirm_order() does.  It is not too late for this, since the
	 * event cannot have affected another thread yet.
	 */
	if (clock_tick_after(stamp) != CLOCK_STAMPED)
		read_tick(t);
	return put_wide(t, head, type, flags, stamp, operand,
			event_operand_count(type));
}

uint64_t
record_put_event(struct thread *t, enum event_type type, unsigned flags,
		 const uint64_t *operand)
{
	const struct record_block block = block_of(type, operand);

	return record_put_block(t, type, flags, operand, &block);
}

bool
record_put_unfenced_end(struct thread *t, unsigned flags,
			const uint64_t *operand)
{
	if (!record_omits_fence(t->tick) ||
	    t->head + EVENT_WORDS_MAX > ring_limit(t->ring))
		return false;
	t->head = put_wide(t, t->head, EVENT_REALLOC_END, flags,
			   clock_read_unfenced(), operand, 3);
	return true;
}

uint64_t
record_put_text(struct thread *t, enum event_type type, unsigned flags,
		const char *text, size_t nbytes)
{
	const struct record_block none = { 0, SIZE_MAX, false };
	const unsigned pieces =
		nbytes == 0 ? 1
			    : (unsigned)((nbytes - 1) / EVENT_PIECE_NBYTES + 1);
	const uint64_t tick = read_tick(t);
	const bool stamped = tick == CLOCK_STAMPED || t->is_nested;
	uint64_t head, stamp = tick;

	if (!record_make_room(t, type,
			      RECORD_PRELUDE_WORDS + pieces * EVENT_WORDS_MAX))
		return t->head;
	head = put_prelude(t, tick, stamped);
	if (stamped) {
		stamp = record_stamp(t, &none);
		if (t->tick != CLOCK_UNFENCED_OWN)
			set_tick(t, CLOCK_NO_TICK);
	}
	if (stamped && clock_tick_after(stamp) != CLOCK_STAMPED)
		read_tick(t);
	for (unsigned i = 0; i < pieces; i++) {
		const size_t n = nbytes < EVENT_PIECE_NBYTES
					 ? nbytes
					 : EVENT_PIECE_NBYTES;
		uint64_t operand[4] = { 0 };

		memcpy(operand, text, n);
		text += n;
		nbytes -= n;
		head = put_wide(t, head, type,
				flags | (unsigned)n << EVENT_PIECE_SHIFT |
					(i + 1 < pieces ? EVENT_FLAG_MORE : 0),
				stamp, operand, 4);
	}
	return head;
}

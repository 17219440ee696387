/* SPDX-License-Identifier: MIT */
/* record.c - the slow path into the ring; see record.h */

#include "preload/record/record.h"

#include <errno.h>

#include "hatf/codec/comment_text.h"
#include "preload/record/record_order.h"
#include "preload/record/record_steps.h"
#include "preload/state/process_state.h"

bool
record_operands(enum event_type type, unsigned flags, const uint64_t *operand)
{
	const int saved_errno = errno;
	struct thread *t;
	bool recorded = false;

	/*
	 * If the recorder becomes dormant while a thread is being attached,
	 * still record the beginning of the thread, since a later trace needs
	 * it.
	 */
	if (record_is_dormant() && type != EVENT_THREAD &&
	    type != EVENT_HANDOVER)
		return false;
	t = record_enter();
	if (t != NULL) {
		const bool can = record_note_stack(t, type);
		const uint64_t head =
			can ? record_put_event(t, type, flags, operand)
			    : t->head;

		recorded = head != t->head;
		record_leave(t, head);
	}
	errno = saved_errno;
	return recorded;
}

bool
record_event(enum event_type type, unsigned flags, uint64_t op0, uint64_t op1,
	     uint64_t op2)
{
	const uint64_t operand[3] = { op0, op1, op2 };

	return record_operands(type, flags, operand);
}

/* Put a text into the ring of 't', and publish it. */
static bool
put_text(struct thread *t, enum event_type type, unsigned flags,
	 const char *text, size_t nbytes)
{
	const uint64_t head = record_put_text(
		t, type, flags, text,
		nbytes < EVENT_TEXT_NBYTES ? nbytes : EVENT_TEXT_NBYTES);
	const bool is_put = head != t->head;

	t->head = head;
	ring_publish(t->ring, head);
	return is_put;
}

bool
record_text(enum event_type type, unsigned flags, const char *text,
	    size_t nbytes)
{
	const int saved_errno = errno;
	struct thread *t;
	bool is_recorded = false;

	if (record_is_dormant())
		return false;
	t = record_enter();
	if (t != NULL) {
		is_recorded = put_text(t, type, flags, text, nbytes);
		record_leave(t, t->head);
	}
	errno = saved_errno;
	return is_recorded;
}

/*
 * How many bytes of a DTD's text one EVENT_CLIENT_DTD can hold, besides the
 * DTD's name and the two numbers that put_dtd() writes.
 */
#define DTD_PART_NBYTES (EVENT_TEXT_NBYTES - RECORD_DTD_NAME_NBYTES - 44)

/*
 * Put a DTD into the ring in parts.  Each part has the DTD's name, a piece of
 * the DTD's text, the offset of this piece in the text, and the length of the
 * whole text.
 */
static bool
put_dtd(struct thread *t, const struct record_dtd *dtd)
{
	char buf[EVENT_TEXT_NBYTES];
	struct text part;

	for (size_t offset = 0; offset < dtd->nbytes;
	     offset += DTD_PART_NBYTES) {
		const size_t left = dtd->nbytes - offset;

		text_init(&part, buf, sizeof(buf));
		text_str(&part, dtd->name);
		text_bytes(&part, "", 1);
		text_u64(&part, offset);
		text_bytes(&part, "", 1);
		text_u64(&part, dtd->nbytes);
		text_bytes(&part, "", 1);
		text_bytes(&part, dtd->text + offset,
			   left < DTD_PART_NBYTES ? left : DTD_PART_NBYTES);
		if (!put_text(t, EVENT_CLIENT_DTD, 0, buf, part.used))
			return false;
	}
	return true;
}

bool
record_fields(const struct record_dtd *dtd, const char *text, size_t nbytes)
{
	const int saved_errno = errno;
	struct thread *t;
	bool is_recorded = false;

	if (record_is_dormant())
		return false;
	t = record_enter();
	if (t != NULL) {
		const uint64_t pid = (uint64_t)process_pid();
		/*
		 * acquire: pairs with the release below.  The event of the DTD
		 * therefore has an older stamp than this event.
		 */
		bool has_dtd =
			__atomic_load_n(dtd->sent, __ATOMIC_ACQUIRE) == pid;

		/* Two threads may both record the DTD, which does no harm. */
		if (!has_dtd) {
			has_dtd = put_dtd(t, dtd);
			if (has_dtd)
				__atomic_store_n(dtd->sent, pid,
						 __ATOMIC_RELEASE);
		}
		is_recorded =
			has_dtd && put_text(t, EVENT_CLIENT, EVENT_FLAG_FIELDS,
					    text, nbytes);
		record_leave(t, t->head);
	}
	errno = saved_errno;
	return is_recorded;
}

/*
 * Can an event about this block go into the ring as it is, without a stamp or a
 * new tick?
 */
static inline bool
needs_no_time(const struct thread *t, const struct record_block *block)
{
	/* acquire: load the epoch after 'clock_tick' (see clock_revoke()). */
	const uint64_t tick =
		atomic_load_explicit(&clock_tick, memory_order_acquire);

	if (tick == CLOCK_IDLE)
		return record_has_brief_tick(t);
	return tick == CLOCK_STAMPED ? record_is_ordered(t, block)
				     : tick == t->tick;
}

static inline bool
is_idle(void)
{
	/*
	 * relaxed: only a hint, since record_have_brief_tick() decides whether
	 * the event can do without a stamp.
	 */
	return atomic_load_explicit(&clock_tick, memory_order_relaxed) ==
	       CLOCK_IDLE;
}

/*
 * Record an EVENT_REALLOC_BEGIN of 'old' as one word, after a new brief tick if
 * the event needs one.  Return false if the event needs a stamp, a tick from
 * the writer or more than one word, or if there is no room.
 */
static bool
put_short_begin(struct thread *t, const struct record_block *old)
{
	if ((old->address & EVENT_REALLOC_EXTRA_BITS) != 0 ||
	    t->head + RECORD_TICK_WORDS + 2 > ring_limit(t->ring) ||
	    !(is_idle() ? record_have_brief_tick(t) : needs_no_time(t, old)))
		return false;
	ring_put(t->ring, t->head,
		 (uint64_t)event_size_code(old->nbytes) << EVENT_SIZE_SHIFT |
			 old->address | EVENT_KIND_REALLOC);
	t->head++;
	ring_publish(t->ring, t->head);
	return true;
}

/* Record the begin event of any realloc.  Return false if it was dropped. */
static bool
put_begin(struct thread *t, enum event_type type, const uint64_t *operand,
	  const struct record_block *old)
{
	uint64_t head;

	if (type == EVENT_REALLOC_BEGIN && put_short_begin(t, old))
		return true;
	head = record_put_block(t, type, event_size_code(old->nbytes), operand,
				old);
	if (head == t->head)
		return false;
	t->head = head;
	ring_publish(t->ring, head);
	return true;
}

/*
 * Record the begin event of a realloc of 'old' in unfenced mode.  The event
 * needs no stamp, because the trace has the time of the end event.  It needs no
 * size code, because the process has one thread.  Return false, with the ring
 * open, if the event needs another form.
 */
static bool
begin_unfenced(struct thread *t, const void *old)
{
	const uint64_t address = (uintptr_t)old;
	const uint64_t limit = record_close(t);

	if ((address & EVENT_REALLOC_EXTRA_BITS) == 0 &&
	    record_omits_fence(t->alloc_tick) && t->head + 1 <= limit) {
		record_put(t, t->head, address | EVENT_KIND_REALLOC);
		return true;
	}
	record_open(t, limit);
	return false;
}

static struct thread *
begin_realloc(enum event_type type, const uint64_t *operand, size_t nbytes)
{
	const int saved_errno = errno;
	const struct record_block old = { operand[0], nbytes, true };
	struct thread *t = record_enter_fast();

	if (t != NULL) {
		if ((record_has_stacks && !record_note_stack(t, type)) ||
		    !put_begin(t, type, operand, &old)) {
			record_leave(t, t->head);
			t = NULL;
		}
	}
	errno = saved_errno;
	return t;
}

struct thread *
record_realloc_begin(const void *old)
{
	const uint64_t operand[1] = { (uintptr_t)old };
	struct thread *const t = thread_self;
	size_t nbytes;
	int saved_errno;

	if (record_has_stacks ? record_stacked_realloc_begin(t, old)
			      : begin_unfenced(t, old))
		return t;
	saved_errno = errno;
	nbytes = record_block_nbytes(old);
	errno = saved_errno;
	return begin_realloc(EVENT_REALLOC_BEGIN, operand, nbytes);
}

struct thread *
record_pool_realloc_begin(const void *old)
{
	const uint64_t operand[1] = { (uintptr_t)old };

	return begin_realloc(EVENT_REALLOC_BEGIN, operand, SIZE_MAX);
}

struct thread *
record_heap_realloc_begin(const void *old, uint64_t heap)
{
	const uint64_t operand[2] = { (uintptr_t)old, heap };

	return begin_realloc(EVENT_HEAP_REALLOC_BEGIN, operand, SIZE_MAX);
}

void
record_heap_realloc_end(struct thread *t, unsigned flags, const void *old,
			const void *p, size_t size, uint64_t heap)
{
	const int saved_errno = errno;
	const uint64_t operand[4] = { (uintptr_t)old, (uintptr_t)p, size,
				      heap };

	record_leave(
		t, record_put_event(t, EVENT_HEAP_REALLOC_END, flags, operand));
	errno = saved_errno;
}

/*
 * Record the end event of a realloc as one word, and open the ring.  Return
 * false, with the ring still closed, if the event needs a stamp, a tick or more
 * than one word, or if there is no room.
 */
static bool
put_short_end(struct thread *t, const void *p, size_t size)
{
	const struct record_block block = { (uintptr_t)p, size, false };

	if (p == NULL || size >= EVENT_SIZE_LIMIT ||
	    (block.address & EVENT_REALLOC_EXTRA_BITS) != 0 ||
	    t->head + 1 > ring_limit(t->ring) || !needs_no_time(t, &block))
		return false;
	ring_put(t->ring, t->head,
		 (uint64_t)size << EVENT_SIZE_SHIFT | EVENT_REALLOC_IS_END |
			 block.address | EVENT_KIND_REALLOC);
	record_leave(t, t->head + 1);
	return true;
}

void
record_realloc_end(struct thread *t, unsigned flags, const void *old,
		   const void *p, size_t size)
{
	const uint64_t operand[3] = { (uintptr_t)old, (uintptr_t)p, size };
	int saved_errno;

	if (record_put_unfenced_end(t, flags, operand)) {
		record_leave(t, t->head);
		return;
	}
	saved_errno = errno;
	if (!put_short_end(t, p, size))
		record_leave(t, record_put_event(t, EVENT_REALLOC_END, flags,
						 operand));
	errno = saved_errno;
}

bool
record_has_alloc_since(struct record_mark mark, const void *p, size_t size)
{
	const struct thread *const t = thread_self;
	const uint64_t address = (uintptr_t)p;
	const uint64_t word = (uint64_t)size << EVENT_SIZE_SHIFT | address;

	/*
	 * Without a new event, do not look at the ring, because its last event
	 * may look the same as the allocation of 'p'.  For example, another
	 * thread has freed that event's block, and 'p' has the same address; or
	 * both allocations have failed.
	 */
	if (t == mark.thread && t->head == mark.head)
		return false;
	if (!thread_is_attached(t) || t->head < EVENT_ALLOC_WORDS)
		return false;
	if ((address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
	    size < EVENT_SIZE_LIMIT &&
	    (ring_get(t->ring, t->head - 1) == (word | EVENT_KIND_ALLOC) ||
	     ring_get(t->ring, t->head - 2) ==
		     (word | EVENT_KIND_ALLOC_STAMPED)))
		return true;
	return ring_get(t->ring, t->head - EVENT_ALLOC_WORDS) ==
		       event_wide(EVENT_ALLOC, EVENT_ALLOC_WORDS, 0) &&
	       ring_get(t->ring, t->head - EVENT_ALLOC_WORDS + 2) == address &&
	       ring_get(t->ring, t->head - EVENT_ALLOC_WORDS + 3) == size;
}

/*
 * Put an event of one word and a stamp into the ring of 't'.  The ring must be
 * closed and have room.  If the clock has left stamped mode meanwhile, call
 * record_confirm_order(), which may make system calls.
 */
static __attribute__((noinline)) void
put_stamped(struct thread *t, uint64_t word, const struct record_block *block)
{
	const uint64_t stamp = record_stamp(t, block);

	t->ring->words[t->head & t->mask] = word;
	t->ring->words[(t->head + 1) & t->mask] = stamp;
	t->head += 2;
	ring_publish(t->ring, t->head);
	if (__builtin_expect(clock_tick_after(stamp) != CLOCK_STAMPED, 0))
		record_confirm_order(t);
}

/*
 * Put an event of one word, without a stamp, into the ring of 't'.  Return
 * false and record nothing if the clock is not in stamped mode, if the event
 * may need a stamp, if there is no room, or if the ring is closed.
 *
 * In a process of several threads, nearly all events take this path.  It
 * therefore needs no stack frame.
 */
static inline __attribute__((always_inline)) bool
put_own(struct thread *t, uint64_t word, uintptr_t address, size_t nbytes)
{
	const uint64_t limit = record_close(t);
	/* acquire: load the epoch after 'clock_tick' (see clock_revoke()). */
	const uint64_t tick =
		atomic_load_explicit(&clock_tick, memory_order_acquire);
	const bool can =
		__builtin_expect(tick == CLOCK_STAMPED, 1) &&
		__builtin_expect(t->head < limit, 1) &&
		__builtin_expect(record_is_ordered_small(t, address, nbytes),
				 1);

	if (__builtin_expect(can, 1))
		record_put(t, t->head, word);
	record_open(t, limit);
	return can;
}

/*
 * Put an event of one word into the ring, and a stamp or a brief tick if the
 * event needs one.  'kind' is the kind of a word without a stamp, and
 * 'stamped_kind' the kind of a word with a stamp.  Return false if the event
 * needs a tick from the writer, if there is no room, or if the ring is closed.
 */
static inline __attribute__((always_inline)) bool
put_word(struct thread *t, uint64_t word, enum event_kind kind,
	 enum event_kind stamped_kind, const struct record_block *block)
{
	const uint64_t limit = record_close(t);
	/* acquire: load the epoch after 'clock_tick' (see clock_revoke()). */
	const uint64_t tick =
		atomic_load_explicit(&clock_tick, memory_order_acquire);
	const bool has_room = t->head + RECORD_TICK_WORDS + 1 <= limit;
	bool can = has_room && tick == CLOCK_STAMPED;

	if (can && record_is_ordered(t, block)) {
		record_put(t, t->head, word | kind);
	} else if (can) {
		put_stamped(t, word | stamped_kind, block);
	} else if (has_room && tick == CLOCK_IDLE) {
		can = record_have_brief_tick(t);
		if (can)
			record_put(t, t->head, word | kind);
	}
	record_open(t, limit);
	return can;
}

void
record_alloc_wide(const void *p, size_t size, unsigned flags)
{
	record_event(EVENT_ALLOC, flags, (uintptr_t)p, size, 0);
}

/* Record an allocation that put_own() did not take.  Return 'p'. */
static inline __attribute__((always_inline)) void *
put_alloc(void *p, size_t size, unsigned flags, enum event_kind kind,
	  enum event_kind stamped_kind)
{
	const struct record_block block = { (uintptr_t)p, size, false };
	const uint64_t word =
		(uint64_t)size << EVENT_SIZE_SHIFT | block.address;

	if (record_has_stacks)
		return record_stacked_alloc(p, size, flags);
	if ((block.address & EVENT_ADDRESS_EXTRA_BITS) != 0 ||
	    size >= EVENT_SIZE_LIMIT || word == 0 ||
	    !put_word(thread_self, word, kind, stamped_kind, &block))
		record_alloc_wide(p, size, flags);
	return p;
}

static __attribute__((noinline)) void *
put_malloc(void *p, size_t size)
{
	return put_alloc(p, size, 0, EVENT_KIND_ALLOC,
			 EVENT_KIND_ALLOC_STAMPED);
}

static __attribute__((noinline)) void *
put_calloc(void *p, size_t size)
{
	return put_alloc(p, size, EVENT_FLAG_ZEROED, EVENT_KIND_CALLOC,
			 EVENT_KIND_CALLOC_STAMPED);
}

/* Does put_own() take this allocation? */
static inline __attribute__((always_inline)) bool
put_own_alloc(const void *p, size_t size, enum event_kind kind)
{
	const uint64_t address = (uintptr_t)p;

	return (address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
	       size < EVENT_SIZE_LIMIT && address != 0 && !record_has_stacks &&
	       put_own(thread_self,
		       (uint64_t)size << EVENT_SIZE_SHIFT | address | kind,
		       address, size);
}

void *
record_alloc_slow(void *p, size_t size)
{
	if (__builtin_expect(put_own_alloc(p, size, EVENT_KIND_ALLOC), 1))
		return p;
	return put_malloc(p, size);
}

void *
record_calloc_slow(void *p, size_t size)
{
	if (__builtin_expect(put_own_alloc(p, size, EVENT_KIND_CALLOC), 1))
		return p;
	return put_calloc(p, size);
}

/*
 * Record a free that put_own() did not take.  'nbytes' is the size of the
 * block, or SIZE_MAX if it is unknown.
 */
static inline __attribute__((always_inline)) void
put_free(const void *p, size_t nbytes)
{
	const struct record_block block = { (uintptr_t)p, nbytes, true };

	if (record_frees_have_stacks) {
		/*
		 * If this free is part of an operator delete, the free is
		 * already recorded.
		 */
		if (thread_self->deleting != p)
			record_stacked_free(&block);
		return;
	}
	if ((block.address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
	    put_word(thread_self, block.address, EVENT_KIND_FREE,
		     EVENT_KIND_FREE_STAMPED, &block))
		return;
	if (thread_self->deleting != p)
		record_event(EVENT_FREE, 0, block.address, 0, 0);
}

static __attribute__((noinline)) void
put_malloc_free(const void *p)
{
	put_free(p, owners_table != NULL ? record_block_nbytes(p) : SIZE_MAX);
}

/* Does put_own() take this free? */
static inline __attribute__((always_inline)) bool
put_own_free(const void *p)
{
	const uint64_t address = (uintptr_t)p;
	uint64_t header;

	if (!__builtin_expect(record_knows_headers(), 1) ||
	    record_frees_have_stacks ||
	    (address & EVENT_ADDRESS_EXTRA_BITS) != 0)
		return false;
	header = record_header(p);
	return (header & RECORD_HEADER_IS_MAPPED) == 0 &&
	       put_own(thread_self, address | EVENT_KIND_FREE, address,
		       record_header_nbytes(header));
}

void
record_free_slow(const void *p)
{
	if (!__builtin_expect(put_own_free(p), 1))
		put_malloc_free(p);
}

void
record_free_of_pool(const void *p)
{
	put_free(p, SIZE_MAX);
}

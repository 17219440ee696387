/* SPDX-License-Identifier: MIT */
/*
 * record_stacks.c - events with their call stacks; see record_steps.h
 *
 * An EVENT_STACK word in a ring names the stack of the events that follow it.
 * The word precedes the first of several events with the same stack; the other
 * events cost no further words.  All rings share the definitions: the first
 * thread that names a stack in a segment of the trace puts the stack's
 * definition into its own ring before the word.
 */

#include "preload/record/record_steps.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "preload/config/environment.h"
#include "preload/stacks/capture.h"
#include "preload/stacks/object_table.h"
#include "preload/stacks/stack_table.h"

bool
record_init_stacks(uint32_t depth, bool with_frees)
{
	record_has_stacks = depth != 0 && capture_init(depth);
	record_frees_have_stacks = record_has_stacks && with_frees;
	return record_has_stacks || depth == 0;
}

size_t
record_stacks_nbytes(void)
{
	return capture_nbytes();
}

static bool
takes_stack(enum event_type type)
{
	switch (type) {
	case EVENT_ALLOC:
	case EVENT_REALLOC_BEGIN:
	case EVENT_REALLOC_END:
	case EVENT_HEAP_ALLOC:
	case EVENT_HEAP_REALLOC:
	case EVENT_HEAP_REALLOC_BEGIN:
		return true;
	case EVENT_FREE:
	case EVENT_HEAP_FREE:
		return record_frees_have_stacks;
	default:
		return false;
	}
}

/* Enough room for a tick, a report of loss and a definition. */
#define DEFINITION_WORDS 16u

/*
 * Put an event that is part of a definition, and publish this event.  While the
 * next event waits for room, the ring may grow, and growing copies only the
 * published words.  Return false if the event was not put.
 */
static bool
put_definition(struct thread *t, enum event_type type, unsigned flags,
	       const uint64_t *operand)
{
	uint64_t head;

	/* If events are dropped when the ring is full, do not wait for room. */
	if (environment_own()->drop &&
	    t->head + DEFINITION_WORDS > ring_limit(t->ring))
		return false;
	head = record_put_event(t, type, flags, operand);

	const bool is_put = head != t->head;

	t->head = head;
	ring_publish(t->ring, head);
	return is_put;
}

/*
 * The text "BUILD-ID\nPATH" of an object.  The stack of a thread may be small,
 * so the path, which may be long, is not copied.
 */
struct object_text {
	char begin[STACK_IMAGE_HEX_NBYTES + 1]; /* the text before the path */
	size_t begin_nbytes, path_nbytes;
	const char *path;
};

static struct object_text
text_of_object(const struct stack_image_object *object)
{
	struct object_text t = { .path = object->path,
				 .path_nbytes = strlen(object->path) };

	t.begin_nbytes = stack_image_build_id(object, t.begin);
	t.begin[t.begin_nbytes++] = '\n';
	return t;
}

/* Copy the bytes of the text from 'at' on, as many as fit into 'piece'. */
static void
copy_piece(const struct object_text *t, size_t at, uint64_t piece[4])
{
	char *const to = (char *)piece;

	memset(piece, 0, 4 * sizeof(*piece));
	for (size_t i = 0; i < 4 * sizeof(*piece); i++, at++) {
		if (at < t->begin_nbytes)
			to[i] = t->begin[at];
		else if (at - t->begin_nbytes < t->path_nbytes)
			to[i] = t->path[at - t->begin_nbytes];
	}
}

static bool
define_object(struct thread *t, uint32_t id, uint32_t generation)
{
	const struct stack_image_object *const object = object_table_get(id);
	const uint64_t operand[4] = { id, object->begin, object->end,
				      object->base };
	const struct object_text text = text_of_object(object);
	const size_t nbytes = text.begin_nbytes + text.path_nbytes;
	uint64_t piece[4];

	if (!put_definition(t, EVENT_OBJECT, 0, operand))
		return false;
	for (size_t at = 0; at < nbytes; at += sizeof(piece)) {
		const bool is_last = at + sizeof(piece) >= nbytes;

		copy_piece(&text, at, piece);
		if (!put_definition(t, EVENT_OBJECT_TEXT,
				    is_last ? 0 : EVENT_FLAG_MORE, piece))
			return false;
	}
	stack_table_set_object_defined(id, generation);
	return true;
}

static bool
define_node(struct thread *t, uint32_t id, uint32_t generation)
{
	const struct stack_image_node *const node = stack_table_node(id);
	const uint32_t object = stack_frame_object(node->frame);
	const uint64_t operand[3] = { id | (uint64_t)node->parent << 32,
				      node->frame, node->frame_id };

	if (object != 0 && !stack_table_is_object_defined(object, generation) &&
	    !define_object(t, object, generation))
		return false;
	if (!put_definition(t, EVENT_STACK_NODE, 0, operand))
		return false;
	stack_table_set_defined(id, generation);
	return true;
}

/* One round of define() defines at most this many nodes. */
#define CHAIN_MAX 32u

/*
 * Put the definition of the stack 'id' into the ring.  The definition names the
 * parent, the stack of the caller (stack_table.h), so the parent must have a
 * definition first.  Therefore begin with the outermost ancestor that has no
 * definition yet.  Return false if a definition was not put.
 */
static bool
define(struct thread *t, uint32_t id, uint32_t generation)
{
	uint32_t chain[CHAIN_MAX], count;

	while (id != 0 && !stack_table_is_defined(id, generation)) {
		count = 0;
		for (uint32_t next = id;
		     next != 0 && !stack_table_is_defined(next, generation);
		     next = stack_table_node(next)->parent)
			chain[count++ % CHAIN_MAX] = next;
		for (uint32_t i = 0; i < count && i < CHAIN_MAX; i++)
			if (!define_node(t, chain[(count - 1 - i) % CHAIN_MAX],
					 generation))
				return false;
	}
	return true;
}

/*
 * Put the word for the stack 'id', which has a definition or is 0 (no stack).
 * The ring must have room for the word.
 */
static inline __attribute__((always_inline)) void
put_stack(struct thread *t, uint32_t id, uint32_t generation)
{
	ring_put(t->ring, t->head++, event_stack(id));
	/*
	 * Publish the word now.  If the event that has this stack waits for
	 * room, the ring may grow, and growing copies only the published words.
	 */
	ring_publish(t->ring, t->head);
	t->stack = id;
	t->stack_generation = generation;
}

/*
 * Put a word into the ring which says that the next events have the stack 'id'.
 * If this stack cannot be defined, the word says that the next events have no
 * stack.  Return false if there is no room for the word.  The caller must then
 * drop the event.
 */
static __attribute__((noinline)) bool
announce(struct thread *t, enum event_type type, uint32_t id,
	 uint32_t generation)
{
	if (!stack_table_is_defined(id, generation) &&
	    !define(t, id, generation))
		id = 0;
	if (!record_make_room(t, type, 1))
		return false;
	put_stack(t, id, generation);
	return true;
}

static inline __attribute__((always_inline)) bool
note_stack(struct thread *t, enum event_type type)
{
	const uint32_t generation = stack_table_generation();
	uint32_t id;

	if (__builtin_expect(t->capture == NULL, 0)) {
		t->capture = capture_make();
		if (t->capture == NULL)
			return true;
	}
	id = capture_stack(t->capture);
	if (id == t->stack && t->stack_generation == generation)
		return true;
	if (t->head < ring_limit(t->ring) &&
	    stack_table_is_defined(id, generation))
		put_stack(t, id, generation);
	else if (!announce(t, type, id, generation))
		return false;
	/*
	 * If a segment began meanwhile, the segment's file lacks the definition
	 * of this stack.  In this case, either the writer sees the word that
	 * was just published, and adds the definition, or this thread reads the
	 * new generation below, and announces the stack again.  The counterpart
	 * is in writer_define_stacks().
	 */
	atomic_signal_fence(memory_order_seq_cst);
	return __builtin_expect(stack_table_generation() == generation, 1) ||
	       announce(t, type, id, stack_table_generation());
}

bool
record_note_stack(struct thread *t, enum event_type type)
{
	return !record_has_stacks || !takes_stack(type) || note_stack(t, type);
}

/*
 * Put an event into the closed ring: one word, or two words with a stamp.  Then
 * open the ring.  Return false, with the ring still closed, if the event needs
 * another form, or if there is no room.
 */
static inline __attribute__((always_inline)) bool
put_short(struct thread *t, uint64_t word, enum event_kind kind,
	  enum event_kind stamped_kind, const struct record_block *block)
{
	/*
	 * acquire: load the epoch after 'clock_tick' (see clock_revoke()).
	 */
	const uint64_t tick =
		atomic_load_explicit(&clock_tick, memory_order_acquire);

	if (__builtin_expect(
		    t->head + RECORD_TICK_WORDS + 2 > ring_limit(t->ring), 0))
		return false;
	if (record_omits_fence(t->tick)) {
		/*
		 * Do not call record_put_unfenced(): t->mask may be out of
		 * date.
		 */
		ring_put(t->ring, t->head, word | stamped_kind);
		ring_put(t->ring, t->head + 1, clock_read_unfenced());
		record_leave(t, t->head + 2);
		return true;
	}
	if (tick == CLOCK_IDLE ? !record_have_brief_tick(t)
			       : tick != CLOCK_STAMPED && tick != t->tick)
		return false;
	if (tick != CLOCK_STAMPED || record_is_ordered(t, block)) {
		ring_put(t->ring, t->head, word | kind);
		record_leave(t, t->head + 1);
		return true;
	}

	const uint64_t stamp = record_stamp(t, block);

	ring_put(t->ring, t->head, word | stamped_kind);
	ring_put(t->ring, t->head + 1, stamp);
	record_leave(t, t->head + 2);
	if (__builtin_expect(clock_tick_after(stamp) != CLOCK_STAMPED, 0))
		record_confirm_order(t);
	return true;
}

/*
 * Do the work of note_stack() in the usual case, in which the current stack has
 * a definition.  Put the stack's number into the ring, except if the last event
 * in the ring has the same stack.  The ring is closed and has room.  Return
 * false if the caller must call note_stack().
 */
static inline __attribute__((always_inline)) bool
note_defined_stack(struct thread *t)
{
	/*
	 * If a signal handler forks, '*t' is wiped in the child, and t->capture
	 * becomes NULL.  The volatile access keeps the compiler from reading
	 * the pointer again after the check.
	 */
	struct capture *const capture =
		*(struct capture *const volatile *)&t->capture;
	const uint32_t generation = stack_table_generation();
	uint32_t id;

	if (capture == NULL)
		return false;
	id = capture_stack(capture);
	if (id == t->stack && t->stack_generation == generation)
		return true;
	if (__builtin_expect(!stack_table_is_defined(id, generation), 0))
		return false;
	record_put(t, t->head, event_stack(id));
	t->stack = id;
	t->stack_generation = generation;
	/* This barrier has the same purpose as the one in note_stack(). */
	atomic_signal_fence(memory_order_seq_cst);
	return __builtin_expect(stack_table_generation() == generation, 1);
}

static inline __attribute__((always_inline)) bool
needs_no_fence(const struct thread *t)
{
	return record_is_current(t->tick) || record_omits_fence(t->tick);
}

/*
 * The fast path of events with stacks.  Like record_word() and
 * record_unfenced_word() together, it puts an event that one word can hold, and
 * that needs no fence.  Return false if the event was not recorded.  The number
 * of its stack may be in the ring nevertheless.
 */
static inline __attribute__((always_inline)) bool
put_fast(struct thread *t, uint64_t word, enum event_kind kind,
	 enum event_kind stamped_kind)
{
	const uint64_t limit = record_close(t);
	bool can = t->head + 3 <= limit && needs_no_fence(t) &&
		   note_defined_stack(t);

	/* Check the tick again: it may have changed during the capture. */
	if (__builtin_expect(can && record_is_current(t->tick), 1))
		record_put(t, t->head, word | kind);
	else if (can && record_omits_fence(t->tick))
		record_put_unfenced(t, word | stamped_kind);
	else
		can = false;
	record_open(t, limit);
	return can;
}

bool
record_stacked_realloc_begin(struct thread *t, const void *old)
{
	const uint64_t address = (uintptr_t)old;
	const uint64_t limit = record_close(t);

	/*
	 * As in record_realloc_old(), this event has no size code, and the ring
	 * has room for the end event.
	 */
	if (__builtin_expect((address & EVENT_REALLOC_EXTRA_BITS) == 0 &&
				     t->head + 3 <= limit &&
				     needs_no_fence(t) &&
				     !clock_expects_threads() &&
				     note_defined_stack(t) && needs_no_fence(t),
			     1)) {
		record_put(t, t->head, address | EVENT_KIND_REALLOC);
		return true;
	}
	record_open(t, limit);
	return false;
}

static __attribute__((noinline)) void *
record_stacked_alloc_slow(void *p, size_t size, unsigned flags)
{
	const int saved_errno = errno;
	const uint64_t operand[3] = { (uintptr_t)p, size, 0 };
	const struct record_block block = { operand[0], size, false };
	const uint64_t word = (uint64_t)size << EVENT_SIZE_SHIFT | operand[0];
	const bool is_zeroed = flags != 0;
	struct thread *t;

	if (record_is_dormant())
		return p;
	t = record_enter_fast();
	if (t == NULL) {
		errno = saved_errno;
		return p;
	}
	if (!note_stack(t, EVENT_ALLOC))
		record_leave(t, t->head);
	else if ((operand[0] & EVENT_ADDRESS_EXTRA_BITS) != 0 ||
		 size >= EVENT_SIZE_LIMIT || word == 0 ||
		 !put_short(t, word,
			    is_zeroed ? EVENT_KIND_CALLOC : EVENT_KIND_ALLOC,
			    is_zeroed ? EVENT_KIND_CALLOC_STAMPED
				      : EVENT_KIND_ALLOC_STAMPED,
			    &block))
		record_leave(t,
			     record_put_event(t, EVENT_ALLOC, flags, operand));
	errno = saved_errno;
	return p;
}

void *
record_stacked_alloc(void *p, size_t size, unsigned flags)
{
	const uint64_t address = (uintptr_t)p;
	const uint64_t word = (uint64_t)size << EVENT_SIZE_SHIFT | address;
	const bool is_zeroed = flags != 0;

	if (__builtin_expect((address & EVENT_ADDRESS_EXTRA_BITS) == 0 &&
				     size < EVENT_SIZE_LIMIT && word != 0,
			     1) &&
	    put_fast(thread_self, word,
		     is_zeroed ? EVENT_KIND_CALLOC : EVENT_KIND_ALLOC,
		     is_zeroed ? EVENT_KIND_CALLOC_STAMPED
			       : EVENT_KIND_ALLOC_STAMPED))
		return p;
	return record_stacked_alloc_slow(p, size, flags);
}

static __attribute__((noinline)) void
record_stacked_free_slow(const struct record_block *block)
{
	const int saved_errno = errno;
	const uint64_t operand[1] = { block->address };
	struct thread *t;

	if (record_is_dormant())
		return;
	t = record_enter_fast();
	if (t == NULL) {
		errno = saved_errno;
		return;
	}
	if (!note_stack(t, EVENT_FREE))
		record_leave(t, t->head);
	else if ((operand[0] & EVENT_ADDRESS_EXTRA_BITS) != 0 ||
		 !put_short(t, operand[0], EVENT_KIND_FREE,
			    EVENT_KIND_FREE_STAMPED, block))
		record_leave(
			t, record_put_block(t, EVENT_FREE, 0, operand, block));
	errno = saved_errno;
}

void
record_stacked_free(const struct record_block *block)
{
	if ((block->address & EVENT_ADDRESS_EXTRA_BITS) != 0 ||
	    !put_fast(thread_self, block->address, EVENT_KIND_FREE,
		      EVENT_KIND_FREE_STAMPED))
		record_stacked_free_slow(block);
}

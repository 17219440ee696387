/* SPDX-License-Identifier: MIT */
/*
 * compiler.h - translate an event to the words that replay it (replay_words.h)
 *
 * compile.c reads the trace and calls these functions for each event.
 * compile.h says what becomes of each event.
 *
 * On failure, these functions set 'limit' or errno and return false.
 */
#ifndef COMPILER_H
#define COMPILER_H

#include "hatf/containers/u64_map.h"
#include "tools/compile/compile.h"
#include "tools/compile/ordered_map.h"
#include "tools/compile/slots.h"
#include "tools/trace/scan.h"

struct compiler {
	struct compiled *out;
	const struct compile_options *options;
	struct scan scan;
	struct slots slots;
	struct u64_map blocks;	/* address -> slot and size */
	struct u64_map threads; /* id -> stream */
	uint32_t *idle;		/* stack of streams without a thread */
	uint32_t idle_count;
	uint64_t live_threads;
	uint64_t live_count, live_nbytes, live_first_nbytes;
	/* the window of the options, after trace_window_settle() */
	struct trace_window window;
	/* Is 'start_time' set?  Has the window begun, and has it ended? */
	bool has_start, has_begun, has_ended;
	uint64_t call_count;	/* calls of the trace so far */
	uint64_t start_time;	/* time of the first event */
	struct what_if what_if; /* open if the options contain a plan */
	struct ordered_map early_blocks, early_threads;
	/*
	 * 'unit_ns': nanoseconds in a unit of the trace's time; 0: write no
	 * pauses.  'begin_time': start of the window, in units of the trace's
	 * time.
	 */
	uint64_t unit_ns, begin_time;
	/* when the last pause of each stream ends, in ns; indexed by stream */
	uint64_t *paused_ns;
	/* Why the trace cannot be compiled; NULL: see errno. */
	const char *limit;
};

/* A call to write to the file of the words. */
struct call {
	enum word_kind kind;
	uint32_t stream, slot;
	uint64_t size, alignment, old_size;
};

/*
 * Find the stream of a thread.  If the thread has not begun yet or has ended,
 * begin the thread, as if the initial thread created it.  With 'one_thread',
 * find the stream of the only thread.
 */
bool compiler_find_thread(struct compiler *c, uint64_t id,
			  uint32_t *stream_ret);

/* Choose malloc, calloc or memalign according to the attributes of an alloc. */
void compiler_choose_call(const struct hatf_event *e, struct call *call);

/*
 * Write a call that allocates the block of an event.  The caller has set the
 * kind, the stream and, for WORD_MEMALIGN, the alignment of 'call'.  This
 * function sets the size and the slot.
 */
bool compiler_put_new(struct compiler *c, const struct hatf_event *e,
		      struct call *call);

/* Write the calls for an event. */
bool compiler_put_event(struct compiler *c, const struct hatf_event *e);

#endif /* COMPILER_H */

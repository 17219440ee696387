/* SPDX-License-Identifier: MIT */
/* compile.c - see compile.h */
#include "tools/compile/compile.h"

#include "tools/compile/compiler.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- window */

/* Note a block that is allocated before the window. */
static bool
note_block(struct compiler *c, const struct hatf_event *e)
{
	struct call call = { .kind = WORD_MALLOC };
	struct ordered_item item = {
		.key = e->address,
		.size = e->size,
		.thread = e->thread,
	};

	if (e->kind == HATF_EVENT_ALLOC)
		compiler_choose_call(e, &call);
	item.kind = (uint8_t)call.kind;
	item.alignment = call.alignment;
	return ordered_map_put(&c->early_blocks, &item);
}

/*
 * Note the thread of an event before the window, unless the thread is known or
 * one thread makes all calls.
 */
static bool
note_thread(struct compiler *c, const struct hatf_event *e)
{
	const struct ordered_item item = { .key = e->thread };

	return c->options->one_thread ||
	       ordered_map_has(&c->early_threads, e->thread) ||
	       ordered_map_put(&c->early_threads, &item);
}

/*
 * Process an event before the window: update the maps of the blocks and of the
 * threads that are live.
 */
static bool
note_event(struct compiler *c, const struct hatf_event *e)
{
	if (e->kind == HATF_EVENT_THREAD_CREATE)
		return note_thread(c, e);
	if (e->kind == HATF_EVENT_THREAD_DESTROY)
		ordered_map_remove(&c->early_threads, e->thread);
	if (e->kind > HATF_EVENT_REALLOC || e->heap != 0)
		return true;
	if (!note_thread(c, e))
		return false;
	/* Do not remove the old block of a failed realloc: it is still live. */
	if (e->kind == HATF_EVENT_FREE || e->tag == HATF_REALLOC_FREE ||
	    (e->kind == HATF_EVENT_REALLOC && e->address != 0))
		ordered_map_remove(&c->early_blocks, e->old_address);
	return e->kind == HATF_EVENT_FREE || e->address == 0 ||
	       note_block(c, e);
}

/*
 * Write the call that allocates 'item', a block that is live when the window
 * begins.
 */
static bool
build_block(struct compiler *c, const struct ordered_item *item)
{
	const struct hatf_event e = { .size = item->size,
				      .address = item->key };
	struct call call = {
		.kind = (enum word_kind)item->kind,
		.alignment = item->alignment,
	};

	if (!c->options->one_thread &&
	    ordered_map_has(&c->early_threads, item->thread) &&
	    !compiler_find_thread(c, item->thread, &call.stream))
		return false;
	c->out->built_count++;
	c->out->built_nbytes += item->size;
	return compiler_put_new(c, &e, &call);
}

/* Make all existing streams wait for one another when the window begins. */
static bool
put_barrier(struct compiler *c)
{
	const uint32_t count = c->out->file.stream_count;
	const uint64_t word =
		WORD_BEGIN | WORD_CONTROL | (uint64_t)count << WORD_SLOT_SHIFT;
	uint64_t offset;

	for (uint32_t i = 0; i < count; i++)
		if (!word_file_put(&c->out->file, i, &word, 1, &offset))
			return false;
	return true;
}

/* Create the threads and the blocks that are live when the window begins. */
static bool
build(struct compiler *c)
{
	const struct ordered_map *const threads = &c->early_threads;
	const struct ordered_map *const blocks = &c->early_blocks;
	uint32_t stream;

	for (size_t i = 0; i < threads->count; i++)
		if (!threads->items[i].is_gone &&
		    !compiler_find_thread(c, threads->items[i].key, &stream))
			return false;
	/*
	 * If no stream exists yet, begin a thread, because WORD_BEGIN needs a
	 * stream.
	 */
	if (c->out->file.stream_count == 0 &&
	    !compiler_find_thread(c, 0, &stream))
		return false;
	for (size_t i = 0; i < blocks->count; i++)
		if (!blocks->items[i].is_gone &&
		    !build_block(c, &blocks->items[i]))
			return false;
	c->out->calls = 0;
	ordered_map_fini(&c->early_blocks);
	ordered_map_init(&c->early_blocks);
	return put_barrier(c);
}

/* Begin the window if 'e' is the first event in it. */
static bool
reach_begin(struct compiler *c, const struct hatf_event *e)
{
	const struct trace_bound *const from = &c->window.from;

	if (c->has_begun || !trace_window_counts(e) ||
	    !trace_bound_reached(from, c->call_count, c->start_time, e->time))
		return true;
	c->has_begun = true;
	c->begin_time = e->time;
	return !from->is_set || build(c);
}

static bool
has_ended(const struct compiler *c, const struct hatf_event *e)
{
	return c->window.to.is_set && trace_window_counts(e) &&
	       trace_bound_reached(&c->window.to, c->call_count, c->start_time,
				   e->time);
}

/*
 * Apply the plan of --what-if to an event.  Then write the calls for the event
 * or, before the window, note the event.
 */
static bool
put_changed(struct compiler *c, const struct hatf_event *e)
{
	struct hatf_event changed = *e;

	if (c->options->what_if != NULL) {
		if (!what_if_change(&c->what_if, &changed))
			return !c->what_if.no_memory;
		if (c->what_if.no_memory)
			return false;
	}
	if (!c->has_begun && c->window.from.is_set)
		return note_event(c, &changed);
	return compiler_put_event(c, &changed);
}

/*
 * Process an event.  If the window ends before this event, set 'has_ended'
 * instead.
 */
static bool
take_event(struct compiler *c, const struct hatf_event *e)
{
	if (!c->has_start && e->kind != HATF_EVENT_COMMENT) {
		c->start_time = e->time;
		c->has_start = true;
	}
	if (has_ended(c, e)) {
		c->has_ended = true;
		return true;
	}
	if (!reach_begin(c, e))
		return false;
	c->call_count += trace_window_counts(e);
	return put_changed(c, e);
}

/* Read the trace.  On failure set 'limit' or errno and return false. */
static bool
compile_events(struct compiler *c)
{
	size_t n;

	while (!c->has_ended && (n = scan_read(&c->scan)) != 0)
		for (size_t i = 0; i < n && !c->has_ended; i++)
			if (!take_event(c, &c->scan.batch[i]))
				return false;
	progress_end(&c->scan.progress);
	/*
	 * A window that begins at or after the end of the trace has no first
	 * event, so now create the blocks that are live when the window begins.
	 */
	return c->has_begun || !c->window.from.is_set || build(c);
}

/* ------------------------------------------------------------------- result */

/* Complete the file of the words, and store the remaining results in c->out. */
static bool
finish(struct compiler *c)
{
	struct compiled *const out = c->out;
	uint32_t stream;

	if (!c->has_ended)
		out->fault = scan_fault(&c->scan, out->fault_text,
					sizeof(out->fault_text));
	if (c->options->what_if != NULL) {
		out->changes = c->what_if.counts;
		what_if_report(&c->what_if, c->scan.path);
	}
	out->end_count = c->live_count;
	out->end_nbytes = c->live_nbytes;
	out->slot_count = c->slots.count;
	/* Even a trace without events needs a stream. */
	if (out->file.stream_count == 0 && !compiler_find_thread(c, 0, &stream))
		return false;
	return word_file_finish(&out->file, c->slots.count);
}

static bool
run_compiler(struct compiler *c)
{
	c->idle = calloc(REPLAY_THREADS_MAX, sizeof(*c->idle));
	c->paused_ns = calloc(REPLAY_THREADS_MAX, sizeof(*c->paused_ns));
	if (c->options->real_time)
		c->unit_ns = scan_unit_ns(
			hatf_reader_header(c->scan.reader, "unit"));
	if (c->options->real_time && c->unit_ns == 0) {
		c->limit = "the trace has no times, which --speed real needs";
		return false;
	}
	if (c->idle == NULL || c->paused_ns == NULL ||
	    (c->options->what_if != NULL &&
	     !what_if_open(&c->what_if, c->options->what_if)))
		return false;
	if (!word_file_open(&c->out->file)) {
		c->limit = "cannot create a temporary file in $TMPDIR, or in "
			   "/tmp if TMPDIR is not set";
		return false;
	}
	return compile_events(c) && finish(c);
}

bool
compile_trace(struct compiled *out, const char *path,
	      const struct compile_options *options)
{
	const struct hatf_reader_options reading = {
		.struct_nbytes = sizeof(reading),
	};
	struct compiler c = {
		.out = out,
		.options = options,
		.window = options->window,
	};
	bool ok;

	*out = (struct compiled){
		.file.fd = -1,
		.has_window = options->window.from.is_set,
	};
	if (!scan_open(&c.scan, path, &reading, false))
		return false;
	if (!trace_window_settle(&c.window, &c.scan)) {
		scan_close(&c.scan);
		return false;
	}
	slots_init(&c.slots);
	ordered_map_init(&c.early_blocks);
	ordered_map_init(&c.early_threads);
	u64_map_init(&c.blocks);
	u64_map_init(&c.threads);
	errno = ENOMEM;
	ok = run_compiler(&c);
	if (!ok)
		message_print("%s: cannot be replayed: %s", message_path(path),
			      c.limit != NULL ? c.limit : strerror(errno));
	scan_close(&c.scan);
	slots_fini(&c.slots);
	ordered_map_fini(&c.early_blocks);
	ordered_map_fini(&c.early_threads);
	if (options->what_if != NULL)
		what_if_close(&c.what_if);
	u64_map_fini(&c.blocks);
	u64_map_fini(&c.threads);
	free(c.idle);
	free(c.paused_ns);
	if (!ok)
		compiled_close(out);
	return ok;
}

void
compiled_close(struct compiled *c)
{
	word_file_close(&c->file);
}

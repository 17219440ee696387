/* SPDX-License-Identifier: MIT */
/*
 * interpose_client.c - the functions that hatftrace.h declares as weak
 *
 * These functions replace none of libc.  A program that includes hatftrace.h
 * calls them if the recorder is loaded.
 */

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "preload/hatftrace.h"
#include "preload/record/process_state.h"
#include "preload/record/record.h"
#include "preload/sys/export.h"
#include "preload/writer/writer.h"

/* The child of a fork continues the count, as it may use its parent's heaps. */
static _Atomic uint64_t heap_count;

static int
order(enum writer_order what)
{
	const int saved_errno = errno;
	const bool done =
		process_scope() == PROCESS_SCOPE_TRACED && writer_obey(what);

	errno = saved_errno;
	return done ? 0 : -1;
}

EXPORT int
hatftrace_client_start(void)
{
	return order(WRITER_ORDER_START);
}

EXPORT int
hatftrace_client_stop(void)
{
	return order(WRITER_ORDER_STOP);
}

EXPORT int
hatftrace_client_flush(void)
{
	return order(WRITER_ORDER_FLUSH);
}

EXPORT int
hatftrace_client_is_recording(void)
{
	const int saved_errno = errno;
	const int recording =
		process_scope() == PROCESS_SCOPE_TRACED && !record_is_dormant();

	errno = saved_errno;
	return recording;
}

EXPORT void
hatftrace_client_mark(const char *text)
{
	size_t left = text != NULL ? strnlen(text, 256) : 0;
	uint64_t piece[4];

	/* A caller may bypass the inline function, which checks this, too. */
	if (text == NULL)
		return;
	do {
		const size_t n = left < sizeof(piece) ? left : sizeof(piece);

		memset(piece, 0, sizeof(piece));
		memcpy(piece, text, n);
		text += n;
		left -= n;
		record_operands(EVENT_MARK, left != 0 ? EVENT_FLAG_MORE : 0,
				piece);
	} while (left != 0);
}

EXPORT uint64_t
hatftrace_client_heap_create(const char *name)
{
	/* relaxed: a unique number; orders nothing else. */
	const uint64_t heap = 1 + atomic_fetch_add_explicit(
					  &heap_count, 1, memory_order_relaxed);
	uint64_t words[2] = { 0, 0 };

	if (name != NULL)
		memcpy(words, name, strnlen(name, sizeof(words)));
	record_event(EVENT_CREATE_HEAP, 0, heap, words[0], words[1]);
	return heap;
}

EXPORT void
hatftrace_client_heap_destroy(uint64_t heap)
{
	record_event(EVENT_DESTROY_HEAP, 0, heap, 0, 0);
}

EXPORT void
hatftrace_client_heap_alloc(uint64_t heap, const void *p, size_t size)
{
	const uint64_t operand[4] = { (uintptr_t)p, size, heap, 0 };

	if (p == NULL)
		return;
	record_operands(EVENT_HEAP_ALLOC, 0, operand);
}

EXPORT void
hatftrace_client_heap_free(uint64_t heap, const void *p)
{
	if (p == NULL)
		return;
	record_event(EVENT_HEAP_FREE, 0, (uintptr_t)p, heap, 0);
}

EXPORT void
hatftrace_client_heap_realloc(uint64_t heap, const void *old, const void *p,
			      size_t size)
{
	const uint64_t operand[4] = { (uintptr_t)old, (uintptr_t)p, size,
				      heap };

	if (old == NULL && p == NULL && size == 0)
		return;
	record_operands(EVENT_HEAP_REALLOC,
			p == NULL && size == 0 ? EVENT_FLAG_FREED : 0, operand);
}

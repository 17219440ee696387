/* SPDX-License-Identifier: MIT */
/*
 * interpose_client.c - the functions that hatftrace.h declares as weak
 *
 * These functions replace no function of libc.  A program that includes
 * hatftrace.h calls them if the recorder is loaded.
 */

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "hatf/codec/comment_text.h"
#include "preload/hatftrace.h"
#include "preload/record/record.h"
#include "preload/state/process_state.h"
#include "preload/sys/export.h"
#include "preload/writer/writer.h"

/*
 * The child of a fork continues this count, since it may use its parent's
 * heaps.
 */
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
	int is_recording;

	/*
	 * A program may call this function before each event, so the usual
	 * cases make no system call.  Only a thread that is not attached, such
	 * as the thread of a child that has just been forked, needs
	 * process_scope(), which makes a system call.
	 */
	if (record_is_dormant())
		return 0;
	if (thread_is_attached(thread_self))
		return process_is_tracing();
	is_recording = process_scope() == PROCESS_SCOPE_TRACED;
	errno = saved_errno;
	return is_recording;
}

EXPORT void
hatftrace_client_mark(const char *text)
{
	/*
	 * The inline function in hatftrace.h checks for NULL, too, but a caller
	 * may bypass that function.
	 */
	if (text != NULL)
		record_text(EVENT_MARK, 0, text, strnlen(text, 256));
}

/*
 * Make the text of an event: its name, a zero byte, and 'nbytes' bytes of
 * 'text'.  If 'dtd', the name of a DTD, is not NULL, put that name and a dot
 * before the event's name.
 */
static void
name_event(struct text *event, const char *dtd, const char *name,
	   const char *text, size_t nbytes)
{
	if (dtd != NULL) {
		text_bytes(event, dtd, strnlen(dtd, HATFTRACE_NAME_NBYTES));
		text_str(event, ".");
	}
	text_bytes(event, name, strnlen(name, HATFTRACE_NAME_NBYTES));
	text_bytes(event, "", 1);
	text_bytes(event, text, nbytes);
}

EXPORT int
hatftrace_client_event(const char *name, const char *text, size_t nbytes)
{
	char buf[EVENT_TEXT_NBYTES];
	struct text event;

	if (name == NULL || (text == NULL && nbytes != 0))
		return -1;
	text_init(&event, buf, sizeof(buf));
	name_event(&event, NULL, name, text,
		   nbytes < HATFTRACE_EVENT_NBYTES ? nbytes
						   : HATFTRACE_EVENT_NBYTES);
	return record_text(EVENT_CLIENT, 0, buf, event.used) ? 0 : -1;
}

EXPORT int
hatftrace_client_fields(struct hatftrace_dtd *dtd, const char *name,
			const char *text, size_t nbytes)
{
	char buf[EVENT_TEXT_NBYTES];
	struct text event;
	struct record_dtd from;

	if (dtd == NULL || dtd->name == NULL || name == NULL ||
	    (text == NULL && nbytes != 0) || nbytes > HATFTRACE_EVENT_NBYTES ||
	    dtd->size > HATFTRACE_DTD_NBYTES ||
	    strnlen(dtd->name, HATFTRACE_NAME_NBYTES + 1) >
		    HATFTRACE_NAME_NBYTES)
		return -1;
	from = (struct record_dtd){ dtd->name, dtd->text, dtd->size,
				    &dtd->sent };
	text_init(&event, buf, sizeof(buf));
	name_event(&event, dtd->name, name, text, nbytes);
	return record_fields(&from, buf, event.used) ? 0 : -1;
}

EXPORT uint64_t
hatftrace_client_heap_create(const char *name)
{
	/* relaxed: the number must be unique; no other access depends on it. */
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

/* SPDX-License-Identifier: MIT */
/*
 * hatftrace.h - functions by which a program starts and stops its recorder, and
 * puts marks, events and pools into the trace
 *
 * For C and C++.  A program needs no library to link with: the functions that
 * do the work are weak symbols, which libhatftrace.so defines when it is
 * preloaded.  Without the recorder, each call below compares a pointer with
 * NULL and does nothing, so released programs may contain the calls.  Any
 * thread may call these functions, but a signal handler must not.  They keep
 * errno.
 */
#ifndef HATFTRACE_H
#define HATFTRACE_H

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HATFTRACE_WEAK __attribute__((weak))

struct hatftrace_dtd;

int hatftrace_client_start(void) HATFTRACE_WEAK;
int hatftrace_client_stop(void) HATFTRACE_WEAK;
int hatftrace_client_flush(void) HATFTRACE_WEAK;
int hatftrace_client_is_recording(void) HATFTRACE_WEAK;
void hatftrace_client_mark(const char *text) HATFTRACE_WEAK;
int hatftrace_client_event(const char *name, const char *text,
			   size_t nbytes) HATFTRACE_WEAK;
int hatftrace_client_fields(struct hatftrace_dtd *dtd, const char *name,
			    const char *text, size_t nbytes) HATFTRACE_WEAK;
uint64_t hatftrace_client_heap_create(const char *name) HATFTRACE_WEAK;
void hatftrace_client_heap_destroy(uint64_t heap) HATFTRACE_WEAK;
void hatftrace_client_heap_alloc(uint64_t heap, const void *p,
				 size_t size) HATFTRACE_WEAK;
void hatftrace_client_heap_free(uint64_t heap, const void *p) HATFTRACE_WEAK;
void hatftrace_client_heap_realloc(uint64_t heap, const void *old,
				   const void *p, size_t size) HATFTRACE_WEAK;

/*
 * hatftrace_start() begins to record into a new trace.  hatftrace_stop() ends
 * the trace.  hatftrace_flush() writes all events so far to the file.  Each
 * returns 0 on success.  Each returns -1 if there is no recorder, if there is
 * nothing to do because the recorder has already started or stopped, or on
 * failure.  Every event of the calling thread between start and stop is
 * recorded, unless HATFTRACE_FULL is "drop" and the ring, the thread's buffer
 * for events, is full.  Other threads may notice the start or the stop slightly
 * earlier or later.
 */
static inline int
hatftrace_start(void)
{
	return hatftrace_client_start ? hatftrace_client_start() : -1;
}

static inline int
hatftrace_stop(void)
{
	return hatftrace_client_stop ? hatftrace_client_stop() : -1;
}

static inline int
hatftrace_flush(void)
{
	return hatftrace_client_flush ? hatftrace_client_flush() : -1;
}

/* Return 1 if events are recorded, else 0. */
static inline int
hatftrace_is_recording(void)
{
	return hatftrace_client_is_recording ? hatftrace_client_is_recording()
					     : 0;
}

/*
 * Add a comment to the trace: the first 256 bytes of 'text'.  If 'text' is
 * NULL, do nothing.
 */
static inline void
hatftrace_mark(const char *text)
{
	if (text != NULL && hatftrace_client_mark)
		hatftrace_client_mark(text);
}

/*
 * Maximum size in bytes of an event's name, of an event's text, and of a DTD.
 */
#define HATFTRACE_NAME_NBYTES  64
#define HATFTRACE_EVENT_NBYTES 880
#define HATFTRACE_DTD_NBYTES   32768

/*
 * Put an event of the program into the trace, in order with the heap events of
 * the calling thread.  An event has a name, truncated to 64 bytes, and a text,
 * which is formatted as printf() formats its arguments, and truncated to 880
 * bytes.  The text is formatted only while events are recorded.  Returns 0 if
 * the event was recorded.  Returns -1 if the recorder is not recording, if
 * 'name' is NULL, if the format is wrong, or if the ring was full and
 * HATFTRACE_FULL is "drop".  If the ring was full, the trace counts the event
 * as lost.
 */
static inline int hatftrace_event(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3), unused));

static inline int
hatftrace_event(const char *name, const char *format, ...)
{
	const int saved_errno = errno;
	char text[HATFTRACE_EVENT_NBYTES + 1];
	va_list args;
	int n;

	if (name == NULL || !hatftrace_client_event ||
	    !hatftrace_is_recording())
		return -1;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n >= 0)
		n = hatftrace_client_event(name, text,
					   n < HATFTRACE_EVENT_NBYTES
						   ? (size_t)n
						   : HATFTRACE_EVENT_NBYTES);
	errno = saved_errno;
	return n;
}

/*
 * A program can describe records of its own in a DTD.  'hatf metatf gen
 * --events' generates functions that put such records into the trace.  These
 * functions call hatftrace_client_fields(), which returns the same values as
 * hatftrace_event().  hatftrace_client_fields() also returns -1 if the fields
 * take more than 880 bytes, or if the DTD or its name is too long.
 */
struct hatftrace_dtd {
	const char *name;
	const char *text;
	size_t size; /* length of 'text' in bytes */
	/* used by the recorder: id of the process that has recorded the DTD */
	uint64_t sent;
};

/*
 * Pools.  A heap, or pool, takes memory from malloc() or the system and hands
 * out blocks of that memory.  The trace records these blocks separately from
 * the memory that the heap has taken.
 *
 * - create: 'name' is a label, of which the first 16 bytes are used; it may be
 *   NULL.  Returns the heap's number, which is never reused and which the other
 *   functions take.  Without the recorder it returns 0, and the other functions
 *   do nothing.
 * - destroy: this also frees all blocks of the heap that are still live.
 * - alloc: call it after allocating the block at 'p' and before another thread
 *   can see the block.  If 'p' is NULL, the allocation has failed and nothing
 *   is recorded.
 * - free: call it before another thread can get the block.
 * - realloc: call it after the block at 'old' has been resized and is now at
 *   'p', which may be the same address, and before the memory of 'old' can be
 *   allocated again.  'old' is NULL if the program's reallocation allocated a
 *   block.  'p' is NULL and 'size' is 0 if the reallocation freed a block.
 */
static inline uint64_t
hatftrace_heap_create(const char *name)
{
	return hatftrace_client_heap_create ? hatftrace_client_heap_create(name)
					    : 0;
}

static inline void
hatftrace_heap_destroy(uint64_t heap)
{
	if (heap != 0 && hatftrace_client_heap_destroy)
		hatftrace_client_heap_destroy(heap);
}

static inline void
hatftrace_heap_alloc(uint64_t heap, const void *p, size_t size)
{
	if (heap != 0 && p != NULL && hatftrace_client_heap_alloc)
		hatftrace_client_heap_alloc(heap, p, size);
}

static inline void
hatftrace_heap_free(uint64_t heap, const void *p)
{
	if (heap != 0 && p != NULL && hatftrace_client_heap_free)
		hatftrace_client_heap_free(heap, p);
}

static inline void
hatftrace_heap_realloc(uint64_t heap, const void *old, const void *p,
		       size_t size)
{
	if (heap != 0 && hatftrace_client_heap_realloc)
		hatftrace_client_heap_realloc(heap, old, p, size);
}

#ifdef __cplusplus
}
#endif

#endif /* HATFTRACE_H */

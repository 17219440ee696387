/* SPDX-License-Identifier: MIT */
/*
 * hatftrace.h - what a program may tell the recorder that traces it
 *
 * For C and C++.  Nothing need be linked: the functions that do the work are
 * weak, and are there when libhatftrace.so is preloaded.  Without it, each call
 * below is a look at a null pointer and does nothing, so a program may be
 * shipped with them. All may be called from any thread, but not from signal
 * handlers; errno is kept.
 */
#ifndef HATFTRACE_H
#define HATFTRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HATFTRACE_WEAK __attribute__((weak))

int hatftrace_client_start(void) HATFTRACE_WEAK;
int hatftrace_client_stop(void) HATFTRACE_WEAK;
int hatftrace_client_flush(void) HATFTRACE_WEAK;
int hatftrace_client_is_recording(void) HATFTRACE_WEAK;
void hatftrace_client_mark(const char *text) HATFTRACE_WEAK;
uint64_t hatftrace_client_heap_create(const char *name) HATFTRACE_WEAK;
void hatftrace_client_heap_destroy(uint64_t heap) HATFTRACE_WEAK;
void hatftrace_client_heap_alloc(uint64_t heap, const void *p,
				 size_t size) HATFTRACE_WEAK;
void hatftrace_client_heap_free(uint64_t heap, const void *p) HATFTRACE_WEAK;
void hatftrace_client_heap_realloc(uint64_t heap, const void *old,
				   const void *p, size_t size) HATFTRACE_WEAK;

/*
 * Begin to record (into a new trace), end the trace, or have in its file all
 * that has happened up to now.  Returns 0 when it is done; -1 if there is no
 * recorder, if it is so already, or if it failed.  Every event of the calling
 * thread after a start and before a stop is recorded; those of the others,
 * about.
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

/* 1 if events are recorded, else 0. */
static inline int
hatftrace_is_recording(void)
{
	return hatftrace_client_is_recording ? hatftrace_client_is_recording()
					     : 0;
}

/*
 * Put a comment with this text, of which 256 bytes count, into the trace.  NULL
 * is no mark.
 */
static inline void
hatftrace_mark(const char *text)
{
	if (text != NULL && hatftrace_client_mark)
		hatftrace_client_mark(text);
}

/*
 * Pools.  A heap is what hands out parts of memory that it has got as a whole:
 * what it does is recorded beside, and apart from, what malloc() did for it.
 *
 * create: the name is for people, 16 bytes of it count, NULL is allowed.
 * Returns the number of the heap, for the calls below; 0 without a recorder,
 * and then they do nothing.  Numbers are not used again. destroy: all that the
 * heap has handed out is gone with it. alloc: call it after the block at 'p'
 * (NULL: there was none, and nothing is recorded) has been taken, before
 * anybody else knows of it.  free: before the block can be taken again.
 * realloc: after
 * 'old' has become 'p' and before it can be taken again; either may be NULL,
 * for a block that began, or ('size' 0) that ended, by it.
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

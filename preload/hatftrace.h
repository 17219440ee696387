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
 * Pools.  A heap, or pool, takes memory from malloc() or the system and hands
 * out blocks of it.  The trace records these blocks separately from the memory
 * that the heap has taken.
 *
 * create: 'name' is a label, of which the first 16 bytes are used; it may be
 * NULL.  Returns the heap's number, which the calls below take and which is
 * never reused.  Without the recorder it returns 0, and the other calls do
 * nothing.
 * destroy: all blocks of the heap that are still live end with it.
 * alloc: call it after allocating the block at 'p' and before another thread
 * can see the block.  With NULL, a failed allocation, it records nothing.
 * free: call it before the block can be allocated again.
 * realloc: call it after 'old' has become 'p' and before the memory of 'old'
 * can be allocated again.  'old' is NULL if the call allocated a block; 'p' is
 * NULL and 'size' 0 if it freed one.
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

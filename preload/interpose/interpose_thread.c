/* SPDX-License-Identifier: MIT */
/*
 * interpose_thread.c - the start and the names of threads
 *
 * A thread made by pthread_create() starts in thread_main(), which attaches the
 * thread and records its parent and its start function.  A thread made in
 * another way is attached at its first event.  When a thread returns, calls
 * pthread_exit() or is cancelled, libc unwinds thread_main(), which marks the
 * thread as ending.  The writer learns from the kernel when the thread has
 * ended.
 *
 * This file is compiled without exceptions, so pthread_cleanup_push() calls a
 * function of libc.  With exceptions, pthread_cleanup_push() would need the
 * unwinder library, which would be loaded into every program.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "preload/process/attach.h"
#include "preload/record/real.h"
#include "preload/record/record.h"
#include "preload/stacks/stack_memory.h"
#include "preload/state/process_state.h"
#include "preload/sys/export.h"
#include "preload/sys/memory.h"

/* What the parent passes to a new thread. */
struct birth {
	_Atomic bool taken;
	void *(*start)(void *);
	void *argument;
	uint64_t parent;
	/* size of the thread's stack; 0: unknown or not needed */
	size_t stack_nbytes;
};

/*
 * The number of elements of 'births'.  A new thread needs one until the thread
 * runs.  If all are in use, a new thread starts in the program's function
 * instead of thread_main(), and is attached at its first event.
 */
#define BIRTHS_MAX 1024
MEMORY_LARGE static struct birth births[BIRTHS_MAX];

static struct birth *
take_birth(void)
{
	for (size_t i = 0; i < BIRTHS_MAX; i++) {
		bool taken = false;

		/* acquire: pairs with the release in thread_main(). */
		if (atomic_compare_exchange_strong_explicit(
			    &births[i].taken, &taken, true,
			    memory_order_acquire, memory_order_relaxed))
			return &births[i];
	}
	return NULL;
}

static void
end_thread(void *unused)
{
	(void)unused;
	thread_mark_ending();
}

/*
 * Return the size of the stack of a new thread, including the thread's control
 * block.  Return 0 if the size is unknown or no call stacks are recorded.
 */
static size_t
stack_nbytes_of(const pthread_attr_t *attr)
{
	pthread_attr_t usual;
	size_t nbytes = 0;

	if (!record_has_stacks)
		return 0;
	if (attr != NULL)
		return pthread_attr_getstacksize(attr, &nbytes) == 0 ? nbytes
								     : 0;
	if (pthread_getattr_default_np(&usual) != 0)
		return 0;
	pthread_attr_getstacksize(&usual, &nbytes);
	return nbytes;
}

static void *
thread_main(void *argument)
{
	struct birth *const b = argument;
	void *(*const start)(void *) = b->start;
	void *const start_argument = b->argument;
	const uint64_t parent = b->parent;
	const size_t stack_nbytes = b->stack_nbytes;
	void *result;

	/* release: pairs with the acquire in take_birth(). */
	atomic_store_explicit(&b->taken, false, memory_order_release);
	if (stack_nbytes != 0)
		stack_memory_begin_thread(stack_nbytes);
	pthread_cleanup_push(end_thread, NULL);
	attach_thread(parent, (uintptr_t)start);
	result = start(start_argument);
	pthread_cleanup_pop(1);
	return result;
}

EXPORT int
pthread_create(pthread_t *thread, const pthread_attr_t *attr,
	       void *(*start)(void *), void *argument)
{
	struct birth *b = NULL;
	int result;

	real_resolve_others();
	if (!record_is_dormant() && attach_expect_thread())
		b = take_birth();
	if (b == NULL)
		return real.pthread_create(thread, attr, start, argument);
	b->start = start;
	b->argument = argument;
	b->parent = thread_self->id;
	b->stack_nbytes = stack_nbytes_of(attr);
	result = real.pthread_create(thread, attr, thread_main, b);
	/* release: pairs with the acquire in take_birth(). */
	if (result != 0)
		atomic_store_explicit(&b->taken, false, memory_order_release);
	return result;
}

/*
 * Return the thread with this pthread_t; NULL if no thread with this pthread_t
 * has had an event.  A thread that has ended may still be in the pool with the
 * same pthread_t, so return the thread that began last.
 */
static const struct thread *
find_thread(pthread_t thread)
{
	const struct thread *found = NULL;
	const uint32_t n = thread_pool_count();

	for (uint32_t i = 0; i < n; i++) {
		const struct thread *const t = thread_pool_at(i);

		if (thread_is_attached(t) && !t->is_nested &&
		    t->pthread == (uint64_t)thread &&
		    (found == NULL || t->id > found->id))
			found = t;
	}
	return found;
}

EXPORT int
pthread_setname_np(pthread_t thread, const char *name)
{
	uint64_t words[2] = { 0, 0 };
	int result;

	real_resolve_others();
	result = real.pthread_setname_np(thread, name);
	if (result != 0 || !process_is_tracing())
		return result;

	const struct thread *const t = find_thread(thread);

	if (t != NULL) {
		/*
		 * The name has at most 15 bytes, since the real function has
		 * succeeded.
		 */
		memcpy(words, name, strnlen(name, sizeof(words)));
		record_event(EVENT_NAME, 0, t->id, words[0], words[1]);
	}
	return result;
}

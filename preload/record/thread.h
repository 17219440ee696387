/* SPDX-License-Identifier: MIT */
/*
 * thread.h - the recorder's state for each thread
 *
 * One thread of the program (the producer, through 'thread_self') and the
 * writer use a 'struct thread'; a comment at each field or group of fields says
 * which thread writes it.  These structs are in a pool that is mapped part by
 * part and never unmapped.  In the child of a fork, the kernel wipes the pool
 * (MADV_WIPEONFORK).  A wiped, free or never attached struct has 'limit' 0,
 * which sends the producer to the slow path.  One comparison therefore answers
 * "is there room", "am I attached", "is this a forked child" and "am I a signal
 * handler that interrupted a recording".
 *
 *   FREE ──claim──► CLAIMED ──attach──► ACTIVE ──► ENDING ◄──► PROBED
 *    ▲                                    ▲                     │  │
 *    └──────── commit ──────── DEAD ◄─────┼────── writer ───────┘  │
 *                                         └────── take over ───────┘
 *
 * A thread that is ENDING still records, because frees that come after all
 * destructors need a ring.  Once the kernel no longer knows the thread, nothing
 * more comes into its ring.  To find this out, another thread changes the
 * state of the ENDING thread to PROBED, which only one thread can do at a time,
 * and then asks the kernel.  If the ENDING thread is gone, what follows depends
 * on which thread has asked:
 *
 *   - A new thread takes over the ring with its events, and records after them
 *     (EVENT_HANDOVER).  The new thread then needs neither memory nor the
 *     writer's help, and the ring's pages are warm.
 *   - The writer makes the thread DEAD, and recycles its struct once its last
 *     event is in the file.  The writer waits a few milliseconds before it asks
 *     the kernel.  Meanwhile a new thread may take over the ring.
 */
#ifndef THREAD_H
#define THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/rings/image.h"
#include "hatf/rings/order.h"

enum thread_state {
	THREAD_FREE = 0, /* free; wiped memory has this state, too */
	THREAD_CLAIMED,
	THREAD_ACTIVE,
	THREAD_ENDING,
	THREAD_PROBED,
	THREAD_DEAD,
	THREAD_MUTED, /* not in the pool; its calls are not recorded */
};

#define THREAD_MAX IMAGE_RINGS_MAX

struct thread {
	/*
	 * Written by the producer.  'limit' is 0 while the thread is recording,
	 * so that a signal handler that interrupts the recording and allocates
	 * uses another ring.
	 */
	_Alignas(RING_CACHE_LINE) uint64_t limit; /* in words */
	uint64_t head;				  /* words written */
	/*
	 * Copies of 'tick' for the fast paths of allocations and of frees.  If
	 * allocations have call stacks, 'alloc_tick' is CLOCK_NO_TICK, so that
	 * record_stacked_alloc() records them.  If frees have call stacks,
	 * 'free_tick' is CLOCK_NO_TICK, so that record_stacked_free() records
	 * them.
	 */
	uint64_t alloc_tick, free_tick;
	struct ring *ring;
	uint32_t mask;	/* copy of the ring's mask, in this cache line */
	uint32_t owner; /* the thread's number for owners.h */
	/* 'clock_epoch' as read just before the thread's last stamp; 0: none */
	uint64_t epoch;
	uint64_t tick; /* last tick in the ring, or CLOCK_NO_TICK */

	/*
	 * Written by the producer.  'deleting' is the block that the
	 * allocator's own operator delete is freeing, see interpose_cxx.c.
	 */
	const void *deleting;
	/* the struct for signal handlers that interrupt a recording; or NULL */
	struct thread *nested;
	struct capture *capture; /* NULL: no stack was captured yet */
	/* number of the last stack that was put into the ring */
	uint32_t stack;
	/*
	 * generation (stack_table.h) in which 'stack' was put into the ring; 0:
	 * never
	 */
	uint32_t stack_generation;

	/* Written by the producer, rarely; the writer reads the counters. */
	_Atomic uint64_t wait_count, wait_ns;

	/* Shared; the picture above shows the transitions of 'state'. */
	_Alignas(RING_CACHE_LINE) _Atomic uint32_t state;
	/*
	 * Set when a thread is attached.  Later, only a new thread that takes
	 * over the ring changes 'tid', in state PROBED.  'pid' may be the id of
	 * a child that clone() has made and that shares its parent's memory.
	 */
	_Atomic int tid, pid;
	/* the struct is for signal handlers; constant while attached */
	bool is_nested;
	uint64_t id;	  /* HATF thread number; changes when 'tid' does */
	uint64_t pthread; /* pthread_t; changes when 'tid' does */

	/* Set by the thread that attaches, and later only by the writer. */
	/*
	 * The writer takes events of the thread with the HATF number
	 * 'producer.id' from the ring at present.  The thread with the number
	 * 'id' records now.  The two numbers differ while the ring has events
	 * from before a hand-over.
	 */
	_Alignas(RING_CACHE_LINE) struct order_producer producer;
	bool is_gone;	       /* destroyThread is in the trace */
	bool is_announced;     /* createThread is in the trace */
	uint64_t announced[3]; /* operands of the thread's EVENT_THREAD */
	/* the thread's name, as in EVENT_NAME; 0: none */
	uint64_t name[2];
	/*
	 * When the writer first found the ring empty, or when it last asked the
	 * kernel whether the thread exists; 0: the ring was not empty in the
	 * writer's latest round.
	 */
	uint64_t idle_since_ns;
};

/*
 * The calling thread's struct; never NULL.  Initial-exec TLS is scarce, so this
 * is only a pointer, and not the struct itself.
 */
extern __thread struct thread *thread_self
	__attribute__((tls_model("initial-exec")));

/* 'thread_self' of threads that are not attached, and of muted threads. */
extern struct thread thread_unattached, thread_muted;

/*
 * Map the first part of the pool.  The largest capacity of a ring is
 * 'initial_ring_words' for the initial thread, and 'ring_words' for all others.
 * 'may_wait' says whether producers wait for room.  Return false if there is no
 * memory.  The child of a fork reuses the mapping of its parent, which the
 * kernel has wiped.
 */
bool thread_pool_init(uint64_t initial_ring_words, uint64_t ring_words,
		      bool may_wait);

/* Writer: map the next part of the pool ahead of need. */
void thread_pool_extend(void);

/*
 * For the writer: the pool's threads have the indices 0 to thread_pool_count()
 * - 1.
 */
uint32_t thread_pool_count(void);
struct thread *thread_pool_at(uint32_t idx);

/*
 * Attach the calling thread: claim a 'struct thread', give it a ring and make
 * it 'thread_self'.  The thread gets number 0 if its kernel id is
 * 'initial_tid'.  Return NULL if there is no memory, or if all structs are in
 * use.  The caller must have blocked all signals.  Set '*is_handover_ret' to
 * whether the thread has taken over the ring of an ended thread; its first
 * event must then be an EVENT_HANDOVER.
 */
struct thread *thread_attach(int initial_tid, bool *is_handover_ret);

/*
 * Attach a second 'struct thread', with its own ring, for a signal handler that
 * interrupted a recording of 't'.  Return NULL if there is no memory, or if all
 * structs are in use.
 */
struct thread *thread_attach_nested(struct thread *t);

/*
 * These two functions are for a fork from a signal handler that has interrupted
 * a recording.  Call thread_note_interrupted() before the fork.  It notes the
 * rings that the calling thread may be writing to.  In the child, the structs
 * are wiped and the rings are not mapped.  Call thread_repair_interrupted() in
 * the child.  It maps memory at the same addresses, so that the interrupted
 * recording can write its last words, and it detaches the thread.
 */
void thread_note_interrupted(void);
void thread_repair_interrupted(void);

/*
 * Offer the calling thread's ring to new threads, unless the thread has a
 * second ring for its signal handlers.  Call this when the thread will end
 * soon.
 */
void thread_mark_ending(void);

/*
 * From now on no thread takes over the ring of another.  Call this before the
 * program installs a seccomp filter that kills the process for tgkill(2),
 * because a new thread calls tgkill(2) to ask whether an old thread has ended.
 */
void thread_end_handovers(void);

/*
 * Let a new thread claim 't'.  The writer calls this when all events of 't' are
 * in the file.  A thread that has claimed 't' but has got no ring also calls
 * this.
 */
void thread_recycle(struct thread *t);

/*
 * Writer: return whether the thread has ended.  If the result is true, 't' is
 * now DEAD, and everything that the thread published is visible to the caller.
 */
bool thread_has_ended(struct thread *t);

/*
 * Is 't' attached?  The answer is exact for the thread that owns 't', and a
 * hint for other threads.
 */
bool thread_is_attached(const struct thread *t);

/*
 * Writer: is the ring of 't' in use?  It is in use from the attachment until
 * thread_recycle().
 */
bool thread_is_in_use(const struct thread *t);

/*
 * Return how many HATF thread numbers have been assigned.  Number 0 counts as
 * assigned from the start.
 */
uint64_t thread_id_count(void);

#endif /* THREAD_H */

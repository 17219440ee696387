/* SPDX-License-Identifier: MIT */
/*
 * lane_spread.h - begin each thread on a processor of its own
 *
 * The kernel may begin a thread on the processor of its creator, even if
 * another processor is idle.  In that case, the thread waits for the creator's
 * processor for some milliseconds, which is as long as a short replay takes.
 * Therefore the first threads of a replay begin on different processors.  After
 * a thread has begun, the kernel may move the thread as usual.
 */
#ifndef LANE_SPREAD_H
#define LANE_SPREAD_H

#include <pthread.h>
#include <stdint.h>

/*
 * Note the processors that this thread, the first one, may use, and the one on
 * which it runs.  Call this once, before other threads exist.
 */
void lane_spread_init(void);

/*
 * Move a new thread to the allowed processor that is 'idx' places after the
 * processor of the first thread.  If the caller runs on that processor, move
 * the new thread to the processor of the first thread instead.  If there are
 * not so many processors, do nothing.
 *
 * Until this function returns, the new thread must not create threads, because
 * these would be bound to one processor for ever.
 */
void lane_spread_move(pthread_t thread, uint32_t idx);

#endif /* LANE_SPREAD_H */

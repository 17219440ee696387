/* SPDX-License-Identifier: MIT */
/*
 * lane_times.h - the time that a thread spends in calls, and in waits
 *
 * A thread is busy from its first word to its last one, except while it waits
 * for another thread or until a given time.  The driver therefore reads the
 * clock when a thread begins or ends and at each wait, but not in a call that
 * does not wait.
 */
#ifndef LANE_TIMES_H
#define LANE_TIMES_H

#include "tools/driver/lane_place.h"
#include "tools/driver/turns.h"

#include <stdint.h>

struct lane_times {
	/*
	 * Start time of the thread, plus the time of its waits and pauses since
	 * then.  So the thread's busy time is the present time minus
	 * 'begin_ns'.
	 */
	uint64_t begin_ns;
	uint64_t busy_ns;
	/*
	 * Wall time of the waits in lane_times_wait(), and the CPU time that
	 * the thread used in these waits.
	 */
	uint64_t wait_ns, wait_cpu_ns;
};

uint64_t lane_now_ns(void);

/*
 * lane_times_begin() notes that a thread begins, lane_times_end() that it ends.
 * The times of a lane are the sums over all its threads.
 */
void lane_times_begin(struct lane_times *times);
void lane_times_end(struct lane_times *times);

/* Begin to measure now, and forget all earlier times of the lane. */
void lane_times_restart(struct lane_times *times);

/*
 * Wait until other threads have incremented 'number' to 'turn'.  Count the time
 * as a wait, not as busy time.
 */
void lane_times_wait(struct lane_times *times, struct lane_place *place,
		     turn_number *number, uint32_t turn);

/*
 * Exclude the time from 'begin_ns' until now from the busy time, because the
 * thread has made no call since 'begin_ns'.
 */
void lane_times_skip(struct lane_times *times, uint64_t begin_ns);

#endif /* LANE_TIMES_H */

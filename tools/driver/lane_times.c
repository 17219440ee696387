/* SPDX-License-Identifier: MIT */
/* lane_times.c - see lane_times.h */
#include "tools/driver/lane_times.h"

#include <time.h>

static uint64_t
read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t
lane_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

void
lane_times_begin(struct lane_times *times)
{
	times->begin_ns = lane_now_ns();
}

void
lane_times_end(struct lane_times *times)
{
	times->busy_ns += lane_now_ns() - times->begin_ns;
}

void
lane_times_restart(struct lane_times *times)
{
	*times = (struct lane_times){ .begin_ns = lane_now_ns() };
}

void
lane_times_skip(struct lane_times *times, uint64_t begin_ns)
{
	times->begin_ns += lane_now_ns() - begin_ns;
}

void
lane_times_wait(struct lane_times *times, struct lane_place *place,
		turn_number *number, uint32_t turn)
{
	uint64_t begin, now, cpu;

	if (turn_has_come(number, turn))
		return;
	begin = lane_now_ns();
	if (turn_spin(number, turn)) {
		now = lane_now_ns();
		times->wait_cpu_ns += now - begin;
	} else {
		/*
		 * A spinning thread uses a processor all the time, so count the
		 * whole time of spinning as CPU time.  Reading the CPU clock of
		 * a thread is slow, so read that clock only if the thread
		 * sleeps.
		 */
		times->wait_cpu_ns += lane_now_ns() - begin;
		cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
		lane_place_state(place, LANE_WAITS, 0);
		turn_sleep(number, turn);
		lane_place_state(place, LANE_CALLS, 0);
		times->wait_cpu_ns += read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
		now = lane_now_ns();
	}
	times->wait_ns += now - begin;
	times->begin_ns += now - begin;
}

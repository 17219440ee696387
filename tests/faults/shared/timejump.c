/* SPDX-License-Identifier: MIT */
/*
 * timejump.c - move libc's clocks by an hour, back and forth, at each call
 *
 * Other programs use the system's clocks, so those stay unchanged.
 */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic unsigned asked;

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	const long result = syscall(SYS_clock_gettime, id, ts);

	if (asked++ % 2 != 0)
		ts->tv_sec -= 3600;
	return (int)result;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *now)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (now != NULL)
		*now = ts.tv_sec;
	return ts.tv_sec;
}

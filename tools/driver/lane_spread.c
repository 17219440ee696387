/* SPDX-License-Identifier: MIT */
/* lane_spread.c - see lane_spread.h */
#include "tools/driver/lane_spread.h"

#include <sched.h>

static cpu_set_t allowed;
static unsigned allowed_count;
static unsigned first; /* the processor of the first thread */

void
lane_spread_init(void)
{
	const int processor = sched_getcpu();

	/* Do nothing if the processors do not fit in a cpu_set_t. */
	if (processor < 0 ||
	    sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	allowed_count = (unsigned)CPU_COUNT(&allowed);
	first = (unsigned)processor;
}

/*
 * Return the processor for a new thread: the allowed one that is 'idx' places
 * after 'first'.  If the caller runs on that processor now, the new thread
 * would have to wait there, so return 'first' instead.  The caller is usually
 * the first thread.  If the kernel has moved it from 'first' to another
 * processor, 'first' is usually free.
 */
static unsigned
find_processor(uint32_t idx)
{
	const unsigned here = (unsigned)sched_getcpu();
	unsigned processor = first;

	while (idx > 0) {
		processor = (processor + 1) % CPU_SETSIZE;
		if (CPU_ISSET(processor, &allowed))
			idx--;
	}
	return processor != here ? processor : first;
}

void
lane_spread_move(pthread_t thread, uint32_t idx)
{
	cpu_set_t one;

	if (idx >= allowed_count)
		return;
	CPU_ZERO(&one);
	CPU_SET(find_processor(idx), &one);
	/*
	 * The first call moves the thread at once.  The second call lets the
	 * kernel move the thread again.  Unlike an attribute of
	 * pthread_create(), these calls allocate no memory.  Ignore failures:
	 * the thread then stays where it is.
	 */
	if (pthread_setaffinity_np(thread, sizeof(one), &one) == 0)
		pthread_setaffinity_np(thread, sizeof(allowed), &allowed);
}

/* SPDX-License-Identifier: MIT */
/* standstill.h - find the call in which the driver makes no progress */
#ifndef STANDSTILL_H
#define STANDSTILL_H

#include "tools/compile/compile.h"
#include "tools/driver/driver.h"

/*
 * What standstill_look() has last seen of the thread of a lane (lanes.h):
 * copies of some members of struct lane_place, and for how many milliseconds
 * these have not changed.
 */
struct standstill_lane {
	const char *next;
	uint32_t chunk_count, state, detail;
	uint64_t ms;
};

struct standstill {
	const struct driver_run *run;
	const struct compiled *compiled;
	/* NULL: there was no memory, so no standstill is detected */
	struct standstill_lane *lanes;
	uint32_t phase;
	uint64_t phase_ms;
};

void standstill_open(struct standstill *s, const struct driver_run *run,
		     const struct compiled *compiled);
void standstill_close(struct standstill *s);

/*
 * Find out in which calls the threads are, 'ms' after the previous look.  If
 * the driver has made no progress for 'limit_ms', describe this in 'text', of
 * 'cap' bytes, and return true.
 */
bool standstill_look(struct standstill *s, uint64_t ms, uint64_t limit_ms,
		     char *text, size_t cap);

#endif /* STANDSTILL_H */

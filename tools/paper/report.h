/* SPDX-License-Identifier: MIT */
/*
 * report.h - the paper's tables, filled with what was measured
 */
#ifndef REPORT_H
#define REPORT_H

#include "tools/measure/reread.h"
#include "tools/measure/sizing.h"
#include "tools/measure/timing.h"
#include "tools/paper/table3.h"
#include "tools/ui/table.h"

/* One trace. */
struct measured {
	char *name;
	struct census census;
	struct sizing sizing;
	struct timing timing;
	struct reread reread;
};

struct report {
	struct measured *traces;
	size_t count;
	unsigned runs;
	uint64_t timed_max; /* records of a trace that were timed, at most */
};

/* Print all tables.  False without memory, which has been said then. */
bool report_print(const struct report *r, enum table_format format,
		  struct out *o);

#endif /* REPORT_H */

/* SPDX-License-Identifier: MIT */
/* report.h - the paper's tables, filled with our measurements */
#ifndef REPORT_H
#define REPORT_H

#include "tools/measure/reread.h"
#include "tools/measure/sizing.h"
#include "tools/measure/timing.h"
#include "tools/paper/table3.h"
#include "tools/ui/table.h"

/* The measurements of one trace. */
struct measured {
	char *name;
	struct table3 table3;
	struct sizing sizing;
	struct timing timing;
	struct reread reread;
};

struct report {
	struct measured *traces;
	size_t count;
	unsigned runs;
	uint64_t timed_max; /* maximum number of records timed per trace */
};

/* Print all tables.  If memory runs out, print an error and return false. */
bool report_print(const struct report *r, enum table_format format,
		  struct out *o);

#endif /* REPORT_H */

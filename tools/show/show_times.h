/* SPDX-License-Identifier: MIT */
/* show_times.h - the heap in equal parts of the run */
#ifndef SHOW_TIMES_H
#define SHOW_TIMES_H

#include "tools/summary/census.h"
#include "tools/ui/json.h"
#include "tools/ui/out.h"

/* Print a table with a line for each part. */
void show_times(struct out *o, const struct census *c);

/* Return an array of the spans of the history. */
json_t *show_json_times(const struct census *c);

#endif /* SHOW_TIMES_H */

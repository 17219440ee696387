/* SPDX-License-Identifier: MIT */
/* show_lifetimes.h - how long the freed blocks lived, by class of lifetimes */
#ifndef SHOW_LIFETIMES_H
#define SHOW_LIFETIMES_H

#include "tools/summary/census.h"
#include "tools/ui/json.h"
#include "tools/ui/out.h"

/* Print a table with a line for each class of lifetimes. */
void show_lifetimes(struct out *o, const struct census *c);

/*
 * Return an array of objects, each for a pair of a size class and a lifetime
 * class.  An object has two amounts of freed blocks in its size class: the
 * blocks whose lifetime in events is in the lifetime class, and the blocks
 * whose lifetime in time units is in the lifetime class.  A pair for which both
 * amounts are 0 has no object.
 */
json_t *show_json_lifetimes(const struct census *c);

#endif /* SHOW_LIFETIMES_H */

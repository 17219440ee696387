/* SPDX-License-Identifier: MIT */
/* started.h - when did a process begin? */
#ifndef STARTED_H
#define STARTED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * In nanoseconds since the system's start, to a clock tick; false: there is no such
 * process.
 */
bool started_ns(uint64_t pid, uint64_t *ns_ret);

#endif /* STARTED_H */

/* SPDX-License-Identifier: MIT */
/*
 * available.h - the memory that this process can still get
 *
 * This is the memory that the system has available or, if less, the memory that
 * the limit of a control group leaves.  Two kinds of limits count: those of
 * the control groups of this process, of version 1 or 2, and those of the
 * ancestors of these groups.
 */
#ifndef AVAILABLE_H
#define AVAILABLE_H

#include <stdbool.h>
#include <stdint.h>

struct available {
	uint64_t nbytes; /* UINT64_MAX: unknown */
	/* 'nbytes' is what the limit of a control group leaves */
	bool is_of_a_group;
};

/*
 * Return the memory that this process can still get.  'root' is "", or a folder
 * to read instead of "/".
 */
struct available available_memory(const char *root);

#endif /* AVAILABLE_H */

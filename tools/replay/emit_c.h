/* SPDX-License-Identifier: MIT */
/*
 * emit_c.h - a compiled trace as a C program
 *
 * The program has functions for each thread, with one statement for each call.
 * Its threads wait for one another as the driver's threads do (replay_words.h).
 */
#ifndef EMIT_C_H
#define EMIT_C_H

#include "tools/compile/compile.h"

/*
 * Maximum number of calls.  With more calls, compilers take a minute or longer.
 */
#define EMIT_CALLS_MAX 100000

/*
 * Write the program to 'path', or to standard output if it is "-".  'trace' is
 * the name of the trace, untrusted.  On failure print a message and return
 * false.
 */
bool emit_c(const char *path, const char *trace,
	    const struct compiled *compiled);

#endif /* EMIT_C_H */

/* SPDX-License-Identifier: MIT */
/*
 * brief.h - the short form of 'hatf report', as 'hatf record' prints it
 *
 * Prints messages on standard error.
 */
#ifndef BRIEF_H
#define BRIEF_H

#include <stdbool.h>

/*
 * Read the trace 'path' and print three lines: the peak, what lives at the end,
 * and what was allocated, each with its largest site.  A fourth line says how
 * to get sites, or their functions, if the trace has none.  False after a
 * message if the trace cannot be read.
 */
bool brief_print(const char *path);

#endif /* BRIEF_H */

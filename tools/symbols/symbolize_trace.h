/* SPDX-License-Identifier: MIT */
/*
 * symbolize_trace.h - write a trace with the names of its functions
 *
 * Both functions print their errors on standard error.  Call them from one
 * thread at a time.
 */
#ifndef SYMBOLIZE_TRACE_H
#define SYMBOLIZE_TRACE_H

#include "tools/symbols/expand.h"
#include "tools/symbols/symbol_lookup.h"

/*
 * Write the trace 'path' to 'out', with names; "-" is standard input or output.
 * Return the exit status, which is 0 if the output lacks nothing of the trace,
 * even if the trace itself lacks events.  Store the counts in '*counts_ret'.
 */
int symbolize_trace(const char *path, const char *out,
		    struct symbol_lookup *lookup,
		    struct expand_counts *counts_ret);

/*
 * Replace the trace in the regular file 'path' by one with names.  The file
 * keeps its owner and its permissions for owner, group and others.  If the
 * owner is the user of this process, the file may get another group.
 *
 * If this function fails, if a copy of the trace would lack something, or if
 * SIGHUP, SIGINT or SIGTERM ends this process, the file stays unchanged and no
 * other file is left.  A copy of a trace without a trailer, for example, would
 * lack the end.  Return the exit status.
 *
 * If the trace has a trailer but lacks events, print a message, unless
 * 'is_told' is set.
 */
int symbolize_trace_in_place(const char *path, struct symbol_lookup *lookup,
			     bool is_told, struct expand_counts *counts_ret);

#endif /* SYMBOLIZE_TRACE_H */

/* SPDX-License-Identifier: MIT */
/* gather.h - the census of a trace file, as report, leaks and stat need it */
#ifndef GATHER_H
#define GATHER_H

#include "tools/summary/census.h"
#include "tools/summary/site_names.h"
#include "tools/trace/scan.h"

/* How to read. */
struct gather_options {
	struct hatf_reader_options reading;
	struct census_window window;
	struct stack_view_options view;
	bool waste;	/* count it, see waste.h */
	bool no_parent; /* do not read the trace of a forked child's parent */
	/* Sees each batch of events after the census; NULL: nobody. */
	void (*watch)(void *ctx, const struct census *census,
		      const struct hatf_event *events, size_t n);
	void *watch_ctx;
};

struct gathering {
	struct scan scan;
	struct census *census;
	struct site_names *names;
	/* Why the trace is not whole; NULL: it is. */
	const char *fault;
	char fault_text[512];
};

/*
 * Read the trace 'path'.  On failure print a message and return NULL.  A trace
 * that is damaged or incomplete is read as far as possible, and is a success.
 * The caller frees the result by gather_close(), which allows NULL.  One thread
 * at a time uses a gathering.
 */
struct gathering *gather_open(const char *path,
			      const struct gather_options *options);
void gather_close(struct gathering *g);

#endif /* GATHER_H */

/* SPDX-License-Identifier: MIT */
/*
 * gather.h - the census of a trace file, for 'hatf report' and other commands
 */
#ifndef GATHER_H
#define GATHER_H

#include "tools/summary/census.h"
#include "tools/summary/site_names.h"
#include "tools/trace/scan.h"

/* How to read the trace, and what to count. */
struct gather_options {
	struct hatf_reader_options reading;
	struct census_window window;
	struct stack_view_options view;
	/* also count the waste in other allocators, see waste.h */
	bool waste;
	bool pairs;	/* also count by thread and stack, see pairs.h */
	bool no_parent; /* do not read the trace of a forked child's parent */
	/*
	 * NULL, or a function that gather_open() calls with each batch of
	 * events after the census has counted it.  If the window ends in the
	 * batch, the census has counted only the events before its end.
	 */
	void (*watch)(void *ctx, const struct census *census,
		      const struct hatf_event *events, size_t n);
	void *watch_ctx;
};

struct gathering {
	struct scan scan;
	struct census *census;
	struct site_names *names;
	/*
	 * What makes the trace damaged or incomplete; NULL if the trace is
	 * complete, or if reading stopped at the end of the window.
	 */
	const char *fault;
	char fault_text[512];
};

/*
 * Read the trace 'path'.  On failure print a message and return NULL.  If the
 * trace is damaged or incomplete, read it as far as possible, set 'fault' and
 * return the result.  The caller frees the result by gather_close(), which
 * allows NULL.  Only one thread at a time may use the result.
 */
struct gathering *gather_open(const char *path,
			      const struct gather_options *options);
void gather_close(struct gathering *g);

#endif /* GATHER_H */

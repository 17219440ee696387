/* SPDX-License-Identifier: MIT */
/* replay_output.h - print the runs of a replay */
#ifndef REPLAY_OUTPUT_H
#define REPLAY_OUTPUT_H

#include "tools/replay/runs.h"
#include "tools/ui/out.h"

#include <jansson.h>

/* A replayed trace and its runs, and how to print them. */
struct replay_view {
	const char *path; /* path of the trace, untrusted */
	const struct compiled *compiled;
	const struct replay_runs *runs;
	bool markdown; /* print Markdown */
	/*
	 * Each call was made at its time in the trace, so the duration of a run
	 * says nothing about the allocator.
	 */
	bool is_real_time;
	/*
	 * With --what-if: the text of the changes, and the trace without them.
	 */
	const char *what_if; /* NULL: no --what-if */
	const struct replay_view *original;
};

void replay_print_text(struct out *o, const struct replay_view *view);

/* Print the figures of the trace, and what the replay leaves out or adds. */
void replay_print_heading(struct out *o, const struct replay_view *view);

/* Print which allocators made no mistake in a checked replay. */
void replay_print_checked(struct out *o, const struct replay_view *view);

/* Print what the changes save compared with the original trace. */
void replay_print_savings(struct out *o, const struct replay_view *view);

/* Add the figures of the trace, REPLAY_TRACE_KEYS members, to an object. */
void replay_set_trace(json_t *object, const struct replay_view *view);
#define REPLAY_TRACE_KEYS 22

/*
 * Return the figures as one JSON object of REPLAY_JSON_KEYS keys.  If there is
 * no memory, the object lacks keys, or the result is NULL.
 */
json_t *replay_json(const struct replay_view *view);
#define REPLAY_JSON_KEYS 28

/*
 * Write a page with charts to 'path', or to standard output if it is "-".  The
 * runs must have been sampled.  On failure print a message and return false.
 */
bool replay_write_page(const char *path, const struct replay_view *view);

/* Print one JSON object.  On failure print a message and return false. */
bool replay_print_json(struct out *o, const struct replay_view *view);

#endif /* REPLAY_OUTPUT_H */

/* SPDX-License-Identifier: MIT */
/*
 * site_names.h - the names of the sites and frames of call stacks
 *
 * The other files of tools/summary get the names of stacks only from this file,
 * which gets them from a stack_view.  Names are already escaped (escape.h), so
 * a caller can print them.
 */
#ifndef SITE_NAMES_H
#define SITE_NAMES_H

#include "hatf/hatf.h"
#include "tools/sites/stack_view.h"

/* Selects the part of a site's name that site_names_get() returns. */
enum site_part {
	SITE_PLACE, /* function, file and line, or module and offset */
	SITE_FUNCTION,
	SITE_FILE,
	SITE_MODULE,
};

struct site_names;

/*
 * Open the names of the sites of 'stacks', which the caller owns and which must
 * contain all definitions.  Return NULL if there is no memory.
 */
struct site_names *site_names_open(const struct hatf_stacks *stacks,
				   const struct stack_view_options *options);
void site_names_close(struct site_names *names);

/*
 * Like stack_view_report_wrappers().  Call this after all names were requested.
 */
void site_names_report_wrappers(const struct site_names *names,
				const char *path);

/*
 * Return the stack without its hidden innermost frames, like stack_view_top().
 */
uint64_t site_names_top(struct site_names *names, uint64_t stack);

/* Does the view hide the frame?  Like stack_view_hides(). */
bool site_names_hides(const struct site_names *names,
		      const struct hatf_frame *frame);

/*
 * Return the name of a stack's site, or a part of the name.  The text is valid
 * until the next call of site_names_get(), site_names_frame() or
 * site_names_walk().  Return NULL if there is no memory.
 */
const char *site_names_get(struct site_names *names, uint64_t stack,
			   enum site_part part);

/* Return the name of a frame; valid as long as a text of site_names_get(). */
const char *site_names_frame(struct site_names *names, uint64_t frame);

/*
 * Call 'tell' with the name of each frame of a stack, the innermost first.
 * Leave out the hidden innermost frames and the frames of the recorder, and
 * stop after SITE_FRAMES_MAX frames.
 */
#define SITE_FRAMES_MAX 256
void site_names_walk(struct site_names *names, uint64_t stack,
		     void (*tell)(void *ctx, const char *frame), void *ctx);

/* Return the stack of the caller, like stack_view_caller(). */
uint64_t site_names_caller(const struct site_names *names, uint64_t stack);

#endif /* SITE_NAMES_H */

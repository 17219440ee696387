/* SPDX-License-Identifier: MIT */
/*
 * stack_view.h - the call stacks of a trace as a user wants to see them
 *
 * A view hides the innermost frames of a stack if they belong to the allocator,
 * to the recorder, or to a wrapper of the allocator that the user names, such
 * as xmalloc.  With 'fold_std', a view also hides frames of the standard
 * library of C, C++ or Rust.  With 'is_raw', a view hides nothing.  The
 * innermost visible frame is the site of an allocation.
 *
 * A view answers for each stack in constant time once it has seen the stack.
 * The view takes about 24 bytes for each stack that it has seen, and keeps a
 * copy of the name of each site.  Only one thread may use a view.
 */
#ifndef STACK_VIEW_H
#define STACK_VIEW_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Maximum number of bytes of a frame's text, with the NUL.  A longer text loses
 * its middle (cut.h); different texts stay different.
 */
#define STACK_VIEW_TEXT_NBYTES 2048

/* Maximum number of wrappers that a user may name. */
#define STACK_VIEW_WRAPPERS_MAX 64

struct stack_view;

/* Begins as all zeros. */
struct stack_view_options {
	bool is_raw;	/* hide no frames */
	bool fold_std;	/* hide the standard library, too */
	bool hides_new; /* hide operator new, too */
	/*
	 * Also hide functions that match one of these globs, which the caller
	 * owns.  If the function of a frame is unknown, compare the text that
	 * stands for the frame instead, with or without the folders in it.
	 */
	const char *wrappers[STACK_VIEW_WRAPPERS_MAX];
	/* where each wrapper comes from; the caller owns the text */
	const char *wrapper_origins[STACK_VIEW_WRAPPERS_MAX];
	unsigned wrapper_count;
	/*
	 * NULL, or an array of STACK_VIEW_WRAPPERS_MAX elements that several
	 * views share: each view sets the element of each wrapper that matches
	 * a frame.
	 */
	bool *has_matched;
};

/*
 * Hide functions that match 'glob'.  'origin' says where the glob comes from,
 * such as "--wrapper" or "heap.limits:3".  The caller owns both.  If there are
 * too many globs, or if 'glob' is empty, print a message that begins with
 * 'origin' and return false.
 */
bool stack_view_add_wrapper(struct stack_view_options *options,
			    const char *origin, const char *glob);

/*
 * Does a view with these options hide the frame, if all frames further inward
 * are hidden?
 */
bool stack_view_hides(const struct stack_view_options *options,
		      const struct hatf_frame *frame);

/* Return the options of a view.  They are valid until the view is closed. */
const struct stack_view_options *
stack_view_options(const struct stack_view *view);

/*
 * Make a view of 'stacks', which the caller owns and which may grow while the
 * view is in use.  Return NULL if there is no memory.  stack_view_close() frees
 * the view; it allows NULL.
 */
struct stack_view *stack_view_open(const struct hatf_stacks *stacks,
				   const struct stack_view_options *options);
void stack_view_close(struct stack_view *view);

/*
 * Print a line for each wrapper that has matched no frame in the stacks that
 * the view has seen.  'path' is the trace with these stacks.
 */
void stack_view_report_wrappers(const struct stack_view *view,
				const char *path);

/*
 * Print a line for each wrapper whose element of 'options->has_matched' is not
 * set.  This array must not be NULL.  Call this after the last view that shares
 * the array.
 */
void stack_view_report_all_wrappers(const struct stack_view_options *options);

/*
 * Return the stack without its hidden innermost frames.  If all frames are
 * hidden, return the stack itself.  Return 0 if the stack is not defined, or if
 * there is no memory.
 */
uint64_t stack_view_top(struct stack_view *view, uint64_t stack);

/*
 * Return 'stack' without its innermost frame.  Unless the view is raw, also
 * leave out the frames of the recorder that come next.  Return 0 if no frame is
 * left.
 */
uint64_t stack_view_caller(const struct stack_view *view, uint64_t stack);

/*
 * Return the number of the stack's site, from 1.  Stacks whose sites have equal
 * names get the same number.  Return 0 if the stack is not defined, or if there
 * is no memory.
 */
uint32_t stack_view_site(struct stack_view *view, uint64_t stack);

/* Return how many sites there are so far. */
uint32_t stack_view_site_count(const struct stack_view *view);

/*
 * Return the name of a site, a text like those of stack_view_frame_text().
 * stack_view_site_frame() returns a frame with this name.  The name and the
 * frame are valid until the view is closed.
 */
const char *stack_view_site_name(const struct stack_view *view, uint32_t site);
struct hatf_frame stack_view_site_frame(const struct stack_view *view,
					uint32_t site);

/*
 * Write what is known about a frame, such as "function (file:line)",
 * "file:line", "module+0xoffset", "0xaddress" or "[unknown]".  Bytes that a
 * terminal should not see are escaped.  'buf' has STACK_VIEW_TEXT_NBYTES.
 * Return 'buf'.
 */
char *stack_view_frame_text(const struct hatf_frame *frame, char *buf);

#endif /* STACK_VIEW_H */

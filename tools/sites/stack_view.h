/* SPDX-License-Identifier: MIT */
/*
 * stack_view.h - the call stacks of a trace as a user wants to see them
 *
 * The innermost frames of a stack may belong to the allocator or to the
 * recorder, and with 'fold_std' to the standard library of C++ or Rust.  A view
 * hides them.  The innermost frame that is left is the site of an allocation.
 *
 * A view answers for each stack in constant time once it has seen the stack.
 * It takes some 24 bytes for each stack that it has seen, and a copy of the
 * name for each site.  One thread uses a view.
 */
#ifndef STACK_VIEW_H
#define STACK_VIEW_H

#include "hatf/hatf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes of a frame's text, with the NUL; longer texts end in "...". */
#define STACK_VIEW_TEXT_NBYTES 2048

struct stack_view;

struct stack_view_options {
	bool is_raw;	/* hide nothing */
	bool fold_std;	/* hide the standard library, too */
	bool hides_new; /* hide operator new, too */
};

/*
 * Make a view of 'stacks', which stays the caller's and may grow while the view
 * is in use.  NULL: no memory.  stack_view_close() frees the view; NULL is
 * allowed.
 */
struct stack_view *stack_view_open(const struct hatf_stacks *stacks,
				   const struct stack_view_options *options);
void stack_view_close(struct stack_view *view);

/*
 * Return the stack without its hidden innermost frames.  If it has no others,
 * return the stack itself; 0 if it is not defined.
 */
uint64_t stack_view_top(struct stack_view *view, uint64_t stack);

/*
 * Return the number of the stack's site, from 1.  Sites are equal if their
 * names are.  0: the stack is not defined, or there is no memory.
 */
uint32_t stack_view_site(struct stack_view *view, uint64_t stack);

/* Return how many sites there are so far. */
uint32_t stack_view_site_count(const struct stack_view *view);

/*
 * Return the name of a site, a text as from stack_view_frame_text(), and a
 * frame of it.  Both are valid until the view is closed.
 */
const char *stack_view_site_name(const struct stack_view *view, uint32_t site);
struct hatf_frame stack_view_site_frame(const struct stack_view *view,
					uint32_t site);

/*
 * Write what is known about a frame: "function (file:line)", "module+0xoffset",
 * "0xaddress" or "[unknown]".  Bytes that a terminal should not see are
 * escaped.  'buf' has STACK_VIEW_TEXT_NBYTES.  Return 'buf'.
 */
char *stack_view_frame_text(const struct hatf_frame *frame, char *buf);

#endif /* STACK_VIEW_H */

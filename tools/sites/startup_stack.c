/* SPDX-License-Identifier: MIT */
/* startup_stack.c - see startup_stack.h */
#include "tools/sites/startup_stack.h"

#include "hatf/frames/hidden_frames.h"

#include <string.h>

/* startup_stack_is() returns false for a stack with more frames than this. */
#define DEPTH_MAX 64

static bool
is_loader(const char *library)
{
	return strncmp(library, "ld-", 3) == 0;
}

static bool
is_libc(const char *library)
{
	return strncmp(library, "libc.", 5) == 0 ||
	       strncmp(library, "libc-", 5) == 0;
}

/*
 * Does the loader seem to call libc?  In fact, the loader called a constructor
 * of some library.  The frame of the constructor is missing, because the
 * constructor called libc by a tail call.
 */
static bool
is_jump(const char *caller, const char *callee)
{
	return callee != NULL && is_libc(callee) && is_loader(caller);
}

bool
startup_stack_is(const struct hatf_stacks *stacks, uint64_t stack)
{
	const char *outermost = NULL, *library;
	struct hatf_stack at;
	struct hatf_frame frame;

	for (unsigned n = 0; stack != 0; n++, stack = at.parent) {
		if (n == DEPTH_MAX || !hatf_stacks_get(stacks, stack, &at) ||
		    !hatf_stacks_get_frame(stacks, at.frame, &frame) ||
		    hidden_frames_is_cut_off(&frame))
			return false;
		if (hidden_frames_is_unknown_caller(&frame) ||
		    hidden_frames_is_allocator(&frame))
			continue;
		if (frame.object == NULL)
			return false;
		library = hidden_frames_find_std_library(frame.object);
		if (library == NULL || is_jump(library, outermost))
			return false;
		outermost = library;
	}
	return outermost != NULL && is_loader(outermost);
}

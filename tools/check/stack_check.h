/* SPDX-License-Identifier: MIT */
/*
 * stack_check.h - do the call stacks of a trace fit together?
 *
 * Comments define frames and stacks, each once and before what refers to it (FORMAT
 * "Stacks").  A reader leaves out what does not fit and goes on, so that only this
 * tells.  Memory is O(frames and stacks), within the limits of 'struct hatf_stacks';
 * what is beyond them is at fault.
 */
#ifndef STACK_CHECK_H
#define STACK_CHECK_H

#include "hatf/hatf.h"

struct stack_check {
	struct hatf_stacks *stacks; /* NULL: comments mean nothing here */
	char text[96];		    /* room for a fault */
};

/* For the trace that 'reader' has opened; false if there is no memory. */
bool stack_check_begin(struct stack_check *d, const struct hatf_reader *reader);
void stack_check_end(struct stack_check *d);

/*
 * Take the next event.  '*fault_ret' is then NULL or says, until the next call, what
 * is wrong.  False if there is no memory.
 */
bool stack_check_event(struct stack_check *d, const struct hatf_event *e,
		       const char **fault_ret);

/* The stack that the event refers to; 0: none. */
uint64_t stack_check_stack_id(const struct hatf_event *e);

#endif /* STACK_CHECK_H */

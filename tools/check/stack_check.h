/* SPDX-License-Identifier: MIT */
/*
 * stack_check.h - check the call stack definitions of a trace
 *
 * Comments define frames and stacks, each once and before its first use (FORMAT
 * "Stacks").  Readers skip invalid definitions silently; this check reports
 * them.  Memory is O(frames and stacks), within the limits of 'struct
 * hatf_stacks'; definitions beyond the limits are faults.
 */
#ifndef STACK_CHECK_H
#define STACK_CHECK_H

#include "hatf/hatf.h"

struct stack_check {
	/* NULL: HATF of another producer, whose comments are not checked */
	struct hatf_stacks *stacks;
	char text[96]; /* buffer for the text of a fault */
};

/* Start with the trace that 'reader' has opened.  False if out of memory. */
bool stack_check_begin(struct stack_check *d, const struct hatf_reader *reader);
void stack_check_end(struct stack_check *d);

/*
 * Check the next event.  Set '*fault_ret' to NULL, or to the text of a fault,
 * which is valid until the next call.  Return false if out of memory.
 */
bool stack_check_event(struct stack_check *d, const struct hatf_event *e,
		       const char **fault_ret);

/* The id of the stack that the event refers to; 0: none. */
uint64_t stack_check_stack_id(const struct hatf_event *e);

#endif /* STACK_CHECK_H */

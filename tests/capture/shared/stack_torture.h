/* SPDX-License-Identifier: MIT */
/*
 * stack_torture.h - the parts of stack_torture.c
 *
 * Each calls 'f' by ways on which a walk can go astray.
 */
#ifndef STACK_TORTURE_H
#define STACK_TORTURE_H

#define NOINLINE __attribute__((noinline))
#define PAGE	 4096u

/* stack_split.c: on a stack in pieces, 'depth' calls deep */
void split(void (*f)(void), int depth);

/*
 * Call 'f', which does not split its stack.  A linker that knows split stacks
 * gives who calls this function enough room.
 */
void through(void (*f)(void));

/* stack_generated.c: from code that the program makes, with call frame
 * information and without */
void generate(void (*f)(void));

/* By functions that end in a jump to the next one. */
void jump_on(void (*f)(void));

/* On another stack: with rules that lead back, by RBP or by RBX. */
void switch_by_rules(void (*f)(void));

#endif /* STACK_TORTURE_H */

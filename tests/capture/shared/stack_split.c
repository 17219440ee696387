/* SPDX-License-Identifier: MIT */
/*
 * stack_split.c - functions of stack_torture.c that take their stack in pieces
 *
 * The test compiles it with -fsplit-stack where the compiler can.
 */
#include "stack_torture.h"

/* Each level takes a piece of the stack if the one before is too small. */
NOINLINE void
split(void (*f)(void), int depth)
{
	volatile char room[5000];

	room[depth] = 1;
	if (depth > 0)
		split(f, depth - 1);
	else
		through(f);
	__asm__ volatile("" : : "r"(room) : "memory");
}

/* SPDX-License-Identifier: MIT */
/*
 * turns.h - wait for a number that another thread increments
 *
 * The top bit says that a thread sleeps, so that an increment makes a system
 * call only if one does.  Several threads may wait for different values of one
 * number; each increment wakes all of them.
 */
#ifndef TURNS_H
#define TURNS_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint32_t turn_number;

/* Wait until the number is 'turn', which must be below 2^31. */
void turn_wait(turn_number *number, uint32_t turn);

/* Increment the number and wake those who wait. */
void turn_pass(turn_number *number);

#endif /* TURNS_H */

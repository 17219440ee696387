/* SPDX-License-Identifier: MIT */
/*
 * turns.h - wait for a number that another thread increments
 *
 * The top bit of the number is set while a thread sleeps, so an increment makes
 * a system call only if a thread must be woken.  Several threads may wait for
 * different values of one number; each increment wakes all of them.
 */
#ifndef TURNS_H
#define TURNS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic uint32_t turn_number;

/* Does the number equal 'turn'?  A turn is below 2^31. */
bool turn_has_come(const turn_number *number, uint32_t turn);

/*
 * Check the number again and again until it equals 'turn', but only for a few
 * microseconds.  Return whether it equals 'turn' now.
 */
bool turn_spin(const turn_number *number, uint32_t turn);

/* Sleep until the number equals 'turn'. */
void turn_sleep(turn_number *number, uint32_t turn);

/* Wait until the number equals 'turn': spin, then sleep. */
void turn_wait(turn_number *number, uint32_t turn);

/* Increment the number and wake the waiting threads. */
void turn_pass(turn_number *number);

#endif /* TURNS_H */

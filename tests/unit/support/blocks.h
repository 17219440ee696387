/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - the live blocks of a small heap, according to the rings' events
 *
 * Block n, from 1 to BLOCKS, is at address 8 * n.  The file that includes this
 * one defines BLOCKS.
 */
#ifndef TESTS_BLOCKS_H
#define TESTS_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/rings/order.h"

static bool live[BLOCKS + 1];
static uint64_t seen, mistakes;

static inline void
set_live(uint64_t address, bool now)
{
	mistakes += live[address / 8] == now;
	live[address / 8] = now;
}

/* An order_sink: count the event, and a mistake if the event is impossible. */
static inline void
judge(void *context, const struct order_producer *producer,
      const struct event *ev)
{
	(void)context;
	(void)producer;
	seen++;
	if (ev->type == EVENT_ALLOC) {
		set_live(ev->operand[0], true);
	} else if (ev->type == EVENT_FREE) {
		set_live(ev->operand[0], false);
	} else if (ev->operand[0] != ev->operand[1]) {
		set_live(ev->operand[1], true);
		set_live(ev->operand[0], false);
	}
}

#endif /* TESTS_BLOCKS_H */

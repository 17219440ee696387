/* SPDX-License-Identifier: MIT */
/* narrate_start.c - the memory and the initial state of a narrator */

#include <stddef.h>
#include <string.h>

#include "hatf/rings/narrate.h"
#include "hatf/rings/narrate_stacks.h"

static size_t
round_up(size_t nbytes)
{
	return (nbytes + 63) & ~(size_t)63;
}

static size_t
buffer_nbytes(bool has_stacks)
{
	return NARRATE_BUFFER_NBYTES(encoder_room_nbytes(NULL)) +
	       (has_stacks ? ENCODER_COLUMN_NBYTES : 0);
}

size_t
narrate_memory_nbytes(bool has_stacks)
{
	return round_up(buffer_nbytes(has_stacks)) +
	       round_up(encoder_memory_nbytes(NULL));
}

void
narrate_init(struct narrator *n, void *memory, bool has_stacks)
{
	uint8_t *const buf = memory;
	const size_t cap = buffer_nbytes(has_stacks);

	/*
	 * Zero only the members after the encoder, because encoder_init()
	 * initializes the encoder.
	 */
	memset((uint8_t *)n + offsetof(struct narrator, timeline), 0,
	       sizeof(*n) - offsetof(struct narrator, timeline));
	n->unit_ns = 1;
	n->grain = 1;
	n->step = NARRATE_STEP;
	encoder_init(&n->encoder, buf, cap, NULL, buf + round_up(cap));
}

void
narrate_restart(struct narrator *n)
{
	struct encoder *const e = &n->encoder;
	uint8_t *const buf = e->buf;
	const size_t cap = e->cap;
	const bool has_sums = e->has_sums;

	encoder_init(e, buf, cap, NULL, buf + round_up(cap));
	e->has_sums = has_sums;
	if (n->stacks != NULL)
		narrate_use_stacks(n, n->stacks);
	n->event_count = 0;
	n->block_event = 0;
	n->lost_count = 0;
	n->is_stamped = false;
	n->step = NARRATE_STEP;
	n->tick_stamp = 0;
	narrate_forget_stacks(n);
}

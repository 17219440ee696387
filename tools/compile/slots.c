/* SPDX-License-Identifier: MIT */
/* slots.c - see slots.h */
#include "tools/compile/slots.h"

#include "tools/driver/replay_words.h"

#include <stdlib.h>

/*
 * A slot whose turn is larger is never used again, so that turns fit in 31
 * bits.
 */
#define TURN_MAX ((uint32_t)1 << 30)

void
slots_init(struct slots *s)
{
	*s = (struct slots){ .queue_first = SLOTS_NONE,
			     .queue_last = SLOTS_NONE };
}

void
slots_fini(struct slots *s)
{
	free(s->slots);
	free(s->keepers);
	slots_init(s);
}

bool
slots_add_stream(struct slots *s, uint32_t stream)
{
	struct slot_keeper *grown;

	if (stream < s->keeper_count)
		return true;
	grown = realloc(s->keepers, (stream + 1) * sizeof(*grown));
	if (grown == NULL)
		return false;
	s->keepers = grown;
	s->keepers[stream] = (struct slot_keeper){
		.first = SLOTS_NONE,
		.group = SLOTS_FRESH,
	};
	s->keeper_count = stream + 1;
	return true;
}

/* Append a free slot to the queue. */
static void
enqueue(struct slots *s, uint32_t slot)
{
	s->slots[slot].next = SLOTS_NONE;
	if (s->queue_count++ == 0)
		s->queue_first = slot;
	else
		s->slots[s->queue_last].next = slot;
	s->queue_last = slot;
}

static uint32_t
dequeue(struct slots *s)
{
	const uint32_t slot = s->queue_first;

	s->queue_first = s->slots[slot].next;
	s->queue_count--;
	return slot;
}

/* Make a group of slots for a thread. */
static bool
make_slots(struct slots *s, struct slot_keeper *k)
{
	if (s->count > WORD_SLOT_MAX - SLOTS_FRESH_MAX)
		return false;
	if (s->cap - s->count < k->group) {
		const uint32_t cap = s->cap + s->cap / 2 + 1024;
		struct slot *const grown =
			realloc(s->slots, cap * sizeof(*grown));

		if (grown == NULL)
			return false;
		s->slots = grown;
		s->cap = cap;
	}
	k->fresh = s->count;
	s->count += k->group;
	k->fresh_end = s->count;
	if (k->group < SLOTS_FRESH_MAX)
		k->group *= 2;
	for (uint32_t i = k->fresh; i < k->fresh_end; i++)
		s->slots[i] = (struct slot){ .offset = 0 };
	return true;
}

uint32_t
slots_take(struct slots *s, uint32_t stream)
{
	struct slot_keeper *const k = &s->keepers[stream];
	const uint32_t slot = k->first;

	if (k->count > 0) {
		k->first = s->slots[slot].next;
		k->count--;
		return slot;
	}
	if (s->queue_count > SLOTS_QUEUED)
		return dequeue(s);
	if (k->fresh == k->fresh_end && !make_slots(s, k))
		return SLOTS_NONE;
	return k->fresh++;
}

void
slots_put(struct slots *s, uint32_t stream, uint32_t slot)
{
	struct slot_keeper *const k = &s->keepers[stream];

	if (s->slots[slot].turn > TURN_MAX)
		return;
	if (k->count == SLOTS_KEPT) {
		enqueue(s, slot);
		return;
	}
	s->slots[slot].next = k->first;
	k->first = slot;
	k->count++;
}

void
slots_release(struct slots *s, uint32_t stream)
{
	struct slot_keeper *const k = &s->keepers[stream];

	while (k->count > 0) {
		const uint32_t slot = k->first;

		k->first = s->slots[slot].next;
		k->count--;
		enqueue(s, slot);
	}
	/*
	 * The slots from 'fresh' on, which are still unused, stay with the
	 * stream for its next thread.
	 */
}

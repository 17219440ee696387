/* SPDX-License-Identifier: MIT */
/*
 * slots.h - assign slots to the live blocks of a trace (replay_words.h)
 *
 * A thread keeps up to SLOTS_KEPT of the slots that it frees.  Its other freed
 * slots go to a queue that all threads share.  A thread that needs a slot takes
 * the first of these that exists:
 *
 * - a freed slot that the thread keeps, because this slot needs no hand-over
 *   between threads;
 * - the first slot of the queue, if the queue has more than SLOTS_QUEUED slots.
 *   This slot has been in the queue for so long that the thread rarely needs to
 *   wait for the thread that freed it;
 * - a slot that has never been used.
 *
 * A thread gets unused slots in groups.  The block addresses of a thread's
 * first group, SLOTS_FRESH slots, fill two cache lines of the driver.  Each
 * later group is twice as large as the one before, up to SLOTS_FRESH_MAX slots,
 * whose block addresses fill a page.  If all groups were small, cache lines of
 * different threads would be neighbours, and a processor that prefetches the
 * next line would take it from the thread that writes it.
 *
 * With these rules, the number of slots is at most the peak number of live
 * blocks plus SLOTS_QUEUED, plus SLOTS_KEPT for each thread, plus the unused
 * slots of each thread's last group.  If a thread has used N slots of its
 * groups, at most N + SLOTS_FRESH slots of its groups are unused.  A struct
 * slot takes 24 bytes.
 *
 * Used by one thread at a time.
 */
#ifndef SLOTS_H
#define SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOTS_KEPT	256
#define SLOTS_QUEUED	4096
#define SLOTS_FRESH	16
#define SLOTS_FRESH_MAX 512

#define SLOTS_NONE UINT32_MAX

struct slot {
	uint64_t offset; /* offset of the slot's last call; 0: no call yet */
	uint32_t stream, turn; /* stream and turn of the slot's last call */
	uint32_t next;	       /* next slot in a list of free slots */
	/*
	 * How many pages of the slot's block the last realloc may have copied,
	 * up to UINT32_MAX.
	 */
	uint32_t copied;
};

/*
 * The free slots of a thread: a list of freed slots, and a range of slots that
 * have never been used.
 */
struct slot_keeper {
	uint32_t first, count;
	uint32_t fresh, fresh_end;
	uint32_t group; /* number of slots in the next group */
};

struct slots {
	struct slot *slots;
	uint32_t count, cap;
	struct slot_keeper *keepers; /* indexed by stream */
	uint32_t keeper_count;
	uint32_t queue_first, queue_last, queue_count;
};

/* Begin without slots. */
void slots_init(struct slots *s);
void slots_fini(struct slots *s);

/*
 * Let a stream use slots.  Streams are numbered from 0 and added in order.  If
 * 'stream' has already been added, do nothing.  Return false if there is no
 * memory.
 */
bool slots_add_stream(struct slots *s, uint32_t stream);

/*
 * Take a free slot for a block of 'stream'; return SLOTS_NONE if there is no
 * memory, or if a word cannot express the number of the slot.
 */
uint32_t slots_take(struct slots *s, uint32_t stream);

/* Note that 'stream' freed the block in 'slot'. */
void slots_put(struct slots *s, uint32_t stream, uint32_t slot);

/*
 * Let other threads use the freed slots that 'stream' keeps, because its thread
 * ends.
 */
void slots_release(struct slots *s, uint32_t stream);

#endif /* SLOTS_H */

/* SPDX-License-Identifier: MIT */
/*
 * stack_memo.h - the numbers of a thread's recent call stacks
 *
 * Each change of an inner frame makes another stack.  Looking up this stack's
 * number in the tree of all stacks (stack_table.h) takes a search for each
 * changed frame, in tables larger than a processor's caches.  Each thread
 * therefore remembers the numbers of whole stacks by a hash of their frames.
 * An entry of this memo is in one cache line, whatever the number of frames.
 *
 * A hash has 64 bits.  Two stacks of a thread with the same hash would get the
 * same number; among a million stacks, the probability of this is below 1 in 10
 * million.
 *
 * Each thread uses only its own memo.  In the child of a fork, the memo is
 * empty.
 */
#ifndef STACK_MEMO_H
#define STACK_MEMO_H

#include <stdint.h>

#define STACK_MEMO_MIN 256u
#define STACK_MEMO_MAX 32768u

struct stack_memo_entry {
	uint64_t key;
	uint32_t node;	/* 0: the entry is free */
	uint32_t epoch; /* stack_table_epoch() when 'node' was found */
};

/*
 * Starts as all zeros.  Its size is 512 KiB, but only pages in use take memory.
 * At first, the memo uses only STACK_MEMO_MIN entries, so a short process
 * touches few pages.  Whenever half of these entries are taken, the memo
 * doubles the number of entries that it uses.  About half of the stacks then
 * belong in a different entry, so a search no longer finds them.  When
 * such a stack is captured again, its number is put into the memo again.
 */
struct stack_memo {
	/*
	 * number of entries that the memo uses, minus 1; 0: STACK_MEMO_MIN
	 * entries
	 */
	uint32_t mask;
	uint32_t count; /* number of entries that are not free */
	struct stack_memo_entry entries[STACK_MEMO_MAX];
};

static inline struct stack_memo_entry *
stack_memo_entry(struct stack_memo *memo, uint64_t key)
{
	return &memo->entries[(key * 0xff51afd7ed558ccdull >> 32) &
			      (memo->mask | (STACK_MEMO_MIN - 1))];
}

/*
 * Return the number of the stack with this hash; 0 if the memo does not have
 * it.
 */
static inline uint32_t
stack_memo_find(struct stack_memo *memo, uint64_t key, uint32_t epoch)
{
	const struct stack_memo_entry *const e = stack_memo_entry(memo, key);

	return e->key == key && e->epoch == epoch ? e->node : 0;
}

static inline void
stack_memo_put(struct stack_memo *memo, uint64_t key, uint32_t epoch,
	       uint32_t node)
{
	struct stack_memo_entry *const e = stack_memo_entry(memo, key);

	if (e->node == 0 && ++memo->count > memo->mask / 2 &&
	    memo->count > STACK_MEMO_MIN / 2 && memo->mask < STACK_MEMO_MAX - 1)
		memo->mask = 2 * (memo->mask | (STACK_MEMO_MIN - 1)) + 1;
	*e = (struct stack_memo_entry){ key, node, epoch };
}

#endif /* STACK_MEMO_H */

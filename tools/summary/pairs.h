/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - what each thread has allocated with each call stack
 *
 * A pair is a thread and a stack.  At most PAIRS_MAX pairs have an account of
 * their own.  Each thread has one more account, for all its other stacks.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "tools/sites/id_rows.h"
#include "tools/summary/account.h"

#define PAIRS_MAX (1u << 17)

/*
 * The value of 'stack' in the pair that stands for all stacks of a thread that
 * have no account of their own.
 */
#define PAIRS_OTHERS UINT32_MAX

/* The rows of the thread and of the stack in the census. */
struct pair {
	uint32_t thread, stack;
};

/* Begins as all zeros. */
struct pairs {
	struct id_rows ids; /* key: thread << 32 | stack */
	struct pair *rows;  /* the pairs, by the row of the key in 'ids' */
	uint32_t cap;
	/* account of each pair, by the row of the key in 'ids' */
	struct account_list accounts;
	bool no_memory;
};

/*
 * Return the account of a pair; add the pair if it is new.  If there are
 * already PAIRS_MAX pairs, a new pair shares the PAIRS_OTHERS account of its
 * thread.  Return NULL if there is no memory.
 */
struct account *pairs_account(struct pairs *p, uint32_t thread, uint32_t stack);

/* Clear all counters but those of live blocks, because a window begins. */
void pairs_restart(struct pairs *p);

void pairs_free(struct pairs *p);

#endif /* PAIRS_H */

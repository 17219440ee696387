/* SPDX-License-Identifier: MIT */
/*
 * unwind_rule.h - how to unwind from a return address, in one word
 *
 * Nearly all rows of call frame information need only the stack pointer and the
 * frame pointer, and small offsets.  Such a row fits into one word, together
 * with its return address.  All threads share a table of these words:
 *
 *   63          53 52             37 36  34 33  33 32                       0
 *  ┌──────────────┬─────────────────┬──────┬──────┬──────────────────────────┐
 *  │ saved RBP,   │ CFA offset, / 8 │ kind │  0   │ tag of the return address│
 *  │ below CFA, /8│                 │      │      │                          │
 *  └──────────────┴─────────────────┴──────┴──────┴──────────────────────────┘
 *
 * The table is direct-mapped.  A one-to-one function turns the 47 bits of an
 * address in user space into a number of 47 bits.  The upper 14 bits of this
 * number are the index in the table, and the lower 33 bits are the tag, so an
 * entry is never mistaken for the entry of another address.  An entry is
 * read and written as one word, so threads need no lock; at worst a thread
 * overwrites an entry that another thread has just written.
 */
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include <stdatomic.h>
#include <stdint.h>

#include "preload/stacks/cfi.h"

enum unwind_kind {
	UNWIND_NONE = 0, /* an empty entry */
	UNWIND_SP,	 /* CFA = RSP + offset; RBP has the caller's value */
	UNWIND_SP_BP,	 /* CFA = RSP + offset; RBP is saved below the CFA */
	UNWIND_BP,	 /* CFA = RBP + offset; RBP is saved below the CFA */
	UNWIND_END,	 /* the outermost frame */
	UNWIND_ROW,	 /* the row does not fit into one word */
	UNWIND_UNKNOWN,	 /* there is no row */
};

#define UNWIND_INDEX_BITS 14
#define UNWIND_TAG_BITS	  33

extern _Atomic uint64_t unwind_rules[1u << UNWIND_INDEX_BITS]
	__attribute__((visibility("hidden")));

/* Multiplication by an odd factor, modulo 2^47, maps addresses one to one. */
#define UNWIND_FACTOR	    0x5851f42d4c95ull
#define UNWIND_ADDRESS_MASK ((1ull << 47) - 1)

static inline uint64_t
unwind_hash(uintptr_t address)
{
	return address * UNWIND_FACTOR & UNWIND_ADDRESS_MASK;
}

static inline enum unwind_kind
unwind_kind(uint64_t rule)
{
	return (enum unwind_kind)(rule >> 34 & 7);
}

/* The following functions return offsets in bytes. */
static inline uintptr_t
unwind_cfa_offset(uint64_t rule)
{
	return (rule >> 37 & 0xffff) * 8;
}

static inline uintptr_t
unwind_bp_offset(uint64_t rule)
{
	return (rule >> 53) * 8;
}

/*
 * Find the rule in the unwind tables of the object that contains
 * 'return_address', and store the rule in 'unwind_rules'.  'return_address' may
 * be any number.  If no object contains it, return a rule of the kind
 * UNWIND_UNKNOWN and store nothing.
 */
uint64_t unwind_find_rule(uintptr_t return_address);

/* Return the rule for the function to which 'return_address' returns. */
static inline uint64_t
unwind_rule(uintptr_t return_address)
{
	const uint64_t hash = unwind_hash(return_address);
	/* relaxed: the word holds the whole rule. */
	const uint64_t rule = atomic_load_explicit(
		&unwind_rules[hash >> UNWIND_TAG_BITS], memory_order_relaxed);

	if (__builtin_expect(
		    ((rule ^ hash) & ((1ull << UNWIND_TAG_BITS) - 1)) == 0 &&
			    (rule >> 34 & 7) != UNWIND_NONE &&
			    return_address <= UNWIND_ADDRESS_MASK,
		    1))
		return rule;
	return unwind_find_rule(return_address);
}

/* Forget all rules.  Call this after an object has been unloaded. */
void unwind_forget_rules(void);

#endif /* UNWIND_RULE_H */

/* SPDX-License-Identifier: MIT */
/*
 * unwind_rule.h - how to unwind from a return address, in one word
 *
 * Nearly all rows of call frame information need only the stack pointer and the
 * frame pointer, and small offsets.  Such a row fits into one word, together
 * with its return address.  All threads share a table of these words:
 *
 *   63          53 52             38 37  35 34                            0
 *  ┌──────────────┬─────────────────┬──────┬───────────────────────────────┐
 *  │ saved RBP,   │ CFA offset, / 8 │ kind │   tag of the return address   │
 *  │ below CFA, /8│                 │      │                               │
 *  └──────────────┴─────────────────┴──────┴───────────────────────────────┘
 *
 * A one-to-one function turns the 47 bits of an address in user space into a
 * number of 47 bits.  The lower 35 bits of this number are the tag.  The upper
 * 12 bits select a set of four entries in one cache line, and an address may
 * have any entry of its set.  So an entry is never mistaken for the entry of
 * another address.  The upper 14 bits select the entry to try first, which
 * mostly has the rule.
 *
 * An entry is read and written as one word, so threads need no lock; at worst a
 * thread overwrites an entry that another thread has just written.
 */
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include <stdatomic.h>
#include <stdbool.h>
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

#define UNWIND_INDEX_BITS   14
#define UNWIND_WAYS	    4u
#define UNWIND_TAG_BITS	    35
#define UNWIND_ADDRESS_BITS 47

_Static_assert((1ull << UNWIND_INDEX_BITS) / UNWIND_WAYS << UNWIND_TAG_BITS ==
		       1ull << UNWIND_ADDRESS_BITS,
	       "a set and a tag must identify an address");

extern _Atomic uint64_t unwind_rules[1u << UNWIND_INDEX_BITS]
	__attribute__((visibility("hidden")));

/* Multiplication by an odd factor, modulo 2^47, maps addresses one to one. */
#define UNWIND_FACTOR	    0x5851f42d4c95ull
#define UNWIND_ADDRESS_MASK ((1ull << UNWIND_ADDRESS_BITS) - 1)

static inline uint64_t
unwind_hash(uintptr_t address)
{
	return address * UNWIND_FACTOR & UNWIND_ADDRESS_MASK;
}

/* Return the index of the entry to try first. */
static inline unsigned
unwind_index(uint64_t hash)
{
	return (unsigned)(hash >> (UNWIND_ADDRESS_BITS - UNWIND_INDEX_BITS));
}

static inline enum unwind_kind
unwind_kind(uint64_t rule)
{
	return (enum unwind_kind)(rule >> 35 & 7);
}

/* The following functions return offsets in bytes. */
static inline uintptr_t
unwind_cfa_offset(uint64_t rule)
{
	return (rule >> 38 & 0x7fff) * 8;
}

static inline uintptr_t
unwind_bp_offset(uint64_t rule)
{
	return (rule >> 53) * 8;
}

/* Is 'rule' an entry for the address with this hash? */
static inline bool
unwind_is_rule(uint64_t rule, uint64_t hash)
{
	return ((rule ^ hash) & ((1ull << UNWIND_TAG_BITS) - 1)) == 0 &&
	       unwind_kind(rule) != UNWIND_NONE;
}

/*
 * Find the rule in the entries of 'unwind_rules' that unwind_rule() does not
 * try, or in the unwind tables of the object that contains 'return_address'.
 * Store a rule from the tables in 'unwind_rules'.  'return_address' may be any
 * number.  If no object contains it, return a rule of the kind UNWIND_UNKNOWN
 * and store nothing.
 */
uint64_t unwind_find_rule(uintptr_t return_address);

/* Return the rule for the function to which 'return_address' returns. */
static inline uint64_t
unwind_rule(uintptr_t return_address)
{
	const uint64_t hash = unwind_hash(return_address);
	/* relaxed: the word holds the whole rule. */
	const uint64_t rule = atomic_load_explicit(
		&unwind_rules[unwind_index(hash)], memory_order_relaxed);

	if (__builtin_expect(unwind_is_rule(rule, hash) &&
				     return_address <= UNWIND_ADDRESS_MASK,
			     1))
		return rule;
	return unwind_find_rule(return_address);
}

/* Forget all rules.  Call this after an object has been unloaded. */
void unwind_forget_rules(void);

#endif /* UNWIND_RULE_H */

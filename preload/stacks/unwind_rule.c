/* SPDX-License-Identifier: MIT */
/* unwind_rule.c - see unwind_rule.h */

#include "preload/stacks/unwind_rule.h"

#include "preload/stacks/code_object.h"
#include "preload/sys/memory.h"

/* aligned, so that a set is in one cache line */
MEMORY_LARGE _Alignas(64) _Atomic uint64_t
	unwind_rules[1u << UNWIND_INDEX_BITS];

static uint64_t
pack(enum unwind_kind kind, uint64_t cfa_offset, uint64_t bp_offset)
{
	return (uint64_t)kind << 35 | cfa_offset / 8 << 38 |
	       bp_offset / 8 << 53;
}

static bool
fits(int64_t offset, int64_t limit)
{
	return offset >= 0 && offset % 8 == 0 && offset / 8 < limit;
}

/*
 * Pack a row into a rule.  If the row says that there is no caller, the rule
 * has the kind UNWIND_END.  If the row needs more than the stack pointer, the
 * frame pointer and offsets that fit into a rule, the kind is UNWIND_ROW.
 */
static uint64_t
pack_row(const struct cfi_row *row)
{
	const struct cfi_rule *const bp = &row->caller[CFI_RBP];
	const struct cfi_rule *const pc = &row->caller[CFI_RETURN];
	const bool by_sp = row->cfa_register == CFI_RSP;
	const bool is_saved = bp->how == CFI_AT_OFFSET;

	if (pc->how == CFI_UNDEFINED)
		return pack(UNWIND_END, 0, 0);
	if (row->is_signal_frame || row->cfa.how != CFI_OFFSET ||
	    (!by_sp && row->cfa_register != CFI_RBP) ||
	    !fits(row->cfa.offset, 1 << 15) || pc->how != CFI_AT_OFFSET ||
	    pc->offset != -8 || row->caller[CFI_RSP].how != CFI_OFFSET ||
	    row->caller[CFI_RSP].offset != 0 ||
	    (is_saved ? !fits(-(int64_t)bp->offset, 1 << 11)
		      : bp->how != CFI_SAME) ||
	    (!is_saved && !by_sp))
		return pack(UNWIND_ROW, 0, 0);
	return pack(!by_sp     ? UNWIND_BP
		    : is_saved ? UNWIND_SP_BP
			       : UNWIND_SP,
		    (uint64_t)row->cfa.offset,
		    is_saved ? (uint64_t) - (int64_t)bp->offset : 0);
}

/* Find the rule in the unwind tables of 'object'. */
static uint64_t
read_rule(const struct code_object *object, uintptr_t return_address)
{
	struct cfi_row row;

	return object->section.index != NULL &&
			       cfi_find_row(&object->section,
					    return_address - 1, &row)
		       ? pack_row(&row)
		       : pack(UNWIND_UNKNOWN, 0, 0);
}

/*
 * Return the entry for a new rule, in the set of 'hash': a free entry if there
 * is one.
 */
static _Atomic uint64_t *
choose_entry(uint64_t hash)
{
	static _Atomic unsigned turn;
	const unsigned first = unwind_index(hash);

	for (unsigned way = 0; way < UNWIND_WAYS; way++)
		/* relaxed: the word holds the whole rule. */
		if (atomic_load_explicit(&unwind_rules[first ^ way],
					 memory_order_relaxed) == 0)
			return &unwind_rules[first ^ way];
	/*
	 * Replace the entries of a set in turn.  Otherwise, two rules might
	 * replace each other again and again.  relaxed: any entry of the set is
	 * right.
	 */
	return &unwind_rules[first ^ atomic_fetch_add_explicit(
					     &turn, 1, memory_order_relaxed) %
					     UNWIND_WAYS];
}

uint64_t
unwind_find_rule(uintptr_t return_address)
{
	const uint64_t hash = unwind_hash(return_address);
	const unsigned first = unwind_index(hash);
	struct code_object object;
	uint64_t rule;

	if (return_address > UNWIND_ADDRESS_MASK)
		return pack(UNWIND_UNKNOWN, 0, 0);
	for (unsigned way = 1; way < UNWIND_WAYS; way++) {
		/* relaxed: the word holds the whole rule. */
		rule = atomic_load_explicit(&unwind_rules[first ^ way],
					    memory_order_relaxed);
		if (unwind_is_rule(rule, hash))
			return rule;
	}
	/*
	 * Look up the last byte of the call instruction, just before the return
	 * address.  If the called function never returns, the return address
	 * itself may belong to the next function.
	 */
	if (!code_object_find(return_address - 1, &object))
		/*
		 * Code outside all objects may be replaced at any time, so
		 * store no rule for such code.
		 */
		return pack(UNWIND_UNKNOWN, 0, 0);
	rule = read_rule(&object, return_address) |
	       (hash & ((1ull << UNWIND_TAG_BITS) - 1));
	/* relaxed: the word holds the whole rule. */
	atomic_store_explicit(choose_entry(hash), rule, memory_order_relaxed);
	return rule;
}

void
unwind_forget_rules(void)
{
	/* relaxed: each word is a whole rule. */
	for (unsigned i = 0; i < 1u << UNWIND_INDEX_BITS; i++)
		atomic_store_explicit(&unwind_rules[i], 0,
				      memory_order_relaxed);
}

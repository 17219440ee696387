/* SPDX-License-Identifier: MIT */
/* unwind_rule.c - see unwind_rule.h */

#include "preload/stacks/unwind_rule.h"

#include "preload/stacks/code_object.h"
#include "preload/sys/memory.h"

MEMORY_LARGE _Atomic uint64_t unwind_rules[1u << UNWIND_INDEX_BITS];

static uint64_t
pack(enum unwind_kind kind, uint64_t cfa_offset, uint64_t bp_offset)
{
	return (uint64_t)kind << 34 | cfa_offset / 8 << 37 |
	       bp_offset / 8 << 53;
}

static bool
fits(int64_t offset, int64_t limit)
{
	return offset >= 0 && offset % 8 == 0 && offset / 8 < limit;
}

/*
 * Pack a row.  Return a rule of the kind UNWIND_END if the row says that there
 * is no caller, and of the kind UNWIND_ROW if the row needs more than the stack
 * pointer, the frame pointer and offsets that fit into a rule.
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
	    !fits(row->cfa.offset, 1 << 16) || pc->how != CFI_AT_OFFSET ||
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

uint64_t
unwind_find_rule(uintptr_t return_address)
{
	const uint64_t hash = unwind_hash(return_address);
	struct code_object object;
	struct cfi_row row;
	uint64_t rule;

	if (return_address > UNWIND_ADDRESS_MASK)
		return pack(UNWIND_UNKNOWN, 0, 0);
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
	rule = object.section.index != NULL &&
			       cfi_find_row(&object.section, return_address - 1,
					    &row)
		       ? pack_row(&row)
		       : pack(UNWIND_UNKNOWN, 0, 0);
	rule |= hash & ((1ull << UNWIND_TAG_BITS) - 1);
	/* relaxed: the word holds the whole rule. */
	atomic_store_explicit(&unwind_rules[hash >> UNWIND_TAG_BITS], rule,
			      memory_order_relaxed);
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

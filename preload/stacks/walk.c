/* SPDX-License-Identifier: MIT */
/* walk.c - see walk.h */

#include "preload/stacks/walk.h"

#include <string.h>

#include "preload/stacks/cfi_expression.h"
#include "preload/stacks/code_object.h"
#include "preload/stacks/stack_key.h"
#include "preload/stacks/stack_memory.h"
#include "preload/stacks/unwind_rule.h"

/*
 * The position of a walk.  The next step finds the caller of the function at
 * 'pc'.
 */
struct position {
	uintptr_t pc; /* a return address, unless 'is_exact' is set */
	uintptr_t sp, bp;
	/*
	 * A signal interrupted the code at 'pc', so 'pc' is not a return
	 * address.
	 */
	bool is_exact;
	bool is_guess; /* a frame further in had no unwind rules */
};

/* Compute the caller's value of a register, by the rule of a row. */
static bool
restore(const struct cfi_section *section, const struct cfi_row *row,
	unsigned reg, const struct cfi_registers *in, uintptr_t cfa,
	struct stack_memory *memory, uintptr_t *value_ret)
{
	const struct cfi_rule *const rule = &row->caller[reg];
	uintptr_t address;

	switch (rule->how) {
	case CFI_SAME:
		*value_ret = in->value[reg];
		return cfi_is_known(in, reg);
	case CFI_AT_OFFSET:
		return stack_memory_read(memory, cfa + rule->offset, value_ret);
	case CFI_OFFSET:
		*value_ret = cfa + rule->offset;
		return true;
	case CFI_IN_REGISTER:
		if (!cfi_is_known(in, (unsigned)rule->offset))
			return false;
		*value_ret = in->value[rule->offset];
		return true;
	case CFI_AT_EXPRESSION:
		return cfi_evaluate(section, rule, in, &cfa, memory,
				    &address) &&
		       stack_memory_read(memory, address, value_ret);
	case CFI_EXPRESSION:
		return cfi_evaluate(section, rule, in, &cfa, memory, value_ret);
	default:
		return false;
	}
}

static bool
find_cfa(const struct cfi_section *section, const struct cfi_row *row,
	 const struct cfi_registers *in, struct stack_memory *memory,
	 uintptr_t *cfa_ret)
{
	if (row->cfa.how == CFI_EXPRESSION)
		return cfi_evaluate(section, &row->cfa, in, NULL, memory,
				    cfa_ret);
	if (!cfi_is_known(in, row->cfa_register))
		return false;
	*cfa_ret = in->value[row->cfa_register] + row->cfa.offset;
	return true;
}

/*
 * Do the bytes before 'pc', which lies in an object, look like a call
 * instruction?  Such an instruction is E8 and four bytes; or FF /2 with a
 * register or memory, which is two to seven bytes long (Intel SDM, CALL).
 */
static bool
follows_call(const struct code_object *object, uintptr_t pc)
{
	const uint8_t *const code = (const uint8_t *)pc;

	if (object->code_begin == 0 || pc - object->code_begin < 8)
		return false;
	if (code[-5] == 0xe8)
		return true;
	for (int nbytes = 2; nbytes <= 7; nbytes++)
		if (code[-nbytes] == 0xff && (code[1 - nbytes] & 0x38) == 0x10)
			return true;
	return false;
}

/* Does 'pc' lie in an object, and directly after a call instruction? */
static bool
is_return_address(uintptr_t pc)
{
	struct code_object object;

	return code_object_find(pc - 1, &object) && follows_call(&object, pc);
}

/*
 * A function that switches to another stack, such as __morestack() of split
 * stacks, has left its frame on the previous stack.  The function's unwind
 * rules lead to this frame by the frame pointer.  If 'cfa' is not on the
 * present stack, change to the previous one.  Return false if that fails.
 */
static bool
change_stack(const struct position *at, const struct cfi_row *row,
	     uintptr_t cfa, struct stack_memory *memory)
{
	const uintptr_t slot = cfa - sizeof(uintptr_t);
	uintptr_t pc;

	if (row->is_signal_frame || row->cfa.how != CFI_OFFSET ||
	    row->cfa_register != CFI_RBP ||
	    stack_memory_read(memory, slot, &pc))
		return true;
	return !at->is_guess && stack_memory_change(memory, at->bp) &&
	       stack_memory_read(memory, slot, &pc) && is_return_address(pc);
}

/*
 * Step by the whole row of the tables.  Compute only the stack pointer, the
 * frame pointer and the return address.  These are enough for the frames of
 * signals and for functions that realign their stack.
 */
static bool
step_by_row(struct position *at, struct stack_memory *memory,
	    uintptr_t *slot_ret)
{
	const uintptr_t pc = at->is_exact ? at->pc : at->pc - 1;
	struct cfi_registers in = {
		.known = 1u << CFI_RBP | 1u << CFI_RSP | 1u << CFI_RETURN,
	};
	struct code_object object;
	struct cfi_row row;
	uintptr_t cfa, next_pc, sp, bp;

	in.value[CFI_RBP] = at->bp;
	in.value[CFI_RSP] = at->sp;
	in.value[CFI_RETURN] = at->pc;
	if (!code_object_find(pc, &object) || object.section.index == NULL ||
	    !cfi_find_row(&object.section, pc, &row) ||
	    !find_cfa(&object.section, &row, &in, memory, &cfa) ||
	    !change_stack(at, &row, cfa, memory) ||
	    !restore(&object.section, &row, CFI_RETURN, &in, cfa, memory,
		     &next_pc) ||
	    !restore(&object.section, &row, CFI_RSP, &in, cfa, memory, &sp) ||
	    !restore(&object.section, &row, CFI_RBP, &in, cfa, memory, &bp))
		return false;
	*slot_ret = cfa - sizeof(uintptr_t);
	/*
	 * A signal handler may run on a different stack from the code that it
	 * interrupted.  If it does, continue on the stack of that code.
	 */
	if (row.is_signal_frame && (sp < memory->low || sp >= memory->high))
		stack_memory_init(memory, sp);
	at->pc = next_pc;
	at->sp = sp;
	at->bp = bp;
	at->is_exact = row.is_signal_frame;
	return true;
}

/*
 * Step from code without unwind rules by the frame pointer register, if its
 * value can be a frame pointer.  The value must be the address of a word on the
 * stack, at the stack pointer or above.  The next word must hold an address to
 * which a call returns, or an address outside all objects (generated code).  On
 * a stack whose end is unknown, read only as far as unwind rules have led,
 * because the memory above may belong to another thread, which can unmap it at
 * any time.
 */
static bool
step_by_frame_pointer(struct position *at, struct stack_memory *memory,
		      uintptr_t *slot_ret)
{
	struct code_object object;
	uintptr_t pc, bp;
	bool is_in_object;

	memory->is_fixed = true;
	if (at->bp < at->sp || !stack_memory_read(memory, at->bp, &bp) ||
	    !stack_memory_read(memory, at->bp + sizeof(uintptr_t), &pc) ||
	    pc < 4096 || pc > UNWIND_ADDRESS_MASK)
		return false;
	is_in_object = code_object_find(pc - 1, &object);
	if (is_in_object && !follows_call(&object, pc))
		return false;
	memory->is_fixed = !is_in_object;
	*slot_ret = at->bp + sizeof(uintptr_t);
	at->pc = pc;
	at->sp = at->bp + 2 * sizeof(uintptr_t);
	at->bp = bp;
	at->is_exact = false;
	at->is_guess = true;
	return true;
}

/*
 * Step by a packed rule, which gives the places of the CFA and of the frame
 * pointer.  The kind of rule (one of three) differs from frame to frame, so
 * compute the result without branches, which would be mispredicted.
 */
static inline __attribute__((always_inline)) bool
step_by_rule(struct position *at, uint64_t rule, struct stack_memory *memory,
	     struct walk_place *place, struct walk_frame *frame)
{
	const bool is_by_bp = unwind_kind(rule) == UNWIND_BP;
	const bool is_saved = unwind_kind(rule) != UNWIND_SP;
	const uintptr_t cfa =
		(is_by_bp ? at->bp : at->sp) + unwind_cfa_offset(rule);
	const uintptr_t slot = cfa - sizeof(uintptr_t);
	const uintptr_t bp_slot =
		is_saved ? cfa - unwind_bp_offset(rule) : slot;
	uintptr_t pc, bp;

	if (!stack_memory_read(memory, slot, &pc) ||
	    !stack_memory_read(memory, bp_slot, &bp))
		return false;
	frame->bp_slot = is_saved ? bp_slot : WALK_BP_KEPT;
	frame->is_by_bp = is_by_bp;
	place->slot = slot;
	at->pc = pc;
	at->sp = cfa;
	at->bp = is_saved ? bp : at->bp;
	return true;
}

/* Find the caller.  Return false if there is none, or if it cannot be found. */
static bool
step(struct walk *walk, struct position *at, struct stack_memory *memory,
     struct walk_place *place, struct walk_frame *frame)
{
	const uintptr_t sp = at->sp;
	uint64_t rule;

	walk->end = WALK_LOST;
	if (__builtin_expect(at->is_exact, 0))
		goto by_row;
	rule = unwind_rule(at->pc);
	if (__builtin_expect(unwind_kind(rule) <= UNWIND_BP, 1)) {
		if (step_by_rule(at, rule, memory, place, frame))
			goto found;
		if (unwind_kind(rule) != UNWIND_BP)
			return false;
		goto by_row; /* the frame may be on another stack */
	}
	switch (unwind_kind(rule)) {
	case UNWIND_END:
		walk->end = WALK_OUTERMOST;
		return false;
	case UNWIND_ROW:
	by_row:
		frame->bp_slot = WALK_BY_ROW;
		frame->is_by_bp = false;
		if (!step_by_row(at, memory, &place->slot))
			return false;
		break;
	default:
		frame->bp_slot = WALK_BY_ROW;
		frame->is_by_bp = false;
		if (!step_by_frame_pointer(at, memory, &place->slot))
			return false;
	}
found:
	/*
	 * The caller's stack pointer must be higher, or the stack is damaged.
	 * Only a step by a whole row may lead to another stack, with a lower
	 * stack pointer.
	 */
	if (frame->bp_slot != WALK_BY_ROW && at->sp <= sp)
		return false;
	if (at->pc == 0) {
		walk->end = WALK_ZERO;
		return false;
	}
	place->address = at->pc;
	frame->bp = at->bp;
	return true;
}

/* Return a value other than 0 if the memory of a slot has changed. */
static inline uintptr_t
difference(const struct walk_place *place)
{
	return *(const uintptr_t *)place->slot ^ place->address;
}

/*
 * Compare the frames outside the frame 'idx' with memory.  The caller has
 * checked that none of these frames needs care (see walk.h), so frame pointers
 * need no comparison.  If a frame has changed, the slots of frames further out
 * may be unmapped.  But the slots ascend, so all slots below 'memory->high' can
 * be read.  Therefore compare four of these slots at once, with loads that do
 * not depend on each other.  Return the index of the innermost changed frame,
 * or -1.
 */
static inline int64_t
find_change_by_places(const struct walk *walk, int64_t idx,
		      const struct stack_memory *memory)
{
	const struct walk_place *const place = walk->place;
	int64_t i = idx - 1;

	for (; i >= 3 && place[i - 3].slot < memory->high; i -= 4)
		if ((difference(&place[i]) | difference(&place[i - 1]) |
		     difference(&place[i - 2]) | difference(&place[i - 3])) !=
		    0)
			break;
	while (i >= 0 && difference(&place[i]) == 0)
		i--;
	return i;
}

/*
 * Update the stored frame pointers from the frame 'idx' outwards to the frame
 * 'end'.  In the frame 'idx', the frame pointer is 'bp'.
 */
static void
follow_bp(struct walk *walk, int64_t idx, int64_t end, uintptr_t bp)
{
	walk->frame[idx].bp = bp;
	for (int64_t i = idx - 1; i >= end; i--) {
		if (walk->frame[i].bp_slot != WALK_BP_KEPT)
			bp = *(const uintptr_t *)walk->frame[i].bp_slot;
		walk->frame[i].bp = bp;
	}
}

/*
 * 'bp' is the frame pointer in the frame 'idx'.  Compare the stored frames
 * further out with the memory of the stack.  Return the index of the innermost
 * frame that has changed or may have moved, or -1.
 *
 * A function may use the frame pointer register for data.  So a saved frame
 * pointer may change although no frame has changed.  It counts as a change only
 * if the walk finds a frame by this pointer.  Otherwise only store the new
 * frame pointer.
 */
static int64_t
find_change(struct walk *walk, int64_t idx, uintptr_t bp,
	    const struct stack_memory *memory)
{
	struct walk_frame *in = &walk->frame[idx];
	int64_t i;

	if (idx == 0 || walk->frame[idx - 1].care_count == 0) {
		i = find_change_by_places(walk, idx, memory);
		if (i >= 0)
			follow_bp(walk, idx, i + 1, bp);
		return i;
	}
	for (i = idx - 1; i >= 0; i--) {
		struct walk_frame *const f = &walk->frame[i];
		const uintptr_t old_bp = in->bp;

		in->bp = bp;
		if (f->bp_slot == WALK_BY_ROW ||
		    (f->is_by_bp && bp != old_bp) ||
		    *(const uintptr_t *)walk->place[i].slot !=
			    walk->place[i].address)
			return i;
		if (f->bp_slot != WALK_BP_KEPT)
			bp = *(const uintptr_t *)f->bp_slot;
		in = f;
	}
	in->bp = bp;
	return -1;
}

/* Update the count of frames that need care, from the outermost to 'idx'. */
static inline void
count_care(struct walk *walk, uint32_t idx)
{
	struct walk_frame *const f = &walk->frame[idx];
	const uint16_t outer = idx > 0 ? f[-1].care_count : 0;

	f->care_count =
		(uint16_t)(outer + (f->bp_slot == WALK_BY_ROW || f->is_by_bp));
}

/*
 * The walk has reached the frame 'idx' of the previous stack.  Search the
 * frames further out for a change.  If there is none, return the number of
 * frames from the outermost to 'idx'.
 *
 * If a frame has changed, the frame 'idx' and those between it and the changed
 * frame are still right.  Append them to the frames of the walk, set '*at' to
 * where the walk continues, and return 0.
 */
static uint32_t
join(struct walk *walk, uint32_t idx, struct position *at,
     const struct stack_memory *memory, uint32_t *inner_count)
{
	const int64_t change = find_change(walk, idx, at->bp, memory);
	uint32_t n = *inner_count;

	if (change < 0)
		return idx + 1;
	for (int64_t i = idx; i > change && n < WALK_FRAMES_MAX; i--) {
		walk->inner_place[n] = walk->place[i];
		walk->inner[n++] = walk->frame[i];
	}
	*inner_count = n;
	/*
	 * If the walk continues from its present frame, '*at' is already right.
	 * Do not compute '*at' from the slot of this frame, because after a
	 * step by a whole row the stack pointer may not follow from the slot.
	 */
	if (change == (int64_t)idx - 1)
		return 0;
	at->pc = walk->inner_place[n - 1].address;
	at->sp = walk->inner_place[n - 1].slot + sizeof(uintptr_t);
	at->bp = walk->inner[n - 1].bp;
	at->is_exact = false;
	return 0;
}

static inline uint16_t *
slot_entry(struct walk *walk, uintptr_t slot)
{
	return &walk->idx_of_slot[slot / sizeof(uintptr_t) % WALK_SLOTS];
}

/*
 * Store the frames of this walk after the 'base' outermost frames, which are
 * unchanged.
 */
static void
keep(struct walk *walk, uint32_t base, uint32_t inner_count)
{
	/*
	 * Stacks with different numbers must have different hashes.  The number
	 * depends on walk_mark(), so the hash must depend on it, too.
	 */
	uint64_t key =
		base > 0 ? walk->frame[base - 1].key : walk_mark(walk) + 1;

	for (uint32_t i = base, from = inner_count; from > 0; i++) {
		struct walk_frame *const f = &walk->frame[i];

		from--;
		walk->place[i] = walk->inner_place[from];
		*f = walk->inner[from];
		key = stack_key_add(key, walk->place[i].address);
		f->key = key;
		f->node = 0;
		count_care(walk, i);
		*slot_entry(walk, walk->place[i].slot) = (uint16_t)i;
	}
	walk->same_count = base;
	walk->count = base + inner_count;
}

/*
 * The walk has found a frame with the same return address at the same place as
 * the frame 'idx' of the previous stack.  Return the result of join().
 */
static uint32_t
meet(struct walk *walk, uint32_t idx, struct position *at,
     const struct stack_memory *memory, uint32_t *inner_count)
{
	const struct walk_frame *const found = &walk->inner[*inner_count];

	walk->frame[idx].bp_slot = found->bp_slot;
	walk->frame[idx].is_by_bp = found->is_by_bp;
	count_care(walk, idx);
	return join(walk, idx, at, memory, inner_count);
}

/* Step from the start directly to the first visible frame, 'outlet'. */
static inline __attribute__((always_inline)) void
leave(struct position *at, const struct walk_outlet *outlet,
      struct walk_place *place, struct walk_frame *frame)
{
	place->slot = outlet->slot;
	place->address = outlet->address;
	frame->is_by_bp = false;
	frame->bp_slot = outlet->bp_slot;
	frame->bp = outlet->bp;
	at->pc = outlet->address;
	at->sp = outlet->slot + sizeof(uintptr_t);
	at->bp = outlet->bp;
}

/* The frames of a walk that lie in the recorder's own code, which is hidden. */
struct hidden {
	unsigned count;
	bool is_plain; /* the stack pointer alone determines each place */
	uintptr_t address[WALK_EXIT_FRAMES], slot[WALK_EXIT_FRAMES];
	/*
	 * Several hidden frames may save RBP.  This is the address where the
	 * outermost of them has saved it; 0: no hidden frame saves RBP.
	 */
	uintptr_t bp_slot;
};

static void
note_hidden(struct hidden *hidden, const struct walk_place *place,
	    const struct walk_frame *frame)
{
	if (hidden->count < WALK_EXIT_FRAMES) {
		hidden->address[hidden->count] = place->address;
		hidden->slot[hidden->count] = place->slot;
	}
	hidden->count++;
	if (frame->is_by_bp || frame->bp_slot == WALK_BY_ROW)
		hidden->is_plain = false;
	else if (frame->bp_slot != WALK_BP_KEPT)
		hidden->bp_slot = frame->bp_slot;
}

/*
 * Store in 'walk->exits' how a walk from 'sp' reached its first visible frame,
 * if a struct walk_exit can describe this (walk_exit.h).
 */
static void
note_exit(struct walk *walk, uintptr_t sp, const struct hidden *hidden)
{
	const struct walk_frame *const first = &walk->inner[0];
	const uintptr_t slot = walk->inner_place[0].slot;
	const bool is_saved = first->bp_slot != WALK_BP_KEPT;
	const uintptr_t bp = is_saved ? first->bp_slot : hidden->bp_slot;
	struct walk_exit *e;

	if (hidden->count == 0 || hidden->count > WALK_EXIT_FRAMES ||
	    !hidden->is_plain || first->is_by_bp ||
	    first->bp_slot == WALK_BY_ROW || slot - sp > UINT16_MAX)
		return;
	e = &walk->exits.exits[walk->exits.next];
	walk->exits.last = walk->exits.next;
	walk->exits.next = (uint8_t)((walk->exits.next + 1) % WALK_EXITS);
	for (unsigned i = 0; i < WALK_EXIT_FRAMES; i++) {
		const unsigned from = i < hidden->count ? i : 0;

		e->hidden[i] = hidden->address[from];
		e->hidden_slot[i] = (uint16_t)(hidden->slot[from] - sp);
	}
	e->slot = (uint16_t)(slot - sp);
	e->bp_slot = (uint16_t)(is_saved ? bp - sp : 0);
	e->bp = (uint16_t)(bp == 0 ? 0 : bp - sp);
}

/*
 * Walk the stack.  Compare it with the frames of the previous stack, of which
 * the outermost 'top' frames are valid.  If there are too many frames, and a
 * previous stack is stored, return false.  If there are too many frames, and no
 * previous stack is stored, keep the innermost 'depth' frames and return true.
 */
static bool
try_walk(struct walk *walk, const struct walk_context *context, uint32_t top,
	 const struct walk_outlet *outlet, uintptr_t hidden_begin,
	 uintptr_t hidden_end)
{
	/*
	 * Add 1, so that the first step can treat 'pc' as a return address and
	 * store its rule.
	 */
	struct position at = { context->pc + 1, context->sp, context->bp, false,
			       false };
	const enum walk_end last_end = walk->end;
	struct hidden hidden = { .is_plain = true };
	struct stack_memory memory;
	struct walk_place *const inner = walk->inner_place;
	uint32_t n = 0, base = 0;
	bool has_left = outlet != NULL;

	stack_memory_init(&memory, at.sp);
	if (has_left)
		leave(&at, outlet, &inner[0], &walk->inner[0]);
	while (base == 0 && (has_left || step(walk, &at, &memory, &inner[n],
					      &walk->inner[n]))) {
		const uint32_t idx = *slot_entry(walk, inner[n].slot);

		if (n == 0 && inner[0].address - hidden_begin <
				      hidden_end - hidden_begin) {
			note_hidden(&hidden, &inner[0], &walk->inner[0]);
			/*
			 * If the walk came to this hidden frame by 'outlet', it
			 * has skipped the frames further in.  'hidden' lacks
			 * these frames, so clear 'is_plain': note_exit() then
			 * stores nothing.
			 */
			hidden.is_plain &= !has_left;
			has_left = false;
			continue;
		}
		if (n == 0 && !has_left)
			note_exit(walk, context->sp, &hidden);
		has_left = false;
		if (idx < top && walk->place[idx].slot == inner[n].slot &&
		    walk->place[idx].address == inner[n].address &&
		    !at.is_exact) {
			const uint32_t before = n;

			base = meet(walk, idx, &at, &memory, &n);
			if (base == 0)
				top = idx + 1 - (n - before);
		} else {
			n++;
		}
		if (base + n >= (base == 0 ? walk->depth : 2 * walk->depth)) {
			if (base != 0 || walk->count != 0)
				return false;
			walk->end = WALK_CUT;
			break;
		}
	}
	if (base != 0)
		walk->end = last_end;
	keep(walk, base, n);
	return true;
}

void
walk_stack(struct walk *walk, const struct walk_context *context,
	   const struct walk_outlet *outlet, uintptr_t hidden_begin,
	   uintptr_t hidden_end)
{
	if (try_walk(walk, context, walk->count, outlet, hidden_begin,
		     hidden_end))
		return;
	walk->count = 0;
	try_walk(walk, context, 0, outlet, hidden_begin, hidden_end);
}

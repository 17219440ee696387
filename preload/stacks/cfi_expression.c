/* SPDX-License-Identifier: MIT */
/* cfi_expression.c - see cfi_expression.h */

#include "preload/stacks/cfi_expression.h"

#include "preload/stacks/cfi_cursor.h"

/* Operations (DWARF 5, section 7.7.1). */
enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_SWAP = 0x16,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

#define DEPTH_MAX 16u

struct evaluation {
	struct cfi_cursor cursor;
	const struct cfi_registers *registers;
	struct stack_memory *memory;
	uintptr_t stack[DEPTH_MAX];
	unsigned depth;
};

static void
push(struct evaluation *e, uint64_t value)
{
	if (e->depth == DEPTH_MAX)
		e->cursor.is_bad = true;
	else
		e->stack[e->depth++] = value;
}

static uint64_t
pop(struct evaluation *e)
{
	if (e->depth == 0) {
		e->cursor.is_bad = true;
		return 0;
	}
	return e->stack[--e->depth];
}

static void
push_register(struct evaluation *e, uint64_t reg)
{
	const uint64_t offset = (uint64_t)cfi_take_sleb(&e->cursor);

	if (reg >= CFI_REGISTERS || !cfi_is_known(e->registers, (unsigned)reg))
		e->cursor.is_bad = true;
	else
		push(e, e->registers->value[reg] + offset);
}

static bool
run_constant(struct evaluation *e, unsigned op)
{
	switch (op) {
	case OP_CONST1U:
		push(e, cfi_take(&e->cursor, 1));
		return true;
	case OP_CONST1S:
		push(e, (uint64_t)(int64_t)(int8_t)cfi_take(&e->cursor, 1));
		return true;
	case OP_CONST2U:
		push(e, cfi_take(&e->cursor, 2));
		return true;
	case OP_CONST2S:
		push(e, (uint64_t)(int64_t)(int16_t)cfi_take(&e->cursor, 2));
		return true;
	case OP_CONST4U:
		push(e, cfi_take(&e->cursor, 4));
		return true;
	case OP_CONST4S:
		push(e, (uint64_t)(int64_t)(int32_t)cfi_take(&e->cursor, 4));
		return true;
	case OP_CONST8U:
	case OP_CONST8S:
		push(e, cfi_take(&e->cursor, 8));
		return true;
	case OP_CONSTU:
		push(e, cfi_take_uleb(&e->cursor));
		return true;
	case OP_CONSTS:
		push(e, (uint64_t)cfi_take_sleb(&e->cursor));
		return true;
	default:
		return false;
	}
}

/*
 * Compute 'a OP b'.  Return false if 'op' is not an operation with two
 * operands.
 */
static bool
compute(unsigned op, uint64_t a, uint64_t b, uint64_t *result)
{
	switch (op) {
	case OP_AND:
		*result = a & b;
		return true;
	case OP_OR:
		*result = a | b;
		return true;
	case OP_XOR:
		*result = a ^ b;
		return true;
	case OP_PLUS:
		*result = a + b;
		return true;
	case OP_MINUS:
		*result = a - b;
		return true;
	case OP_MUL:
		*result = a * b;
		return true;
	case OP_SHL:
		*result = b < 64 ? a << b : 0;
		return true;
	case OP_SHR:
		*result = b < 64 ? a >> b : 0;
		return true;
	case OP_SHRA:
		*result = (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
		return true;
	case OP_EQ:
		*result = a == b;
		return true;
	case OP_NE:
		*result = a != b;
		return true;
	/* Comparisons are signed (DWARF 5, section 2.5.1.5). */
	case OP_GE:
		*result = (int64_t)a >= (int64_t)b;
		return true;
	case OP_GT:
		*result = (int64_t)a > (int64_t)b;
		return true;
	case OP_LE:
		*result = (int64_t)a <= (int64_t)b;
		return true;
	case OP_LT:
		*result = (int64_t)a < (int64_t)b;
		return true;
	default:
		return false;
	}
}

static void
run_binary(struct evaluation *e, unsigned op)
{
	const uint64_t b = pop(e), a = pop(e);
	uint64_t result = 0;

	if (!compute(op, a, b, &result))
		e->cursor.is_bad = true;
	push(e, result);
}

static void
run_deref(struct evaluation *e)
{
	const uintptr_t address = pop(e);
	uintptr_t value = 0;

	if (address == 0 || !stack_memory_read(e->memory, address, &value))
		e->cursor.is_bad = true;
	push(e, value);
}

static void
run_stack(struct evaluation *e, unsigned op)
{
	const uint64_t top = pop(e);

	switch (op) {
	case OP_DROP:
		break;
	case OP_DUP:
		push(e, top);
		push(e, top);
		break;
	default: {
		const uint64_t second = pop(e);

		push(e, op == OP_OVER ? second : top);
		push(e, op == OP_OVER ? top : second);
		if (op == OP_OVER)
			push(e, second);
	}
	}
}

static void
run(struct evaluation *e)
{
	const unsigned op = (unsigned)cfi_take(&e->cursor, 1);

	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(e, op - OP_LIT0);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		push_register(e, op - OP_BREG0);
	else if (op == OP_BREGX)
		push_register(e, cfi_take_uleb(&e->cursor));
	else if (op == OP_DEREF)
		run_deref(e);
	else if (op == OP_PLUS_UCONST)
		push(e, pop(e) + cfi_take_uleb(&e->cursor));
	else if (op == OP_NEG)
		push(e, 0 - pop(e));
	else if (op == OP_NOT)
		push(e, ~pop(e));
	else if (op == OP_DUP || op == OP_DROP || op == OP_OVER ||
		 op == OP_SWAP)
		run_stack(e, op);
	else if (op != OP_NOP && !run_constant(e, op))
		run_binary(e, op);
}

bool
cfi_evaluate(const struct cfi_section *section, const struct cfi_rule *rule,
	     const struct cfi_registers *registers, const uintptr_t *cfa,
	     struct stack_memory *memory, uintptr_t *value_ret)
{
	struct evaluation e = {
		.cursor.next = section->begin + rule->expression,
		.registers = registers,
		.memory = memory,
	};

	e.cursor.end = e.cursor.next + rule->expression_nbytes;
	if (cfa != NULL)
		push(&e, *cfa);
	/*
	 * Branches are not supported, so each byte is interpreted at most once.
	 */
	while (e.cursor.next < e.cursor.end && !e.cursor.is_bad)
		run(&e);
	*value_ret = pop(&e);
	return !e.cursor.is_bad;
}

/* SPDX-License-Identifier: MIT */
/*
 * cfi_expression.h - DWARF expressions in call frame information
 *
 * See DWARF 5, section 2.5.  Such expressions come from compilers (for
 * functions that realign their stack), from libc (for the frames of signals)
 * and from linkers (for the procedure linkage table).  Like the functions of
 * stack_memory.h, cfi_evaluate() reads the stack of the calling thread only,
 * and may run in a signal handler.
 */
#ifndef CFI_EXPRESSION_H
#define CFI_EXPRESSION_H

#include "preload/stacks/cfi.h"
#include "preload/stacks/stack_memory.h"

/* The registers of a frame, as far as they are known. */
struct cfi_registers {
	uintptr_t value[CFI_REGISTERS];
	uint32_t known; /* bit n is set if register n is known */
};

static inline bool
cfi_is_known(const struct cfi_registers *registers, unsigned reg)
{
	return reg < CFI_REGISTERS && (registers->known >> reg & 1) != 0;
}

/*
 * Evaluate the expression of 'rule'.  For the rule of a register, '*cfa' is the
 * initial value on the expression's stack.  For the rule of the CFA itself,
 * 'cfa' is NULL.  Return false if the expression is damaged, or uses an
 * unsupported operation, an unknown register, or memory outside the stack.
 */
bool cfi_evaluate(const struct cfi_section *section,
		  const struct cfi_rule *rule,
		  const struct cfi_registers *registers, const uintptr_t *cfa,
		  struct stack_memory *memory, uintptr_t *value_ret);

#endif /* CFI_EXPRESSION_H */

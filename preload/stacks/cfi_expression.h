/* SPDX-License-Identifier: MIT */
/*
 * cfi_expression.h - DWARF expressions in call frame information
 *
 * Compilers use them where a function realigns its stack, libc for the frames
 * of signals, linkers for the procedure linkage table (DWARF 5, section 2.5).
 * Thread safety: as stack_memory.h.
 */
#ifndef CFI_EXPRESSION_H
#define CFI_EXPRESSION_H

#include "preload/stacks/cfi.h"
#include "preload/stacks/stack_memory.h"

/* The registers of a frame, as far as they are known. */
struct cfi_registers {
	uintptr_t value[CFI_REGISTERS];
	uint32_t known; /* bit n: register n */
};

static inline bool
cfi_is_known(const struct cfi_registers *registers, unsigned reg)
{
	return reg < CFI_REGISTERS && (registers->known >> reg & 1) != 0;
}

/*
 * Evaluate the expression of 'rule'.  With 'cfa' it begins on the stack, as for
 * registers; NULL: it is that of the CFA itself.  False: it is damaged, uses an
 * operation that no compiler puts there, a register that is not known, or
 * memory that is not of the stack.
 */
bool cfi_evaluate(const struct cfi_section *section,
		  const struct cfi_rule *rule,
		  const struct cfi_registers *registers, const uintptr_t *cfa,
		  struct stack_memory *memory, uintptr_t *value_ret);

#endif /* CFI_EXPRESSION_H */

/* SPDX-License-Identifier: MIT */
/*
 * cfi.h - call frame information: find the registers of a function's caller
 *
 * A small reader of .eh_frame (LSB 5.0, "Exception Frames"; DWARF 5, section
 * 6.4). libunwind and elfutils read the same tables.  But they allocate, or
 * take a lock of their own or a lock of the loader; neither is possible inside
 * malloc().
 *
 * The tables are memory of the traced program, so they may have any content.
 * Nothing is read outside the bounds that the caller gives, and no content
 * causes a crash or an endless loop.  The functions keep no state; any thread
 * may call them at any time.
 */
#ifndef CFI_H
#define CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers by their DWARF numbers (psABI x86-64, figure 3.36). */
enum cfi_register {
	CFI_RBX = 3,
	CFI_RBP = 6,
	CFI_RSP = 7,
	CFI_RETURN = 16, /* the return address */
	CFI_REGISTERS
};

enum cfi_how {
	CFI_SAME = 0, /* the caller's value is in the register itself */
	CFI_UNDEFINED,
	CFI_AT_OFFSET,	 /* in memory, at the CFA plus 'offset' */
	CFI_OFFSET,	 /* the value is the CFA plus 'offset' */
	CFI_IN_REGISTER, /* in the register with the number 'offset' */
	/* In memory, at the address that the expression computes. */
	CFI_AT_EXPRESSION,
	CFI_EXPRESSION, /* the value of the expression */
};

struct cfi_rule {
	uint8_t how; /* enum cfi_how */
	uint16_t expression_nbytes;
	int32_t offset; /* bytes, or a register's number */
	/* offset of the expression in the section, in bytes */
	uint32_t expression;
};

/* One row of the table: how to unwind from one instruction. */
struct cfi_row {
	/*
	 * The canonical frame address: either the value of a register plus an
	 * offset (CFI_OFFSET with 'cfa_register'), or the value of an
	 * expression.
	 */
	struct cfi_rule cfa;
	uint8_t cfa_register;
	/* The frame returns to an instruction that a signal interrupted. */
	bool is_signal_frame;
	/* Rules of the caller's registers. */
	struct cfi_rule caller[CFI_REGISTERS];
};

/*
 * The memory that holds the tables of one object: its segment with .eh_frame
 * and .eh_frame_hdr.
 */
struct cfi_section {
	const uint8_t *begin, *end;
	const uint8_t *index; /* .eh_frame_hdr, inside the segment */
};

/*
 * Find the row for the instruction at 'pc'.  Return false if the tables have no
 * row for this address, are damaged, or have a form that this reader does not
 * support.
 */
bool cfi_find_row(const struct cfi_section *section, uintptr_t pc,
		  struct cfi_row *row_ret);

#endif /* CFI_H */

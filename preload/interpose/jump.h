/* SPDX-License-Identifier: MIT */
/*
 * jump.h - a function that inspects its arguments and jumps to another
 *
 * JUMP_AFTER(name, watch) defines the function 'name'.  It calls 'watch' with
 * the arguments that are in registers, and then jumps to the address that
 * 'watch' returns.  The target sees the same arguments, stack and return
 * address as if the program had called it directly.  'name' and 'watch' are
 * strings.
 */
#ifndef JUMP_H
#define JUMP_H

/*
 * Save the registers that hold arguments, call 'watch', restore them, and jump.
 * (On x86-64, the stack pointer must be a multiple of 16 at a call.  At the
 * entry of a function it is 8 below a multiple of 16.  The seven pushes
 * subtract 56 more, so it is 64 below, as the call of 'watch' requires.)
 */
#if defined(__x86_64__)
#define JUMP_AFTER(name, watch)                                           \
	__asm__(".pushsection .text\n"                                    \
		".globl " name "\n.type " name ", @function\n" name ":\n" \
		"\t.cfi_startproc\n"                                      \
		"\tendbr64\n"                                             \
		"\tpush %rdi\n\t.cfi_adjust_cfa_offset 8\n"               \
		"\tpush %rsi\n\t.cfi_adjust_cfa_offset 8\n"               \
		"\tpush %rdx\n\t.cfi_adjust_cfa_offset 8\n"               \
		"\tpush %rcx\n\t.cfi_adjust_cfa_offset 8\n"               \
		"\tpush %r8\n\t.cfi_adjust_cfa_offset 8\n"                \
		"\tpush %r9\n\t.cfi_adjust_cfa_offset 8\n"                \
		"\tpush %rax\n\t.cfi_adjust_cfa_offset 8\n"               \
		"\tcall " watch "\n"                                      \
		"\tmov %rax, %r11\n"                                      \
		"\tpop %rax\n\t.cfi_adjust_cfa_offset -8\n"               \
		"\tpop %r9\n\t.cfi_adjust_cfa_offset -8\n"                \
		"\tpop %r8\n\t.cfi_adjust_cfa_offset -8\n"                \
		"\tpop %rcx\n\t.cfi_adjust_cfa_offset -8\n"               \
		"\tpop %rdx\n\t.cfi_adjust_cfa_offset -8\n"               \
		"\tpop %rsi\n\t.cfi_adjust_cfa_offset -8\n"               \
		"\tpop %rdi\n\t.cfi_adjust_cfa_offset -8\n"               \
		"\tjmp *%r11\n"                                           \
		"\t.cfi_endproc\n"                                        \
		".size " name ", . - " name "\n.popsection\n")
#elif defined(__aarch64__)
#define JUMP_AFTER(name, watch)                                           \
	__asm__(".pushsection .text\n.balign 4\n"                         \
		".globl " name "\n.type " name ", %function\n" name ":\n" \
		"\t.cfi_startproc\n"                                      \
		"\thint #34\n" /* bti c: allow indirect branches here */  \
		"\tstp x29, x30, [sp, #-80]!\n"                           \
		"\t.cfi_def_cfa_offset 80\n"                              \
		"\t.cfi_offset 29, -80\n\t.cfi_offset 30, -72\n"          \
		"\tmov x29, sp\n"                                         \
		"\tstp x0, x1, [sp, #16]\n"                               \
		"\tstp x2, x3, [sp, #32]\n"                               \
		"\tstp x4, x5, [sp, #48]\n"                               \
		"\tstp x6, x7, [sp, #64]\n"                               \
		"\tbl " watch "\n"                                        \
		"\tmov x16, x0\n"                                         \
		"\tldp x0, x1, [sp, #16]\n"                               \
		"\tldp x2, x3, [sp, #32]\n"                               \
		"\tldp x4, x5, [sp, #48]\n"                               \
		"\tldp x6, x7, [sp, #64]\n"                               \
		"\tldp x29, x30, [sp], #80\n"                             \
		"\t.cfi_restore 29\n\t.cfi_restore 30\n"                  \
		"\t.cfi_def_cfa_offset 0\n"                               \
		"\tbr x16\n"                                              \
		"\t.cfi_endproc\n"                                        \
		".size " name ", . - " name "\n.popsection\n")
#endif

#endif /* JUMP_H */

/* SPDX-License-Identifier: MIT */
/*
 * jump.h - a function that looks at its arguments and jumps to another
 *
 * JUMP_AFTER(name, watch) defines 'name', which calls 'watch' with the
 * arguments that are in registers and jumps to the address that 'watch'
 * returns.  So arguments, stack and return are as if 'name' was not there,
 * whatever arguments it takes.
 */
#ifndef JUMP_H
#define JUMP_H

/*
 * Keep the registers that hold arguments, ask, and jump.  (The stack must be a
 * multiple of 16 below; at the entry of an x86-64 function it is 8 off.)
 */
#if defined(__x86_64__)
#define JUMP_AFTER(name, watch)                                           \
	__asm__(".pushsection .text\n"                                    \
		".globl " name "\n.type " name ", @function\n" name ":\n" \
		"	.cfi_startproc\n"                                       \
		"	endbr64\n"                                              \
		"	push %rdi\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	push %rsi\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	push %rdx\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	push %rcx\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	push %r8\n	.cfi_adjust_cfa_offset 8\n"                  \
		"	push %r9\n	.cfi_adjust_cfa_offset 8\n"                  \
		"	push %rax\n	.cfi_adjust_cfa_offset 8\n"                 \
		"	call " watch "\n"                                 \
		"	mov %rax, %r11\n"                                       \
		"	pop %rax\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	pop %r9\n	.cfi_adjust_cfa_offset -8\n"                  \
		"	pop %r8\n	.cfi_adjust_cfa_offset -8\n"                  \
		"	pop %rcx\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	pop %rdx\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	pop %rsi\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	pop %rdi\n	.cfi_adjust_cfa_offset -8\n"                 \
		"	jmp *%r11\n"                                            \
		"	.cfi_endproc\n"                                         \
		".size " name ", . - " name "\n.popsection\n")
#elif defined(__aarch64__)
#define JUMP_AFTER(name, watch)                                           \
	__asm__(".pushsection .text\n.balign 4\n"                         \
		".globl " name "\n.type " name ", %function\n" name ":\n" \
		"	.cfi_startproc\n"                                       \
		"	hint #34\n" /* bti c */                           \
		"	stp x29, x30, [sp, #-80]!\n"                            \
		"	.cfi_def_cfa_offset 80\n"                               \
		"	.cfi_offset 29, -80\n	.cfi_offset 30, -72\n"            \
		"	mov x29, sp\n"                                          \
		"	stp x0, x1, [sp, #16]\n"                                \
		"	stp x2, x3, [sp, #32]\n"                                \
		"	stp x4, x5, [sp, #48]\n"                                \
		"	stp x6, x7, [sp, #64]\n"                                \
		"	bl " watch "\n"                                   \
		"	mov x16, x0\n"                                          \
		"	ldp x0, x1, [sp, #16]\n"                                \
		"	ldp x2, x3, [sp, #32]\n"                                \
		"	ldp x4, x5, [sp, #48]\n"                                \
		"	ldp x6, x7, [sp, #64]\n"                                \
		"	ldp x29, x30, [sp], #80\n"                              \
		"	.cfi_restore 29\n	.cfi_restore 30\n"                    \
		"	.cfi_def_cfa_offset 0\n"                                \
		"	br x16\n"                                               \
		"	.cfi_endproc\n"                                         \
		".size " name ", . - " name "\n.popsection\n")
#endif

#endif /* JUMP_H */

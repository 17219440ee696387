/* SPDX-License-Identifier: MIT */
/*
 * stack_generated.c - generated code, jumps between functions, and switches of
 * the stack; see stack_torture.h
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "stack_torture.h"

/* libgcc's */
void __register_frame(void *entries);
void __deregister_frame(void *entries);

/* Each calls the function in RDI. */
static const uint8_t with_frame_pointer[] = {
	0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3,
};
static const uint8_t without_frame_pointer[] = {
	0x48, 0x83, 0xec, 0x18, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x18, 0xc3,
};

/*
 * Call frame information of 'without_frame_pointer': a CIE, an FDE whose
 * function begins at the address that make() stores, and the end.
 */
/* clang-format off */
static const uint8_t entries[] = {
	0x14, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, /* CIE */
	0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0,	      /* CFA = RSP + 8 */
	0, 0x1c, 0, 0, 0, 0x1c, 0, 0, 0,	      /* FDE */
	0, 0, 0, 0, 0, 0, 0, 0,			      /* begin */
	11, 0, 0, 0, 0, 0, 0, 0,		      /* size */
	0x44, 0x0e, 32, 0x46, 0x0e, 8, 0, 0,	      /* at 4, at 10 */
	0, 0, 0, 0,
};
/* clang-format on */
#define FDE_BEGIN_AT 32u

static void *
make(const uint8_t *code, size_t nbytes)
{
	void *const p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uintptr_t begin = (uintptr_t)p;

	memcpy(p, code, nbytes);
	memcpy((char *)p + PAGE, entries, sizeof(entries));
	memcpy((char *)p + PAGE + FDE_BEGIN_AT, &begin, sizeof(begin));
	return p;
}

static NOINLINE void
call_made(const void *code, void (*f)(void))
{
	void (*call)(void (*)(void));

	memcpy(&call, &code, sizeof(call));
	call(f);
	__asm__ volatile("" ::: "memory");
}

NOINLINE void
generate(void (*f)(void))
{
	void *code = make(with_frame_pointer, sizeof(with_frame_pointer));

	call_made(code, f);
	munmap(code, 2 * PAGE);
	code = make(without_frame_pointer, sizeof(without_frame_pointer));
	call_made(code, f);
	__register_frame((char *)code + PAGE);
	call_made(code, f);
	__deregister_frame((char *)code + PAGE);
	call_made(code, f);
	munmap(code, 2 * PAGE);
}

/* The first calls the second, which jumps to the third, and that to 'f'. */
void jump_first(void (*f)(void));
void jump_second(void (*f)(void));
void jump_third(void (*f)(void));
__asm__(".text\n"
	".type jump_third, @function\njump_third: .cfi_startproc\n"
	"	jmp *%rdi\n"
	".cfi_endproc\n.size jump_third, . - jump_third\n"
	".type jump_second, @function\njump_second: .cfi_startproc\n"
	"	push %rbp\n.cfi_adjust_cfa_offset 8\n"
	"	pop %rbp\n.cfi_adjust_cfa_offset -8\n"
	"	jmp jump_third\n"
	".cfi_endproc\n.size jump_second, . - jump_second\n"
	".type jump_first, @function\njump_first: .cfi_startproc\n"
	"	sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
	"	call jump_second\n"
	"	add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n.size jump_first, . - jump_first\n");

NOINLINE void
jump_on(void (*f)(void))
{
	jump_first(f);
	__asm__ volatile("" ::: "memory");
}

/* Call 'f' on the stack that ends at 'top'; the rules lead back. */
void on_stack_by_rbp(void (*f)(void), void *top);
void on_stack_by_rbx(void (*f)(void), void *top);
__asm__(".text\n"
	".type on_stack_by_rbp, @function\non_stack_by_rbp: .cfi_startproc\n"
	"	push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
	"	mov %rsp, %rbp\n.cfi_def_cfa_register 6\n"
	"	mov %rsi, %rsp\n	call *%rdi\n"
	"	mov %rbp, %rsp\n	pop %rbp\n.cfi_def_cfa 7, 8\n	ret\n"
	".cfi_endproc\n.size on_stack_by_rbp, . - on_stack_by_rbp\n"
	".type on_stack_by_rbx, @function\non_stack_by_rbx: .cfi_startproc\n"
	"	push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n"
	"	mov %rsp, %rbx\n.cfi_def_cfa_register 3\n"
	"	mov %rsi, %rsp\n	call *%rdi\n"
	"	mov %rbx, %rsp\n	pop %rbx\n.cfi_def_cfa 7, 8\n	ret\n"
	".cfi_endproc\n.size on_stack_by_rbx, . - on_stack_by_rbx\n");

NOINLINE void
switch_by_rules(void (*f)(void))
{
	char *const low = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	on_stack_by_rbp(f, low + 16 * PAGE);
	on_stack_by_rbx(f, low + 16 * PAGE);
	/* Its pages end below the top, or at it. */
	munmap(low + 8 * PAGE, 8 * PAGE);
	on_stack_by_rbp(f, low + 8 * PAGE);
	munmap(low, 8 * PAGE);
}

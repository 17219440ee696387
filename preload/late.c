/* SPDX-License-Identifier: MIT */
/* late.c - see late.h */

#include "late.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "jemalloc.h"
#include "lookup.h"
#include "mimalloc.h"
#include "patch.h"
#include "pooled.h"

typedef void *dlsym_fn(void *, const char *);

/* Used by the code below. */
dlsym_fn *late_real __attribute__((visibility("hidden")));
void *late_find(void *handle, const char *name)
	__attribute__((visibility("hidden"), used));
void *late_entry(void *handle, const char *name)
	__attribute__((visibility("hidden")));

/*
 * late_find(), and where it returns NULL, the real dlsym() as if the caller had called
 * it: whose caller it is, it tells by its return address.  No compiler promises
 * such a jump.
 */
#if defined(__x86_64__)
__asm__(".text\n"
	".p2align 4\n"
	".globl late_entry\n"
	".hidden late_entry\n"
	".type late_entry, @function\n"
	"late_entry:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call late_find\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	testq %rax, %rax\n"
	"	jnz 1f\n"
	"	jmp *late_real(%rip)\n"
	"1:	ret\n"
	".cfi_endproc\n"
	".size late_entry, . - late_entry\n");
#else
__asm__(".text\n"
	".p2align 4\n"
	".globl late_entry\n"
	".hidden late_entry\n"
	".type late_entry, %function\n"
	"late_entry:\n"
	".cfi_startproc\n"
	"	hint #34\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	.cfi_adjust_cfa_offset 32\n"
	"	.cfi_rel_offset x29, 0\n"
	"	.cfi_rel_offset x30, 8\n"
	"	stp x0, x1, [sp, #16]\n"
	"	bl late_find\n"
	"	mov x16, x0\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	.cfi_adjust_cfa_offset -32\n"
	"	cbz x16, 1f\n"
	"	mov x0, x16\n"
	"	ret\n"
	"1:	adrp x16, late_real\n"
	"	ldr x16, [x16, :lo12:late_real]\n"
	"	br x16\n"
	".cfi_endproc\n"
	".size late_entry, . - late_entry\n");
#endif

static struct patch patches[] = {
	{ "dlsym", (void *)(uintptr_t)late_entry, NULL, false },
};

/* Objects that came and went, up to what has been looked at. */
static _Atomic uint64_t seen_changes;
static _Atomic bool is_looking;

/* How often others try while one thread looks; it may be one that a fork left behind. */
#define WAITS_MAX 1000u

static int
visit(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	uint64_t *const changes = context;

	(void)nbytes;
	*changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

static uint64_t
count_changes(void)
{
	uint64_t changes = 0;

	dl_iterate_phdr(visit, &changes);
	return changes;
}

static bool
begin_looking(void)
{
	/* acquire and release: a lock. */
	for (unsigned i = 0; i < WAITS_MAX; i++) {
		if (!atomic_exchange_explicit(&is_looking, true,
					      memory_order_acquire))
			return true;
		sched_yield();
	}
	return false;
}

/*
 * An object is in the list before its places are filled in.  dlsym() waits for whoever
 * loads one, so all that were counted before it are complete after it.
 */
static void
look(void)
{
	const uint64_t changes = count_changes();

	/* relaxed: who comes second waits for the first, or looks too. */
	if (atomic_load_explicit(&seen_changes, memory_order_relaxed) ==
	    changes)
		return;
	late_real(RTLD_DEFAULT, "dlsym");
	if (!begin_looking())
		return;
	jemalloc_patch();
	mimalloc_patch();
	pooled_patch_again();
	patch_known(patches, 1);
	atomic_store_explicit(&seen_changes, changes, memory_order_relaxed);
	atomic_store_explicit(&is_looking, false, memory_order_release);
}

/*
 * What is to be had instead of the function 'name', or NULL.  What RTLD_NEXT is depends
 * on the caller, and so does RTLD_DEFAULT for what is loaded locally: the one is left
 * alone, the other too where it is not found from here.
 */
void *
late_find(void *handle, const char *name)
{
	const int saved_errno = errno;
	void *found = NULL;

	look();
	if (handle != RTLD_NEXT && name != NULL &&
	    (jemalloc_has(name) || mimalloc_has(name)))
		found = late_real(handle, name);
	if (found != NULL) {
		void *const ours = jemalloc_stand_in(name, found);

		found = ours != NULL ? ours : mimalloc_stand_in(name, found);
	}
	errno = saved_errno;
	return found;
}

void
late_patch(void)
{
	late_real = dlsym;
	atomic_store_explicit(&seen_changes, count_changes(),
			      memory_order_relaxed);
	/* Another's may have to be called by those that it is for. */
	if (!lookup_is_first("dlsym", (const void *)(uintptr_t)late_real))
		return;
	patches[0].real = (void *)(uintptr_t)late_real;
	patch_known(patches, 1);
}

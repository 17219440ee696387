/* SPDX-License-Identifier: MIT */
/* dlopened.c - see dlopened.h */

#include "preload/heaps/dlopened.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "preload/heaps/deep_bound.h"
#include "preload/heaps/heap_calls.h"
#include "preload/heaps/jemalloc.h"
#include "preload/heaps/known_objects.h"
#include "preload/heaps/mimalloc.h"
#include "preload/heaps/patch_calls.h"
#include "preload/record/missed_calls.h"
#include "preload/record/real.h"
#include "preload/record/record.h"
#include "preload/stacks/object_table.h"
#include "preload/sys/elf_lookup.h"
#include "preload/sys/sys.h"

typedef void *dlsym_fn(void *, const char *);

/* The real dlsym(); the assembly code below jumps to it. */
dlsym_fn *dlopened_real __attribute__((visibility("hidden")));
void *dlopened_find(void *handle, const char *name)
	__attribute__((visibility("hidden"), used));
void *dlopened_entry(void *handle, const char *name)
	__attribute__((visibility("hidden")));

/*
 * Call dlopened_find(), and if it returns NULL, jump to the real dlsym().  The
 * real dlsym() identifies its caller by the return address, so the real dlsym()
 * must have the return address of the program's call.  This requires a tail
 * call, which C cannot guarantee, so the code is assembly.
 */
#if defined(__x86_64__)
__asm__(".text\n"
	".p2align 4\n"
	".globl dlopened_entry\n"
	".hidden dlopened_entry\n"
	".type dlopened_entry, @function\n"
	"dlopened_entry:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call dlopened_find\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	testq %rax, %rax\n"
	"	jnz 1f\n"
	"	jmp *dlopened_real(%rip)\n"
	"1:	ret\n"
	".cfi_endproc\n"
	".size dlopened_entry, . - dlopened_entry\n");
#else
__asm__(".text\n"
	".p2align 4\n"
	".globl dlopened_entry\n"
	".hidden dlopened_entry\n"
	".type dlopened_entry, %function\n"
	"dlopened_entry:\n"
	".cfi_startproc\n"
	"	hint #34\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	.cfi_adjust_cfa_offset 32\n"
	"	.cfi_rel_offset x29, 0\n"
	"	.cfi_rel_offset x30, 8\n"
	"	stp x0, x1, [sp, #16]\n"
	"	bl dlopened_find\n"
	"	mov x16, x0\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	.cfi_adjust_cfa_offset -32\n"
	"	cbz x16, 1f\n"
	"	mov x0, x16\n"
	"	ret\n"
	"1:	adrp x16, dlopened_real\n"
	"	ldr x16, [x16, :lo12:dlopened_real]\n"
	"	br x16\n"
	".cfi_endproc\n"
	".size dlopened_entry, . - dlopened_entry\n");
#endif

static struct patch patches[] = {
	{ "dlsym", (void *)(uintptr_t)dlopened_entry, NULL, false },
};

/* Sum of the loader's counts of loads and unloads at the last check. */
static _Atomic uint64_t seen_changes;
/* id of the process that is examining new objects; 0: none */
static _Atomic int looking_pid;

/*
 * Does the malloc() that the program itself calls reach the recorder?  If it
 * does, patch the other objects whose calls bypass the recorder (deep_bound.h).
 * Constant once the process has started.
 */
static bool is_followed;

/*
 * While one thread examines new objects, any other thread tries at most
 * WAITS_MAX times to begin.  It yields after each of the first WAITS_UNSLEPT
 * tries, and sleeps after each later one.
 */
#define WAITS_MAX     2000u
#define WAITS_UNSLEPT 100u
#define WAIT_NS	      100000u

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
	const int pid = sys_pid();

	/* acquire here, release in end_looking(): 'looking_pid' is a lock. */
	for (unsigned i = 0; i < WAITS_MAX; i++) {
		int holder = atomic_load_explicit(&looking_pid,
						  memory_order_relaxed);

		/*
		 * If the holder is neither 0 nor this process, it is an
		 * ancestor, and this process has inherited the held lock.  Take
		 * the lock in this case, too.
		 */
		if (holder != pid &&
		    atomic_compare_exchange_strong_explicit(
			    &looking_pid, &holder, pid, memory_order_acquire,
			    memory_order_relaxed))
			return true;
		if (i < WAITS_UNSLEPT)
			sched_yield();
		else
			sys_sleep(WAIT_NS);
	}
	return false;
}

static void
end_looking(void)
{
	/* release: pairs with the acquire in begin_looking(). */
	atomic_store_explicit(&looking_pid, 0, memory_order_release);
}

/*
 * Did begin_looking() succeed before the fork, so that end_looking() must
 * follow the fork?
 */
static __thread bool is_fork_locked __attribute__((tls_model("initial-exec")));

void
dlopened_before_fork(void)
{
	if (begin_looking())
		is_fork_locked = true;
}

void
dlopened_after_fork(void)
{
	if (!is_fork_locked)
		return;
	is_fork_locked = false;
	end_looking();
}

static void
look_at_changes(bool in_time)
{
	const uint64_t changes = count_changes();

	/*
	 * relaxed: threads write 'seen_changes' only while they hold the lock
	 * of begin_looking() or the loader's lock.
	 */
	if (atomic_load_explicit(&seen_changes, memory_order_relaxed) ==
	    changes)
		return;

	/*
	 * The locks that the callers hold also protect the variables of
	 * known_objects.c.
	 */
	const struct known_objects known = known_objects_renew();

	jemalloc_patch(&known);
	mimalloc_patch(&known);
	heap_calls_patch_again(&known);
	patch_new_objects(patches, 1, &known);
	if (is_followed)
		deep_bound_patch(in_time, &known);
	atomic_store_explicit(&seen_changes, changes, memory_order_relaxed);
}

/*
 * Examine the objects that were loaded since the last check; 'in_time' is as in
 * deep_bound.h.
 */
static void
look(bool in_time)
{
	const bool is_locked = begin_looking();

	/*
	 * If 'in_time' is set, examine the objects even without the lock of
	 * begin_looking(), before the code of the objects runs.  This is safe:
	 * the caller holds the loader's lock, which keeps all other threads
	 * from examining objects.  (A thread that forks may hold the lock of
	 * begin_looking() meanwhile, but it examines nothing.)
	 */
	if (is_locked || in_time)
		look_at_changes(in_time);
	if (is_locked)
		end_looking();
}

/*
 * Does the loader call our_catch() for each load?  If it does, our dlsym() need
 * not examine new objects.
 */
static _Atomic bool is_told;

/*
 * Examine new objects, unless our_catch() does.  The loader lists an object
 * before it relocates the object, and dlsym() waits for a load in progress.  So
 * call the real dlsym() once.  When it returns, all objects that were counted
 * before the call are relocated.
 */
static void
look_late(void)
{
	/*
	 * relaxed: if this thread knows of an object, it has synchronized with
	 * the thread that loaded the object.
	 */
	if (atomic_load_explicit(&is_told, memory_order_relaxed) ||
	    atomic_load_explicit(&seen_changes, memory_order_relaxed) ==
		    count_changes())
		return;
	dlopened_real(RTLD_DEFAULT, "dlsym");
	/*
	 * relaxed: our_catch() sets 'is_told' under the lock that dlsym() has
	 * waited for.
	 */
	if (!atomic_load_explicit(&is_told, memory_order_relaxed))
		look(false);
}

/* Loads ------------------------------------------------------------------- */

typedef int catch_fn(void *exception, void (*operate)(void *), void *argument);

#define CATCH "_dl_catch_exception"

static catch_fn *real_catch;

/*
 * Replacement of _dl_catch_exception().  glibc's loader calls this function to
 * run each step of dlopen() that may fail, and to run the constructors of the
 * new objects.  The loader calls the function by a slot, which other objects
 * can change.  For the constructors, which cannot fail, 'exception' is NULL.
 * At that moment the new objects are already relocated.  The caller holds the
 * loader's lock.
 */
static int
our_catch(void *exception, void (*operate)(void *), void *argument)
{
	if (exception == NULL) {
		const int saved_errno = errno;

		atomic_store_explicit(&is_told, true, memory_order_relaxed);
		/*
		 * A new object may lie at the address of an unloaded one, so
		 * let the object table drop the unloaded objects.
		 */
		if (record_has_stacks)
			object_table_check();
		look(true);
		errno = saved_errno;
	}
	return real_catch(exception, operate, argument);
}

static void
follow_loads(const struct patch_slot *slot, void *unused)
{
	(void)unused;
	if (!slot->is_call || strcmp(slot->name, CATCH) != 0 ||
	    *slot->at != elf_lookup_all(CATCH).first)
		return;
	memcpy(&real_catch, slot->at, sizeof(real_catch));
	/*
	 * The loader of a glibc that has __libc_early_init() always passes NULL
	 * for the constructors, so our_catch() sees every load.
	 */
	if (patch_write(slot, (void *)(uintptr_t)our_catch) &&
	    elf_lookup_all("__libc_early_init").first != NULL)
		atomic_store_explicit(&is_told, true, memory_order_relaxed);
}

/*
 * Find the loader, which is the object that defines _rtld_global_ro, and patch
 * its slot.
 */
static int
visit_loader(struct dl_phdr_info *info, size_t nbytes, void *unused)
{
	struct dynamic dynamic;

	(void)nbytes;
	if (!elf_dynamic_read(info, &dynamic) ||
	    !elf_lookup_defines(&dynamic, "_rtld_global_ro"))
		return 0;
	patch_each_slot(info, &dynamic, follow_loads, unused);
	return 1;
}

/*
 * Return our replacement of the function 'name', or NULL if there is none.  If
 * the result is NULL, dlopened_entry() jumps to the real dlsym(), which then
 * sees the program as its caller.  Also return NULL in two cases in which the
 * result of dlsym() depends on the caller:
 *
 * - 'handle' is RTLD_NEXT.
 * - The dlsym() that is called here does not find the function.  If 'handle' is
 *   RTLD_DEFAULT, a caller in an object that was loaded with RTLD_LOCAL may
 *   still find it.
 */
void *
dlopened_find(void *handle, const char *name)
{
	const int saved_errno = errno;
	void *found = NULL;

	look_late();
	if (handle != RTLD_NEXT && name != NULL &&
	    (jemalloc_has(name) || mimalloc_has(name)))
		found = dlopened_real(handle, name);
	if (found != NULL) {
		void *const ours = jemalloc_stand_in(name, found);

		found = ours != NULL ? ours : mimalloc_stand_in(name, found);
	}
	errno = saved_errno;
	return found;
}

static void
note_other(void)
{
	const char *const name =
		elf_lookup_object(elf_lookup_all("malloc").first);

	missed_calls_note(name != NULL ? name : "another object",
			  " provides the malloc() that the program calls, "
			  "so these calls bypass the recorder");
}

void
dlopened_patch(void)
{
	dlopened_real = dlsym;
	/*
	 * Count the objects first.  An object that another thread loads
	 * meanwhile then counts as new.
	 */
	atomic_store_explicit(&seen_changes, count_changes(),
			      memory_order_relaxed);
	known_objects_begin();
	jemalloc_patch(NULL);
	mimalloc_patch(NULL);
	is_followed = real_is_reached();
	if (is_followed)
		deep_bound_patch(false, NULL);
	else
		note_other();
	dl_iterate_phdr(visit_loader, NULL);
	/*
	 * If another library defines dlsym(), the program's calls must reach
	 * that library's dlsym(), so do not patch these calls.
	 */
	if (!elf_lookup_is_first("dlsym",
				 (const void *)(uintptr_t)dlopened_real))
		return;
	patches[0].real = (void *)(uintptr_t)dlopened_real;
	patch_new_objects(patches, 1, NULL);
}

/* SPDX-License-Identifier: MIT */
/* real.c - see real.h */

#include "preload/record/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "preload/record/thread.h"
#include "preload/sys/elf_lookup.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"

MEMORY_LARGE _Alignas(16) uint8_t real_arena[REAL_ARENA_NBYTES];

/* Size of the block that real_is_reached() allocates as a test. */
#define ASKED_NBYTES 24u

/* Each early block has its size in front of it. */
#define EARLY_HEADER_NBYTES 16

static _Atomic size_t arena_used;
/*
 * Id of the thread that resolves the allocation functions.  0: no thread has
 * begun; -1: these functions are resolved.
 */
static _Atomic int resolving_tid;

/* Return a zeroed block of the early arena, or NULL if the arena is full. */
static void *
early_alloc(size_t size)
{
	const size_t need = EARLY_HEADER_NBYTES + ((size + 15) & ~(size_t)15);
	size_t used;

	/*
	 * The arena is large enough.  It has only the blocks that libc
	 * allocates while it looks up names, a few hundred bytes in all.
	 * relaxed: 'arena_used' is only a sum.
	 */
	if (size > REAL_ARENA_NBYTES)
		return NULL;
	used = atomic_fetch_add_explicit(&arena_used, need,
					 memory_order_relaxed);
	if (used + need > REAL_ARENA_NBYTES)
		return NULL;
	memcpy(real_arena + used, &size, sizeof(size));
	return real_arena + used + EARLY_HEADER_NBYTES;
}

void *
real_realloc_early(void *p, size_t size)
{
	size_t old_size;
	void *const q = real.malloc(size);

	memcpy(&old_size, (uint8_t *)p - EARLY_HEADER_NBYTES, sizeof(old_size));
	if (q != NULL)
		memcpy(q, p, old_size < size ? old_size : size);
	return q;
}

/*
 * Is this thread resolving the functions?  If it is, the present call comes
 * from libc, which looks up names.
 */
static bool
is_resolving(void)
{
	return atomic_load_explicit(&resolving_tid, memory_order_relaxed) ==
	       sys_tid();
}

/*
 * Resolve the functions, or wait until another thread has done so.  Return
 * 'real'.
 */
static const struct real *
settled(void)
{
	real_resolve();
	return &real;
}

static void *
first_malloc(size_t size)
{
	if (is_resolving())
		return early_alloc(size);
	return settled()->malloc(size);
}

static void
first_free(void *p)
{
	/*
	 * If this thread is resolving, 'p' is an early block, so do not free
	 * it.
	 */
	if (!is_resolving())
		settled()->free(p);
}

/* Free a block of the allocator.  Ignore an early block. */
static void
free_checked(void *p)
{
	if (!real_is_early(p))
		real.free(p);
}

static void *
first_calloc(size_t n, size_t size)
{
	size_t nbytes;

	if (!is_resolving())
		return settled()->calloc(n, size);
	if (__builtin_mul_overflow(n, size, &nbytes))
		return NULL;
	/* zeroed, since no early block is reused */
	return early_alloc(nbytes);
}

static void *
first_realloc(void *p, size_t size)
{
	void *q;

	if (!is_resolving())
		return settled()->realloc(p, size);
	q = early_alloc(size);
	if (p != NULL && q != NULL) {
		size_t old_size;

		memcpy(&old_size, (uint8_t *)p - EARLY_HEADER_NBYTES,
		       sizeof(old_size));
		memcpy(q, p, old_size < size ? old_size : size);
	}
	return q;
}

static void *
first_memalign(size_t alignment, size_t size)
{
	return settled()->memalign(alignment, size);
}

static int
first_posix_memalign(void **p, size_t alignment, size_t size)
{
	return settled()->posix_memalign(p, alignment, size);
}

static void *
first_aligned_alloc(size_t alignment, size_t size)
{
	return settled()->aligned_alloc(alignment, size);
}

static void *
first_valloc(size_t size)
{
	return settled()->valloc(size);
}

static void *
first_pvalloc(size_t size)
{
	return settled()->pvalloc(size);
}

#define FIRST_FUNCTIONS                                                       \
	.malloc = first_malloc, .free = first_free, .free_any = free_checked, \
	.calloc = first_calloc, .realloc = first_realloc,                     \
	.memalign = first_memalign, .posix_memalign = first_posix_memalign,   \
	.aligned_alloc = first_aligned_alloc, .valloc = first_valloc,         \
	.pvalloc = first_pvalloc

/* The functions that are called most often are in one cache line. */
_Alignas(64) struct real real = { FIRST_FUNCTIONS };

const void *real_allocator;

struct symbol {
	const char *name;
	size_t off;
};

static const struct symbol allocation_symbols[] = {
	{ "calloc", offsetof(struct real, calloc) },
	{ "realloc", offsetof(struct real, realloc) },
	{ "free", offsetof(struct real, free) },
	{ "memalign", offsetof(struct real, memalign) },
	{ "posix_memalign", offsetof(struct real, posix_memalign) },
	{ "aligned_alloc", offsetof(struct real, aligned_alloc) },
	{ "valloc", offsetof(struct real, valloc) },
	{ "pvalloc", offsetof(struct real, pvalloc) },
	/*
	 * malloc() must be last.  Until it is resolved, each block that libc
	 * gets from malloc() is an early block, as first_free() and
	 * first_realloc() assume.
	 */
	{ "malloc", offsetof(struct real, malloc) },
};

static const struct symbol other_symbols[] = {
	{ "pthread_create", offsetof(struct real, pthread_create) },
	{ "pthread_setname_np", offsetof(struct real, pthread_setname_np) },
	{ "_exit", offsetof(struct real, _exit) },
	{ "_Exit", offsetof(struct real, _Exit) },
	{ "abort", offsetof(struct real, abort) },
	{ "_Fork", offsetof(struct real, _Fork) },
	{ "__assert_fail", offsetof(struct real, assert_fail) },
	{ "execve", offsetof(struct real, execve) },
	{ "syscall", offsetof(struct real, syscall) },
	{ "prctl", offsetof(struct real, prctl) },
	{ "execvp", offsetof(struct real, execvp) },
	{ "execvpe", offsetof(struct real, execvpe) },
	{ "fexecve", offsetof(struct real, fexecve) },
	{ "execveat", offsetof(struct real, execveat) },
	{ "setuid", offsetof(struct real, setuid) },
	{ "setgid", offsetof(struct real, setgid) },
	{ "seteuid", offsetof(struct real, seteuid) },
	{ "setegid", offsetof(struct real, setegid) },
	{ "setreuid", offsetof(struct real, setreuid) },
	{ "setregid", offsetof(struct real, setregid) },
	{ "setresuid", offsetof(struct real, setresuid) },
	{ "setresgid", offsetof(struct real, setresgid) },
	{ "setgroups", offsetof(struct real, setgroups) },
	{ "initgroups", offsetof(struct real, initgroups) },
	{ "setfsuid", offsetof(struct real, setfsuid) },
	{ "setfsgid", offsetof(struct real, setfsgid) },
	{ "capset", offsetof(struct real, capset) },
	{ "chroot", offsetof(struct real, chroot) },
	{ "setrlimit", offsetof(struct real, setrlimit) },
	{ "prlimit", offsetof(struct real, prlimit) },
	{ "mount", offsetof(struct real, mount) },
	{ "umount", offsetof(struct real, umount) },
	{ "umount2", offsetof(struct real, umount2) },
	{ "pivot_root", offsetof(struct real, pivot_root) },
	{ "vfork", offsetof(struct real, vfork) },
	{ "unshare", offsetof(struct real, unshare) },
	{ "setns", offsetof(struct real, setns) },
	{ "opendir", offsetof(struct real, opendir) },
	{ "fstatat64", offsetof(struct real, fstatat64) },
};

/*
 * elf_lookup_next() needs this function, and finds all functions of
 * 'other_symbols' with it.  This costs less than a dlsym() for each function.
 */
static const struct symbol iterate_symbol[] = {
	{ "dl_iterate_phdr", offsetof(struct real, dl_iterate_phdr) },
};

#define OTHER_COUNT (sizeof(other_symbols) / sizeof(other_symbols[0]))

/*
 * Store 'found' in 'real' as the function 'symbol'.  If 'found' is NULL, store
 * the function that dlsym() finds.  Return false if no library defines the
 * function.
 */
static bool
look_up_one(const struct symbol *symbol, void *found)
{
	void *const p = found != NULL ? found : dlsym(RTLD_NEXT, symbol->name);

	if (p != NULL)
		memcpy((uint8_t *)&real + symbol->off, &p, sizeof(p));
	return p != NULL;
}

static void
look_up(const struct symbol *symbols, size_t n)
{
	for (size_t i = 0; i < n; i++)
		look_up_one(&symbols[i], NULL);
}

/*
 * Resolve dl_iterate_phdr() and the functions of 'other_symbols'.  Return false
 * if at least one of 'other_symbols' is not defined by any library.
 */
static bool
look_up_others(void)
{
	struct elf_lookup_next wanted[OTHER_COUNT] = { { .name = NULL } };
	bool all = true;

	look_up(iterate_symbol, 1);
	for (size_t i = 0; i < OTHER_COUNT; i++)
		wanted[i].name = other_symbols[i].name;
	elf_lookup_next(wanted, OTHER_COUNT, real.dl_iterate_phdr);
	for (size_t i = 0; i < OTHER_COUNT; i++)
		all &= look_up_one(&other_symbols[i], wanted[i].found);
	return all;
}

void
real_resolve(void)
{
	int nobody = 0;
	const int tid = sys_tid();
	struct thread *const self = thread_self;

	if (atomic_compare_exchange_strong_explicit(&resolving_tid, &nobody,
						    tid, memory_order_acquire,
						    memory_order_acquire)) {
		const int saved_errno = errno;

		/*
		 * Do not record this thread's calls, since libc's allocations
		 * for the look-up are not the program's.  Do not call dlerror()
		 * here, because it takes libc's locale lock, and the process
		 * may hold that lock when it makes its first allocation.
		 */
		thread_self = &thread_muted;
		look_up(allocation_symbols,
			sizeof(allocation_symbols) / sizeof(struct symbol));
		real_allocator = (const void *)(uintptr_t)real.malloc;
		/* relaxed: only this thread has allocated early blocks. */
		if (atomic_load_explicit(&arena_used, memory_order_relaxed) ==
		    0)
			real.free_any = real.free;
		thread_self = self;
		errno = saved_errno;
		/* release: pairs with the acquire of the waiting loop below. */
		atomic_store_explicit(&resolving_tid, -1, memory_order_release);
		return;
	}
	while (atomic_load_explicit(&resolving_tid, memory_order_acquire) > 0)
		sched_yield();
}

real_usable_size_fn *_Atomic real_usable_size;
_Atomic bool real_is_glibc;

static void
find_usable_size(void)
{
	bool is_allocators = false;
	void *const p = elf_lookup_function("malloc_usable_size",
					    (void *)(uintptr_t)real.free,
					    &is_allocators);

	if (p == NULL || !is_allocators)
		return;
	atomic_store_explicit(&real_usable_size,
			      (real_usable_size_fn *)(uintptr_t)p,
			      memory_order_relaxed);
	atomic_store_explicit(&real_is_glibc,
			      elf_lookup_beside(p, "gnu_get_libc_version"),
			      memory_order_relaxed);
}

static _Atomic bool is_resolved;
static _Atomic bool execve_is_libcs;

static void
resolve_others(void)
{
	struct thread *const self = thread_self;
	const int saved_errno = errno;

	real_resolve();
	thread_self = &thread_muted;
	if (!look_up_others())
		/*
		 * Clear the error of a failed look-up.  Otherwise the program's
		 * dlerror() would report it.
		 */
		dlerror();
	thread_self = self;
	errno = saved_errno;
	/* release: pairs with the acquire in real_resolve_others(). */
	atomic_store_explicit(&is_resolved, true, memory_order_release);
	/*
	 * Do these look-ups only now, because they call our dl_iterate_phdr(),
	 * which needs the functions above.  relaxed: no other data depends on
	 * 'execve_is_libcs'.
	 */
	find_usable_size();
	atomic_store_explicit(
		&execve_is_libcs,
		elf_lookup_beside((const void *)(uintptr_t)real.execve,
				  "__libc_start_main"),
		memory_order_relaxed);
}

bool
real_execve_is_libcs(void)
{
	return atomic_load_explicit(&execve_is_libcs, memory_order_relaxed);
}

/*
 * Once all functions are resolved, this function uses no thread-local variable,
 * not even errno.  A child made by clone(2) may therefore call it even if libc
 * has not set up the child's thread-local memory, as in Chromium's sandbox.
 */
void
real_resolve_others(void)
{
	/* acquire: pairs with the release in resolve_others(). */
	if (!atomic_load_explicit(&is_resolved, memory_order_acquire))
		resolve_others();
}

/*
 * Id of the thread that runs the test of real_is_reached().  Calls by other
 * threads are not part of the test.
 */
static _Atomic int asking_tid;
static bool is_reached;

/* The functions of 'real' that real_is_reached() replaces during its test. */
static __typeof__(real.malloc) answer_malloc;
static __typeof__(real.free) answer_free;

/*
 * The block that the testing thread gets from malloc(), so that the test does
 * not change the heap.
 */
MEMORY_LARGE static _Alignas(16) uint8_t asked_block[16 * ASKED_NBYTES];

static void *
asked_malloc(size_t size)
{
	/* relaxed: a thread reads its own id here only if it stored that id. */
	if (atomic_load_explicit(&asking_tid, memory_order_relaxed) !=
	    sys_tid())
		return answer_malloc(size);
	is_reached = true;
	return size <= sizeof(asked_block) ? asked_block : answer_malloc(size);
}

static void
asked_free(void *p)
{
	if (p != asked_block && !real_is_early(p))
		answer_free(p);
}

bool
real_is_reached(void)
{
	void *const theirs = (void *)(uintptr_t)malloc;
	void (*const free_any)(void *) = real.free_any;
	struct thread *const self = thread_self;

	if (theirs == elf_lookup_own("malloc"))
		return true;
	thread_self = &thread_muted;
	atomic_store_explicit(&asking_tid, sys_tid(), memory_order_relaxed);
	answer_malloc = real.malloc;
	answer_free = real.free;
	real.malloc = asked_malloc;
	real.free = asked_free;
	real.free_any = asked_free;
	free(malloc(ASKED_NBYTES));
	real.malloc = answer_malloc;
	real.free = answer_free;
	real.free_any = free_any;
	atomic_store_explicit(&asking_tid, 0, memory_order_relaxed);
	thread_self = self;
	return is_reached;
}

/* C++ --------------------------------------------------------------------- */

void *
real_find_operator(const char *symbol, bool *direct_ret)
{
	void *p;

	real_resolve_others();
	p = elf_lookup_function(symbol, (void *)(uintptr_t)real.malloc,
				direct_ret);
	if (p == NULL) {
		say("no loaded library defines %s, which %s", symbol,
		    "the program calls; aborting the program");
		real.abort();
	}
	return p;
}

/* SPDX-License-Identifier: MIT */
/*
 * real.h - the functions that the recorder's functions replace and call
 *
 * 'real' holds, for each function, the next definition after the recorder's in
 * the search order.  This definition belongs to libc, or to an allocator that
 * the program is linked with or preloads.  At first, the pointer of each
 * allocation function points to a function that resolves all of them.  Callers
 * therefore need no check.  While libc looks up the names, its own allocations
 * come from a small static array, the early arena.
 */
#ifndef REAL_H
#define REAL_H

#include <dirent.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct real {
	void *(*malloc)(size_t);
	void (*free)(void *);
	/* free() that also accepts NULL and blocks of the early arena. */
	void (*free_any)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);

	int (*pthread_create)(pthread_t *, const pthread_attr_t *,
			      void *(*)(void *), void *);
	int (*pthread_setname_np)(pthread_t, const char *);

	void (*_exit)(int) __attribute__((noreturn));
	void (*_Exit)(int) __attribute__((noreturn));
	void (*abort)(void) __attribute__((noreturn));
	int (*_Fork)(void); /* NULL before glibc 2.34 */
	void (*assert_fail)(const char *, const char *, unsigned, const char *)
		__attribute__((noreturn));
	int (*execve)(const char *, char *const *, char *const *);
	long (*syscall)(long, ...);
	int (*prctl)(int, ...);
	int (*execvp)(const char *, char *const *);
	int (*execvpe)(const char *, char *const *, char *const *);
	int (*fexecve)(int, char *const *, char *const *);
	int (*execveat)(int, const char *, char *const *, char *const *, int);

	int (*setuid)(uid_t);
	int (*setgid)(gid_t);
	int (*seteuid)(uid_t);
	int (*setegid)(gid_t);
	int (*setreuid)(uid_t, uid_t);
	int (*setregid)(gid_t, gid_t);
	int (*setresuid)(uid_t, uid_t, uid_t);
	int (*setresgid)(gid_t, gid_t, gid_t);
	int (*setgroups)(size_t, const gid_t *);
	int (*initgroups)(const char *, gid_t);
	int (*setfsuid)(uid_t);
	int (*setfsgid)(gid_t);
	int (*capset)(void *, const void *);
	int (*chroot)(const char *);
	int (*setrlimit)(int, const void *);
	int (*prlimit)(pid_t, int, const void *, void *);
	/*
	 * The recorder only jumps to the next four functions, so their types do
	 * not matter.
	 */
	void (*mount)(void);
	void (*umount)(void);
	void (*umount2)(void);
	void (*pivot_root)(void);
	pid_t (*vfork)(void);
	int (*unshare)(int);
	int (*setns)(int, int);
	DIR *(*opendir)(const char *);
	/*
	 * NULL before glibc 2.33.  Older versions have only an inline function.
	 */
	int (*fstatat64)(int, const char *, struct stat64 *, int);
	int (*dl_iterate_phdr)(int (*)(struct dl_phdr_info *, size_t, void *),
			       void *);
};

/*
 * 'real' and the arena are hidden symbols, since access to a visible symbol
 * costs an indirection.
 */
extern struct real real __attribute__((visibility("hidden")));

/*
 * An address in the allocator: that of its malloc().  Use this, not
 * real.malloc, to ask in which object the allocator is, because real.malloc may
 * be a function of ours that calls the allocator's (nested_calls.h).  NULL
 * before real_resolve().
 */
extern const void *real_allocator __attribute__((visibility("hidden")));

/*
 * Resolve the allocation functions, which every libc has, or wait until another
 * thread has resolved them.  Keeps errno.  Any thread may call this, any number
 * of times.
 */
void real_resolve(void);

/*
 * Resolve all functions of 'real', not only the allocation functions.  The
 * constructor (load.c) calls this early, because in the child of a fork the
 * loader's lock may be held by a thread that the child does not have.  Each
 * entry point also calls this, since the program may call the entry point
 * before the constructor runs.  Keeps errno.
 */
void real_resolve_others(void);

/*
 * malloc_usable_size() of the library that defines real.free(); NULL if that
 * library does not define it, and before real_resolve_others().  (The function
 * of another library may not know the blocks.)  relaxed, all accesses: a thread
 * that reads NULL records a size as unknown.
 */
typedef size_t real_usable_size_fn(void *);
extern real_usable_size_fn *_Atomic real_usable_size
	__attribute__((visibility("hidden")));

/*
 * Is the allocator glibc's?  relaxed, all accesses: a thread that reads false
 * calls real_usable_size.
 */
extern _Atomic bool real_is_glibc __attribute__((visibility("hidden")));

/*
 * Is real.execve() known to be libc's?  libc's execve() executes the file at
 * the given path.  The execve() of another preloaded library may execute a
 * different file.  Call this after real_resolve_others().
 */
bool real_execve_is_libcs(void);

/*
 * Does the program's malloc() call the recorder's, directly or through another
 * library's malloc()?  If the program's malloc() belongs to another library,
 * this function calls that malloc() and free() once, to find out.
 */
bool real_is_reached(void);

/* The early arena; its blocks are never freed. */
#define REAL_ARENA_NBYTES (64u << 10)
extern uint8_t real_arena[REAL_ARENA_NBYTES]
	__attribute__((visibility("hidden")));

/*
 * Is 'p' a block of the early arena?  The allocator must never get such a
 * block.
 */
static inline bool
real_is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)real_arena < REAL_ARENA_NBYTES;
}

/*
 * Reallocate an early block.  Copy it to a new block of the allocator.  Return
 * NULL with errno if the allocator has no memory.
 */
void *real_realloc_early(void *p, size_t size);

/*
 * Find the next definition of a C++ operator.  Call this only when the program
 * first calls the operator, since the library that defines the operator may be
 * loaded late.  Set '*direct_ret' to whether the definition belongs to the
 * allocator itself, and not to a C++ library that calls malloc() and free().
 * This never returns NULL.  If no library defines the operator, abort the
 * process with a message, as the loader would have done without the recorder.
 */
void *real_find_operator(const char *symbol, bool *direct_ret);

#endif /* REAL_H */

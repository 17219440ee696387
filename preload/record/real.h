/* SPDX-License-Identifier: MIT */
/*
 * real.h - the functions that ours replace and call
 *
 * 'real' holds the next definition of each after ours in the search order:
 * libc's or that of an allocator which the program is linked with or preloads.
 * Until it is resolved, the allocation functions point to a resolver, so that
 * nobody has to ask; what libc allocates while it resolves comes from a small
 * arena of ours.
 */
#ifndef REAL_H
#define REAL_H

#include <dirent.h>
#include <link.h>
#include <pthread.h>
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
	int (*_Fork)(void); /* NULL in a libc that is older than it */
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
	void (*mount)(void); /* these are only jumped to */
	void (*umount)(void);
	void (*umount2)(void);
	void (*pivot_root)(void);
	pid_t (*vfork)(void);
	int (*unshare)(int);
	int (*setns)(int, int);
	DIR *(*opendir)(const char *);
	/* NULL in a libc that has it inline. */
	int (*fstatat64)(int, const char *, struct stat64 *, int);
	int (*dl_iterate_phdr)(int (*)(struct dl_phdr_info *, size_t, void *),
			       void *);
};

/* Hidden, to save one indirection for each function; so is the arena. */
extern struct real real __attribute__((visibility("hidden")));

/* Resolve the allocation functions that every libc has. */
void real_resolve(void);

/*
 * Resolve the others too.  The constructor (load.c) calls this, since later the
 * loader's lock may belong to a thread that a fork did not copy.  An entry
 * point calls it if the program is earlier than the constructor.
 */
void real_resolve_others(void);

/*
 * Does the program's malloc() reach ours, be it through another library's?  If
 * the program's is another library's, this calls it once to find out.
 */
bool real_is_reached(void);

/* The early arena. */
#define REAL_ARENA_NBYTES (64u << 10)
extern uint8_t real_arena[REAL_ARENA_NBYTES]
	__attribute__((visibility("hidden")));

/* Is 'p' from there?  Such a block is never given to the allocator. */
static inline bool
real_is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)real_arena < REAL_ARENA_NBYTES;
}

/* realloc() of an early block: moves it into the allocator's heap. */
void *real_realloc_early(void *p, size_t size);

/*
 * The next definition of a C++ operator, found when it is first needed, since
 * the library that has it may be loaded late.  '*direct_ret' tells whether it
 * belongs to the allocator itself, rather than to a C++ library that calls
 * malloc() and free().  Never NULL: without any the process aborts with a
 * message, as it would have failed to start.
 */
void *real_find_operator(const char *symbol, bool *direct_ret);

#endif /* REAL_H */

/* SPDX-License-Identifier: MIT */
/*
 * privileges.h - the writer thread never has more privileges than the program
 *
 * User, groups and capabilities belong to a thread.  setuid(3) and the like
 * change all threads that libc knows, but libc does not know the writer thread.
 * So a thread of the program that has changed its credentials passes them to
 * the writer as a struct privileges, and waits until the writer has made the
 * same change to itself.
 *
 * Filters on system calls and Landlock's rules also belong to a thread.  If the
 * process has one thread, the writer follows in the same way.  If it has
 * several, either the kernel installs the filter in all threads, the writer
 * included, or the change concerns the calling thread only.
 *
 * To be able to follow, the writer keeps the capabilities CAP_SETUID,
 * CAP_SETGID and CAP_SYS_CHROOT as long as the program has them, and no others.
 * They are effective only while the writer uses them.
 *
 * The recorder cannot see a change that the program makes by the system call
 * instruction itself.  Landlock limits the harm (landlock.h).  A filter on the
 * writer's system calls would limit it, too, but the kernel refuses a filter
 * for all threads (SECCOMP_FILTER_FLAG_TSYNC) while one thread has a filter
 * that the calling thread lacks, and programs install such filters by calls
 * that we cannot see: Java programs (Elasticsearch) look up syscall(3) in libc
 * itself, and Go programs (Beats) do not use libc.  Both would go on without
 * their own filter.
 */
#ifndef PRIVILEGES_H
#define PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * As struct privileges.filter: the writer installs a minimal filter of its own,
 * because it could not work under the program's new filter.  The minimal filter
 * lets it use its open files, wait, map memory that is not executable, and end.
 * It can open no files.
 */
extern const void *const PRIVILEGES_MINIMAL_FILTER;

/* What the writer adopts.  If 'filter' is set, it adopts only that. */
struct privileges {
	uid_t uid[3]; /* real, effective, saved */
	gid_t gid[3];
	/* for access to files; equal to the effective ones by default */
	uid_t fs_uid;
	gid_t fs_gid;
	uint64_t capabilities; /* the permitted ones, bit n = capability n */
	int group_count;
	gid_t *groups; /* mapped, 'groups_nbytes' long; NULL if none */
	size_t groups_nbytes;
	/* kernel id of the thread whose root directory to take; 0: no change */
	pid_t root_tid;
	/* NULL, PRIVILEGES_MINIMAL_FILTER or the program's struct sock_fprog */
	const void *filter;
	/* the program's descriptor of a new Landlock ruleset; -1: none */
	int ruleset;
};

/*
 * Store the credentials of the calling thread, without new root, filter and
 * ruleset.  Return false if they cannot be read.  Call privileges_fini() in
 * both cases.
 */
bool privileges_read(struct privileges *p);

/* Unmap the groups that privileges_read() has mapped. */
void privileges_fini(struct privileges *p);

/*
 * The writer thread: adopt the privileges '*p'.  Return false if the writer
 * still has a privilege that is not in '*p', or could not install the filter
 * or ruleset.
 */
bool privileges_take_on(const struct privileges *p);

/*
 * The writer thread calls this before anything else: give up all capabilities
 * but the three above, and all means to regain others.
 */
void privileges_limit(void);

/*
 * For a thread of the program that does the writer's work itself.
 * privileges_lower() reduces its effective capabilities to those that the
 * writer thread would have.  privileges_restore() undoes that.
 */
struct privileges_saved {
	/* sets of capabilities, bit n = capability n */
	uint64_t effective, permitted, inheritable;
};
void privileges_lower(struct privileges_saved *before_ret);
void privileges_restore(const struct privileges_saved *before);

/*
 * The writer thread: does it have CAP_SETUID, so that the program may become
 * another user?
 */
bool privileges_may_change_user(void);

#endif /* PRIVILEGES_H */

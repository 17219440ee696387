/* SPDX-License-Identifier: MIT */
/*
 * privileges.h - the writer thread never has more privileges than the program
 *
 * User, groups and capabilities belong to a thread.  setuid(3) and similar
 * functions change all threads that libc knows, but libc does not know the
 * writer thread.  If a thread of the program has changed its credentials, this
 * thread therefore passes the new credentials to the writer as a struct
 * privileges, and waits until the writer has adopted them.
 *
 * Filters on system calls and Landlock's rules also belong to a thread.  If the
 * program has one thread, the writer adopts the filters and rules of that
 * thread.  If the program has several threads, the writer does nothing: the
 * change concerns either the calling thread alone or all threads, and in the
 * second case the kernel includes the writer.
 *
 * To be able to make these changes, the writer keeps the capabilities
 * CAP_SETUID, CAP_SETGID and CAP_SYS_CHROOT as long as the program has them.
 * These three are effective only while the writer uses them.  The writer keeps
 * no others.
 *
 * The recorder cannot see a change that the program makes by a system call
 * instruction of its own.  Landlock limits the harm (landlock.h).  A filter on
 * the writer's system calls would limit the harm, too, but would break
 * programs.  The kernel refuses a filter for all threads
 * (SECCOMP_FILTER_FLAG_TSYNC) while one thread has a filter that the calling
 * thread lacks.  Some programs install filters for all threads by calls that
 * the recorder cannot see: Java programs (Elasticsearch) look up syscall(3) in
 * libc itself, and Go programs (Beats) do not use libc.  If the writer had a
 * filter of its own, the kernel would refuse the filters of these programs, and
 * the programs would continue without their filters.
 */
#ifndef PRIVILEGES_H
#define PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Value of struct privileges.filter.  It means that the writer cannot work
 * under the program's new filter, and therefore installs a minimal filter of
 * its own.  Under the minimal filter, the writer can use its open files, wait,
 * map memory that is not executable, and end.  The writer cannot open files.
 */
extern const void *const PRIVILEGES_MINIMAL_FILTER;

/*
 * What the writer adopts.  If 'filter' is set, the writer adopts only the
 * filter; otherwise it adopts all the other members.
 */
struct privileges {
	uid_t uid[3]; /* real, effective, saved user ids */
	gid_t gid[3];
	/* user id for access to files; by default the effective user id */
	uid_t fs_uid;
	gid_t fs_gid;
	/* Permitted capabilities, bit n = capability n. */
	uint64_t capabilities;
	int group_count;
	/* Mapped memory of 'groups_nbytes' bytes; NULL if none. */
	gid_t *groups;
	size_t groups_nbytes;
	/*
	 * kernel id of the thread whose root directory the writer adopts; 0:
	 * none
	 */
	pid_t root_tid;
	/* NULL, PRIVILEGES_MINIMAL_FILTER or the program's struct sock_fprog */
	const void *filter;
	/* the program's descriptor of a new Landlock ruleset; -1: none */
	int ruleset;
};

/*
 * Store the credentials of the calling thread in '*p', with no new root
 * directory, filter or ruleset.  Return false if the credentials cannot be
 * read.  Whatever the result, the caller must call privileges_fini() later.
 */
bool privileges_read(struct privileges *p);

/* Unmap the groups that privileges_read() has mapped. */
void privileges_fini(struct privileges *p);

/*
 * The writer thread calls this to adopt the privileges '*p'.  Return false if
 * the writer still has a privilege that is not in '*p', or could not install
 * the filter or ruleset.
 */
bool privileges_take_on(const struct privileges *p);

/*
 * The writer thread calls this before it does any work.  Keep only CAP_SETUID,
 * CAP_SETGID and CAP_SYS_CHROOT.  Give up all other capabilities, and all means
 * to regain them.
 */
void privileges_limit(void);

/*
 * A thread of the program calls these functions before and after it does the
 * work of the writer thread.  privileges_lower() makes all capabilities of the
 * calling thread ineffective except those that the writer thread keeps.
 * privileges_restore() restores the set of effective capabilities.
 */
struct privileges_saved {
	/* sets of capabilities, bit n = capability n */
	uint64_t effective, permitted, inheritable;
};
void privileges_lower(struct privileges_saved *before_ret);
void privileges_restore(const struct privileges_saved *before);

/*
 * The writer thread calls this: does the writer have CAP_SETUID?  If the writer
 * has it, the program may still change to another user.
 */
bool privileges_may_change_user(void);

#endif /* PRIVILEGES_H */

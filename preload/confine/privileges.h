/* SPDX-License-Identifier: MIT */
/*
 * privileges.h - the writer thread never has more privileges than the program
 *
 * User, group and capabilities belong to a thread.  libc makes a change by
 * setuid(3) and its kin one of the whole process, but does not know the writer
 * thread.  So the calling thread, when its own change is done, has the writer
 * make the same: it leaves its credentials here, and waits until the writer has
 * taken them on.
 *
 * So with filters on system calls and Landlock's rules, which belong to a
 * thread, too, in a process of one thread.  (Where there are more the kernel
 * gives a filter to all of them, the writer as well, or it is that thread's own
 * affair.)
 *
 * For that the writer keeps the capabilities CAP_SETUID, CAP_SETGID and
 * CAP_SYS_CHROOT as long as the program has them, and no others; they are in
 * force only while it uses them.
 *
 * What the program changes by the system call instruction itself nobody sees.
 * Against that there is Landlock (landlock.h), and no filter on system calls:
 * the kernel refuses a filter for all threads (SECCOMP_FILTER_FLAG_TSYNC) while
 * one thread has a filter that the calling thread has not, and such calls come
 * past us, too.  Java programs (Elasticsearch) find syscall(3) in libc itself,
 * Go programs (Beats) do without libc; both would go on without their own
 * filter.
 */
#ifndef PRIVILEGES_H
#define PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Where the program's new filter would not let the writer do its work, the
 * writer gets one of its own instead, PRIVILEGES_MINIMAL_FILTER: it may write to what it
 * has open, wait, map memory that is not executable, and end.  It opens nothing
 * any more.
 */
extern const void *const PRIVILEGES_MINIMAL_FILTER;

struct privileges {
	uid_t uid[3]; /* real, effective, saved */
	gid_t gid[3];
	uid_t fs_uid; /* for files: the effective ones, unless it has said else
		       */
	gid_t fs_gid;
	uint64_t capabilities; /* permitted ones */
	int group_count;
	gid_t *groups; /* 'groups_nbytes' long, mapped */
	size_t groups_nbytes;
	pid_t root_tid; /* the thread whose root directory counts; 0: no change
			*/
	/* struct sock_fprog of a new one, and nothing else changes; or NULL */
	const void *filter;
	int ruleset; /* the program's descriptor of a new Landlock ruleset, or
			-1 */
};

/* Of the calling thread.  False: they cannot be had. */
bool privileges_read(struct privileges *p);

/* Let go of what privileges_read() has mapped. */
void privileges_fini(struct privileges *p);

/* The writer: take them on.  False: it still has some that are not in '*p'. */
bool privileges_take_on(const struct privileges *p);

/*
 * The writer thread, first of all: give up all capabilities but the three, and
 * what could bring back others.
 */
void privileges_limit(void);

/*
 * A thread of the program that does the writer's work: it has no more
 * privileges for it than the writer thread would have.  privileges_restore()
 * gives it back those that it had.
 */
struct privileges_saved {
	uint64_t effective, permitted, inheritable;
};
void privileges_lower(struct privileges_saved *before_ret);
void privileges_restore(const struct privileges_saved *before);

/* The writer thread: may it, and so the program, become another user? */
bool privileges_may_change_user(void);

#endif /* PRIVILEGES_H */

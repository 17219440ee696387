/* SPDX-License-Identifier: MIT */
/*
 * process_info.h - the user, id, environment and executable of a process
 *
 * The functions read /proc.  Not thread-safe.
 */
#ifndef PROCESS_INFO_H
#define PROCESS_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Return the id of 'pid' in its own PID namespace, or 'pid' itself if that id
 * is unknown.
 */
long process_info_number(pid_t pid);

/*
 * Return the owner of /proc/PID, usually the effective user id of the process.
 * Return our own user id if there is no such process.
 */
uid_t process_info_owner(pid_t pid);

/* Is 'uid' the real, effective, saved or file system user id of 'pid'? */
bool process_info_is_user(pid_t pid, uid_t uid);

/*
 * Return the value of 'name' (which includes the '=') in the environment of
 * 'pid', or NULL if the variable is not set or the environment cannot be read.
 * The string is valid until the next call.
 */
const char *process_info_variable(pid_t pid, const char *name);

/*
 * Read the path of the executable, "" if it is unknown.  Return false if the
 * path contains a newline.
 */
bool process_info_exe(pid_t pid, char *exe, size_t cap);

#endif /* PROCESS_INFO_H */

/* SPDX-License-Identifier: MIT */
/*
 * socket_path.h - where the socket or bell of a traced process is
 *
 * The folder is the first of these three that the process may use, where UID is
 *its effective user:
 *
 *	$XDG_RUNTIME_DIR/hatftrace
 *	/run/user/UID/hatftrace
 *	/tmp/hatftrace-UID
 *
 * In the folder lie PID.sock, or PID.soc-... for the moment in which the
 *process makes the socket, or PID.bell (bell_file.h), where PID is the
 *process's number in its own PID namespace.
 */
#ifndef SOCKET_PATH_H
#define SOCKET_PATH_H

#define SOCKET_PATH_VARIABLE "XDG_RUNTIME_DIR="
#define SOCKET_PATH_FOLDER   "/hatftrace"
#define SOCKET_PATH_RUN	     "/run/user"
#define SOCKET_PATH_TMP	     "/tmp"
#define SOCKET_PATH_PREFIX   "hatftrace-" /* in SOCKET_PATH_TMP, then UID */

#define SOCKET_PATH_SUFFIX	  ".sock"
#define SOCKET_PATH_MAKING_SUFFIX ".soc-"
#define SOCKET_PATH_BELL_SUFFIX	  ".bell"

#endif /* SOCKET_PATH_H */

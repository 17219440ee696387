/* SPDX-License-Identifier: MIT */
/*
 * socket_path.h - where the sockets, bells and status files of processes are
 *
 * The folder is the first of these three that the process may use.  UID is the
 * effective user id of the process:
 *
 * 	$XDG_RUNTIME_DIR/hatftrace
 * 	/run/user/UID/hatftrace
 * 	/tmp/hatftrace-UID
 *
 * The folder contains these files.  PID is the process's number in its own PID
 * namespace:
 *
 * 	PID.sock    the socket of a process with a writer thread
 * 	PID.soc-    the name of this socket while the process makes it
 * 	PID.status  the status of a process whose writer thread has left
 * 	            (status_file.h)
 * 	bells-1     orders to processes without a writer thread (bells.h)
 */
#ifndef SOCKET_PATH_H
#define SOCKET_PATH_H

#define SOCKET_PATH_VARIABLE "XDG_RUNTIME_DIR="
#define SOCKET_PATH_FOLDER   "/hatftrace"
#define SOCKET_PATH_RUN	     "/run/user"
#define SOCKET_PATH_TMP	     "/tmp"
/* prefix of the folder in SOCKET_PATH_TMP; UID follows */
#define SOCKET_PATH_PREFIX "hatftrace-"

#define SOCKET_PATH_SUFFIX	  ".sock"
#define SOCKET_PATH_MAKING_SUFFIX ".soc-"
#define SOCKET_PATH_STATUS_SUFFIX ".status"

#endif /* SOCKET_PATH_H */

/* SPDX-License-Identifier: MIT */
/*
 * control.h - orders from 'hatf ctl': the socket, its clients, and the bell
 *
 * A Unix stream socket, PID.sock in one of the user's directories (control.c),
 * takes one order a connection.  An order is a line of text.  The answer is
 * "ok" or "error", and lines of key=value.  Only the same user and root get an
 * answer.  The socket belongs to the writer thread, whose descriptors the
 * program does not have.
 *
 * A process whose writer thread has left, or that is dormant from the start,
 * maps the file of bells instead (bells.h).  After 'hatf ctl' has rung the
 * bell, the next allocation of the process makes the writer thread, which makes
 * a socket.  A writer thread that leaves writes its status (status_file.h).
 *
 * A client never keeps the writer waiting: no call blocks, an order has a short
 * buffer and a time-out, and there is one client at a time.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/codec/comment_text.h"

/*
 * Carry out 'order', a word without its line end, and add lines of key=value to
 * 'answer'.  Return NULL, or the reason for which it failed.
 */
typedef const char *control_obey(const char *order, struct text *answer);

/*
 * Before the writer thread begins: initialise the state, and drop that of a
 * parent process.  Unless 'wanted', there will be no socket.  'environment' is
 * the environment of the process.
 */
void control_init(bool wanted, char *const environment[], control_obey *obey);

/* The writer, when its thread begins: note the thread, open the signalfd. */
void control_begin(void);

/*
 * The writer: add the folders in which the socket may be to a set of rules
 * (landlock.h).  'is_changeable': the process may change its user, and the
 * folder of that user may not exist yet.
 */
void control_allow(int rules, bool is_changeable);

/*
 * Take orders by the bell instead of the socket.  For the thread that starts
 * the trace of a process, or, with 'is_leaving', for the writer before it
 * leaves.  False: a bell is impossible, or the user wants no control.
 */
bool control_listen(bool is_leaving);

/* Take no orders by the bell.  For the writer thread that has come back. */
void control_stop_listening(void);

/*
 * In the child of a fork, which has its parent's mapping of the bells.  If the
 * child 'is_dormant' and will take orders, it keeps the mapping, so that 'hatf
 * ctl' can call it before its first event.
 */
void control_inherit(bool is_dormant);

/* Is a client connected? */
bool control_is_busy(void);

/*
 * The writer: serve clients.  The first call with 'open' makes the socket; if
 * that fails, there is none.
 */
void control_serve(uint64_t now_ns, bool open);

/* The writer: call writer_sleep(), and also wake up for a client. */
void control_sleep(_Atomic uint32_t *word, uint32_t expected,
		   uint64_t timeout_ns);

/*
 * Any thread: take no more orders, in this process and in its children.  The
 * writer carries this out later: then control_is_over() returns true.
 */
void control_forbid(void);
bool control_is_over(void);

/*
 * The writer: close the client's connection and remove the socket, which
 * control_serve() may make again.
 */
void control_close(void);

/*
 * A thread of the program that does not wait for the writer: remove socket and
 * status, and take no orders.
 */
void control_unlink(void);

#endif /* CONTROL_H */

/* SPDX-License-Identifier: MIT */
/*
 * control.h - orders from 'hatf ctl': the socket, its clients, and the file of
 * bells
 *
 * A Unix stream socket, PID.sock in one of the user's directories (control.c),
 * takes one order per connection.  An order is a line of text.  The answer is
 * "ok" or "error", and lines of key=value.  Only a client of the same user or
 * of root gets an answer.  The socket belongs to the writer thread, whose
 * descriptors the program does not have.
 *
 * A process whose writer thread has left, or that is dormant from the start,
 * maps the file of bells instead (bells.h).  Each process has a slot in that
 * file, its bell.  'hatf ctl' writes an order into the slot; it "rings the
 * bell".  Then the next allocation of the process makes the writer thread,
 * which makes a socket.  Before a writer thread leaves, it writes the process's
 * status into a file (status_file.h).
 *
 * A client keeps neither the writer nor other clients waiting (clients.h).
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/control/clients.h"

/*
 * Call this before the writer thread begins: initialize the state, and drop the
 * state of a parent process.  If 'wanted' is false, the process takes no
 * orders.  'environment' is the environment of the process.  'obey' carries out
 * an order.
 */
void control_init(bool wanted, char *const environment[], clients_obey *obey);

/*
 * The writer thread calls this when it begins: note its thread id, and open the
 * signalfd if the process takes orders.
 */
void control_begin(void);

/*
 * The writer: make the folder of the socket if the folder does not exist, and
 * allow the use of the folder in the Landlock rules 'rules' (landlock.h).
 * 'is_changeable' means that the process may change its user.  In this case,
 * also allow the writer to make the folder of the new user.
 */
void control_allow(int rules, bool is_changeable);

/*
 * Take orders by the bell instead of the socket.  If 'is_leaving' is set, also
 * make the status file.  The thread that starts a dormant process calls this
 * function without 'is_leaving', and the writer calls it with 'is_leaving'
 * before the writer leaves.  Return false if the file of bells cannot be
 * mapped, if the status file cannot be made, or if the process takes no orders.
 */
bool control_listen(bool is_leaving);

/*
 * Stop taking orders by the bell, and remove the status file.  A new writer
 * thread calls this before it takes orders itself.  The writer also calls this
 * if it does not leave after control_listen(true).
 */
void control_stop_listening(void);

/*
 * Call this in the child of a fork, which has its parent's mapping of the file
 * of bells.  If 'is_dormant' is set, the child will take orders and keeps the
 * mapping, so that 'hatf ctl' can call the child before the child's first
 * event.
 */
void control_inherit(bool is_dormant);

/* Are clients connected? */
bool control_is_busy(void);

/*
 * The writer: serve clients, unless this was done a short time ago.  If 'open'
 * is set and there is no socket, make the socket first.  If this fails, do not
 * try again before control_close() or control_listen().  After
 * control_forbid(), close the socket instead.
 */
void control_serve(uint64_t now_ns, bool open);

/*
 * The writer: call writer_sleep(), but also wake up when a client connects or
 * sends.
 */
void control_sleep(_Atomic uint32_t *word, uint32_t expected,
		   uint64_t timeout_ns);

/*
 * Any thread: from now on this process and its children take no orders.
 * control_is_over() returns true once the writer has closed the socket after
 * control_forbid(), or if the process never took orders.
 */
void control_forbid(void);
bool control_is_over(void);

/*
 * The writer: close the connections and remove the socket, which
 * control_serve() may make again.
 */
void control_close(void);

/*
 * Remove the socket and the status file, and take no orders until
 * control_close().  When a thread of the program ends a dormant process, the
 * thread calls this function instead of waiting until the writer removes the
 * two files.
 */
void control_unlink(void);

#endif /* CONTROL_H */

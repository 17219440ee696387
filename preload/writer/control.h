/* SPDX-License-Identifier: MIT */
/*
 * control.h - orders from outside: the socket, its clients, and the bell
 *
 * A Unix stream socket, PID.sock in a directory of the user's (control.c),
 * takes one order a connection: a line of text, answered by "ok" or "error",
 * and lines of key=value.  Only the same user and root are answered.  All of it
 * belongs to the writer thread, whose descriptors the program does not see.
 *
 * A process whose writer thread has left, or that is dormant from the start,
 * has a bell instead, PID.bell: a file that it maps (bell_file.h).  When
 * the bell is rung, the next allocation of the process makes the writer thread,
 * which makes a socket.
 *
 * A client never keeps the writer waiting: nothing blocks, an order has a short
 * buffer and a time-out, and there is one client at a time.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hatf/codec/comment_text.h"
#include "hatf/recorder/bell_file.h"

/*
 * Carry out 'order', a word without its line end, and add lines of key=value to
 * 'answer'.  Returns NULL, or what is wrong.
 */
typedef const char *control_obey(const char *order, struct text *answer);

/*
 * Before the writer thread begins: forget the state of a parent process.
 * Without 'wanted' there will be no socket.  'environment' is that of the
 * process.
 */
void control_init(bool wanted, char *const environment[], control_obey *obey);

/* The writer thread begins here. */
void control_begin(void);

/*
 * The writer: add the folders in which the socket may be to a set of rules
 * (landlock.h).  'is_changeable': the process may become another user's, whose
 * folder may not exist yet.
 */
void control_allow(int rules, bool is_changeable);

/*
 * Replace the socket by a bell.  For the thread that starts the trace of a
 * process, or the writer before it leaves.  False: a bell is impossible or not
 * wanted.
 */
bool control_make_bell(void);

/* Remove the bell.  Returns the byte that it was rung with, or 0. */
uint8_t control_remove_bell(void);

/* Is a client connected? */
bool control_is_busy(void);

/*
 * The writer: serve clients.  The first call with 'open' makes the socket; if
 * that fails, there is none.
 */
void control_serve(uint64_t now_ns, bool open);

/* The writer: writer_sleep(), and wake up for a client, too. */
void control_sleep(_Atomic uint32_t *word, uint32_t expected,
		   uint64_t timeout_ns);

/*
 * Any thread: take no more orders, here or in child processes.  It holds here
 * once control_is_over() returns true.
 */
void control_forbid(void);
bool control_is_over(void);

/* The writer: drop the client and remove the socket; it may be made again. */
void control_close(void);

/*
 * A thread of the program, without the writer's help: remove socket and bell.
 */
void control_unlink(void);

#endif /* CONTROL_H */

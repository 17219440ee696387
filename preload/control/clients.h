/* SPDX-License-Identifier: MIT */
/*
 * clients.h - the connections of 'hatf ctl' to the control socket
 *
 * Each connection carries one order, a line of text, and one answer.  A client
 * that sends nothing must keep neither the writer nor another client waiting.
 * Therefore no call blocks, and each of the CLIENTS_MAX connections lasts for a
 * limited time.  If all connections are in use and another client waits, the
 * writer closes the oldest connection, provided that the client of this
 * connection has had time to send an order.
 *
 * Only the writer thread calls these functions, except clients_init(), which is
 * called before the writer thread begins.
 */
#ifndef CLIENTS_H
#define CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/codec/comment_text.h"

#define CLIENTS_MAX 8

/*
 * Carry out 'order', a word without its line end, and add lines of key=value to
 * 'answer'.  Return NULL on success, else the reason for the failure.
 */
typedef const char *clients_obey(const char *order, struct text *answer);

/* Forget the connections of a parent process, and store 'obey'. */
void clients_init(clients_obey *obey);

/*
 * Read what clients have sent, answer complete orders, and accept a limited
 * number of new clients at 'listener'.  Only processes of user 'uid' and of
 * root get an answer.
 */
void clients_serve(int listener, uint32_t uid, uint64_t now_ns);

/* Return the number of connections. */
unsigned clients_count(void);

/*
 * Fill 'fds' with the descriptors that become readable when clients_serve() has
 * work: the connections and 'listener'.  Leave out 'listener' if all
 * connections are in use, or if the last attempt to accept a client failed.
 * Return the number of descriptors in 'fds'.
 */
unsigned clients_descriptors(int listener, int fds[CLIENTS_MAX]);

/*
 * Return how long the writer may sleep before it must call clients_serve(),
 * even if no descriptor becomes readable; UINT64_MAX: for ever.
 */
uint64_t clients_patience_ns(void);

void clients_close(void);

#endif /* CLIENTS_H */

/* SPDX-License-Identifier: MIT */
/*
 * clients.h - the connections of 'hatf ctl' to the control socket
 *
 * Each connection carries one order, a line of text, and one answer.  A client
 * that sends nothing must keep neither the writer nor another client waiting.
 * So no call blocks, and there are few connections at once, each for a limited
 * time.  If all of them are in use and another client waits, the oldest one
 * that had time to send its order makes room.
 *
 * Only the writer thread uses this.
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
 * 'answer'.  Return NULL, or the reason for which it failed.
 */
typedef const char *clients_obey(const char *order, struct text *answer);

/* Forget the connections of a parent process. */
void clients_init(clients_obey *obey);

/*
 * Read what clients have sent, answer complete orders, and accept a limited
 * number of new clients at 'listener'.  Only processes of the user 'uid' and
 * root get an answer.
 */
void clients_serve(int listener, uint32_t uid, uint64_t now_ns);

/* Return the number of connections. */
unsigned clients_count(void);

/*
 * Fill 'fds' with the descriptors that become readable when clients_serve() has
 * work: the connections and, if another client can be accepted, 'listener'.
 * Return how many these are.
 */
unsigned clients_descriptors(int listener, int fds[CLIENTS_MAX]);

/*
 * Return how long the writer may sleep without clients_serve(); UINT64_MAX: as
 * long as no descriptor becomes readable.
 */
uint64_t clients_patience_ns(void);

void clients_close(void);

#endif /* CLIENTS_H */

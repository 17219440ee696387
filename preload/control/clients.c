/* SPDX-License-Identifier: MIT */
/* clients.c - see clients.h */

#include "preload/control/clients.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "preload/sys/file.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

/* How many clients to accept before the writer returns to the rings. */
#define ACCEPTED_AT_ONCE 16

/* How long a client may take to send its order. */
#define ORDER_NS 200000000ull

/*
 * If all connections are in use, a client that has been connected for this long
 * must make room for a new client.
 */
#define STAY_NS 5000000ull

/* How long to wait after a failure to accept a client. */
#define RETRY_NS 100000000ull

#define ORDER_MAX_NBYTES  32
#define ANSWER_MAX_NBYTES 16384

struct client {
	int fd;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	char order[ORDER_MAX_NBYTES];
	size_t order_nbytes;
};

static struct {
	clients_obey *obey;
	/* connected clients, the oldest first */
	struct client clients[CLIENTS_MAX];
	unsigned count;
	bool has_failed; /* the last attempt to accept a client failed */
} c;

void
clients_init(clients_obey *obey)
{
	memset(&c, 0, sizeof(c));
	c.obey = obey;
}

unsigned
clients_count(void)
{
	return c.count;
}

/* Remove client 'i' from the list, but leave its descriptor open. */
static struct client
remove_client(unsigned i)
{
	const struct client client = c.clients[i];

	c.count--;
	memmove(&c.clients[i], &c.clients[i + 1],
		(c.count - i) * sizeof(c.clients[0]));
	return client;
}

static void
close_client(unsigned i)
{
	syscall(SYS_close, remove_client(i).fd);
}

void
clients_close(void)
{
	while (c.count != 0)
		close_client(c.count - 1);
}

static void
answer_client(const struct client *client)
{
	MEMORY_LARGE static char body[ANSWER_MAX_NBYTES];
	MEMORY_LARGE static char buf[ANSWER_MAX_NBYTES + 256];
	struct text answer, t;
	const char *wrong;

	text_init(&answer, body, sizeof(body));
	wrong = c.obey(client->order, &answer);
	text_init(&t, buf, sizeof(buf));
	text_str(&t, wrong == NULL ? "ok\n" : "error\n");
	if (wrong != NULL)
		text_line(&t, "reason", wrong, strlen(wrong));
	else
		text_bytes(&t, answer.buf, answer.used);
	/*
	 * One call sends the whole answer, since the buffer of a new socket has
	 * room for it.
	 */
	syscall(SYS_sendto, client->fd, t.buf, t.used,
		MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

enum reading {
	READING_GOES_ON,
	/* no complete order has come, so close the connection */
	READING_IS_OVER,
	READING_HAS_ORDER
};

/* Read the bytes that the client has sent. */
static enum reading
read_client(struct client *client, uint64_t now_ns)
{
	char *const start = client->order + client->order_nbytes;
	const size_t room = sizeof(client->order) - client->order_nbytes;
	const long n = syscall(SYS_recvfrom, client->fd, start, room,
			       MSG_DONTWAIT, NULL, NULL);
	char *line_end;

	if (n < 0 && errno == EAGAIN && now_ns - client->since_ns <= ORDER_NS)
		return READING_GOES_ON;
	if (n <= 0)
		return READING_IS_OVER;
	client->order_nbytes += (size_t)n;
	line_end = memchr(start, '\n', (size_t)n);
	if (line_end != NULL) {
		*line_end = '\0';
		return READING_HAS_ORDER;
	}
	return (size_t)n < room ? READING_GOES_ON : READING_IS_OVER;
}

static void
serve_client(unsigned i, uint64_t now_ns)
{
	const enum reading reading = read_client(&c.clients[i], now_ns);
	struct client client;

	if (reading == READING_GOES_ON)
		return;
	/*
	 * Remove the client before its order is obeyed, since the order may
	 * change the list.
	 */
	client = remove_client(i);
	if (reading == READING_HAS_ORDER)
		answer_client(&client);
	syscall(SYS_close, client.fd);
}

static bool
is_allowed(int fd, uint32_t uid)
{
	struct ucred peer;
	socklen_t nbytes = sizeof(peer);

	return syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer,
		       &nbytes) == 0 &&
	       (peer.uid == uid || peer.uid == 0);
}

/*
 * Add a client and serve it.  If all connections are in use, close the
 * connection of the oldest client.  The caller has checked by have_room() that
 * the oldest client has had time to send its order.
 */
static void
add_client(int fd, uint64_t now_ns)
{
	if (c.count == CLIENTS_MAX)
		close_client(0);
	c.clients[c.count++] = (struct client){ .fd = fd, .since_ns = now_ns };
	serve_client(c.count - 1, now_ns);
}

/* Is there room for another client, or can the oldest client make room? */
static bool
have_room(uint64_t now_ns)
{
	return c.count < CLIENTS_MAX ||
	       now_ns - c.clients[0].since_ns > STAY_NS;
}

/*
 * Accept a client.  Return false if no client is waiting, or if accept4(2)
 * fails.
 */
static bool
accept_client(int listener, uint32_t uid, uint64_t now_ns)
{
	const int fd = file_above_standard(
		(int)syscall(SYS_accept4, listener, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC));

	c.has_failed = fd < 0 && errno != EAGAIN;
	if (fd < 0)
		return false;
	if (is_allowed(fd, uid))
		add_client(fd, now_ns);
	else
		syscall(SYS_close, fd);
	return true;
}

void
clients_serve(int listener, uint32_t uid, uint64_t now_ns)
{
	for (unsigned i = c.count; i-- > 0;)
		if (i < c.count)
			serve_client(i, now_ns);
	for (unsigned i = 0; i < ACCEPTED_AT_ONCE && have_room(now_ns); i++)
		if (!accept_client(listener, uid, now_ns))
			return;
}

unsigned
clients_descriptors(int listener, int fds[CLIENTS_MAX])
{
	unsigned n = 0;

	for (; n < c.count; n++)
		fds[n] = c.clients[n].fd;
	if (n < CLIENTS_MAX && !c.has_failed)
		fds[n++] = listener;
	return n;
}

uint64_t
clients_patience_ns(void)
{
	if (c.has_failed)
		return RETRY_NS;
	if (c.count == CLIENTS_MAX)
		return STAY_NS;
	return c.count != 0 ? ORDER_NS : UINT64_MAX;
}

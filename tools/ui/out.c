/* SPDX-License-Identifier: MIT */
/* out.c - see out.h */
#include "tools/ui/out.h"

#include "tools/ui/escape.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Upper bound of the length of a formatted number. */
#define NUMBER_NBYTES 24

struct out *
out_stdout(void)
{
	static struct out o = { .fd = STDOUT_FILENO };

	return &o;
}

/*
 * write(2) has just failed: should out_flush() try again?  If the descriptor is
 * non-blocking and had no room, first wait until there is room.
 */
static bool
may_write_again(const struct out *o)
{
	struct pollfd poll_fd = { .fd = o->fd, .events = POLLOUT };

	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return poll(&poll_fd, 1, -1) >= 0 || errno == EINTR;
	return errno == EINTR;
}

void
out_flush(struct out *o)
{
	size_t done = 0;

	while (done < o->used && o->sys_errno == 0) {
		const ssize_t n = write(o->fd, o->buf + done, o->used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (!may_write_again(o))
			o->sys_errno = errno;
	}
	o->used = 0;
}

bool
out_failed(const struct out *o)
{
	return o->sys_errno != 0;
}

/*
 * Return space for the next 'nbytes' bytes (at most OUT_NBYTES) in the buffer.
 */
static char *
out_room(struct out *o, size_t nbytes)
{
	if (nbytes > OUT_NBYTES - o->used)
		out_flush(o);
	return o->buf + o->used;
}

void
out_bytes_slow(struct out *o, const char *s, size_t nbytes)
{
	while (nbytes > 0) {
		const size_t n = nbytes < OUT_NBYTES ? nbytes : OUT_NBYTES;

		memcpy(out_room(o, n), s, n);
		o->used += n;
		s += n;
		nbytes -= n;
	}
}

void
out_u64(struct out *o, uint64_t n)
{
	static const char pairs[] = "00010203040506070809"
				    "10111213141516171819"
				    "20212223242526272829"
				    "30313233343536373839"
				    "40414243444546474849"
				    "50515253545556575859"
				    "60616263646566676869"
				    "70717273747576777879"
				    "80818283848586878889"
				    "90919293949596979899";
	char *const first = out_room(o, NUMBER_NBYTES);
	size_t count = 1;

	for (uint64_t limit = 10; n >= limit && count < 20; limit *= 10)
		count++;

	char *p = first + count;

	for (; n >= 10; n /= 100) {
		p -= 2;
		memcpy(p, pairs + 2 * (n % 100), 2);
	}
	/*
	 * If the number of digits is odd, the first digit has not been written
	 * yet.
	 */
	if (p > first)
		*first = (char)('0' + n);
	o->used += count;
}

void
out_hex(struct out *o, uint64_t n)
{
	char *const p = out_room(o, NUMBER_NBYTES);
	const size_t bits = 64u - (size_t)__builtin_clzll(n | 1);
	const size_t count = (bits + 3) / 4;

	p[0] = '0';
	p[1] = 'x';
	for (size_t i = count; i-- > 0; n >>= 4)
		p[2 + i] = "0123456789abcdef"[n & 15];
	o->used += 2 + count;
}

void
out_printf(struct out *o, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	const int n = vasprintf(&text, format, args);

	va_end(args);
	if (n < 0) {
		o->sys_errno = ENOMEM;
		return;
	}
	out_bytes(o, text, (size_t)n);
	free(text);
}

static void
out_escaped(struct out *o, const uint8_t *s, size_t nbytes, bool quoted)
{
	while (nbytes > 0) {
		char *const p = out_room(o, ESCAPE_MAX_NBYTES);
		size_t n;
		const size_t taken = escape_next(s, nbytes, quoted, p, &n);

		o->used += n;
		s += taken;
		nbytes -= taken;
	}
}

void
out_text(struct out *o, const char *s)
{
	out_escaped(o, (const uint8_t *)s, strlen(s), false);
}

void
out_quoted(struct out *o, const uint8_t *s, size_t nbytes)
{
	out_str(o, "\"");
	out_escaped(o, s, nbytes, true);
	out_str(o, "\"");
}

int
out_finish(struct out *o, int exit_status)
{
	out_flush(o);
	if (o->sys_errno == 0)
		return exit_status;
	if (o->sys_errno != EPIPE)
		message_print("standard output: %s", strerror(o->sys_errno));
	return EXIT_BAD_INPUT;
}

/* SPDX-License-Identifier: MIT */
/*
 * write_again.h - write(2) to a descriptor that may not block
 */
#ifndef HATF_WRITE_AGAIN_H
#define HATF_WRITE_AGAIN_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>

/*
 * Call this when a write(2) to 'fd' has failed.  Return true if the caller must
 * try again: a signal interrupted the call, or the descriptor does not block
 * and had no room.  In the second case, first wait until the descriptor has
 * room.  Return false, with errno unchanged, after any other failure.
 */
static inline bool
write_again(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };

	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return poll(&poll_fd, 1, -1) >= 0 || errno == EINTR;
	return errno == EINTR;
}

#endif /* HATF_WRITE_AGAIN_H */

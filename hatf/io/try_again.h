/* SPDX-License-Identifier: MIT */
/*
 * try_again.h - read(2) and write(2) on a descriptor that may be non-blocking
 */
#ifndef HATF_TRY_AGAIN_H
#define HATF_TRY_AGAIN_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>

/*
 * Call this when read(2) or write(2) on 'fd' has failed.  Return true if the
 * caller must try again: a signal interrupted the call, or the descriptor is
 * non-blocking and was not ready.  In the second case, wait until 'fd' is ready
 * before returning true; 'events' is POLLIN after read(2), POLLOUT after
 * write(2).  After any other failure, return false and leave errno unchanged.
 */
static inline bool
try_again(int fd, short events)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };

	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return poll(&poll_fd, 1, -1) >= 0 || errno == EINTR;
	return errno == EINTR;
}

#endif /* HATF_TRY_AGAIN_H */

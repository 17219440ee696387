/* SPDX-License-Identifier: MIT */
/* say.c - see say.h */

#include "preload/sys/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "hatf/codec/comment_text.h"
#include "preload/sys/filter.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

#define LINE_MAX_NBYTES 1024

/* Maximum length of a printed string in bytes; the rest is cut off. */
#define VALUE_MAX_NBYTES 400

static void
add_clean(struct text *t, const char *s)
{
	const char *const end = s + strnlen(s, VALUE_MAX_NBYTES);

	for (; s < end; s++) {
		const unsigned char c = (unsigned char)*s;
		char shown = *s;

		if (c < 0x20 || c == 0x7f)
			shown = '?';
		text_bytes(t, &shown, 1);
	}
	if (*s != '\0')
		text_str(t, "...");
}

/*
 * Set by say_expect_filter().  The child of a fork inherits the program's
 * filter of system calls, and therefore keeps these flags.
 */
static _Atomic bool is_filter_known, is_muted;

void
say_expect_filter(bool kills)
{
	/*
	 * relaxed, both: threads come under the filter only after these stores.
	 */
	atomic_store_explicit(&is_filter_known, true, memory_order_relaxed);
	if (kills)
		atomic_store_explicit(&is_muted, true, memory_order_relaxed);
}

/*
 * Is the process under a filter of system calls?  Common filters kill a process
 * for system calls that debuggers use, such as pidfd_getfd.  If the process is
 * under a filter, the caller must not make such a call, not even as a test.
 */
static bool
is_sandboxed(void)
{
	/* relaxed: see say_expect_filter(). */
	return atomic_load_explicit(&is_filter_known, memory_order_relaxed) ||
	       filter_is_installed();
}

/*
 * Open the program's standard error, and return the descriptor, or -1 on
 * failure.  Call this if descriptor 2 of this thread is closed: either this
 * thread is the writer, which has its own descriptor table, or the program has
 * closed descriptor 2.
 */
static int
borrow_stderr(void)
{
	const int pidfd = is_sandboxed()
				  ? -1
				  : (int)syscall(SYS_pidfd_open, sys_pid(), 0);
	int fd = -1;

	if (pidfd >= 0) {
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, STDERR_FILENO, 0);
		syscall(SYS_close, pidfd);
	}
	/*
	 * This open also works before Linux 5.6 and under a filter, but not if
	 * standard error is a socket.  /proc/self/fd shows the descriptor table
	 * of the initial thread, not of the writer.
	 */
	if (fd < 0)
		fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd/2",
				  O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC |
					  O_NONBLOCK);
	return fd;
}

/*
 * The file that was standard error at the program's start.  st_ino is 0 if
 * standard error was closed then.
 */
static struct stat stderr_at_start;
static bool is_start_known;

__attribute__((constructor)) static void
note_stderr(void)
{
	const int saved_errno = errno;

	if (fstat(STDERR_FILENO, &stderr_at_start) != 0)
		stderr_at_start.st_ino = 0;
	is_start_known = true;
	errno = saved_errno;
}

/*
 * Does 'fd' refer to a file of the program's data?  If a program has closed
 * standard error, a file that it opens later, such as a database, may get
 * descriptor 2.  A regular file that was not standard error at the start counts
 * as data, unless fcntl() reports that it is open with O_APPEND.
 */
static bool
is_data(int fd)
{
	struct stat st;
	long flags;

	if (!is_start_known || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (st.st_dev == stderr_at_start.st_dev &&
	     st.st_ino == stderr_at_start.st_ino))
		return false;
	/* A filter may kill the process for fcntl(), so do not call it. */
	if (is_sandboxed())
		return true;
	flags = syscall(SYS_fcntl, fd, F_GETFL);
	return flags < 0 || (flags & O_APPEND) == 0;
}

/*
 * Would a write to 'fd' block until a reader reads?  In a sandbox, do not ask
 * the kernel, and return false.
 */
static bool
is_full(int fd)
{
	struct pollfd poll = { .fd = fd, .events = POLLOUT };
	const struct timespec now = { 0, 0 };

	return !is_sandboxed() &&
	       syscall(SYS_ppoll, &poll, 1, &now, NULL, (size_t)8) == 0;
}

/*
 * Write a line to 'fd'.  Drop the line if the write could harm the program.  If
 * the write raises SIGPIPE or SIGXFSZ, remove the pending signal.  Return false
 * with errno if the write fails.
 */
static bool
try_write(int fd, const char *line, size_t nbytes)
{
	/* relaxed: see say_expect_filter(), which sets 'is_muted'. */
	if (atomic_load_explicit(&is_muted, memory_order_relaxed) ||
	    is_data(fd) || is_full(fd))
		return true;

	const uint64_t mask = sys_block_signals();
	const bool done = syscall(SYS_write, fd, line, nbytes) >= 0;
	const int error = done ? 0 : errno;

	if (error == EPIPE)
		sys_take_back_signal(SIGPIPE);
	else if (error == EFBIG)
		sys_take_back_signal(SIGXFSZ);
	sys_restore_signals(mask);
	errno = error;
	return done;
}

/*
 * Write a line to standard error.  Return false if this thread cannot reach
 * standard error.
 */
static bool
put(const char *line, size_t nbytes)
{
	if (try_write(STDERR_FILENO, line, nbytes) || errno != EBADF)
		return true;
	const int fd = borrow_stderr();

	if (fd < 0)
		return false;
	try_write(fd, line, nbytes);
	syscall(SYS_close, fd);
	return true;
}

/*
 * The first line that a thread could not write because it could not open
 * standard error.  A thread of the program writes the line later to its
 * descriptor 2 (say_rest()).
 */
MEMORY_LARGE static char unsaid[LINE_MAX_NBYTES];

/* Length of the line; 0: there is none; UNSAID_CLAIMED: it is being copied. */
static _Atomic uint32_t unsaid_nbytes;
#define UNSAID_CLAIMED UINT32_MAX

static void
leave(const char *line, size_t nbytes)
{
	uint32_t none = 0;

	/* relaxed: this function does not read the line in 'unsaid'. */
	if (!atomic_compare_exchange_strong_explicit(
		    &unsaid_nbytes, &none, UNSAID_CLAIMED, memory_order_relaxed,
		    memory_order_relaxed))
		return;
	memcpy(unsaid, line, nbytes);
	/* release: pairs with the acquire in say_rest(). */
	atomic_store_explicit(&unsaid_nbytes, (uint32_t)nbytes,
			      memory_order_release);
}

void
say_rest(void)
{
	/*
	 * acquire: pairs with the release in leave().  The line stays in
	 * 'unsaid'; 'is_said' makes sure that it is written only once.
	 */
	const uint32_t nbytes =
		atomic_load_explicit(&unsaid_nbytes, memory_order_acquire);
	static _Atomic bool is_said;

	/* relaxed: the exchange alone decides which thread writes the line. */
	if (nbytes == 0 || nbytes == UNSAID_CLAIMED ||
	    atomic_exchange_explicit(&is_said, true, memory_order_relaxed))
		return;

	const int saved_errno = errno;

	try_write(STDERR_FILENO, unsaid, nbytes);
	errno = saved_errno;
}

void
say(const char *format, ...)
{
	char line[LINE_MAX_NBYTES];
	struct text t;
	va_list args;

	text_init(&t, line, sizeof(line) - 1);
	text_str(&t, "hatftrace: ");
	va_start(args, format);
	for (const char *p = format; *p != '\0'; p++) {
		if (*p != '%') {
			text_bytes(&t, p, 1);
			continue;
		}
		p++;
		if (*p == 's')
			add_clean(&t, va_arg(args, const char *));
		else if (*p == 'u')
			text_u64(&t, va_arg(args, uint64_t));
		else
			text_bytes(&t, p, 1);
	}
	va_end(args);
	line[t.used] = '\n';
	if (!put(line, t.used + 1))
		leave(line, t.used + 1);
}

const char *
say_errno(int e)
{
	switch (e) {
	case EACCES:
		return "permission denied";
	case EAGAIN:
		return "too many threads or processes";
	case EDQUOT:
		return "disk quota exceeded";
	case EEXIST:
		return "exists";
	case EFBIG:
		return "file size limit exceeded";
	case EIO:
		return "input/output error";
	case EISDIR:
		return "is a directory";
	case ELOOP:
		return "is a symbolic link";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ENAMETOOLONG:
		return "file name too long";
	case ENOENT:
		return "no such file or directory";
	case ENOMEM:
		return "out of memory";
	case ENOSPC:
		return "no space left on device";
	case ENOTDIR:
		return "not a directory";
	case EOPNOTSUPP:
		return "not supported on this file system";
	case EPERM:
		return "operation not permitted";
	case EROFS:
		return "read-only file system";
	case ESTALE:
		return "the file was replaced or changed";
	default:
		return "system error";
	}
}

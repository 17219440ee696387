/* SPDX-License-Identifier: MIT */
/*
 * interpose_exit.c - end or fork a process without running handlers
 *
 * exit() and a return from main() run our exit handler (end.c).  The functions
 * here end a process, execute another program, or fork, without running
 * handlers.  Functions that take their arguments as a list (execl() and the
 * like) build an array and call a function that takes an array.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "preload/process/end.h"
#include "preload/process/fork.h"
#include "preload/record/real.h"
#include "preload/sys/export.h"
#include "preload/sys/filter.h"
#include "preload/sys/raw_syscall.h"
#include "preload/writer/writer.h"

EXPORT void
_exit(int status)
{
	real_resolve_others();
	end_trace(WRITER_END_UNDERSCORE_EXIT);
	real._exit(status);
}

EXPORT void
_Exit(int status)
{
	real_resolve_others();
	end_trace(WRITER_END_UNDERSCORE_EXIT);
	real._Exit(status);
}

EXPORT void
abort(void)
{
	real_resolve_others();
	end_trace(WRITER_END_ABORT);
	real.abort();
}

/*
 * assert(3) calls this function.  libc's version aborts without calling our
 * abort(), so our version ends the trace before it calls libc's version.  The
 * trace lacks the few blocks that libc's version allocates for its message.
 */
EXPORT void __assert_fail(const char *assertion, const char *file,
			  unsigned line, const char *function)
	__attribute__((noreturn));

EXPORT void
__assert_fail(const char *assertion, const char *file, unsigned line,
	      const char *function)
{
	real_resolve_others();
	end_trace(WRITER_END_ABORT);
	real.assert_fail(assertion, file, line, function);
}

/*
 * Is there no file 'path', so that an exec of 'path' is certain to fail?  If
 * so, set errno.  Some shells find a command by an exec in each folder of PATH,
 * until one succeeds.  Ending the trace before each failing exec, and resuming
 * the trace afterwards, would take much longer than the exec itself.  The
 * caller may be a child without thread-local memory (see
 * real_resolve_others()), so use errno only as execve() would.
 */
static bool
is_missing(const char *path)
{
	long result;

	if (!real_execve_is_libcs() || !end_is_due() || filter_is_expected())
		return false;
#ifdef SYS_access
	result = raw_syscall_call(SYS_access, (long)path, F_OK, 0, 0, 0, 0);
#else
	result = raw_syscall_call(SYS_faccessat, AT_FDCWD, (long)path, F_OK, 0,
				  0, 0);
#endif
	if (result != -ENOENT && result != -ENOTDIR)
		return false;
	errno = (int)-result;
	return true;
}

EXPORT int
execve(const char *path, char *const argv[], char *const envp[])
{
	int result;

	real_resolve_others();
	/*
	 * Do not call the real function.  If the file has appeared since the
	 * check, the exec would succeed, but the trace has not been ended.
	 */
	if (is_missing(path))
		return -1;
	end_trace(WRITER_END_EXEC);
	result = real.execve(path, argv, envp);
	end_resume();
	return result;
}

EXPORT int
execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

EXPORT int
execvp(const char *file, char *const argv[])
{
	int result;

	real_resolve_others();
	end_trace(WRITER_END_EXEC);
	result = real.execvp(file, argv);
	end_resume();
	return result;
}

EXPORT int
execvpe(const char *file, char *const argv[], char *const envp[])
{
	int result;

	real_resolve_others();
	end_trace(WRITER_END_EXEC);
	result = real.execvpe(file, argv, envp);
	end_resume();
	return result;
}

EXPORT int
fexecve(int fd, char *const argv[], char *const envp[])
{
	int result;

	real_resolve_others();
	end_trace(WRITER_END_EXEC);
	result = real.fexecve(fd, argv, envp);
	end_resume();
	return result;
}

EXPORT int
execveat(int dirfd, const char *path, char *const argv[], char *const envp[],
	 int flags)
{
	int result;

	real_resolve_others();
	end_trace(WRITER_END_EXEC);
	result = real.execveat(dirfd, path, argv, envp, flags);
	end_resume();
	return result;
}

/*
 * _Fork(3) is the fork for signal handlers.  It does not run the handlers
 * registered with pthread_atfork(), so our function calls the recorder's
 * handlers itself.  Otherwise the child would return from the signal handler
 * into the recording that the signal interrupted, and would have no ring for
 * that recording.
 */
EXPORT pid_t _Fork(void);

EXPORT pid_t
_Fork(void)
{
	real_resolve_others();
	if (real._Fork == NULL) {
		errno = ENOSYS;
		return -1;
	}
	fork_before();

	const pid_t child = real._Fork();

	fork_after(child == 0);
	return child;
}

static int
redirect_standard_to_null(void)
{
	const int fd = open("/dev/null", O_RDWR);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0) {
		close(fd);
		return -1;
	}
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3)) {
		close(fd);
		errno = ENODEV;
		return -1;
	}
	for (int standard = 0; standard <= 2; standard++)
		dup2(fd, standard);
	if (fd > 2)
		close(fd);
	return 0;
}

/*
 * This is our own daemon(3).  In libc's daemon(3), the parent process ends
 * inside libc, and the trace of the parent would stay incomplete.
 */
EXPORT int
daemon(int nochdir, int noclose)
{
	const pid_t child = fork();

	if (child > 0)
		_exit(0);
	if (child < 0 || setsid() < 0)
		return -1;
	if (nochdir == 0 && chdir("/") != 0)
		return -1;
	return noclose == 0 ? redirect_standard_to_null() : 0;
}

/* Count 'first' and the arguments in the list, up to the NULL that ends it. */
static size_t
count_list(const char *first, va_list list)
{
	size_t n = 1;

	if (first == NULL)
		return 0;
	while (va_arg(list, const char *) != NULL)
		n++;
	return n;
}

/*
 * Fill 'argv', which has room for n + 1 pointers, with the n arguments and the
 * NULL that ends them.  The next va_arg() of 'list' then reads what follows the
 * NULL.
 */
static void
fill_list(char **argv, size_t n, const char *first, va_list *list)
{
	union {
		const char *in;
		char *out;
	} const head = { .in = first };

	argv[0] = head.out;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(*list, char *);
}

/*
 * Copy the list to an array on the stack, since no memory may be allocated
 * between vfork and exec.  The copy is about as large as the list, which the
 * caller has put on the same stack.
 */
#define LIST_TO_ARGV(argv, first, list)                                   \
	va_start(list, first);                                            \
	const size_t argc = count_list(first, list);                      \
	va_end(list);                                                     \
	char **const argv = __builtin_alloca((argc + 1) * sizeof(*argv)); \
	va_start(list, first);                                            \
	fill_list(argv, argc, first, &list)

EXPORT int
execl(const char *path, const char *first, ...)
{
	va_list list;

	LIST_TO_ARGV(argv, first, list);
	va_end(list);
	return execve(path, argv, environ);
}

EXPORT int
execlp(const char *file, const char *first, ...)
{
	va_list list;

	LIST_TO_ARGV(argv, first, list);
	va_end(list);
	return execvp(file, argv);
}

EXPORT int
execle(const char *path, const char *first, ...)
{
	va_list list;

	LIST_TO_ARGV(argv, first, list);
	char *const *const envp = va_arg(list, char *const *);

	va_end(list);
	return execve(path, argv, envp);
}

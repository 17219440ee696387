/* SPDX-License-Identifier: MIT */
/* launch.c - see launch.h */
#include "tools/recording/launch.h"

#include "tools/control/started.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Exit statuses, with the meanings that shells give them. */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND	    127
#define EXIT_SIGNAL	    128

/* Signals to forward. */
static const int forwarded[] = { SIGHUP,  SIGINT,  SIGQUIT,
				 SIGTERM, SIGUSR1, SIGUSR2 };

struct signals {
	sigset_t waited;	/* signals for which the parent waits */
	sigset_t mask;		/* original signal mask */
	struct sigaction child; /* original action of SIGCHLD */
};

/*
 * Block the signals in order to receive them with sigwaitinfo().  Set SIGCHLD
 * to its default action, because the kernel would discard the command's status
 * if SIGCHLD were ignored.
 */
static void
signals_take(struct signals *s)
{
	const struct sigaction dfl = { .sa_handler = SIG_DFL };

	sigemptyset(&s->waited);
	sigaddset(&s->waited, SIGCHLD);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&s->waited, forwarded[i]);
	sigprocmask(SIG_BLOCK, &s->waited, &s->mask);
	sigaction(SIGCHLD, &dfl, &s->child);
}

/* Restore the signal state that this process inherited. */
static void
signals_give_back(const struct signals *s)
{
	sigaction(SIGCHLD, &s->child, NULL);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

__attribute__((noreturn)) static void
run_child(char *const *argv, const struct signals *s, int error_fd)
{
	signals_give_back(s);
	execvp(argv[0], argv);

	const int e = errno;

	/* If this write fails, too, the parent sees exit status 127. */
	if (write(error_fd, &e, sizeof(e)) < 0)
		_exit(EXIT_NOT_FOUND);
	_exit(EXIT_NOT_FOUND);
}

/* Discard the signals that came while the command ended. */
static void
signals_discard(const struct signals *s)
{
	const struct timespec at_once = { 0, 0 };

	while (sigtimedwait(&s->waited, NULL, &at_once) > 0)
		continue;
}

/*
 * Wait for 'pid', forward signals to it, and return the status that waitpid()
 * stores.
 */
static int
wait_and_forward(pid_t pid, const struct signals *s)
{
	for (;;) {
		siginfo_t info;
		int status;

		/*
		 * Ask whether the child has ended, because SIGCHLD may also
		 * mean that the child was stopped.
		 */
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		if (sigwaitinfo(&s->waited, &info) < 0)
			continue;
		/*
		 * The terminal sends signals to the whole foreground group,
		 * including the command.  Forward only signals that a process
		 * sent.
		 */
		if (info.si_signo != SIGCHLD && info.si_code <= 0)
			kill(pid, info.si_signo);
	}
}

/*
 * Store when the command's process started: 'start_ns', and 'start_time', which
 * the caller compares with the times of trace files.  A library such as
 * faketime may change the time that a clock function returns, but it changes
 * the times of all files alike.  Therefore 'start_time' is the modification
 * time of the new pipe, not the time of a clock.
 */
static void
note_start(struct launch *l, int pipe_fd)
{
	struct stat st;

	if (fstat(pipe_fd, &st) == 0)
		l->start_time = st.st_mtim.tv_sec;
	if (!started_ns((uint64_t)l->pid, &l->start_ns))
		l->start_ns = 0;
}

bool
launch_run(char *const *argv, struct launch *ret)
{
	struct signals signals;
	int fds[2];

	memset(ret, 0, sizeof(*ret));
	if (pipe2(fds, O_CLOEXEC) != 0) {
		message_print("cannot create a pipe: %s", strerror(errno));
		return false;
	}
	signals_take(&signals);
	ret->pid = fork();
	if (ret->pid < 0) {
		message_print("cannot create a process: %s", strerror(errno));
		signals_give_back(&signals);
		close(fds[0]);
		close(fds[1]);
		return false;
	}
	if (ret->pid == 0)
		run_child(argv, &signals, fds[1]);
	close(fds[1]);
	note_start(ret, fds[0]);
	/*
	 * A successful exec closes the pipe.  Therefore, if nothing can be
	 * read, the command was executed.
	 */
	if (read(fds[0], &ret->exec_errno, sizeof(ret->exec_errno)) < 0)
		ret->exec_errno = 0;
	close(fds[0]);
	ret->wait_status = wait_and_forward(ret->pid, &signals);
	signals_discard(&signals);
	return true;
}

bool
launch_is_interrupted(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGHUP) == 1 ||
		sigismember(&pending, SIGINT) == 1 ||
		sigismember(&pending, SIGTERM) == 1);
}

bool
launch_succeeded(const struct launch *l)
{
	return l->exec_errno == 0 && WIFEXITED(l->wait_status) &&
	       WEXITSTATUS(l->wait_status) == 0;
}

/*
 * End this process by the signal that ended the command, without writing a core
 * dump.
 */
static void
die_by(int sig)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	/*
	 * RLIMIT_CORE does not apply if the kernel writes core dumps to a pipe.
	 */
	prctl(PR_SET_DUMPABLE, 0);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int
launch_pass_on(const struct launch *l)
{
	if (l->exec_errno != 0)
		return l->exec_errno == ENOENT ? EXIT_NOT_FOUND
					       : EXIT_NOT_EXECUTABLE;
	if (!WIFSIGNALED(l->wait_status))
		return WEXITSTATUS(l->wait_status);
	die_by(WTERMSIG(l->wait_status));
	return EXIT_SIGNAL + WTERMSIG(l->wait_status);
}

/* SPDX-License-Identifier: MIT */
/*
 * late_signals.c - what signals do while exit() flushes streams
 *
 * usage: late_signals inside CASE [DELAY_MS...]
 *        late_signals blocked ACTION DELAY_MS...
 *
 * inside: a child has a stream whose write function libc calls only when exit()
 * flushes, after all exit handlers.  The function carries out CASE, while the
 * parent sends SIGTERM at each DELAY_MS after the function's start:
 *   masks     print the masks and ignored signals here and in children
 *   raise     raise SIGTERM, whose action is the default
 *   handle    raise SIGTERM, which has a handler, before the next statement
 *   threads   the same, and the process has another thread
 *   wait      block SIGUSR1 and SIGUSR2, send both, see them in each way
 *   sleep     sleep 0.3 s
 *   fork      fork a child that ends by SIGTERM
 *   late      sleep at most 3 s; SIGTERM has the default action
 *   late-handle  the same with a handler
 *
 * blocked: a child prints more than a pipe holds and returns from main.  The
 * parent waits until the pipe is full, sends SIGTERM at each DELAY_MS after
 * that, and reads the pipe if the child is alive 0.3 s later.  ACTION for
 * SIGTERM is default, ignore, handle (with SA_RESTART) or interrupt (without);
 * or "early": default, and a grandchild sends the first SIGTERM while the
 * recorder blocks it to finish the trace.
 * Or "closed", "closed-threads", "closed-handle": nobody reads the pipe at all,
 * and the flush raises SIGPIPE.
 * Words in ACTION change this:
 *   -timerless  the process can make no timer (RLIMIT_SIGPENDING)
 *   -aside      another thread takes the signals, the ending one blocks them
 *   -exits      another thread calls exit(), too
 *   -rt         a real-time signal with a number in place of SIGTERM
 *
 * Prints what happened, in a form that does not depend on times.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATUS 7
#define OUTPUT 200000 /* bytes; a pipe holds 65536 */

extern char **environ;

static const char *now; /* the case */
static int told = -1;	/* the child's messages to its parent */
static void *volatile block;

static void
say(const char *text)
{
	if (write(told, text, strlen(text)) < 0)
		_exit(99);
}

static void
handle(int number)
{
	(void)number;
	say("handler ");
}

static void
handle_number(int number, siginfo_t *info, void *unused)
{
	char text[40];

	(void)unused;
	if (number == SIGRTMIN && info->si_code == SI_QUEUE)
		snprintf(text, sizeof(text), "number %d ",
			 info->si_value.sival_int);
	else
		snprintf(text, sizeof(text), "no number ");
	say(text);
}

static bool
has_word(const char *word)
{
	return strstr(now, word) != NULL;
}

/* The signal that the parent sends. */
static int
late_signal(void)
{
	return has_word("-rt") ? SIGRTMIN : SIGTERM;
}

static void
set_handler(int number, int flags)
{
	struct sigaction sa = { .sa_handler = handle, .sa_flags = flags };

	if (has_word("-rt")) {
		sa.sa_sigaction = handle_number;
		sa.sa_flags |= SA_SIGINFO;
	}

	sigemptyset(&sa.sa_mask);
	sigaction(number, &sa, NULL);
}

static void *
stay(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void
start_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, stay, NULL) != 0)
		_exit(98);
}

/* Print the masks of this process. */
static void
print_masks(void)
{
	FILE *const status = fopen("/proc/self/status", "r");
	char line[200];

	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		if (strncmp(line, "Sig", 3) == 0 && strncmp(line, "SigQ", 4) &&
		    strncmp(line, "SigCgt", 6) != 0)
			say(line);
	if (status != NULL)
		fclose(status);
}

/* Print the masks of children that were started in several ways. */
static void
print_children_masks(void)
{
	static char command[] = "grep ^Sig[BIC] /proc/self/status >&2";
	char *const sh[] = { "sh", "-c", command, NULL };
	int status;
	pid_t child;
	FILE *stream;

	dup2(told, 2);
	child = fork();
	if (child == 0)
		execv("/bin/sh", sh);
	waitpid(child, &status, 0);
	child = vfork();
	if (child == 0)
		execv("/bin/sh", sh);
	waitpid(child, &status, 0);
	if (posix_spawn(&child, "/bin/sh", NULL, NULL, sh, environ) == 0)
		waitpid(child, &status, 0);
	if (system(command) != 0)
		say("system() failed\n");
	stream = popen(command, "r");
	if (stream != NULL)
		pclose(stream);
}

static void
wait_for_signals(void)
{
	sigset_t both, before, pending;
	struct signalfd_siginfo info;
	char line[100];
	int number = 0, fd;

	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	sigprocmask(SIG_BLOCK, &both, &before);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	sigpending(&pending);
	snprintf(line, sizeof(line), "before %d %d pending %d %d %d\n",
		 sigismember(&before, SIGTERM), sigismember(&before, SIGUSR1),
		 sigismember(&pending, SIGUSR1), sigismember(&pending, SIGUSR2),
		 sigismember(&pending, SIGTERM));
	say(line);
	sigdelset(&both, SIGUSR2);
	sigwait(&both, &number);
	sigaddset(&both, SIGUSR2);
	fd = signalfd(-1, &both, SFD_NONBLOCK);
	if (read(fd, &info, sizeof(info)) != sizeof(info))
		info.ssi_signo = 0;
	snprintf(line, sizeof(line), "sigwait %d signalfd %u\n", number,
		 info.ssi_signo);
	say(line);
	set_handler(SIGUSR1, 0);
	kill(getpid(), SIGUSR1);
	say("blocked ");
	sigprocmask(SIG_SETMASK, &before, NULL);
	say("unblocked\n");
}

static void
sleep_well(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	say(nanosleep(&ts, NULL) == 0 ? "slept\n" : "interrupted\n");
}

static void
fork_child(void)
{
	const pid_t child = fork();
	int status = 0;

	if (child == 0) {
		sleep(3);
		_exit(0);
	}
	kill(child, SIGTERM);
	waitpid(child, &status, 0);
	say(WIFSIGNALED(status) ? "child ended by a signal\n"
				: "child slept\n");
}

static ssize_t
flush(void *unused, const char *data, size_t nbytes)
{
	(void)unused;
	(void)data;
	say("e");
	if (strcmp(now, "masks") == 0) {
		print_masks();
		print_children_masks();
	} else if (strcmp(now, "wait") == 0) {
		wait_for_signals();
	} else if (strcmp(now, "sleep") == 0) {
		sleep_well(300);
	} else if (strcmp(now, "fork") == 0) {
		fork_child();
	} else if (strncmp(now, "late", 4) == 0) {
		sleep_well(3000);
	} else {
		raise(SIGTERM);
		say("after raise\n");
	}
	return (ssize_t)nbytes;
}

static int
flush_inside(void)
{
	const cookie_io_functions_t functions = { .write = flush };
	FILE *const stream = fopencookie(NULL, "w", functions);

	if (stream == NULL)
		return 97;
	if (strcmp(now, "handle") == 0 || strcmp(now, "threads") == 0 ||
	    strcmp(now, "late-handle") == 0)
		set_handler(SIGTERM, 0);
	if (strcmp(now, "threads") == 0)
		start_thread();
	fputs("x", stream);
	return STATUS;
}

/* Has 'pid' blocked SIGTERM?  The recorder blocks it during the finish. */
static bool
is_blocked(pid_t pid)
{
	char path[64], line[200];
	unsigned long long mask = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "r");
	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		if (strncmp(line, "SigBlk:", 7) == 0)
			mask = strtoull(line + 7, NULL, 16);
	if (status != NULL)
		fclose(status);
	return (mask >> (SIGTERM - 1) & 1) != 0;
}

static void *
call_exit(void *unused)
{
	(void)unused;
	exit(STATUS);
}

static void
follow_words(void)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;
	pthread_t thread;

	if (has_word("-timerless") && setrlimit(RLIMIT_SIGPENDING, &none) != 0)
		_exit(93);
	if (has_word("-aside")) {
		start_thread();
		sigemptyset(&set);
		sigaddset(&set, late_signal());
		sigprocmask(SIG_BLOCK, &set, NULL);
	}
	if (has_word("-exits") &&
	    pthread_create(&thread, NULL, call_exit, NULL) != 0)
		_exit(92);
}

/* Have SIGTERM sent to this process, which is about to end. */
static void
send_early(void)
{
	const pid_t self = getpid();
	int ready[2];
	char c = 0;

	if (pipe(ready) != 0)
		_exit(96);
	if (fork() == 0) {
		for (int n = 0; n < 5000 && !is_blocked(self); n++)
			/* The recorder blocks signals during a fork, too. */
			if (n == 10 && write(ready[1], &c, 1) != 1)
				_exit(95);
		kill(self, SIGTERM);
		_exit(0);
	}
	if (read(ready[0], &c, 1) != 1)
		_exit(94);
}

/* Wait until the parent has closed the pipe. */
static void
await_no_reader(void)
{
	struct pollfd out = { .fd = 1 };

	while (poll(&out, 1, 5000) == 0)
		;
}

static int
flush_blocked(void)
{
	static char text[OUTPUT], buffer[2 * OUTPUT];

	if (strncmp(now, "handle", 6) == 0)
		set_handler(late_signal(), SA_RESTART);
	if (strncmp(now, "interrupt", 9) == 0)
		set_handler(late_signal(), 0);
	if (strncmp(now, "ignore", 6) == 0)
		signal(late_signal(), SIG_IGN);
	if (strcmp(now, "closed-handle") == 0)
		set_handler(SIGPIPE, 0);
	if (strstr(now, "threads") != NULL)
		start_thread();
	/* Without a buffer of the program, libc uses a smaller one. */
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	memset(text, 'x', OUTPUT);
	fwrite(text, 1, OUTPUT, stdout);
	if (strncmp(now, "early", 5) == 0)
		atexit(send_early);
	if (strncmp(now, "closed", 6) == 0)
		await_no_reader();
	follow_words();
	return STATUS;
}

/* Wait until the pipe is full, or its writer has ended. */
static void
await_full(int fd)
{
	int held = 0;

	for (int n = 0; n < 5000 && held < 65536; n++) {
		usleep(1000);
		ioctl(fd, FIONREAD, &held);
	}
}

static void
print_end(pid_t child, int in)
{
	char text[4000];
	ssize_t n;
	int status = 0;

	waitpid(child, &status, 0);
	while ((n = read(in, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	if (WIFSIGNALED(status))
		printf("signal %d\n", WTERMSIG(status));
	else
		printf("status %d\n", WEXITSTATUS(status));
}

/* Send the signals, and read what the child has printed. */
static void
send_and_read(pid_t child, int out, char **delays)
{
	size_t total = 0;
	char text[4000];
	ssize_t n;

	for (int i = 0; delays[i] != NULL; i++) {
		const union sigval number = { .sival_int = i + 1 };

		usleep((useconds_t)atoi(delays[i]) * 1000);
		/* Without room in the child's queue, sigqueue() would fail. */
		if (has_word("-rt") && !has_word("-timerless"))
			sigqueue(child, SIGRTMIN, number);
		else
			kill(child, late_signal());
	}
	if (out < 0)
		return;
	usleep(300000);

	siginfo_t info = { .si_pid = 0 };

	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | WNOHANG);
	printf(info.si_pid == 0 ? "blocked " : "ended ");
	while ((n = read(out, text, sizeof(text))) > 0)
		total += (size_t)n;
	printf("%zu bytes ", total);
}

int
main(int argc, char **argv)
{
	const bool is_inside = argc > 2 && strcmp(argv[1], "inside") == 0;
	int messages[2], output[2];
	char c;

	if (argc < 3 || pipe(messages) != 0 || pipe(output) != 0)
		return 2;
	now = argv[2];
	const pid_t child = fork();

	if (child == 0) {
		told = messages[1];
		close(messages[0]);
		close(output[0]);
		/* The recorder starts a child's trace with its first event. */
		block = malloc(100);
		if (is_inside)
			return flush_inside();
		dup2(output[1], 1);
		close(output[1]);
		return flush_blocked();
	}
	close(messages[1]);
	close(output[1]);
	if (is_inside) {
		if (read(messages[0], &c, 1) != 1)
			puts("no start");
		send_and_read(child, -1, argv + 3);
	} else if (strncmp(now, "closed", 6) == 0) {
		close(output[0]);
	} else {
		await_full(output[0]);
		send_and_read(child, output[0], argv + 3);
	}
	print_end(child, messages[0]);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* watch.c - see watch.h */
#include "tools/replay/watch.h"

#include "tools/replay/standstill.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Maximum time between two looks at the driver, in milliseconds. */
#define LOOK_MS 250

/*
 * Return the time until the next look: about an eighth of the limit, but at
 * most LOOK_MS.  If there is no limit, return LOOK_MS.
 */
static uint64_t
look_ms(const struct watch *w)
{
	const uint64_t part = w->limit_ms / 8 + 1;

	return w->limit_ms == 0 || part > LOOK_MS ? LOOK_MS : part;
}

void
watch_begin(struct watch *w)
{
	static const int fatal[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP };

	sigemptyset(&w->waited);
	sigaddset(&w->waited, SIGCHLD);
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
		struct sigaction action;

		if (sigaction(fatal[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&w->waited, fatal[i]);
	}
	sigprocmask(SIG_BLOCK, &w->waited, &w->before);
}

void
watch_cancel(const struct watch *w)
{
	sigprocmask(SIG_SETMASK, &w->before, NULL);
}

static void
kill_driver(const struct watch *w)
{
	kill(-w->pid, SIGKILL);
	/*
	 * Kill the driver by its own ID, too, because it has no group until it
	 * calls setpgid().
	 */
	kill(w->pid, SIGKILL);
}

/*
 * Stop or end the driver, and then this process, as the signal demands.  After
 * a stop, let the driver continue when this process continues.
 */
static void
pass_signal(const struct watch *w, int signal_number)
{
	if (signal_number == SIGTSTP) {
		kill(-w->pid, SIGSTOP);
		raise(SIGSTOP);
		kill(-w->pid, SIGCONT);
		return;
	}
	kill_driver(w);
	waitpid(w->pid, NULL, 0);
	sigprocmask(SIG_SETMASK, &w->before, NULL);
	raise(signal_number);
}

/*
 * Return the state of the driver: 'T' if a signal has stopped it, 't' if a
 * debugger has, otherwise something else.
 */
static char
state_of(pid_t pid)
{
	char path[64], text[256] = "";
	const char *after;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return '\0';
	after = fgets(text, sizeof(text), f) != NULL ? strrchr(text, ')')
						     : NULL;
	fclose(f);
	return (char)(after != NULL ? after[2] : '\0');
}

/*
 * Wait for a signal, but at most until the next look.  Handle a signal other
 * than SIGCHLD.  Return how long the wait took, in ms.
 */
static uint64_t
doze(const struct watch *w)
{
	const int64_t most_ms = (int64_t)look_ms(w);
	const struct timespec limit = { .tv_nsec = most_ms * 1000000 };
	struct timespec begin, end;
	int64_t ms;
	int signal_number;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	signal_number = sigtimedwait(&w->waited, NULL, &limit);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (signal_number > 0 && signal_number != SIGCHLD)
		pass_signal(w, signal_number);
	ms = (int64_t)(end.tv_sec - begin.tv_sec) * 1000 +
	     (end.tv_nsec - begin.tv_nsec) / 1000000;
	/*
	 * If the wait took much longer than 'most_ms', this process itself was
	 * stopped, so do not count all of the time.
	 */
	return (uint64_t)(ms < 2 * most_ms ? ms : 2 * most_ms);
}

/*
 * Return whether the driver has ended, and store its status.  If a signal has
 * stopped the driver, store the signal in 'stop_signal'.
 */
static bool
has_ended(struct watch *w, int *status_ret)
{
	const pid_t pid = waitpid(w->pid, status_ret, WNOHANG | WUNTRACED);

	if (pid == w->pid && WIFSTOPPED(*status_ret)) {
		w->stop_signal = WSTOPSIG(*status_ret);
		return false;
	}
	return pid == w->pid || (pid < 0 && errno != EINTR);
}

/*
 * Add 'ms' to the time for which a signal has stopped the driver.  If this time
 * has reached the limit, write to 'text' which signal it was, and return true.
 */
static bool
is_stopped_for_long(struct watch *w, uint64_t ms, char *text, size_t cap)
{
	/*
	 * If 'stop_signal' is 0, the next call of has_ended() finds out the
	 * signal.
	 */
	if (w->stop_signal == 0)
		return false;
	w->stopped_ms += ms;
	if (w->stopped_ms < w->limit_ms)
		return false;
	snprintf(text, cap,
		 "no progress for %g s: signal %d (%s) has stopped the replay",
		 (double)w->limit_ms / 1000, w->stop_signal,
		 strsignal(w->stop_signal));
	return true;
}

/*
 * Has the driver made no progress for too long?  'ms' is the time since the
 * previous call of this function.
 */
static bool
stands_still(struct watch *w, struct standstill *still, uint64_t ms, char *text,
	     size_t cap)
{
	const char state = state_of(w->pid);

	/* A debugger may stop the driver for as long as its user wants. */
	if (state == 't')
		return false;
	if (state == 'T')
		return is_stopped_for_long(w, ms, text, cap);
	w->stop_signal = 0;
	w->stopped_ms = 0;
	return standstill_look(still, ms, w->limit_ms, text, cap);
}

bool
watch_wait(struct watch *w, int *status_ret, char *fault, size_t cap)
{
	struct standstill still;
	bool is_alone;

	fault[0] = '\0';
	*status_ret = 0;
	standstill_open(&still, w->run, w->compiled);
	while (!has_ended(w, status_ret)) {
		const uint64_t ms = doze(w);

		if (w->limit_ms == 0 ||
		    !stands_still(w, &still, ms, fault, cap))
			continue;
		kill_driver(w);
		waitpid(w->pid, status_ret, 0);
		break;
	}
	standstill_close(&still);
	/*
	 * The driver has ended.  If its group still exists, the group consists
	 * of processes that the allocator started by fork(), so kill these.
	 */
	is_alone = kill(-w->pid, SIGKILL) != 0;
	watch_cancel(w);
	return is_alone;
}

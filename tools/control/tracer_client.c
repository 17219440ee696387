/* SPDX-License-Identifier: MIT */
/* tracer_client.c - see tracer_client.h */
#include "tools/control/tracer_client.h"

#include "hatf/hatf.h"
#include "hatf/recorder/refusals.h"
#include "tools/control/complaints.h"
#include "tools/control/process_info.h"
#include "tools/control/quiet.h"
#include "tools/control/sockets.h"
#include "tools/control/started.h"
#include "tools/control/threadless.h"
#include "tools/trace/regular.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * For YOUNG_MS after its start, a process is young: it may not have created its
 * socket yet.  For the first UNBORN_MS, it may still be the shell that will
 * execute the program.
 */
#define YOUNG_MS  1000
#define UNBORN_MS 200

/* Interval between two attempts to connect. */
#define RETRY_MS 10

/*
 * Upper bound of simultaneous connections, and the number of descriptors to
 * keep free for other files.
 */
#define ROUND_MAX   4096
#define SPARE_FILES 64

/* How long to repeat an order that is refused because of a fork. */
#define FORKING_MS 2000

/*
 * May the process still create a socket?  A process that has just started may
 * still be the shell that will execute the program.
 */
static bool
may_appear(const struct tracer_answer *r)
{
	if (r->has_rung || r->has_rung_blindly)
		return kill(r->pid, 0) == 0 || errno == EPERM;
	return started_lately((uint64_t)r->pid, YOUNG_MS)
		       ? quiet_is_preloaded(r->pid) ||
				 started_lately((uint64_t)r->pid, UNBORN_MS)
		       : quiet_is_preloaded(r->pid) &&
				 !quiet_is_waiting(r->pid);
}

/* The exchange with one process. */
struct talk {
	struct tracer_answer *r;
	int fd; /* socket; -1: not connected */
	/* errno value that explains a missing answer, or 0 */
	int error;
	size_t used;	   /* bytes of the answer received so far */
	uint64_t young_ms; /* time until which to wait for the socket */
	bool is_over;
	bool has_failed; /* the failure was reported */
	/* an earlier connection was closed without an answer */
	bool has_retried;
	/*
	 * do_without() has found that only the process can carry out the order
	 */
	bool has_looked;
	/*
	 * time until which to repeat an order that is refused because of a
	 * fork; 0 before the first such refusal
	 */
	uint64_t forking_ms;
};

/* The exchanges that run in parallel. */
struct round {
	struct talk *talks;
	struct pollfd *fds;
	size_t count;
	const char *order;
	uint64_t until_ms;
};

static void
end_talk(struct talk *t, int e)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	t->error = e;
	t->is_over = true;
	t->r->answer[t->used] = '\0';
}

static enum bell_listening
ring(struct tracer_answer *r, enum bell_call call)
{
	const enum bell_listening listening = threadless_ring(r->pid, call);

	r->has_rung = r->has_rung || listening == BELL_YES;
	r->has_rung_blindly = r->has_rung_blindly || listening == BELL_UNKNOWN;
	return listening;
}

/*
 * Handle a missing socket.  If the process is young, wait, because it may
 * create its socket soon.  If its writer thread is not running, write an order
 * into the file of bells, and wait.  The next allocation of the process notices
 * the order and creates the socket.
 */
static void
wait_for_socket(struct talk *t, const char *order, int e)
{
	struct tracer_answer *const r = t->r;

	if (!r->has_rung && !r->has_rung_blindly &&
	    ring(r, BELL_CALL) != BELL_NO)
		t->young_ms = sockets_now_ms() + TRACER_BELL_MS;
	if (sockets_now_ms() < t->young_ms && may_appear(r))
		return;
	/*
	 * Inspect the process once more, because it may have been too young to
	 * inspect the first time.
	 */
	if (strcmp(order, "status") == 0 &&
	    quiet_read_status(r->pid, r->answer, sizeof(r->answer))) {
		t->used = strlen(r->answer);
		e = 0;
	}
	end_talk(t, e);
}

/*
 * An order to start cancels a pending stop, and an order to stop cancels a
 * pending start.  If 'order' cancels the pending order of the process in this
 * way, remove the pending order, and return the words that say so.  Otherwise
 * return "".
 */
static const char *
take_back(const struct tracer_answer *r, const char *order)
{
	const char *const pending = tracer_value(r, "pending");

	if (pending == NULL || strcmp(order, pending) == 0 ||
	    (strcmp(order, "start") != 0 && strcmp(order, "stop") != 0) ||
	    threadless_ring(r->pid, BELL_CALL) == BELL_NO)
		return "";
	return r->is_recording ? "; the pending stop is cancelled"
			       : "; the pending start is cancelled";
}

/*
 * Try to carry out 'order' without the process: use the status file that the
 * process left, or inspect a process that has no status file yet.  Return true
 * if the process is not needed; '*done_ret' then says whether the order was
 * carried out.
 */
static bool
do_without(struct tracer_answer *r, const char *order, bool *done_ret)
{
	const bool is_status = strcmp(order, "status") == 0;
	const char *state, *taken_back;

	*done_ret = is_status;
	if (!threadless_read_status(r->pid, r->answer, sizeof(r->answer),
				    &r->uid))
		return is_status &&
		       !started_lately((uint64_t)r->pid, YOUNG_MS) &&
		       quiet_read_status(r->pid, r->answer, sizeof(r->answer));
	state = tracer_value(r, "state");
	r->is_recording = state != NULL && strcmp(state, "recording") == 0;
	if (is_status || (strcmp(order, "start") == 0) != r->is_recording)
		return is_status;
	taken_back = take_back(r, order);
	if (r->is_recording)
		message_print("%ld: already recording%s", (long)r->pid,
			      taken_back);
	else if (taken_back[0] != '\0')
		message_print("%ld: not recording%s", (long)r->pid, taken_back);
	else
		complaint_not_recording(r->pid, order);
	return true;
}

/*
 * Carry out the order without a socket, or wait for a socket.  'e' is the errno
 * value with which connecting failed.
 */
static void
go_without_socket(struct talk *t, const char *order, int e)
{
	bool done;

	if (t->has_looked || !do_without(t->r, order, &done)) {
		t->has_looked = true;
		wait_for_socket(t, order, e);
		return;
	}
	t->used = strlen(t->r->answer);
	t->has_failed = !done;
	end_talk(t, 0);
}

/*
 * Handle a connection that the recorder has closed without an answer.  Perhaps
 * the recorder's writer thread ended just then.  Or all connections of the
 * recorder were in use, and it closed ours, the oldest one, before our order
 * came.  Therefore give up only this connection, and go_on() will connect
 * again.  There is one exception: if this was the second connection, and we are
 * neither root nor the user of the process, end the exchange with the error
 * 'e'.
 */
static void
hang_up(struct talk *t, int e)
{
	const bool has_permission = geteuid() == 0 || t->r->uid == geteuid();

	if (t->has_retried && !has_permission) {
		end_talk(t, e);
		return;
	}
	t->has_retried = true;
	close(t->fd);
	t->fd = -1;
}

/* Try to connect, and send the order. */
static void
try_to_connect(struct talk *t, const char *order)
{
	char line[64];
	const int nbytes = snprintf(line, sizeof(line), "%s\n", order);

	t->fd = sockets_connect(t->r->pid, 0, &t->r->uid);
	if (t->fd >= 0) {
		/*
		 * send() cannot block, because the send buffer of a new socket
		 * has room for the order.
		 */
		if (send(t->fd, line, (size_t)nbytes, MSG_NOSIGNAL) != nbytes)
			hang_up(t, errno);
	} else if (sockets_is_absent(errno)) {
		go_without_socket(t, order, errno);
	} else if (errno != ETIMEDOUT) {
		end_talk(t, errno);
	}
	/*
	 * ETIMEDOUT means that the accept queue is full.  Do nothing now,
	 * because the caller will try again later.
	 */
}

/*
 * Has the recorder refused the order because of a fork, so that the order may
 * succeed a moment later?
 */
static bool
is_worth_repeating(struct talk *t)
{
	const char *reason;

	t->r->answer[t->used] = '\0';
	if (strncmp(t->r->answer, "error\n", 6) != 0)
		return false;
	reason = tracer_value(t->r, "reason");
	if (reason == NULL || strcmp(reason, REFUSAL_FORKING) != 0)
		return false;
	if (t->forking_ms == 0)
		t->forking_ms = sockets_now_ms() + FORKING_MS;
	return sockets_now_ms() < t->forking_ms;
}

/* Forget the answer.  go_on() will connect again and repeat the order. */
static void
begin_again(struct talk *t)
{
	close(t->fd);
	t->fd = -1;
	t->used = 0;
}

static void
listen_to(struct talk *t)
{
	const size_t room = sizeof(t->r->answer) - 1 - t->used;
	const ssize_t n = recv(t->fd, t->r->answer + t->used, room, 0);

	if (n > 0)
		t->used += (size_t)n;
	else if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	else if (t->used != 0 && is_worth_repeating(t))
		begin_again(t);
	else if (t->used != 0)
		end_talk(t, 0);
	else
		/*
		 * The recorder closes the connection without an answer if we
		 * lack permission.
		 */
		hang_up(t, n == 0 ? EACCES : errno);
}

/*
 * Wait until a process answers, until it is time to try to connect again, or
 * until the round times out.
 */
static void
wait_for_any(struct round *round)
{
	uint64_t until_ms = round->until_ms;
	const uint64_t now = sockets_now_ms();

	for (size_t i = 0; i < round->count; i++) {
		const struct talk *const t = &round->talks[i];

		/*
		 * poll() ignores -1, the descriptor of an exchange without a
		 * connection.
		 */
		round->fds[i] =
			(struct pollfd){ .fd = t->fd, .events = POLLIN };
		if (!t->is_over && t->fd < 0 && until_ms > now + RETRY_MS)
			until_ms = now + RETRY_MS;
	}
	poll(round->fds, round->count,
	     until_ms > now ? (int)(until_ms - now) : 0);
}

static bool
begin_all(struct round *round, const pid_t *pids)
{
	for (size_t i = 0; i < round->count; i++) {
		struct talk *const t = &round->talks[i];

		t->r = malloc(sizeof(*t->r));
		if (t->r == NULL)
			return false;
		t->r->pid = pids[i];
		t->r->has_rung = t->r->has_rung_blindly = false;
		t->r->is_recording = false;
		t->fd = -1;
		t->young_ms = sockets_now_ms() + YOUNG_MS;
	}
	return true;
}

/*
 * Continue the exchanges that poll() reports, and those without a connection.
 * Return how many exchanges are unfinished.
 */
static size_t
go_on(struct round *round)
{
	const bool is_late = sockets_now_ms() >= round->until_ms;
	size_t open_count = 0;

	for (size_t i = 0; i < round->count; i++) {
		struct talk *const t = &round->talks[i];

		if (!t->is_over && t->fd < 0)
			try_to_connect(t, round->order);
		else if (!t->is_over && round->fds[i].revents != 0)
			listen_to(t);
		if (!t->is_over && is_late)
			end_talk(t, ETIMEDOUT);
		open_count += !t->is_over;
	}
	return open_count;
}

/*
 * If hatf wrote an order into the file of bells, but the process has not
 * noticed it yet, print a message that says so, and return true.  If 'order' is
 * to start or to stop, leave it pending in the file of bells.
 */
static bool
is_quiet(const struct tracer_answer *r, int e, const char *order)
{
	const char *will = "takes orders";

	if (!r->has_rung || !sockets_is_absent(e) || kill(r->pid, 0) != 0)
		return false;
	if (strcmp(order, "start") == 0 &&
	    threadless_ring(r->pid, BELL_START) == BELL_YES)
		will = "will start recording";
	if (strcmp(order, "stop") == 0 &&
	    threadless_ring(r->pid, BELL_STOP) == BELL_YES)
		will = "will end its trace";
	message_print(
		"%ld: %s, and has allocated nothing for %d seconds: it %s at "
		"its next allocation",
		(long)r->pid, r->is_recording ? "recording" : "dormant",
		TRACER_BELL_MS / 1000, will);
	return true;
}

/* Was the order carried out?  If not, report why. */
static bool
is_done(const struct talk *t, const char *order)
{
	const char *reason;

	if (t->has_failed)
		return false;
	if (t->error != 0) {
		if (!is_quiet(t->r, t->error, order))
			complaint_no_answer(t->r, t->error);
		return false;
	}
	if (strncmp(t->r->answer, "ok\n", 3) == 0)
		return true;
	reason = tracer_value(t->r, "reason");
	if (reason != NULL && strcmp(reason, REFUSAL_DORMANT) == 0)
		complaint_not_recording(t->r->pid, order);
	else
		message_print("%ld: %s", (long)t->r->pid,
			      reason != NULL
				      ? reason
				      : "its recorder sent an invalid answer");
	return false;
}

/*
 * Raise the limit of open files, and return how many exchanges it allows at
 * once.
 */
static size_t
round_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 1;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur <= SPARE_FILES)
		return 1;
	return limit.rlim_cur - SPARE_FILES < ROUND_MAX
		       ? limit.rlim_cur - SPARE_FILES
		       : ROUND_MAX;
}

static bool
finish_round(const struct round *round, tracer_answer_fn *fn, void *context)
{
	bool is_fine = true;

	for (size_t i = 0; i < round->count; i++) {
		const struct talk *const t = &round->talks[i];

		is_fine = is_done(t, round->order) && fn(t->r, context) &&
			  is_fine;
	}
	return is_fine;
}

static bool
run_round(struct round *round, const pid_t *pids, tracer_answer_fn *fn,
	  void *context)
{
	bool is_fine = false;

	round->until_ms = sockets_now_ms() + 1000 * TRACER_ANSWER_SECONDS;
	round->talks = calloc(round->count, sizeof(*round->talks));
	round->fds = calloc(round->count, sizeof(*round->fds));
	if (round->talks != NULL && round->fds != NULL &&
	    begin_all(round, pids)) {
		while (go_on(round) != 0)
			wait_for_any(round);
		is_fine = finish_round(round, fn, context);
	} else {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	}
	for (size_t i = 0; round->talks != NULL && i < round->count; i++)
		free(round->talks[i].r);
	free(round->talks);
	free(round->fds);
	return is_fine;
}

bool
tracer_send(const pid_t *pids, size_t count, const char *order,
	    tracer_answer_fn *fn, void *context)
{
	const size_t max = count > 1 ? round_max() : 1;
	bool is_fine = true;

	for (size_t i = 0; i < count; i += max) {
		struct round round = {
			.count = count - i < max ? count - i : max,
			.order = order,
		};

		is_fine = run_round(&round, pids + i, fn, context) && is_fine;
	}
	return is_fine;
}

static unsigned
hex_digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10) & 15;
}

/* Decode each \xHH in a value of 'n' bytes. */
static void
unescape(const char *s, size_t n, char *out, size_t cap)
{
	size_t used = 0;

	for (size_t i = 0; i < n && used + 1 < cap; i++) {
		if (s[i] == '\\' && i + 3 < n && s[i + 1] == 'x') {
			out[used++] = (char)(hex_digit(s[i + 2]) << 4 |
					     hex_digit(s[i + 3]));
			i += 3;
		} else {
			out[used++] = s[i];
		}
	}
	out[used] = '\0';
}

#define KEY_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

bool
tracer_next_value(const struct tracer_answer *r, const char **next,
		  const char **key, const char **value)
{
	static char name[64], text[2 * PATH_MAX];
	const char *const line =
		*next != NULL ? *next : strchr(r->answer, '\n');
	const char *end, *equals;

	if (line == NULL || line[0] != '\n')
		return false;
	end = strchr(line + 1, '\n');
	equals = strchr(line, '=');
	if (end == NULL || equals == NULL || equals > end)
		return false;
	if (strspn(line + 1, KEY_CHARACTERS) != (size_t)(equals - line - 1))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - line - 1),
		 line + 1);
	unescape(equals + 1, (size_t)(end - equals - 1), text, sizeof(text));
	*next = end;
	*key = name;
	*value = text;
	return true;
}

const char *
tracer_value(const struct tracer_answer *r, const char *key)
{
	const char *next = NULL, *name, *value;

	while (tracer_next_value(r, &next, &name, &value))
		if (strcmp(name, key) == 0)
			return value;
	return NULL;
}

int
tracer_open_trace(const struct tracer_answer *r, const char *trace)
{
	uid_t owner;
	const int fd = regular_open(trace, &owner);

	if (fd < 0 || r->uid == geteuid() || owner == r->uid ||
	    owner == geteuid())
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

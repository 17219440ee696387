/* SPDX-License-Identifier: MIT */
/* complaints.c - see complaints.h */
#include "tools/control/complaints.h"

#include "tools/control/places.h"
#include "tools/control/process_info.h"
#include "tools/control/quiet.h"
#include "tools/control/sockets.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

void
complaint_too_few_events(pid_t pid)
{
	message_print("%ld: recording, but with too few heap events so far for "
		      "a trace; the process takes orders once the trace has "
		      "begun (HATFTRACE_BEGIN=now begins the trace with the "
		      "first event)",
		      (long)pid);
}

void
complaint_not_recording(pid_t pid, const char *order)
{
	if (strcmp(order, "stop") == 0)
		message_print("%ld: not recording", (long)pid);
	else
		message_print("%ld: not recording: 'hatf ctl %ld start' begins "
			      "a trace",
			      (long)pid, (long)pid);
}

/*
 * hatf wrote an order for the process into a file of bells, but has no
 * permission to see whether the process is traced.
 */
static void
complain_unseen(pid_t pid)
{
	message_print("%ld: not traced, or has allocated nothing for %d "
		      "seconds (hatf cannot tell which, because it has no "
		      "permission to read /proc/%ld/maps%s)",
		      (long)pid, TRACER_BELL_MS / 1000, (long)pid,
		      geteuid() != 0 ? "; try as root" : "");
}

static void
complain_deaf(pid_t pid)
{
	char list[1024];

	if (sockets_is_control_off(pid)) {
		message_print("%ld: traced, but takes no orders: "
			      "HATFTRACE_CONTROL is off",
			      (long)pid);
		return;
	}
	if (quiet_is_waiting(pid)) {
		complaint_too_few_events(pid);
		return;
	}
	places_list(pid, list, sizeof(list));
	message_print("%ld: has libhatftrace.so, but takes no orders: its "
		      "trace has ended or never began; it has no socket in %s",
		      (long)pid, list);
}

void
complaint_no_answer(const struct tracer_answer *r, int e)
{
	const pid_t pid = r->pid;
	const long n = (long)pid;

	if (kill(pid, 0) != 0 && errno == ESRCH)
		message_print("%ld: no such process", n);
	else if (e == EACCES || e == EPERM ||
		 ((e == ECONNRESET || e == EPIPE) && geteuid() != 0 &&
		  process_info_owner(pid) != geteuid()))
		message_print(
			"%ld: permission denied: it is another user's process",
			n);
	else if (e == ECONNRESET || e == EPIPE)
		message_print("%ld: ended before it answered", n);
	else if (e == ETIMEDOUT)
		message_print("%ld: no answer in %d seconds", n,
			      TRACER_ANSWER_SECONDS);
	else if (!sockets_is_absent(e))
		message_print("%ld: %s", n, strerror(e));
	else if (r->has_rung_blindly)
		complain_unseen(pid);
	else if (quiet_is_preloaded(pid))
		complain_deaf(pid);
	else
		message_print("%ld: not traced: start the program with 'hatf "
			      "record', or preload libhatftrace.so",
			      n);
}

/* SPDX-License-Identifier: MIT */
/* progress.c - see progress.h */
#include "tools/ui/progress.h"

#include "tools/ui/escape.h"
#include "tools/ui/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define QUIET_NS 1000000000u /* delay before the first line */
#define STEP_NS	 200000000u  /* interval between two lines */

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void
progress_begin(struct progress *p, const char *path, bool shares_terminal)
{
	struct stat st;
	const bool is_stdin = strcmp(path, "-") == 0;

	memset(p, 0, sizeof(*p));
	p->enabled = isatty(STDERR_FILENO) == 1 && !shares_terminal;
	if (!p->enabled)
		return;
	p->path = path;
	p->start_ns = now_ns();
	if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st)) == 0 &&
	    S_ISREG(st.st_mode))
		p->total_nbytes = (uint64_t)st.st_size;
}

/* Write the line.  Ignore errors, because the progress line is optional. */
static void
put_line(const char *line, int nbytes)
{
	if (write(STDERR_FILENO, line, (size_t)nbytes) < 0)
		return;
}

static void
print_line(const struct progress *p, uint64_t done_nbytes, uint64_t event_count,
	   uint64_t now)
{
	char name[64], line[160], share[16] = "", left[40] = "";
	const double s = (double)(now - p->start_ns) / 1e9;
	int n;

	if (p->total_nbytes != 0)
		snprintf(share, sizeof(share), "%3.0f %%, ",
			 100.0 * (double)done_nbytes / (double)p->total_nbytes);
	if (done_nbytes != 0 && done_nbytes < p->total_nbytes)
		snprintf(left, sizeof(left), ", %.0f s left",
			 s * (double)(p->total_nbytes - done_nbytes) /
				 (double)done_nbytes);
	escape_text(message_path(p->path), name, sizeof(name));
	n = snprintf(line, sizeof(line),
		     "\r\033[K%s: %s%.1f M events, %.1f M/s%s", name, share,
		     (double)event_count / 1e6, (double)event_count / 1e6 / s,
		     left);
	put_line(line, n);
}

/* Is the next line due?  If so, note that it is shown now. */
static bool
is_due(struct progress *p, uint64_t now)
{
	if (now - p->start_ns < QUIET_NS || now - p->shown_ns < STEP_NS)
		return false;
	p->shown_ns = now;
	p->visible = true;
	return true;
}

void
progress_update(struct progress *p, uint64_t done_nbytes, uint64_t event_count)
{
	if (!p->enabled)
		return;

	const uint64_t now = now_ns();

	if (is_due(p, now))
		print_line(p, done_nbytes, event_count, now);
}

void
progress_step(struct progress *p, const char *work, uint64_t done,
	      uint64_t total)
{
	char name[64], line[160];
	int n;

	if (!p->enabled || !is_due(p, now_ns()))
		return;
	escape_text(message_path(p->path), name, sizeof(name));
	n = snprintf(line, sizeof(line),
		     "\r\033[K%s: %s: %" PRIu64 " of %" PRIu64, name, work,
		     done, total);
	put_line(line, n);
}

void
progress_end(struct progress *p)
{
	static const char wipe[] = "\r\033[K";

	if (p->visible && write(STDERR_FILENO, wipe, sizeof(wipe) - 1) < 0)
		return;
	p->visible = false;
}

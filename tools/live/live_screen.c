/* SPDX-License-Identifier: MIT */
/* live_screen.c - see live_screen.h */
#include "tools/live/live_screen.h"

#include "tools/ui/cut.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"
#include "tools/ui/output_file.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/*
 * Control sequences in the form of ECMA-48.  BEGIN switches to the terminal's
 * alternate screen and hides the cursor, END undoes both.
 */
#define SCREEN_BEGIN "\033[?1049h\033[?25l"
#define SCREEN_END   "\033[?25h\033[?1049l"
#define SCREEN_HOME  "\033[H"
#define LINE_CLEAR   "\033[K"
#define SCREEN_REST  "\033[J"

/* Number of lines of a page on a terminal, without the rows of the table. */
#define FRAME_LINES 7

const char *const live_key_words[LIVE_KEY_COUNT + 1] = { "live", "growth",
							 "rate", "blocks",
							 NULL };

static bool is_terminal, has_keys;
static struct termios old_mode;
static volatile sig_atomic_t is_resized;
/* signals to block while live_screen_wait() waits on a terminal */
static sigset_t wait_mask;

/* ----------------------------------------------------------------- terminal */

void
live_screen_end(void)
{
	if (!is_terminal)
		return;
	is_terminal = false;
	if (has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &old_mode);
	output_file_write("-", SCREEN_END, strlen(SCREEN_END));
}

/*
 * Signal handler: restore the terminal, and end the process by the same signal.
 */
static void
on_signal(int signo)
{
	/*
	 * Do the same as live_screen_end(), with async-signal-safe functions
	 * only.
	 */
	if (has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &old_mode);
	if (write(STDOUT_FILENO, SCREEN_END, strlen(SCREEN_END)) < 0) {
		/* Ignore the failure, which means that the terminal is gone. */
	}
	signal(signo, SIG_DFL);
	raise(signo);
}

static void
on_resize(int signo)
{
	(void)signo;
	is_resized = true;
}

/*
 * Block SIGWINCH except in live_screen_wait().  A signal that comes earlier
 * stays pending, so live_screen_wait() cannot miss the signal.
 */
static void
watch_size(void)
{
	struct sigaction action = { .sa_handler = on_resize };
	sigset_t resize;

	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	sigprocmask(SIG_BLOCK, &resize, &wait_mask);
	sigdelset(&wait_mask, SIGWINCH);
	sigemptyset(&action.sa_mask);
	sigaction(SIGWINCH, &action, NULL);
}

void
live_screen_begin(bool plain)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct termios mode;

	is_terminal = !plain && isatty(STDOUT_FILENO) == 1;
	if (!is_terminal)
		return;
	has_keys = isatty(STDIN_FILENO) == 1 &&
		   tcgetattr(STDIN_FILENO, &old_mode) == 0;
	if (has_keys) {
		mode = old_mode;
		mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &mode);
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], on_signal);
	watch_size();
	atexit(live_screen_end);
	output_file_write("-", SCREEN_BEGIN, strlen(SCREEN_BEGIN));
}

int
live_screen_wait(unsigned ms)
{
	struct pollfd fd = { .fd = has_keys ? STDIN_FILENO : -1,
			     .events = POLLIN };
	const struct timespec timeout = { ms / 1000, ms % 1000 * 1000000L };
	unsigned char key;
	const int n = ppoll(&fd, 1, &timeout, is_terminal ? &wait_mask : NULL);

	if (is_resized) {
		is_resized = false;
		return LIVE_SCREEN_RESIZED;
	}
	if (n <= 0 || (fd.revents & POLLIN) == 0 ||
	    read(STDIN_FILENO, &key, 1) != 1)
		return 0;
	return key;
}

/* --------------------------------------------------------------------- rows */

/* The context of qsort_r(): what to sort by. */
struct sorting {
	const struct live_site *rows;
	enum live_key key;
};

static double
value_of(const struct live_site *row, enum live_key key)
{
	switch (key) {
	case LIVE_BY_GROWTH:
		return (double)live_site_growth(row);
	case LIVE_BY_RATE:
		return (double)live_site_recent(row);
	case LIVE_BY_BLOCKS:
		return (double)row->live.count;
	default:
		return (double)row->live.nbytes;
	}
}

static int
compare(const void *a, const void *b, void *ctx)
{
	const struct sorting *const s = ctx;
	const struct live_site *const x = &s->rows[*(const uint32_t *)a];
	const struct live_site *const y = &s->rows[*(const uint32_t *)b];
	double m = value_of(x, s->key), n = value_of(y, s->key);

	if (m == n) {
		m = (double)x->live.nbytes;
		n = (double)y->live.nbytes;
	}
	if (m != n)
		return m < n ? 1 : -1;
	return strcmp(x->name, y->name);
}

/*
 * Return the rows that have or had live blocks, in the order to print them;
 * NULL if there is no memory.
 */
static uint32_t *
sort_rows(const struct live_page *p, size_t *n_ret)
{
	size_t count, n = 0;
	const struct live_site *const rows = live_sites_rows(p->rows, &count);
	struct sorting sorting = { rows, p->key };
	uint32_t *const order = malloc((count + 1) * sizeof(*order));

	if (order == NULL)
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		if (rows[i].live.count != 0 || rows[i].allocated.count != 0)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), compare, &sorting);
	*n_ret = n;
	return order;
}

/* ------------------------------------------------------------------- output */

struct window {
	/* limits of the table's rows and of a line's columns; 0: unlimited */
	size_t lines, columns;
	size_t left;	 /* lines that still fit above the list of keys */
	bool has_line;	 /* a line was printed */
	bool shows_keys; /* the last line lists the keys */
};

static struct window
find_window(const struct live_page *p)
{
	struct window w = {
		.lines = p->top,
		.left = SIZE_MAX,
		.shows_keys = is_terminal,
	};
	struct winsize size;

	if (!is_terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
	    size.ws_row == 0 || size.ws_col == 0)
		return w;
	w.columns = size.ws_col;
	w.shows_keys = size.ws_row > FRAME_LINES;
	w.lines = w.shows_keys ? size.ws_row - FRAME_LINES : 1;
	w.left = w.shows_keys ? size.ws_row - 1 : size.ws_row;
	return w;
}

/* Return how many bytes of a text to print, at most one for each column. */
static int
cut(const struct window *w, const char *text)
{
	size_t n = strlen(text);

	if (w->columns != 0 && n > w->columns)
		n = cut_before(text, w->columns);
	return (int)n;
}

/*
 * Print a line, unless the window is full.  On a terminal, clear the line
 * before the text, not after it: after a text that fills the line, the cursor
 * is still on the last character, and LINE_CLEAR would erase this character.
 * Print the newline before a line, not after it, because a newline after the
 * last line would scroll the window.
 */
static void
put_line(FILE *f, struct window *w, const char *text)
{
	if (w->left == 0)
		return;
	w->left--;
	if (is_terminal)
		fprintf(f, "%s" LINE_CLEAR "%.*s", w->has_line ? "\n" : "",
			cut(w, text), text);
	else
		fprintf(f, "%s\n", text);
	w->has_line = true;
}

/*
 * Finish a page on a terminal: clear the rest of the window, and list the keys.
 */
static void
put_keys(FILE *f, const struct live_page *p, const struct window *w)
{
	char line[200];

	if (w->left != 0 || w->shows_keys)
		fputs("\n" SCREEN_REST, f);
	snprintf(line, sizeof(line), "q quit  s sort (%s)  t %s",
		 live_key_words[p->key],
		 strcmp(p->unit, "thread") == 0 ? "sites" : "threads");
	if (w->shows_keys)
		fprintf(f, "%.*s", cut(w, line), line);
}

/* Format a growth: "+1.2 MiB". */
static struct figure
signed_bytes(int64_t n)
{
	struct figure f = { "0" };

	if (n != 0)
		snprintf(
			f.text, sizeof(f.text), "%c%.30s", n > 0 ? '+' : '-',
			figure_nbytes(n > 0 ? (uint64_t)n : (uint64_t)-n).text);
	return f;
}

/* Format a rate per second; "-" on the first page. */
static struct figure
rate(const struct live_page *p, uint64_t n, bool is_bytes)
{
	struct figure f = { "-" };
	uint64_t each_second;

	if (p->seconds <= 0)
		return f;
	each_second = (uint64_t)((double)n / p->seconds);
	return is_bytes ? figure_nbytes(each_second)
			: figure_count(each_second);
}

static void
put_head(FILE *f, const struct live_page *p, struct window *w)
{
	char line[1024];

	snprintf(line, sizeof(line), "hatf top: %.400s, %.200s", p->title,
		 p->state);
	put_line(f, w, line);
	snprintf(line, sizeof(line), "live  %s in %s block%s",
		 figure_nbytes(p->live.nbytes).text,
		 figure_count(p->live.count).text,
		 figure_plural(p->live.count));
	snprintf(line + strlen(line), sizeof(line) - strlen(line), "; peak %s",
		 figure_nbytes(p->peak.nbytes).text);
	if (p->peak_ns != 0)
		snprintf(line + strlen(line), sizeof(line) - strlen(line),
			 " after %s", figure_ns(p->peak_ns).text);
	put_line(f, w, line);
	snprintf(line, sizeof(line), "rate  %s allocations/s, ",
		 rate(p, p->allocated.count - p->allocated_before.count, false)
			 .text);
	snprintf(line + strlen(line), sizeof(line) - strlen(line),
		 "%s/s allocated",
		 rate(p, p->allocated.nbytes - p->allocated_before.nbytes, true)
			 .text);
	put_line(f, w, line);
	snprintf(line, sizeof(line), "trace %s event%s in %s, %s lost, ",
		 figure_count(p->event_count).text,
		 figure_plural(p->event_count), figure_ns(p->duration_ns).text,
		 p->lost_count != 0 ? figure_count(p->lost_count).text
				    : "nothing");
	snprintf(line + strlen(line), sizeof(line) - strlen(line),
		 "%s thread%s", figure_count(p->thread_count).text,
		 figure_plural(p->thread_count));
	put_line(f, w, line);
}

static void
put_rows(FILE *f, const struct live_page *p, struct window *w,
	 const uint32_t *order, size_t n)
{
	size_t count;
	const struct live_site *const rows = live_sites_rows(p->rows, &count);
	char line[4096];

	snprintf(line, sizeof(line), "%11s %11s %11s %13s  %s", "live",
		 "growth", "blocks", "allocated/s", p->unit);
	put_line(f, w, "");
	put_line(f, w, line);
	for (size_t i = 0; i < n && (w->lines == 0 || i < w->lines); i++) {
		const struct live_site *const row = &rows[order[i]];
		size_t used;

		snprintf(line, sizeof(line), "%11s ",
			 figure_nbytes(row->live.nbytes).text);
		used = strlen(line);
		snprintf(line + used, sizeof(line) - used, "%11s ",
			 signed_bytes(live_site_growth(row)).text);
		used = strlen(line);
		snprintf(line + used, sizeof(line) - used, "%11s ",
			 figure_count(row->live.count).text);
		used = strlen(line);
		snprintf(line + used, sizeof(line) - used, "%13s  %s",
			 rate(p, live_site_recent(row), true).text, row->name);
		put_line(f, w, line);
	}
}

bool
live_screen_print(const struct live_page *p)
{
	struct window w = find_window(p);
	char *text = NULL;
	size_t nbytes, n;
	uint32_t *const order = sort_rows(p, &n);
	FILE *const f = order != NULL ? open_memstream(&text, &nbytes) : NULL;
	bool ok = f != NULL;

	if (ok) {
		if (is_terminal)
			fputs(SCREEN_HOME, f);
		put_head(f, p, &w);
		put_rows(f, p, &w, order, n);
		if (is_terminal)
			put_keys(f, p, &w);
		else
			fputc('\n', f);
		ok = fclose(f) == 0;
	}
	free(order);
	if (!ok)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	ok = ok && output_file_write("-", text, nbytes);
	free(text);
	return ok;
}

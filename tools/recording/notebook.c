/* SPDX-License-Identifier: MIT */
/* notebook.c - see notebook.h */
#include "tools/recording/notebook.h"

#include "hatf/recorder/notes.h"
#include "tools/control/process_info.h"
#include "tools/control/started.h"
#include "tools/recording/descendants.h"
#include "tools/ui/message.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Name at most this many programs in a line. */
#define NAMED_MAX 8

/*
 * Tolerance for comparing the start of a process with the start of its trace.
 * The kernel states the start of a process only in whole clock ticks.
 */
#define TICK_NS 20000000u

/*
 * Maximum number of bytes of notes that are read; a longer file is ignored.  A
 * line has about 100 bytes.
 */
#define NOTES_NBYTES_MAX ((off_t)16 << 20)

void
notebook_begin(struct notebook *n, const char *out)
{
	const char *dir = getenv("TMPDIR");

	memset(n, 0, sizeof(*n));
	n->out = out;
	if (dir == NULL || dir[0] != '/' || strlen(dir) + 32 > sizeof(n->path))
		dir = "/tmp";
	snprintf(n->path, sizeof(n->path), "%s/hatf-notes.XXXXXX", dir);
	n->fd = mkostemp(n->path, O_CLOEXEC);
	if (n->fd < 0)
		n->path[0] = '\0';
	else if (setenv(NOTES_VARIABLE, n->path, 1) == 0)
		return;
	unsetenv(NOTES_VARIABLE);
}

static void
free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

static void
remove_file(struct notebook *n)
{
	if (n->path[0] == '\0')
		return;
	close(n->fd);
	unlink(n->path);
	n->path[0] = '\0';
}

void
notebook_end(struct notebook *n)
{
	remove_file(n);
	free_texts(n->lost, n->lost_count);
	free_texts(n->untraced, n->untraced_count);
	free(n->known.begin);
}

/* ------------------------------------------------------------------ reading */

static int
compare_begins(const void *a, const void *b)
{
	const struct notebook_begin *const x = a, *const y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int
compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Append a copy of the string.  If out of memory, omit the string. */
static void
add_text(char ***texts, size_t *count, const char *text)
{
	char **const grown = realloc(*texts, (*count + 1) * sizeof(**texts));

	if (grown == NULL)
		return;
	*texts = grown;
	grown[*count] = strdup(text);
	if (grown[*count] != NULL)
		(*count)++;
}

/* Append the entry.  If out of memory, omit the entry. */
static void
add_begin(struct notebook_begins *all, const struct notebook_begin *b)
{
	if (all->count == all->cap) {
		const size_t cap = all->cap != 0 ? 2 * all->cap : 64;
		struct notebook_begin *const grown =
			reallocarray(all->begin, cap, sizeof(*grown));

		if (grown == NULL)
			return;
		all->begin = grown;
		all->cap = cap;
	}
	all->begin[all->count++] = *b;
}

static void
sort_begins(struct notebook_begins *all)
{
	if (all->count > 1)
		qsort(all->begin, all->count, sizeof(*all->begin),
		      compare_begins);
}

static void
add_traces(struct notebook_begins *all, const struct collection *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct notebook_begin b = { c->traces[i].pid,
						  c->traces[i].start_ns, i };

		add_begin(all, &b);
	}
	sort_begins(all);
}

static const struct notebook_begin *
find_begin(const struct notebook_begins *all, const struct notebook_begin *b)
{
	return all->count == 0 ? NULL
			       : bsearch(b, all->begin, all->count, sizeof(*b),
					 compare_begins);
}

/* Does the list have a later trace of the process of 'b'? */
static bool
has_later(const struct notebook_begins *all, const struct notebook_begin *b)
{
	size_t low = 0, high = all->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare_begins(&all->begin[middle], b) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < all->count && all->begin[low].pid == b->pid;
}

struct reading {
	struct notebook *notebook;
	struct collection *collection;
	struct notebook_begins here; /* traces in the collection */
	/* running processes, by their id in their own PID namespace */
	struct notebook_begins inner;
	bool has_inner; /* 'inner' is filled in */
	const struct launch *launch;
};

/*
 * Is 'ns', the start of a process, after the start of the command and before
 * the start of the trace 'b'?
 */
static bool
is_in_time(const struct reading *r, uint64_t ns, const struct notebook_begin *b)
{
	return ns >= r->launch->start_ns && ns <= b->start_ns + TICK_NS;
}

/*
 * List the running processes that started after the command and whose id in
 * their own PID namespace differs from the one that we see.
 */
static void
find_inner(struct reading *r)
{
	DIR *const d = opendir("/proc");
	const struct dirent *entry;
	uint64_t ns;

	r->has_inner = true;
	while (d != NULL && (entry = readdir(d)) != NULL) {
		const long pid = strtol(entry->d_name, NULL, 10);
		struct notebook_begin b = { .pid = 0 };

		if (pid <= 0 || !started_alive_ns((uint64_t)pid, &ns) ||
		    ns < r->launch->start_ns)
			continue;
		b.pid = (uint64_t)process_info_number((pid_t)pid);
		b.start_ns = ns;
		if (b.pid != (uint64_t)pid)
			add_begin(&r->inner, &b);
	}
	if (d != NULL)
		closedir(d);
}

/*
 * Is the process that began the trace 'b' still running?  Compare start times,
 * too, because another process may have the same id: one that started later, or
 * one in another PID namespace.
 */
static bool
is_alive(struct reading *r, const struct notebook_begin *b)
{
	uint64_t ns;

	if (b->pid != (uint64_t)r->launch->pid &&
	    started_alive_ns(b->pid, &ns) && is_in_time(r, ns, b))
		return true;
	if (!r->has_inner)
		find_inner(r);
	for (size_t i = 0; i < r->inner.count; i++)
		if (r->inner.begin[i].pid == b->pid &&
		    is_in_time(r, r->inner.begin[i].start_ns, b))
			return true;
	return false;
}

/* Parse a decimal number and the blank after it; advance '*next'. */
static uint64_t
take_number(const char **next)
{
	char *end;
	const uint64_t n = strtoull(*next, &end, 10);

	*next = *end == ' ' ? end + 1 : end;
	return n;
}

static void
take_begin(struct reading *r, const char *line)
{
	struct notebook *const n = r->notebook;
	const struct notebook_begin *found;
	struct notebook_begin b = { .pid = take_number(&line) };

	b.start_ns = take_number(&line);
	found = find_begin(&r->here, &b);
	if (found != NULL) {
		r->collection->traces[found->trace].is_noted = true;
		return;
	}
	if (take_number(&line) != notes_hash(n->out) || is_alive(r, &b)) {
		add_begin(&n->known, &b);
		return;
	}
	if (b.pid == (uint64_t)r->launch->pid)
		n->own_is_lost = true;
	/*
	 * If the command itself has no trace at all, leave the explanation to
	 * absence.h.
	 */
	if (b.pid != (uint64_t)r->launch->pid || r->collection->own_count != 0)
		add_text(&n->lost, &n->lost_count, line);
}

static void
take_untraced(struct reading *r, const char *line)
{
	struct notebook *const n = r->notebook;
	const uint64_t pid = take_number(&line);

	if (pid != (uint64_t)r->launch->pid || !n->own_is_reported)
		add_text(&n->untraced, &n->untraced_count, line);
}

static void
take_line(struct reading *r, const char *line)
{
	if (strncmp(line, NOTES_BEGIN, sizeof(NOTES_BEGIN) - 1) == 0)
		take_begin(r, line + sizeof(NOTES_BEGIN) - 1);
	else if (strncmp(line, NOTES_UNTRACED, sizeof(NOTES_UNTRACED) - 1) == 0)
		take_untraced(r, line + sizeof(NOTES_UNTRACED) - 1);
}

/*
 * Open the file of notes by its descriptor, because the path may lead to
 * another file by now.  Check its size, because a traced program may have
 * written to it.
 */
static FILE *
open_notes(const struct notebook *n)
{
	struct stat st;
	FILE *file;
	int fd;

	if (n->path[0] == '\0' || fstat(n->fd, &st) != 0)
		return NULL;
	if (st.st_size > NOTES_NBYTES_MAX) {
		message_print("the notes of traced processes exceed %d MiB, so "
			      "processes that left no trace are not reported",
			      (int)(NOTES_NBYTES_MAX >> 20));
		return NULL;
	}
	fd = dup(n->fd);
	file = fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fdopen(fd, "r") : NULL;
	if (file == NULL && fd >= 0)
		close(fd);
	return file;
}

/*
 * Did the process of 't' execute a program that left no trace?  Return false
 * while the process is running, because the program may still begin a trace.
 */
static bool
has_vanished(const struct notebook *n, const struct collected_trace *t)
{
	const struct notebook_begin b = { .pid = t->pid,
					  .start_ns = t->start_ns };

	return t->has_execed && !has_later(&n->known, &b) &&
	       !started_is_alive(t->pid, t->pid_start_ns);
}

void
notebook_find_vanished(const struct notebook *n, struct collection *c)
{
	for (size_t i = 0; i < c->own_count + c->descendant_count; i++)
		c->traces[i].has_vanished = has_vanished(n, &c->traces[i]);
}

static void
read_lines(struct reading *r)
{
	FILE *const file = open_notes(r->notebook);
	char line[PATH_MAX];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		take_line(r, line);
	}
	if (file != NULL)
		fclose(file);
}

void
notebook_read(struct notebook *n, struct collection *c, const struct launch *l)
{
	struct reading r = { .notebook = n, .collection = c, .launch = l };

	add_traces(&r.here, c);
	read_lines(&r);
	for (size_t i = 0; i < r.here.count; i++)
		add_begin(&n->known, &r.here.begin[i]);
	free(r.here.begin);
	free(r.inner.begin);
	sort_begins(&n->known);
	/*
	 * Search for descendants only after the notes are read.  The header of
	 * a trace from another PID namespace contains ids of that namespace,
	 * which do not lead to the command.  Only the note shows that such a
	 * trace belongs to a descendant.
	 */
	if (!descendants_find(c, l))
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	/* Remove the file now, because 'hatf record' may end by a signal. */
	remove_file(n);
	if (n->lost_count != 0)
		qsort(n->lost, n->lost_count, sizeof(*n->lost), compare_texts);
	if (n->untraced_count != 0)
		qsort(n->untraced, n->untraced_count, sizeof(*n->untraced),
		      compare_texts);
}

/* --------------------------------------------------------------- reporting */

/*
 * Write a list of the sorted strings to 'buf', such as "head, yes (2)".  Each
 * string is listed once, with its count if it occurs more than once.  A string
 * "WHY TAB EXE" is listed as "EXE (2) WHY".
 */
static void
list(char *const *texts, size_t count, char *buf, size_t cap)
{
	size_t used = 0, named = 0, next;

	buf[0] = '\0';
	for (size_t i = 0; i < count; i = next) {
		const char *const tab = strchr(texts[i], '\t');

		for (next = i + 1;
		     next < count && strcmp(texts[i], texts[next]) == 0; next++)
			;
		if (named++ == NAMED_MAX) {
			snprintf(buf + used, cap - used, ", and others");
			return;
		}
		used += (size_t)snprintf(buf + used, cap - used, "%s%s",
					 i == 0 ? "" : ", ",
					 tab != NULL ? tab + 1 : texts[i]);
		if (next - i > 1 && used < cap)
			used += (size_t)snprintf(buf + used, cap - used,
						 " (%zu)", next - i);
		if (tab != NULL && used < cap)
			used += (size_t)snprintf(buf + used, cap - used,
						 " %.*s", (int)(tab - texts[i]),
						 texts[i]);
		if (used >= cap)
			return;
	}
}

void
notebook_report(const struct notebook *n)
{
	char names[4096];

	if (n->lost_count != 0) {
		list(n->lost, n->lost_count, names, sizeof(names));
		message_print("%zu %s no trace: %s: ended abruptly while the "
			      "trace was only in memory (HATFTRACE_BEGIN=now "
			      "creates the file at the first event)",
			      n->lost_count,
			      n->lost_count == 1 ? "process left"
						 : "processes left",
			      names);
	}
	if (n->untraced_count != 0) {
		list(n->untraced, n->untraced_count, names, sizeof(names));
		message_print("%zu %s untraced: %s", n->untraced_count,
			      n->untraced_count == 1 ? "process ran"
						     : "processes ran",
			      names);
	}
}

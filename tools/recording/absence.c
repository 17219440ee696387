/* SPDX-License-Identifier: MIT */
/* absence.c - see absence.h */
#include "tools/recording/absence.h"

#include "hatf/hatf.h"
#include "tools/recording/template.h"
#include "tools/ui/message.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS_NBYTES 65536

/*
 * In the links of /proc/PID/fd, the kernel appends this to the path of a
 * deleted file or directory.
 */
#define DELETED " (deleted)"

void
absence_begin(struct absence *a, const char *text)
{
	char link[64];

	a->text = text;
	a->directory = template_directory_open(text);
	a->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (a->events < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", a->directory);
	if (inotify_add_watch(a->events, link, IN_DELETE | IN_MOVED_FROM) >= 0)
		return;
	close(a->events);
	a->events = -1;
}

void
absence_end(struct absence *a)
{
	if (a->directory >= 0)
		close(a->directory);
	if (a->events >= 0)
		close(a->events);
}

/*
 * Is 'name' a file name that the template 'text' gives to a trace of process
 * 'pid'?  The recorder may have appended a number to the name.
 */
static bool
is_ours(const char *text, pid_t pid, const char *name)
{
	const size_t n = strlen(name), m = strlen(HATF_RINGS_SUFFIX);
	bool is = false;

	/* Ignore ring files, which the recorder itself removes. */
	if (n > m && strcmp(name + n - m, HATF_RINGS_SUFFIX) == 0)
		return false;
	for (int segments = 0; segments < 2 && !is; segments++) {
		char *const path = template_pattern(text, pid, segments != 0);
		const char *const base =
			path != NULL ? strrchr(path, '/') + 1 : "";
		char *numbered = NULL;

		if (path != NULL && asprintf(&numbered, "%s.[0-9]*", base) >= 0)
			is = fnmatch(base, name, 0) == 0 ||
			     fnmatch(numbered, name, 0) == 0;
		free(numbered);
		free(path);
	}
	return is;
}

/*
 * Find the last trace of 'pid' that was removed or renamed.  Write its name to
 * 'name' and return the event, IN_DELETE or IN_MOVED_FROM; 0 if there is none.
 */
static uint32_t
find_gone(const struct absence *a, pid_t pid, char name[NAME_MAX + 1])
{
	static _Alignas(struct inotify_event) char buf[EVENTS_NBYTES];
	uint32_t what = 0;
	ssize_t n;

	while (a->events >= 0 && (n = read(a->events, buf, sizeof(buf))) > 0) {
		const struct inotify_event *e;

		for (const char *at = buf; at < buf + n;
		     at += sizeof(*e) + e->len) {
			e = (const void *)at;
			if (e->len == 0 || !is_ours(a->text, pid, e->name))
				continue;
			what = e->mask & (IN_DELETE | IN_MOVED_FROM);
			snprintf(name, NAME_MAX + 1, "%s", e->name);
		}
	}
	return what;
}

/*
 * If the directory of the traces was itself removed or moved, print a message
 * about this and return true.
 */
static bool
tell_directory(const struct absence *a, const char *command, const char *others)
{
	const char *const shown = template_short(a->text);
	struct stat was, is;
	char link[64], path[PATH_MAX];
	ssize_t n;

	if (a->directory < 0 || fstat(a->directory, &was) != 0 ||
	    (template_directory_stat(a->text, &is) && is.st_dev == was.st_dev &&
	     is.st_ino == was.st_ino))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", a->directory);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if (n <= 0 || (n > (ssize_t)sizeof(DELETED) &&
		       strcmp(path + n - (sizeof(DELETED) - 1), DELETED) == 0))
		message_print(
			"%s left no trace: the directory of %s was removed "
			"while the program ran%s",
			command, shown, others);
	else
		message_print(
			"%s left no trace: the directory of %s was moved to "
			"%s%s",
			command, shown, path, others);
	return true;
}

void
absence_explain(const struct absence *a, const char *command,
		const struct launch *l, const char *others, bool begun)
{
	char name[NAME_MAX + 1];
	const uint32_t gone = find_gone(a, l->pid, name);

	if (gone != 0)
		message_print(
			"%s left no trace: %s was %s while the program ran%s",
			command, name, gone == IN_DELETE ? "removed" : "moved",
			others);
	else if (tell_directory(a, command, others))
		return;
	else if (begun)
		message_print(
			"%s left no trace: it %s while the trace was only in "
			"memory (HATFTRACE_BEGIN=now creates the file at the "
			"first event)%s",
			command,
			WIFSIGNALED(l->wait_status)
				? "was ended by a signal"
				: "ended by a raw system call",
			others);
	else if (WIFSIGNALED(l->wait_status))
		message_print("%s left no trace: a signal ended it before it "
			      "had begun a trace%s",
			      command, others);
	else
		message_print("%s left no trace: libhatftrace.so printed the "
			      "reason above, or the program ended by a raw "
			      "system call soon after its start%s",
			      command, others);
}

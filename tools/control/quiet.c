/* SPDX-License-Identifier: MIT */
/* quiet.c - see quiet.h */
#include "tools/control/quiet.h"

#include "tools/control/maps.h"
#include "tools/control/process_info.h"
#include "tools/control/sockets.h"
#include "tools/control/started.h"
#include "tools/control/threadless.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The name that the recorder gives its thread
 * (preload/confine/hidden_thread.c).
 */
#define THREAD_NAME "hatftrace\n"

/*
 * Size of a ring's header (struct ring), and minimum size of a ring's buffer.
 */
#define RING_HEAD_NBYTES 4096u
#define RING_NBYTES_MIN	 4096u

/* A process younger than this may still create its socket. */
#define SETTLED_MS 1000

static bool
is_library(const char *line, const void *unused)
{
	(void)unused;
	return strstr(line, "libhatftrace") != NULL;
}

/*
 * Does this line of /proc/PID/maps describe a ring?  A ring is shared anonymous
 * memory, named if the kernel supports names.  Its size is the size of a header
 * plus a power of two.
 */
static bool
is_ring_in_memory(const char *line, const void *unused)
{
	char *end;
	const unsigned long long from = strtoull(line, &end, 16);
	const unsigned long long to =
		*end == '-' ? strtoull(end + 1, NULL, 16) : from;
	unsigned long long words_nbytes;

	(void)unused;
	if (strstr(line, " rw-s ") == NULL ||
	    to - from < RING_HEAD_NBYTES + RING_NBYTES_MIN ||
	    (strstr(line, " /dev/zero (deleted)\n") == NULL &&
	     strstr(line, " [anon_shmem:hatftrace]\n") == NULL))
		return false;
	words_nbytes = to - from - RING_HEAD_NBYTES;
	return (words_nbytes & (words_nbytes - 1)) == 0;
}

static bool
is_writer(pid_t pid, const char *tid)
{
	char path[PATH_MAX], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/task/%s/comm", (long)pid, tid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fgets(name, sizeof(name), f) == NULL)
		name[0] = '\0';
	fclose(f);
	return strcmp(name, THREAD_NAME) == 0;
}

static bool
has_writer(pid_t pid)
{
	const struct dirent *entry;
	bool found = false;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	d = opendir(path);
	while (!found && d != NULL && (entry = readdir(d)) != NULL)
		found = is_writer(pid, entry->d_name);
	if (d != NULL)
		closedir(d);
	return found;
}

bool
quiet_is_preloaded(pid_t pid)
{
	return maps_find(pid, is_library, NULL);
}

bool
quiet_is_waiting(pid_t pid)
{
	return maps_find(pid, is_ring_in_memory, NULL) && !has_writer(pid);
}

bool
quiet_read_status(pid_t pid, char *answer, size_t cap)
{
	char exe[PATH_MAX];
	int used;

	if (!quiet_is_waiting(pid) || !process_info_exe(pid, exe, sizeof(exe)))
		return false;
	used = snprintf(answer, cap,
			"ok\npid=%ld\nexe=%s\nstate=recording\nbegun=0\n",
			(long)pid, exe);
	return used > 0 && (size_t)used < cap;
}

/*
 * Return true if a process without a socket can get orders through the file of
 * bells, or if hatf can find the status of the process in /proc.
 */
static bool
is_reachable(pid_t pid)
{
	if (threadless_is_listening(pid))
		return true;
	return !started_lately((uint64_t)pid, SETTLED_MS) &&
	       quiet_is_waiting(pid) && !sockets_is_control_off(pid);
}

static int
compare_pids(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

size_t
quiet_add_all(pid_t *pids, size_t count, size_t max)
{
	DIR *const d = opendir("/proc");
	const struct dirent *entry;
	size_t n = count;

	while (d != NULL && n < max && (entry = readdir(d)) != NULL) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() &&
		    (count == 0 || bsearch(&pid, pids, count, sizeof(*pids),
					   compare_pids) == NULL) &&
		    is_reachable(pid))
			pids[n++] = pid;
	}
	if (d != NULL)
		closedir(d);
	qsort(pids, n, sizeof(*pids), compare_pids);
	return n;
}

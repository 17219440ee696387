/* SPDX-License-Identifier: MIT */
/* started.c - see started.h */
#include "tools/control/started.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Read /proc/PID/stat, "PID (NAME) STATE PPID ...", into 'buf'.  Return the
 * address of the ')', or NULL if there is no such process.
 */
static const char *
read_stat(uint64_t pid, char *buf, size_t cap)
{
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);

	FILE *const file = fopen(path, "re");

	if (file == NULL)
		return NULL;
	n = fread(buf, 1, cap - 1, file);
	fclose(file);
	buf[n] = '\0';
	return strrchr(buf, ')');
}

/*
 * Read the start time, field 22 of /proc/PID/stat.  'field' points at the end
 * of field 2.  Return false if 'field' is NULL, or if there is no field 22.
 */
static bool
find_start(const char *field, uint64_t *ns_ret)
{
	for (int i = 2; field != NULL && i < 22; i++) {
		field = strchr(field, ' ');
		if (field != NULL)
			field++;
	}
	if (field == NULL)
		return false;
	*ns_ret = strtoull(field, NULL, 10) *
		  (1000000000u / (unsigned long)sysconf(_SC_CLK_TCK));
	return true;
}

bool
started_ns(uint64_t pid, uint64_t *ns_ret)
{
	char buf[1024];

	return find_start(read_stat(pid, buf, sizeof(buf)), ns_ret);
}

bool
started_alive_ns(uint64_t pid, uint64_t *ns_ret)
{
	char buf[1024];
	const char *const stat = read_stat(pid, buf, sizeof(buf));

	return stat != NULL && strncmp(stat, ") Z", 3) != 0 &&
	       strncmp(stat, ") X", 3) != 0 && find_start(stat, ns_ret);
}

bool
started_is_alive(uint64_t pid, uint64_t start_ns)
{
	uint64_t ns;

	return start_ns != 0 && started_alive_ns(pid, &ns) && ns == start_ns;
}

bool
started_lately(uint64_t pid, uint64_t ms)
{
	struct timespec ts;
	uint64_t start_ns;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return started_ns(pid, &start_ns) &&
	       (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000 <
		       start_ns / 1000000 + ms;
}

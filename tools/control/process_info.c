/* SPDX-License-Identifier: MIT */
/* process_info.c - see process_info.h */
#include "tools/control/process_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *
process_info_variable(pid_t pid, const char *name)
{
	static char buf[1u << 20];
	const size_t length = strlen(name);
	char path[64];
	const char *found = NULL;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return NULL;
	n = fread(buf, 1, sizeof(buf) - 1, f);
	fclose(f);
	buf[n] = '\0';
	for (size_t i = 0; i < n && found == NULL; i += strlen(buf + i) + 1)
		if (strncmp(buf + i, name, length) == 0)
			found = buf + i + length;
	return found;
}

/*
 * Return the value of 'key' in /proc/PID/status, with leading blanks; "" if
 * there is none.
 */
static const char *
status_of(pid_t pid, const char *key, char *line, int cap)
{
	const size_t n = strlen(key);
	char path[64];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	while (!found && f != NULL && fgets(line, cap, f) != NULL)
		found = strncmp(line, key, n) == 0;
	if (f != NULL)
		fclose(f);
	return found ? line + n : "";
}

long
process_info_number(pid_t pid)
{
	char line[512];
	const char *const last =
		strrchr(status_of(pid, "NSpid:", line, sizeof(line)), '\t');

	return last != NULL ? strtol(last, NULL, 10) : pid;
}

bool
process_info_is_user(pid_t pid, uid_t uid)
{
	char line[512];
	const char *next = status_of(pid, "Uid:", line, sizeof(line));

	while (*next == '\t') {
		char *end;

		if (strtoul(next + 1, &end, 10) == uid)
			return true;
		next = end;
	}
	return false;
}

uid_t
process_info_owner(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld", (long)pid);
	return stat(path, &st) == 0 ? st.st_uid : geteuid();
}

bool
process_info_exe(pid_t pid, char *exe, size_t cap)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
	n = readlink(path, exe, cap - 1);
	exe[n < 0 ? 0 : n] = '\0';
	/* Callers write the path into a line of text, so refuse a newline. */
	return strchr(exe, '\n') == NULL;
}

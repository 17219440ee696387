/* SPDX-License-Identifier: MIT */
/* started.c - see started.h */
#include "started.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
started_ns(uint64_t pid, uint64_t *ns_ret)
{
	char path[64], stat[1024];
	const char *field;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);

	FILE *const file = fopen(path, "re");

	if (file == NULL)
		return false;
	n = fread(stat, 1, sizeof(stat) - 1, file);
	fclose(file);
	stat[n] = '\0';
	field = strrchr(stat, ')');
	/* The 22nd; the second ends here. */
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

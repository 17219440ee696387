/* SPDX-License-Identifier: MIT */
/* insides.c - see insides.h */
#include "tools/recording/insides.h"

#include "tools/program/allocator.h"
#include "tools/recording/template.h"
#include "tools/trace/regular.h"
#include "tools/ui/message.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Print a message if the executable has its own allocator.  Open the path with
 * care, because it comes from a trace and is untrusted.
 */
static void
tell(const char *exe)
{
	uid_t owner;
	const char *name;
	const int fd = regular_open(exe, &owner);

	if (fd < 0)
		return;
	name = allocator_inside(fd);
	close(fd);
	if (name != NULL)
		message_print("%s has an allocator of its own (%s): blocks of "
			      "that allocator are not in the trace",
			      template_short(exe), name);
}

void
insides_report(const struct collection *c)
{
	const size_t n = c->own_count + c->descendant_count;
	const char **const exes = calloc(n + 1, sizeof(*exes));

	if (exes == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		exes[i] = c->traces[i].exe;
	qsort(exes, n, sizeof(*exes), compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(exes[i - 1], exes[i]) != 0)
			tell(exes[i]);
	free(exes);
}

/* SPDX-License-Identifier: MIT */
/*
 * johnstone.c - write the calls in a log of glibc's mtrace as Johnstone's
 * events
 *
 * usage: johnstone TRACE FLAGS <MTRACE
 *
 * In such a log '+' is a block that malloc returned, '-' one that is freed.  Of
 * a realloc, '<' is the old block, and '>' in the next line the new one with
 * its size.
 */
#include "johnstone.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t old_block;

static bool
put_line(struct johnstone_writer *w, const char *line)
{
	const char *const call = strpbrk(line, "+-<>");
	uint64_t block = 0, size = 0;

	/* Names of callers stand in brackets and may have such signs. */
	const char *const named = strrchr(line, ']');
	const char *const at = named != NULL ? strpbrk(named, "+-<>") : call;

	if (line[0] != '@' || at == NULL)
		return true; /* "= Start" and the like */
	sscanf(at + 1, " %" SCNx64 " %" SCNx64, &block, &size);
	if (*at == '<') {
		old_block = block;
		return true;
	}

	const struct johnstone_mallocCall m = { .size = size,
						.address = block };
	const struct johnstone_freeCall f = { .address = block };
	const struct johnstone_reallocCall r = { .address = old_block,
						 .size = size };

	return *at == '+'   ? johnstone_writer_put_mallocCall(w, &m)
	       : *at == '-' ? johnstone_writer_put_freeCall(w, &f)
			    : johnstone_writer_put_reallocCall(w, &r);
}

int
main(int argc, char **argv)
{
	struct johnstone_writer *const w =
		argc == 3 ? johnstone_writer_open(argv[1],
						  (unsigned)atoi(argv[2]))
			  : NULL;
	char *line = NULL;
	size_t room = 0;
	bool ok = w != NULL;

	while (ok && getline(&line, &room, stdin) > 0)
		ok = put_line(w, line);
	free(line);
	return w == NULL || !johnstone_writer_close(w, NULL) || !ok;
}

/* SPDX-License-Identifier: MIT */
/*
 * simple_binary.c - write the records of 'hatf dump --format ascii' as Simple
 * Binary
 *
 * usage: simple_binary TRACE FLAGS <ASCII
 */
#include "simple_binary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define REALLOC(kind)                                                    \
	do {                                                             \
		const struct simple_binary_##kind r = { a, b, c };       \
                                                                         \
		return n == 4 && simple_binary_writer_put_##kind(w, &r); \
	} while (0)

static bool
put_line(struct simple_binary_writer *w, const char *line)
{
	unsigned tag = 10;
	uint64_t a = 0, b = 0, c = 0;
	const int n = sscanf(line, "%u %" SCNi64 " %" SCNi64 " %" SCNi64, &tag,
			     (int64_t *)&a, (int64_t *)&b, (int64_t *)&c);
	const struct simple_binary_alloc alloc = { .size = a, .address = b };
	const struct simple_binary_free freed = { .address = a };

	switch (tag) {
	case 0:
		return n >= 3 && simple_binary_writer_put_alloc(w, &alloc);
	case 1:
		return n >= 2 && simple_binary_writer_put_free(w, &freed);
	case 2:
		REALLOC(reallocNoAlloc);
	case 3:
		REALLOC(reallocAllocFree);
	case 4:
		REALLOC(reallocAlloc);
	case 5:
		REALLOC(reallocFree);
	default:
		return true; /* threads, heaps, comments: not in this format */
	}
}

int
main(int argc, char **argv)
{
	struct simple_binary_writer *const w =
		argc == 3 ? simple_binary_writer_open(argv[1],
						      (unsigned)atoi(argv[2]))
			  : NULL;
	char *line = NULL;
	size_t room = 0;
	bool ok = w != NULL;

	while (ok && getline(&line, &room, stdin) > 0)
		ok = put_line(w, line);
	free(line);
	return w == NULL || !simple_binary_writer_close(w, NULL) || !ok;
}

/* SPDX-License-Identifier: MIT */
/*
 * hummingbird.c - write Allocate and Free lines as Meta-TF
 *
 * usage: hummingbird TRACE FLAGS <LINES
 */
#include "hummingbird.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool
put_line(struct hummingbird_writer *w, const char *line)
{
	uint64_t address, size;

	if (sscanf(line, "Allocate %" SCNx64 " %" SCNu64, &address, &size) == 2)
		return hummingbird_writer_put_alloc(
			w, &(struct hummingbird_alloc){ address, size });
	return sscanf(line, "Free %" SCNx64, &address) == 1 &&
	       hummingbird_writer_put_free(
		       w, &(struct hummingbird_free){ address });
}

int
main(int argc, char **argv)
{
	struct hummingbird_writer *const w =
		argc == 3 ? hummingbird_writer_open(argv[1],
						    (unsigned)atoi(argv[2]))
			  : NULL;
	char *line = NULL;
	size_t room = 0;
	bool ok = w != NULL;

	while (ok && getline(&line, &room, stdin) > 0)
		ok = put_line(w, line);
	free(line);
	return w == NULL || !hummingbird_writer_close(w, NULL) || !ok;
}

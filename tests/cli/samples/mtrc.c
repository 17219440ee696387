/* SPDX-License-Identifier: MIT */
/*
 * mtrc.c - write the events of an MTRC file, decoded to lines, as Meta-TF
 *
 * usage: mtrc TRACE FLAGS <LINES
 *
 * A line has a letter of MTRC and, between tabs, all that any event can have:
 * index, address, size, thread, line, function, file.  Each name is stored
 * once.
 */
#include "mtrc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 4096

static struct {
	char *name;
	uint64_t offset;
} names[NAMES_MAX];
static size_t name_count;
static uint64_t names_nbytes;

/* Return the offset of a name in its section; add it if it is new. */
static uint64_t
offset_of(struct mtrc_writer *w, const char *name)
{
	const size_t length = strlen(name);
	const struct mtrc_name record = { length,
					  { (const uint8_t *)name, length } };

	for (size_t i = 0; i < name_count; i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].offset;
	if (name_count == NAMES_MAX || !mtrc_writer_put_name(w, &record))
		abort();
	names[name_count].name = strdup(name);
	names[name_count].offset = names_nbytes;
	names_nbytes += 2 + length;
	return names[name_count++].offset;
}

#define SITE                                   \
	{                                      \
		thread, function, file, number \
	}

/* Put the event whose fields stand in 'field'. */
static bool
put_event(struct mtrc_writer *w, char *const field[8])
{
	const uint64_t index = strtoull(field[1], NULL, 10);
	const uint64_t address = strtoull(field[2], NULL, 10);
	const uint64_t size = strtoull(field[3], NULL, 10);
	const uint64_t thread = strtoull(field[4], NULL, 10);
	const uint64_t number = strtoull(field[5], NULL, 10);
	const uint64_t function = offset_of(w, field[6]);
	const uint64_t file = offset_of(w, field[7]);

	switch (field[0][0]) {
	case 'I':
		return mtrc_writer_put_internal(
			w, &(struct mtrc_internal){ address, size });
	case 'H':
		return mtrc_writer_put_heap(
			w, &(struct mtrc_heap){ address, size });
	case 'A':
		return mtrc_writer_put_allocation(
			w, &(struct mtrc_allocation){ index, address, size,
						      SITE });
	case 'R':
		return mtrc_writer_put_reallocation(
			w, &(struct mtrc_reallocation){ index, address, size,
							SITE });
	default:
		return mtrc_writer_put_deallocation(
			w, &(struct mtrc_deallocation){ index, SITE });
	}
}

static bool
put_line(struct mtrc_writer *w, char *line)
{
	char *field[8];
	size_t n = 0;

	line[strcspn(line, "\n")] = '\0';
	while (n < 8 && line != NULL)
		field[n++] = strsep(&line, "\t");
	return n == 8 && put_event(w, field);
}

int
main(int argc, char **argv)
{
	struct mtrc_writer *const w =
		argc == 3 ? mtrc_writer_open(argv[1], (unsigned)atoi(argv[2]))
			  : NULL;
	char *line = NULL;
	size_t room = 0;
	bool ok = w != NULL && offset_of(w, "") == 0;

	while (ok && getline(&line, &room, stdin) > 0)
		ok = put_line(w, line);
	free(line);
	for (size_t i = 0; i < name_count; i++)
		free(names[i].name);
	return w == NULL || !mtrc_writer_close(w, NULL) || !ok;
}

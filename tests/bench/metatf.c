/* SPDX-License-Identifier: MIT */
/*
 * metatf.c - read a trace, or read and write it, and tell the CPU time
 *
 * usage: metatf read|copy FILE [OUT]
 *        metatf universal FILE
 *
 * 'read' and 'copy' use hatf.h with any format; 'universal' reads a Meta-TF
 * trace by its DTD.  Prints records and seconds.
 */
#include "hatf/hatf.h"
#include "hatf/metatf/trace/mtf_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 256

static void
die(const char *what)
{
	fprintf(stderr, "metatf: %s\n", what);
	exit(1);
}

static double
cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t
read_hatf(const char *path, const char *out)
{
	const struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.format = "hatf",
		.plain = true,
	};
	struct hatf_record records[BATCH];
	struct hatf_writer *writer = NULL;
	struct hatf_reader *reader;
	struct hatf_error err;
	uint64_t count = 0;
	size_t n;

	if (hatf_reader_open(path, NULL, &reader, &err) != HATF_OK)
		die("cannot read");
	if (out != NULL &&
	    hatf_writer_open(out, &options, &writer, &err) != HATF_OK)
		die("cannot write");
	while (hatf_reader_read(reader, records, BATCH, &n) == HATF_OK) {
		count += n;
		if (writer != NULL &&
		    hatf_writer_write(writer, records, n) != HATF_OK)
			die("cannot write");
	}
	if (writer != NULL && hatf_writer_close(writer, &err) != HATF_OK)
		die("cannot write");
	hatf_reader_close(reader);
	return count;
}

static uint64_t
read_universal(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct mtf_header h;
	struct mtf_error err;
	struct dtd_error dtd_err;
	struct mtf_record r;
	struct mtf_reader *reader;
	struct schema *schema;
	struct dtd *dtd;
	uint64_t count = 0;
	char *text;
	size_t nbytes;

	if (fd < 0 || !mtf_read_header(fd, &h, &err))
		die("cannot read");
	text = mtf_read_dtd(fd, &h, &nbytes, &err);
	dtd = text != NULL ? dtd_parse(text, nbytes, &dtd_err) : NULL;
	schema = dtd != NULL ? schema_open(dtd, NULL, NULL, &dtd_err) : NULL;
	reader = schema != NULL ? mtf_reader_open(fd, &h, schema) : NULL;
	if (reader == NULL)
		die("no DTD");
	while (mtf_reader_next(reader, &r))
		count += r.type->role == ROLE_DATA;
	if (mtf_reader_error(reader) != NULL)
		die(mtf_reader_error(reader)->text);
	mtf_reader_close(reader);
	schema_close(schema);
	dtd_close(dtd);
	free(text);
	return count;
}

int
main(int argc, char **argv)
{
	const char *const mode = argc > 1 ? argv[1] : "";
	uint64_t count;

	if (argc < 3)
		die("usage: metatf read|copy|universal FILE [OUT]");
	if (strcmp(mode, "universal") == 0)
		count = read_universal(argv[2]);
	else
		count = read_hatf(argv[2], argc > 3 ? argv[3] : NULL);
	printf("%llu %.6f\n", (unsigned long long)count, cpu_seconds());
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * metatf_rewrite.c - copy a Meta-TF trace with the universal reader and writer
 *
 * usage: metatf_rewrite DTD IN OUT FLAGS
 *
 * FLAGS as in generated code: 1 big-endian, 2 class of 32 bits, 4 compressed.
 * The status is 3 if the writer refuses a record that was read.
 */
#include "hatf/metatf/trace/mtf_reader.h"
#include "hatf/metatf/trace/mtf_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[DTD_MAX_NBYTES];

static bool
put(struct mtf_writer *w, const struct mtf_record *r)
{
	if (r->type->role == ROLE_COMMENT)
		return mtf_writer_comment(w, r->section,
					  (const char *)r->values[2].bytes,
					  (size_t)r->values[1].number);
	return r->type->role != ROLE_DATA ||
	       mtf_writer_put(w, r->section, r->type, r->values,
			      r->value_count);
}

static int
complain(const struct mtf_error *err, int status)
{
	fprintf(stderr, "%s\n", err != NULL ? err->text : "no memory");
	return status;
}

int
main(int argc, char **argv)
{
	const int in = open(argv[2], O_RDONLY);
	const int out = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600);
	const unsigned flags = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	FILE *const f = fopen(argv[1], "r");
	const size_t nbytes = f != NULL ? fread(text, 1, sizeof(text), f) : 0;
	const struct mtf_writer_options options = {
		.class = (flags & 2) != 0 ? MTF_32_BIT : MTF_64_BIT,
		.byte_order =
			(flags & 1) != 0 ? MTF_BIG_ENDIAN : MTF_LITTLE_ENDIAN,
		.is_compressed = (flags & 4) != 0,
		.dtd_name = "",
		.dtd_text = text,
		.dtd_nbytes = nbytes,
	};
	struct dtd_error dtd_err;
	struct mtf_error err;
	struct mtf_header header;
	struct mtf_record record;
	struct dtd *const dtd = dtd_parse(text, nbytes, &dtd_err);
	struct schema *const schema =
		dtd != NULL ? schema_open(dtd, NULL, NULL, &dtd_err) : NULL;
	struct mtf_reader *r;
	struct mtf_writer *w;

	if (schema == NULL || !mtf_read_header(in, &header, &err))
		return complain(NULL, 2);
	r = mtf_reader_open(in, &header, schema);
	w = mtf_writer_open(out, schema, &options);
	if (r == NULL || w == NULL)
		return complain(NULL, 2);
	while (mtf_reader_next(r, &record))
		if (!put(w, &record))
			return complain(mtf_writer_error(w), 3);
	if (mtf_reader_error(r) != NULL)
		return complain(mtf_reader_error(r), 1);
	if (!mtf_writer_finish(w))
		return complain(mtf_writer_error(w), 2);
	mtf_writer_close(w);
	mtf_reader_close(r);
	schema_close(schema);
	dtd_close(dtd);
	return 0;
}

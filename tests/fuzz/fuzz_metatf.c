/* SPDX-License-Identifier: MIT */
/*
 * fuzz_metatf.c - any bytes as a Meta-TF trace that contains its DTD
 *
 * Reading gives records and perhaps an error.  Whatever records come, the
 * writer must write them, unless it says why not, and they must be read again
 * with the same values, section by section.
 */
#include "fuzz.h"
#include "hatf/metatf/trace/mtf_reader.h"
#include "hatf/metatf/trace/mtf_writer.h"

/* A small file can hold a large trace: read no more than this. */
#define RECORD_MAX 2000

/* What was read of each section. */
struct outcome {
	uint64_t counts[256], hashes[256];
	bool has_failed;
};

static void
note_record(struct outcome *o, const struct mtf_record *r)
{
	uint64_t *const hash = &o->hashes[r->section->number];

	o->counts[r->section->number]++;
	*hash = fuzz_hash(*hash, r->type->name, strlen(r->type->name));
	for (size_t i = 0; i < r->value_count; i++) {
		const struct mtf_value *const v = &r->values[i];

		*hash = fuzz_hash(*hash, &v->number, sizeof(v->number));
		if (v->bytes != NULL)
			*hash = fuzz_hash(*hash, v->bytes, (size_t)v->number);
	}
}

/* Write a record.  False: the writer cannot. */
static bool
copy_record(struct mtf_writer *w, const struct mtf_record *r)
{
	if (r->type->role == ROLE_COMMENT)
		return mtf_writer_comment(w, r->section,
					  (const char *)r->values[2].bytes,
					  (size_t)r->values[1].number);
	return mtf_writer_put(w, r->section, r->type, r->values,
			      r->value_count);
}

/* Read a file, and copy what it has to 'w' unless this is NULL. */
static struct outcome
read_trace(int fd, const struct mtf_header *h, const struct schema *schema,
	   struct mtf_writer *w, bool *is_copied)
{
	struct mtf_reader *const r = mtf_reader_open(fd, h, schema);
	struct outcome o = { .has_failed = false };
	struct mtf_record record;

	fuzz_check(r != NULL);
	for (unsigned n = 0; n < RECORD_MAX && mtf_reader_next(r, &record);
	     n++) {
		if (record.type->role == ROLE_METADATA ||
		    record.type->role == ROLE_SECTION)
			continue;
		if (w != NULL && !copy_record(w, &record)) {
			fuzz_check(mtf_writer_error(w) != NULL);
			*is_copied = false;
			break;
		}
		note_record(&o, &record);
	}
	o.has_failed = mtf_reader_error(r) != NULL;
	mtf_reader_close(r);
	return o;
}

/* Copy a trace and read the copy. */
static void
check_copy(int fd, const struct mtf_header *h, const struct schema *schema)
{
	const struct mtf_writer_options options = {
		.class = h->class,
		.byte_order = h->byte_order,
		.is_compressed = h->is_compressed,
		.dtd_name = "x.dtd",
	};
	const int copy = fuzz_file();
	struct mtf_writer *const w = mtf_writer_open(copy, schema, &options);
	struct mtf_header copy_header;
	struct mtf_error err;
	bool is_copied = true;
	struct outcome first, second;

	fuzz_check(w != NULL);
	first = read_trace(fd, h, schema, w, &is_copied);
	if (is_copied) {
		fuzz_check(mtf_writer_finish(w));
		fuzz_check(mtf_read_header(copy, &copy_header, &err));
		second = read_trace(copy, &copy_header, schema, NULL, NULL);
		fuzz_check(!second.has_failed);
		fuzz_check(memcmp(first.counts, second.counts,
				  sizeof(first.counts)) == 0);
		fuzz_check(memcmp(first.hashes, second.hashes,
				  sizeof(first.hashes)) == 0);
	}
	mtf_writer_close(w);
	close(copy);
}

/* Has a field numbers from a section that other fields leave unread? */
static bool
has_columns(const struct schema *schema)
{
	for (uint32_t i = 0; i < schema->section_count; i++)
		if (schema->sections[i].is_column)
			return true;
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	const int fd = fuzz_file();
	struct mtf_header h;
	struct mtf_error err;
	struct dtd_error dtd_err;
	struct schema *schema = NULL;
	struct dtd *dtd = NULL;
	char *text = NULL;
	size_t text_nbytes;

	fuzz_append(fd, data, nbytes);
	if (mtf_read_header(fd, &h, &err))
		text = mtf_read_dtd(fd, &h, &text_nbytes, &err);
	if (text != NULL)
		dtd = dtd_parse(text, text_nbytes, &dtd_err);
	if (dtd != NULL)
		schema = schema_open(dtd, NULL, NULL, &dtd_err);
	if (schema != NULL && !has_columns(schema))
		check_copy(fd, &h, schema);
	else if (schema != NULL)
		read_trace(fd, &h, schema, NULL, NULL);
	schema_close(schema);
	dtd_close(dtd);
	free(text);
	close(fd);
	return 0;
}

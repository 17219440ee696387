/* SPDX-License-Identifier: MIT */
/*
 * fuzz_formats.c - any bytes as a trace of each format, and on into another
 *
 * An input is the name of a format, that of another one, each with a newline,
 * and the bytes of a file in the first.  The target checks:
 *
 *   - Reading gives records with all fields in range, and one status.  Both are
 *     the same whether records are read one by one or many at a time.
 *   - The source of another system's format defines each stack once, before
 *     it is used.
 *   - The second format accepts any records.  Its output is read back without
 *     an error, to the last record if the format keeps everything.
 */
#include "fuzz.h"
#include "hatf/hatf.h"
#include "tests/unit/support/streams.h"

#include <stdbool.h>

/* A small file can hold a large trace: read no more than this. */
#define RECORD_MAX 3000

#define BATCH 64

struct outcome {
	enum hatf_status status;
	struct hatf_error err;
	size_t n;
	uint64_t hash; /* of all records */
	bool is_other; /* the content is of another format than the one named */
};

/* Called with the records that were read. */
typedef void watch(void *ctx, const struct hatf_record *records, size_t n);

static uint64_t
hash_record(uint64_t hash, const struct hatf_record *r)
{
	const uint64_t numbers[] = { r->tag,	     r->size,
				     r->address,     r->time,
				     r->old_address, r->thread,
				     r->heap,	     r->attributes_nbytes };

	hash = fuzz_hash(hash, numbers, sizeof(numbers));
	return fuzz_hash(hash, r->attributes, r->attributes_nbytes);
}

static void
check_record(const struct hatf_record *r)
{
	fuzz_check(r->tag <= HATF_COMMENT);
	fuzz_check(r->attributes_nbytes <= UINT16_MAX);
	fuzz_check(r->attributes != NULL || r->attributes_nbytes == 0);
	fuzz_check(r->old_address == 0 || (r->tag >= HATF_REALLOC_NO_ALLOC &&
					   r->tag <= HATF_REALLOC_FREE));
	fuzz_check(r->metadata.op == 0);
}

/* Read all of 'fd', 'batch' records at a time. */
static void
read_file(int fd, const char *format, size_t batch, watch *look, void *ctx,
	  struct outcome *out)
{
	struct hatf_record records[BATCH];
	struct hatf_reader *reader;
	char text[512];
	size_t n;

	*out = (struct outcome){ .status = HATF_OK };
	fuzz_check(lseek(fd, 0, SEEK_SET) == 0);
	out->status = reader_of_fd_as(fd, format, 0, &reader, &out->err);
	fuzz_check(out->err.status == out->status);
	if (out->status != HATF_OK)
		return;
	out->is_other = strcmp(hatf_reader_format(reader), format) != 0;
	while (out->n < RECORD_MAX &&
	       (out->status = hatf_reader_read(reader, records, batch, &n)) ==
		       HATF_OK) {
		fuzz_check(n > 0 && n <= batch);
		for (size_t i = 0; i < n && out->n < RECORD_MAX; i++) {
			check_record(&records[i]);
			out->hash = hash_record(out->hash, &records[i]);
			out->n++;
		}
		if (look != NULL && !out->is_other)
			look(ctx, records, n);
	}
	if (out->status != HATF_OK) {
		fuzz_check(n == 0);
		fuzz_check(hatf_reader_read(reader, records, 1, &n) ==
			   out->status);
		out->err = *hatf_reader_error(reader);
		hatf_error_text(&out->err, text, sizeof(text));
	}
	hatf_reader_close(reader);
}

static void
check_stacks(void *ctx, const struct hatf_record *records, size_t n)
{
	struct hatf_stacks *const stacks = ctx;
	struct hatf_stack stack;

	for (size_t i = 0; i < n; i++) {
		const uint64_t id = hatf_record_stack(&records[i]);

		fuzz_check(hatf_stacks_note(stacks, &records[i], NULL) ==
			   HATF_OK);
		fuzz_check(id == 0 || hatf_stacks_get(stacks, id, &stack));
	}
}

static void
write_records(void *ctx, const struct hatf_record *records, size_t n)
{
	fuzz_check(hatf_writer_write(ctx, records, n) == HATF_OK);
}

/* Check that the reader of the written file knows everything that was in it. */
static void
check_written(int fd, const struct hatf_format *to, const struct outcome *in)
{
	struct outcome out;

	read_file(fd, to->name, BATCH, NULL, NULL, &out);
	/* Line-based formats do not accept an empty file as a trace. */
	if (in->n == 0)
		return;
	fuzz_check(out.status == HATF_END || out.status == HATF_OK);
	if (!to->foreign) {
		fuzz_check(out.n == in->n);
		fuzz_check(out.hash == in->hash);
	}
}

/* Bare, so that only the records are written. */
static void
convert(int from_fd, const struct hatf_format *from,
	const struct hatf_format *to, const struct outcome *in)
{
	const struct hatf_writer_options options = { .plain = true,
						     .bare = true,
						     .format = to->name };
	const int fd = fuzz_file();
	struct hatf_writer *writer;
	struct outcome out;

	fuzz_check(writer_of_fd(fd, &options, &writer, NULL) == HATF_OK);
	read_file(from_fd, from->name, BATCH, write_records, writer, &out);
	fuzz_check(out.n == in->n && out.hash == in->hash);
	fuzz_check(hatf_writer_close(writer, NULL) == HATF_OK);
	/* A batch may go beyond the last record that was counted. */
	if (to->reads && in->n < RECORD_MAX)
		check_written(fd, to, in);
	close(fd);
}

/* Take a format's name and its newline from the front; false if unknown. */
static bool
take_format(const uint8_t **data, size_t *nbytes, struct hatf_format *format)
{
	const uint8_t *const newline = memchr(*data, '\n', *nbytes);

	if (newline == NULL)
		return false;
	for (unsigned i = 0; hatf_format_get(i, format); i++) {
		const size_t length = strlen(format->name);

		if ((size_t)(newline - *data) != length ||
		    memcmp(*data, format->name, length) != 0)
			continue;
		*nbytes -= length + 1;
		*data += length + 1;
		return true;
	}
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	struct hatf_format from = { .struct_nbytes = sizeof(from) };
	struct hatf_format to = { .struct_nbytes = sizeof(to) };
	struct hatf_stacks *stacks;
	struct outcome out, again;
	int fd;

	if (!take_format(&data, &nbytes, &from) || !from.reads ||
	    !take_format(&data, &nbytes, &to))
		return 0;
	fd = fuzz_file();
	fuzz_append(fd, data, nbytes);
	fuzz_check(hatf_stacks_open(&stacks) == HATF_OK);
	read_file(fd, from.name, BATCH, from.foreign ? check_stacks : NULL,
		  stacks, &out);
	hatf_stacks_close(stacks);
	read_file(fd, from.name, 1, NULL, NULL, &again);
	fuzz_check(again.status == out.status);
	fuzz_check(again.n == out.n && again.hash == out.hash);
	fuzz_check(again.err.offset == out.err.offset);
	fuzz_check(again.err.line == out.err.line);
	if (to.writes && !out.is_other &&
	    (out.status == HATF_END || out.status == HATF_OK))
		convert(fd, &from, &to, &out);
	close(fd);
	return 0;
}

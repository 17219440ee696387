/* SPDX-License-Identifier: MIT */
/*
 * fuzz_sinks.c - any records, in the formats of other systems
 *
 * The first two bytes of an input choose the format and how to write it; the
 * others are the records (see generate.h), which need not make sense.  The sink
 * must write or refuse them.  If the format can be read, the file must be read
 * to its end.  A line-based format that has only calls is also written again,
 * which must give the same bytes.
 */
#include "fuzz.h"
#include "generate.h"
#include "tests/unit/support/streams.h"

#define OPTIONS_NBYTES 2
#define RECORD_MAX     2000
#define ATTRIBUTES_MAX 65536
#define TEXT_MAX       ((size_t)1 << 20)
#define DROP_ALL       ((1u << (HATF_FIELD_COUNT + 1)) - 1)

struct choice {
	struct hatf_format format;
	struct hatf_writer_options options;
};

/* Choose one of the formats of other systems that can be written. */
static void
choose(const uint8_t *data, struct choice *c)
{
	unsigned count = 0;

	c->format.struct_nbytes = sizeof(c->format);
	for (unsigned i = 0; hatf_format_get(i, &c->format); i++)
		count += c->format.foreign && c->format.writes;
	count = data[0] % count;
	for (unsigned i = 0; hatf_format_get(i, &c->format); i++)
		if (c->format.foreign && c->format.writes && count-- == 0)
			break;
	c->options = (struct hatf_writer_options){
		.format = c->format.name,
		.plain = true,
		.drop = (unsigned)data[1] << HATF_FIELD_TIME & DROP_ALL,
		.sequence_tags = (data[1] & 0x40) != 0,
		.header = data[1] & 0x80 ? "unit=us\npid=5\n" : NULL,
	};
}

/* Write records; false if the sink refused one. */
static bool
write_records(int fd, const struct hatf_writer_options *options,
	      const struct hatf_record *records, size_t n)
{
	struct hatf_writer *w;
	struct hatf_error err;

	fuzz_check(writer_of_fd(fd, options, &w, &err) == HATF_OK);
	hatf_writer_write(w, records, n / 2);
	hatf_writer_write(w, records + n / 2, n - n / 2);
	hatf_writer_close(w, &err);
	fuzz_check(err.status != HATF_IO && err.status != HATF_NO_MEMORY);
	return err.status == HATF_OK;
}

/* Read the file and write it again. */
static void
read_back(int fd, int again, const struct choice *c)
{
	struct hatf_record batch[64];
	struct hatf_reader *reader;
	struct hatf_writer *w;
	enum hatf_status status;
	size_t n;

	fuzz_check(lseek(fd, 0, SEEK_SET) == 0);
	fuzz_check(reader_of_fd_as(fd, c->format.name, 0, &reader, NULL) ==
		   HATF_OK);
	fuzz_check(strcmp(hatf_reader_format(reader), c->format.name) == 0);
	fuzz_check(writer_of_fd(again, &c->options, &w, NULL) == HATF_OK);
	while ((status = hatf_reader_read(reader, batch, 64, &n)) == HATF_OK)
		fuzz_check(hatf_writer_write(w, batch, n) == HATF_OK);
	fuzz_check(status == HATF_END);
	fuzz_check(hatf_writer_close(w, NULL) == HATF_OK);
	hatf_reader_close(reader);
}

/*
 * Return whether a line keeps all of a record.  A caller's offset is dropped,
 * and a unit of time is converted.
 */
static bool
is_stable(const struct choice *c)
{
	const char *const name = c->format.name;

	return strcmp(name, "hummingbird") == 0 ||
	       (strcmp(name, "mtrace") == 0 &&
		(c->options.drop & HATF_DROP_ATTRIBUTES) != 0) ||
	       (strcmp(name, "android") == 0 &&
		(c->options.drop & HATF_DROP_TIME) != 0);
}

static void
check_same(int a, int b)
{
	static char first[TEXT_MAX], second[TEXT_MAX];
	const ssize_t n = pread(a, first, sizeof(first), 0);

	fuzz_check(n == pread(b, second, sizeof(second), 0));
	fuzz_check(n >= 0 && memcmp(first, second, (size_t)n) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static struct generated g;
	struct choice c;

	if (nbytes < OPTIONS_NBYTES)
		return 0;
	choose(data, &c);
	generate(data + OPTIONS_NBYTES, nbytes - OPTIONS_NBYTES, RECORD_MAX,
		 ATTRIBUTES_MAX, &g);

	const int fd = fuzz_file(), again = fuzz_file();
	const bool is_written = write_records(fd, &c.options, g.records, g.n);

	/* An empty text is no trace. */
	if (is_written && c.format.reads && lseek(fd, 0, SEEK_END) != 0) {
		read_back(fd, again, &c);
		if (is_stable(&c))
			check_same(fd, again);
	}
	close(fd);
	close(again);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * fuzz_roundtrip.c - records, written in any way, are read back unchanged
 *
 * The first four bytes of an input choose how to write and read, the others are
 * the records (see generate.h).  Uncompressed output is also compared with the
 * decoder of tests/unit/support/mini.h, which refuses what a writer must not
 * write.
 */
#include "fuzz.h"
#include "generate.h"
#include "hatf/codec/comment_text.h"
#include "hatf/formats/common/framing.h"
#include "tests/unit/support/streams.h"

#include <sys/stat.h>

#define mini_check fuzz_check
#include "tests/unit/support/mini.h"
#include "tests/unit/support/ours.h"

/*
 * Usual traces are small, for speed; others are three blocks, or spans, long.
 */
#define SMALL_RECORDS	 300
#define SMALL_ATTRIBUTES 4096
#define LARGE_ATTRIBUTES (600 * 1024)

/* Level 0 stands for the default. */
#define LEVEL_COUNT(format) (strcmp(format, "hatf") == 0 ? 13 : 10)

#define OPTIONS_NBYTES 4
#define BATCH_MAX      64

struct choice {
	struct hatf_writer_options options;
	unsigned jobs; /* of the reader */
	size_t batch;  /* records at a time */
	bool large;
};

static const char *
choose_format(unsigned code)
{
	unsigned count = 0;

	while (ours_format(count) != NULL)
		count++;
	return ours_format(code % count);
}

/* Choose a placement that "hatf" has; half of the time the default. */
static const char *
choose_placement(const char *format, unsigned code)
{
	unsigned count = 0;

	while (hatf_writer_placement(count) != NULL)
		count++;
	if (strcmp(format, "hatf") != 0 || code < 128)
		return NULL;
	return hatf_writer_placement(code % count);
}

static struct choice
choose(const uint8_t *data)
{
	static const size_t batches[] = { 1, 7, BATCH_MAX };
	const char *const format = choose_format(data[1] >> 2);

	return (struct choice){
		.options = { .plain = data[0] & 1,
			     .bare = data[0] >> 1 & 1,
			     .level = data[3] % 128 % LEVEL_COUNT(format),
			     .header = data[0] & 16 ? "x=y\nz=\\x0a\n" : NULL,
			     .incomplete = data[0] >> 5 & 1,
			     .drop = data[0] & 64 ? data[2] & 0x7c : 0,
			     .format = format,
			     .placement = choose_placement(format, data[3]) },
		.jobs = (unsigned)data[0] >> 7 << 1,
		.batch = batches[data[1] % 3],
		.large = data[2] % 16 == 15,
	};
}

static void
write_trace(int fd, const struct choice *c, const struct generated *g)
{
	struct hatf_writer *writer;

	fuzz_check(writer_of_fd(fd, &c->options, &writer, NULL) == HATF_OK);
	for (size_t i = 0; i < g->n; i += c->batch) {
		const size_t left = g->n - i;

		fuzz_check(
			hatf_writer_write(writer, &g->records[i],
					  left < c->batch ? left : c->batch) ==
			HATF_OK);
	}
	fuzz_check(hatf_writer_close(writer, NULL) == HATF_OK);
}

/* Comments that a trace of our writer must have, and a bare one must not. */
static void
check_stats(struct hatf_reader *reader, const struct choice *c)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	hatf_reader_get_stats(reader, &stats);
	fuzz_check(strcmp(hatf_reader_format(reader), c->options.format) == 0);
	/* Split Stream and SplitAddr compress inside the file. */
	if (strncmp(c->options.format, "split", 5) != 0)
		fuzz_check(stats.compressed == !c->options.plain);
	fuzz_check(stats.ours == !c->options.bare);
	fuzz_check(stats.complete ==
		   (stats.lost_count == 0 &&
		    (c->options.bare || !c->options.incomplete)));
	if (c->options.header == NULL || c->options.bare)
		return;
	fuzz_check(strcmp(hatf_reader_header(reader, "x"), "y") == 0);
	fuzz_check(strcmp(hatf_reader_header(reader, "z"), "\n") == 0);
}

static void
check_reader(int fd, const struct choice *c, const struct generated *g)
{
	const struct hatf_reader_options options = { .jobs = c->jobs };
	struct hatf_record records[BATCH_MAX];
	struct hatf_reader *reader;
	enum hatf_status status;
	size_t n, i = 0;

	fuzz_check(lseek(fd, 0, SEEK_SET) == 0);
	fuzz_check(reader_with(fd, options, &reader, NULL) == HATF_OK);
	while ((status = hatf_reader_read(reader, records, c->batch, &n)) ==
	       HATF_OK)
		for (size_t j = 0; j < n; j++) {
			if (generate_is_framing(&records[j]))
				continue;
			fuzz_check(i < g->n);
			mini_assert_same(&records[j], &g->records[i++]);
		}
	fuzz_check(status == HATF_END);
	fuzz_check(i == g->n);
	check_stats(reader, c);
	hatf_reader_close(reader);
}

static void
check_mini(int fd, const struct generated *g)
{
	struct hatf_record record;
	struct mini mini;
	struct stat st;
	uint8_t *bytes;
	size_t i = 0;

	fuzz_check(fstat(fd, &st) == 0);
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	fuzz_check(bytes != MAP_FAILED);
	mini_init(&mini, bytes, (size_t)st.st_size);
	while (mini_read(&mini, &record)) {
		if (generate_is_framing(&record))
			continue;
		fuzz_check(i < g->n);
		mini_assert_same(&record, &g->records[i++]);
	}
	fuzz_check(i == g->n);
	munmap(bytes, (size_t)st.st_size);
}

/*
 * Return whether it is a comment on a loss of unknown size, which is refused.
 */
static bool
is_bad_loss(const struct hatf_record *r)
{
	uint64_t count;

	return r->tag == HATF_COMMENT && framing_is_loss(r) &&
	       !text_find_u64((const char *)r->attributes, r->attributes_nbytes,
			      "count", &count);
}

static bool
is_left_out(const struct hatf_record *r, unsigned drop)
{
	switch (r->tag) {
	case HATF_COMMENT:
		return generate_is_framing(r) || is_bad_loss(r) ||
		       drop & HATF_DROP_COMMENTS;
	case HATF_CREATE_HEAP:
	case HATF_DESTROY_HEAP:
		return drop & HATF_DROP_HEAP;
	case HATF_CREATE_THREAD:
	case HATF_DESTROY_THREAD:
		return drop & HATF_DROP_THREAD;
	default:
		return false;
	}
}

/* Return the record with 0 in the fields that are dropped. */
static struct hatf_record
without(const struct hatf_record *r, unsigned drop)
{
	struct hatf_record left = *r;

	if (drop & HATF_DROP_TIME)
		left.time = 0;
	if (drop & HATF_DROP_THREAD)
		left.thread = 0;
	if (drop & HATF_DROP_HEAP)
		left.heap = 0;
	if (drop & HATF_DROP_ATTRIBUTES && r->tag != HATF_COMMENT)
		left.attributes_nbytes = 0;
	return left;
}

/* Keep only the records that will be read. */
static void
drop_records(struct generated *g, unsigned drop)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (!is_left_out(&g->records[i], drop))
			g->records[n++] = without(&g->records[i], drop);
	g->n = n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static struct generated g;

	if (nbytes < OPTIONS_NBYTES)
		return 0;

	const struct choice c = choose(data);
	const int fd = fuzz_file();

	generate(data + OPTIONS_NBYTES, nbytes - OPTIONS_NBYTES,
		 c.large ? GENERATE_MAX : SMALL_RECORDS,
		 c.large ? LARGE_ATTRIBUTES : SMALL_ATTRIBUTES, &g);
	/* Remove the records that the writer would refuse. */
	drop_records(&g, 0);
	write_trace(fd, &c, &g);
	drop_records(&g, c.options.drop);
	/* An empty file is no trace. */
	if (!c.options.bare || g.n > 0) {
		check_reader(fd, &c, &g);
		if (c.options.plain && strcmp(c.options.format, "hatf") == 0)
			check_mini(fd, &g);
	}
	close(fd);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * fuzz_roundtrip.c - records, written in any way, are read as they were
 *
 * The first two bytes of an input say how to write and read, the others are the
 * records (see generate.h).  What is written without compression is also held
 * against the decoder of tests/unit/mini.h, which does not accept
 * what a writer must not write.
 */
#include "fuzz.h"
#include "generate.h"
#include "text.h"

#include <sys/stat.h>

#define mini_check fuzz_check
#include "../unit/mini.h"

/* Three blocks' worth. */
#define ATTRIBUTES_MAX (600 * 1024)
#define BATCH_MAX      64

struct choice {
	struct hatf_writer_options options;
	size_t batch; /* records at a time */
};

static struct choice
choose(const uint8_t *data)
{
	static const size_t batches[] = { 1, 7, BATCH_MAX };

	return (struct choice){
		.options = { .plain = data[0] & 1,
			     .bare = data[0] >> 1 & 1,
			     .level = data[0] >> 2 & 3,
			     .header = data[0] & 16 ? "x=y\nz=\\x0a\n" : NULL },
		.batch = batches[data[1] % 3],
	};
}

static void
write_trace(int fd, const struct choice *c, const struct generated *g)
{
	struct hatf_writer *writer;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_check(hatf_writer_open(path, &c->options, &writer, NULL) ==
		   HATF_OK);
	for (size_t i = 0; i < g->n; i += c->batch) {
		const size_t left = g->n - i;

		fuzz_check(
			hatf_writer_write(writer, &g->records[i],
					  left < c->batch ? left : c->batch) ==
			HATF_OK);
	}
	fuzz_check(hatf_writer_close(writer, NULL) == HATF_OK);
}

/* What a trace by our writer must have, and a bare one must not. */
static void
check_stats(struct hatf_reader *reader, const struct choice *c)
{
	struct hatf_reader_stats stats;

	hatf_reader_get_stats(reader, &stats);
	fuzz_check(stats.compressed == !c->options.plain);
	fuzz_check(stats.ours == !c->options.bare);
	fuzz_check(stats.complete == (stats.lost_count == 0));
	if (c->options.header == NULL || c->options.bare)
		return;
	fuzz_check(strcmp(hatf_reader_header(reader, "x"), "y") == 0);
	fuzz_check(strcmp(hatf_reader_header(reader, "z"), "\n") == 0);
}

static void
check_reader(int fd, const struct choice *c, const struct generated *g)
{
	struct hatf_record records[BATCH_MAX];
	struct hatf_reader *reader;
	enum hatf_status status;
	size_t n, i = 0;

	fuzz_check(lseek(fd, 0, SEEK_SET) == 0);
	fuzz_check(hatf_reader_open_fd(fd, 0, &reader, NULL) == HATF_OK);
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

/* A comment of our kind that says of losses what no reader accepts. */
static bool
is_bad_loss(const struct hatf_record *r)
{
	const char *const text = (const char *)r->attributes;
	uint64_t count;

	return r->tag == HATF_COMMENT && r->attributes_nbytes >= 9 &&
	       memcmp(text, "HATF lost", 9) == 0 &&
	       (!text_find_u64(text, r->attributes_nbytes, "count", &count) ||
		count > UINT32_MAX);
}

/* The writer leaves out what it makes itself; so do we. */
static void
drop_framing(struct generated *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (!generate_is_framing(&g->records[i]) &&
		    !is_bad_loss(&g->records[i]))
			g->records[n++] = g->records[i];
	g->n = n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static struct generated g;

	if (nbytes < 2)
		return 0;

	const struct choice c = choose(data);
	const int fd = fuzz_file();

	generate(data + 2, nbytes - 2, ATTRIBUTES_MAX, &g);
	drop_framing(&g);
	write_trace(fd, &c, &g);
	/* Nothing is no trace. */
	if (!c.options.bare || g.n > 0) {
		check_reader(fd, &c, &g);
		if (c.options.plain)
			check_mini(fd, &g);
	}
	close(fd);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * test_carried.c - blocks live at a segment's start are no events of it
 *
 * The blocks that a segment begins with are live, with their sizes, and are not
 * events of that segment: in every format and for every reader that counts.  If
 * a trace says that it began late, or that these blocks are uncertain, a record
 * about a block unknown to it is not a violation.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/ours.h"

#include "tests/unit/support/checks.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * More than one batch of the decoder and more than one span of the encoder.
 */
#define CARRIED 5000u
#define BASE	0x5500000000u

static const uint8_t carried[] = { HATF_ATTR_CARRIED };

static uint64_t
address_of(unsigned i)
{
	return BASE + 64 * (uint64_t)i;
}

static void
put(struct hatf_writer *w, const struct hatf_record *rec)
{
	ck_assert_int_eq(hatf_writer_write(w, rec, 1), HATF_OK);
}

static void
put_carried(struct hatf_writer *w, uint64_t address, uint64_t size)
{
	put(w, &(struct hatf_record){ .tag = HATF_ALLOC,
				      .address = address,
				      .size = size,
				      .thread = 7,
				      .time = 10,
				      .attributes = carried,
				      .attributes_nbytes = 1 });
}

static void
put_plain(struct hatf_writer *w, enum hatf_tag tag, uint64_t address,
	  uint64_t size)
{
	put(w, &(struct hatf_record){ .tag = (uint8_t)tag,
				      .address = address,
				      .size = size,
				      .time = 11 });
}

static struct hatf_writer *
open_writer(char *path, const char *format, const char *header)
{
	const struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.format = format,
		.header = header,
	};
	struct hatf_writer *w;
	const int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(hatf_writer_open(path, &options, &w, NULL), HATF_OK);
	return w;
}

/* Read the trace, which must be complete, and remove it. */
static void
read_back(const char *path, struct hatf_events_stats *stats,
	  bool (*visit)(void *, const struct hatf_live *), void *ctx,
	  uint64_t *carried_frees_ret)
{
	struct hatf_reader *reader;
	struct hatf_events *events;
	struct hatf_event batch[100];
	enum hatf_status status;
	size_t n;

	ck_assert_int_eq(hatf_reader_open(path, NULL, &reader, NULL), HATF_OK);
	ck_assert_int_eq(hatf_events_open(reader, &events), HATF_OK);
	*carried_frees_ret = 0;
	while ((status = hatf_events_read(events, batch, 100, &n)) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			*carried_frees_ret += batch[i].carried &&
					      batch[i].kind == HATF_EVENT_FREE;
	ck_assert_int_eq(status, HATF_END);
	hatf_events_get_stats(events, stats);
	ck_assert(hatf_events_visit_live(events, visit, ctx));
	hatf_events_close(events);
	hatf_reader_close(reader);
	unlink(path);
}

static bool
add_size(void *ctx, const struct hatf_live *live)
{
	uint64_t *const sum = ctx;

	sum[live->carried] += live->size;
	return true;
}

START_TEST(carried_blocks_are_live_and_no_events)
{
	char path[] = "/tmp/test_carried.XXXXXX";
	const char *const format = ours_format((unsigned)_i);
	struct hatf_writer *const w =
		open_writer(path, format, "segment=1\nlive=exact\n");
	struct hatf_events_stats stats = { .struct_nbytes = sizeof(stats) };
	uint64_t sum[2] = { 0 }, frees;

	for (unsigned i = 0; i < CARRIED; i++)
		put_carried(w, address_of(i), i + 1);
	for (unsigned i = 0; i < CARRIED; i += 2)
		put_plain(w, HATF_FREE, address_of(i), 0);
	put_plain(w, HATF_ALLOC, address_of(0), 1000000);
	/*
	 * After the first event, an alloc with that attribute is an ordinary
	 * event.
	 */
	put_carried(w, address_of(2), 3000000);
	put_plain(w, HATF_FREE, address_of(0), 0);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);

	read_back(path, &stats, add_size, sum, &frees);
	ck_assert_uint_eq(stats.carried_count, CARRIED);
	ck_assert_uint_eq(stats.carried_nbytes, CARRIED * (CARRIED + 1) / 2);
	ck_assert_uint_eq(stats.event_count, CARRIED / 2 + 3);
	ck_assert_uint_eq(frees, CARRIED / 2);
	ck_assert_uint_eq(stats.live_count, CARRIED / 2 + 1);
	ck_assert_uint_eq(sum[true], CARRIED / 2 * (CARRIED / 2 + 1));
	ck_assert_uint_eq(sum[false], 3000000);
	ck_assert_uint_eq(stats.peak_live_count, CARRIED);
	/* One violation: thread 7 is used without having been created. */
	ck_assert_uint_eq(stats.violation_count, 1);
}
END_TEST

/*
 * Return the number of violations: an alloc over a carried block, and frees of
 * unknown blocks.
 */
static uint64_t
violations(const char *header)
{
	char path[] = "/tmp/test_carried.XXXXXX";
	struct hatf_writer *const w = open_writer(path, "hatf", header);
	struct hatf_events_stats stats = { .struct_nbytes = sizeof(stats) };
	uint64_t sum[2] = { 0 }, frees;

	put_carried(w, 0x1000, 10);
	put_plain(w, HATF_ALLOC, 0x1000, 20);
	put_plain(w, HATF_FREE, 0x2000, 0);
	put_plain(w, HATF_FREE, 0x3000, 0);
	/* a double free is always a violation */
	put_plain(w, HATF_FREE, 0x3000, 0);
	ck_assert_int_eq(hatf_writer_close(w, NULL), HATF_OK);
	read_back(path, &stats, add_size, sum, &frees);
	ck_assert_uint_eq(stats.carried_count, 1);
	ck_assert_uint_eq(sum[false], 20);
	ck_assert_uint_eq(sum[true], 0);
	return stats.violation_count;
}

START_TEST(what_a_trace_cannot_know_is_no_violation)
{
	ck_assert_uint_eq(violations("live=exact\n"), 4);
	ck_assert_uint_eq(violations(""), 4);
	ck_assert_uint_eq(violations("start=late\n"), 2);
	ck_assert_uint_eq(violations("live=uncertain\n"), 1);
	ck_assert_uint_eq(violations("live=unknown\n"), 1);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("carried");
	TCase *const tcase = tcase_create("carried");
	SRunner *const runner = srunner_create(suite);
	int formats = 0;

	while (ours_format((unsigned)formats) != NULL)
		formats++;
	tcase_add_loop_test(tcase, carried_blocks_are_live_and_no_events, 0,
			    formats);
	tcase_add_test(tcase, what_a_trace_cannot_know_is_no_violation);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

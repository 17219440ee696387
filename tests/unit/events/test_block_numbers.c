/* SPDX-License-Identifier: MIT */
/*
 * test_block_numbers.c - events have the numbers of their blocks
 *
 * A stage that numbers blocks returns the same events as one that does not.  A
 * caller that keeps an array by block number, as hatf.h describes, finds each
 * block there: in random traces that contradict themselves, with heaps, with
 * blocks from before the trace, and for the blocks of a trace's end.
 */
#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

#define RECORDS	     20000
#define HEAPS	     4
#define NUMBERS	     1024
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t seed;

static unsigned
pick(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed * 0x2545f4914f6cdd1d) >> 32) % n;
}

static uint64_t
pick_address(void)
{
	/* Few addresses, so that many records contradict earlier ones. */
	return 0x10000 + (uint64_t)pick(300) * (pick(4) == 0 ? 8 : 16);
}

/* Write random records.  With 'carried', begin with blocks from before. */
static int
make_trace(const struct hatf_writer_options *how, bool carried)
{
	static const uint8_t attribute[] = { HATF_ATTR_CARRIED };
	struct hatf_writer_options options = *how;
	struct hatf_writer *writer;

	options.struct_nbytes = sizeof(options);
	options.plain = true;
	options.fd = hand_file(NULL, 0);
	ck_assert_int_eq(hatf_writer_open(NULL, &options, &writer, NULL),
			 HATF_OK);
	for (unsigned i = 0; i < RECORDS; i++) {
		struct hatf_record rec = {
			.tag = (uint8_t)(pick(3) == 0 ? pick(6) : pick(2)),
			.address = pick(20) == 0 ? 0 : pick_address(),
			.size = pick(5000),
			.time = i / 3,
			.thread = pick(3),
			.heap = pick(3) == 0 ? pick(HEAPS) : 0,
		};

		if (rec.tag >= HATF_REALLOC_NO_ALLOC)
			rec.old_address =
				pick(4) == 0 ? rec.address : pick_address();
		if (pick(500) == 0)
			rec = (struct hatf_record){
				.tag = HATF_DESTROY_HEAP,
				.heap = pick(HEAPS),
				.time = rec.time,
			};
		if (carried && i < 200) {
			rec.tag = HATF_ALLOC;
			rec.attributes = attribute;
			rec.attributes_nbytes = sizeof(attribute);
		}
		ck_assert_int_eq(hatf_writer_write(writer, &rec, 1), HATF_OK);
		/* The alloc that a realloc announces; the free, in time. */
		if ((rec.tag == HATF_REALLOC_ALLOC ||
		     rec.tag == HATF_REALLOC_ALLOC_FREE) &&
		    pick(2) == 0) {
			rec.tag = HATF_ALLOC;
			rec.old_address = 0;
			ck_assert_int_eq(hatf_writer_write(writer, &rec, 1),
					 HATF_OK);
		}
	}
	ck_assert_int_eq(hatf_writer_close(writer, NULL), HATF_OK);
	return options.fd;
}

/* What the caller keeps of each block: its address; 0: there is none. */
struct shadow {
	uint64_t addresses[HEAPS][NUMBERS];
	uint64_t lost_count;
	uint64_t unknown_count; /* ends of blocks that the caller lacks */
};

static void
follow_event(struct shadow *s, const struct hatf_event *e)
{
	const bool is_call = e->kind <= HATF_EVENT_REALLOC;
	const bool fails = e->kind != HATF_EVENT_FREE && e->address == 0 &&
			   e->tag != HATF_REALLOC_FREE;
	uint64_t *const addresses = s->addresses[e->heap];

	if (e->kind == HATF_EVENT_HEAP_DESTROY)
		memset(addresses, 0, sizeof(s->addresses[0]));
	if (!is_call || fails) {
		ck_assert_uint_eq(e->block, 0);
		return;
	}
	ck_assert_uint_lt(e->block, NUMBERS);
	ck_assert_uint_lt(e->old_block, NUMBERS);
	ck_assert(e->old_block != 0 || e->old_size == 0);
	ck_assert((e->block != 0) == (e->address != 0));
	if (e->old_block != 0) {
		uint64_t *const old = &addresses[e->old_block];

		ck_assert(*old == e->old_address || *old == 0);
		s->unknown_count += *old == 0;
		*old = 0;
	}
	if (e->block == 0)
		return;
	/* The block that has the number is at the same address. */
	ck_assert(addresses[e->block] == 0 ||
		  addresses[e->block] == e->address);
	s->lost_count += addresses[e->block] != 0;
	addresses[e->block] = e->address;
}

/* Remove the live block that is visited from the shadow. */
static bool
visit(void *ctx, const struct hatf_live *live)
{
	struct shadow *const s = ctx;
	uint64_t *const address = &s->addresses[live->heap][live->block];

	ck_assert_uint_ne(live->block, 0);
	ck_assert(*address == live->address || *address == 0);
	s->unknown_count += *address == 0;
	*address = 0;
	return true;
}

static struct hatf_events *
open_events(int fd, bool is_numbered, struct hatf_reader **reader_ret)
{
	struct hatf_events *events;

	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(reader_of_fd(fd, 0, reader_ret, NULL), HATF_OK);
	ck_assert_int_eq(hatf_events_open(*reader_ret, &events), HATF_OK);
	if (is_numbered)
		ck_assert_int_eq(hatf_events_number_blocks(events), HATF_OK);
	return events;
}

/*
 * Without its parent's trace, a stage forgets some of the blocks that were
 * freed, which differ from stage to stage (hatf/events/inherited.h).  With
 * 'forgets', ignore what depends on this.
 */
static void
check_same(const struct hatf_event *numbered, const struct hatf_event *plain,
	   bool forgets)
{
	struct hatf_event e = *numbered;

	ck_assert_uint_eq(plain->block, 0);
	ck_assert_uint_eq(plain->old_block, 0);
	e.block = e.old_block = 0;
	/* Attributes are in the memory of each reader. */
	if (e.attributes_nbytes != 0)
		ck_assert_mem_eq(e.attributes, plain->attributes,
				 e.attributes_nbytes);
	e.attributes = plain->attributes;
	ck_assert_int_eq(e.kind, plain->kind);
	ck_assert_int_eq(e.tag, plain->tag);
	ck_assert(forgets || (e.violation == plain->violation &&
			      e.inherited == plain->inherited));
	ck_assert_int_eq(e.carried, plain->carried);
	ck_assert_mem_eq(&e.record, &plain->record,
			 sizeof(e) - offsetof(struct hatf_event, record));
}

/* Check a trace, read in batches of random sizes.  Return what was seen. */
static struct shadow
check_trace(int fd, bool forgets)
{
	struct shadow s = { 0 };
	struct hatf_reader *readers[2];
	struct hatf_events *const numbered = open_events(fd, true, &readers[0]);
	const int other = dup(fd);
	struct hatf_events *plain;
	struct hatf_event *all = calloc(3 * RECORDS, sizeof(*all)), e;
	size_t count = 0, n;
	struct hatf_events_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_events_stats same = { .struct_nbytes = sizeof(same) };

	while (hatf_events_read(numbered, &all[count], 1 + pick(400), &n) ==
	       HATF_OK)
		for (const size_t end = count + n; count < end; count++) {
			follow_event(&s, &all[count]);
			all[count].attributes_nbytes = 0;
		}
	hatf_events_get_stats(numbered, &stats);
	ck_assert(hatf_events_visit_live(numbered, visit, &s));
	/* The visit has found all blocks. */
	for (unsigned i = 0; i < HEAPS; i++)
		for (unsigned k = 0; k < NUMBERS; k++)
			ck_assert_uint_eq(s.addresses[i][k], 0);
	hatf_events_close(numbered);
	hatf_reader_close(readers[0]);
	plain = open_events(other, false, &readers[1]);
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(hatf_events_read(plain, &e, 1, &n), HATF_OK);
		e.attributes_nbytes = 0;
		check_same(&all[i], &e, forgets);
	}
	ck_assert_int_eq(hatf_events_read(plain, &e, 1, &n), HATF_END);
	hatf_events_get_stats(plain, &same);
	if (forgets) {
		same.violation_count = stats.violation_count;
		same.inherited_count = stats.inherited_count;
	}
	ck_assert_mem_eq(&stats, &same, sizeof(stats));
	hatf_events_close(plain);
	hatf_reader_close(readers[1]);
	close(other);
	close(fd);
	free(all);
	return s;
}

START_TEST(an_array_by_number_finds_each_block)
{
	static const struct {
		struct hatf_writer_options how;
		bool carried, forgets;
	} cases[] = {
		{ { .bare = true }, false, false },
		{ { .header = "segment=1\n" }, true, false },
		{ { .header = "segment=1\nlive=unknown\n" }, true, true },
		{ { .header = "parent_pid=7\n" }, false, true },
		{ { .header = "start=late\n" }, false, true },
		{ { .header = "source=test\n" }, false, false },
	};
	uint64_t lost = 0, unknown = 0;

	for (uint64_t round = 1; round <= 5; round++) {
		for (size_t i = 0; i < COUNT(cases); i++) {
			struct shadow s;

			seed = round * 100 + i;
			s = check_trace(
				make_trace(&cases[i].how, cases[i].carried),
				cases[i].forgets);
			lost += s.lost_count;
			unknown += s.unknown_count;
		}
	}
	/* The traces are as bad as the test wants them. */
	ck_assert_uint_gt(lost, 1000);
	ck_assert_uint_gt(unknown, 1000);
}
END_TEST

START_TEST(numbers_must_be_asked_for_in_time)
{
	struct hand h = { 0 };
	struct hatf_reader *reader;
	struct hatf_events *events;
	struct hatf_event e;
	size_t n;
	int fd;

	hand_alloc(&h, 1, 16);
	hand_free(&h, 16);
	fd = hand_file(h.bytes, h.used);
	events = open_events(fd, true, &reader);
	ck_assert_int_eq(hatf_events_number_blocks(events), HATF_OK);
	ck_assert_int_eq(hatf_events_keep_order(events), HATF_BAD_OPTION);
	ck_assert_int_eq(hatf_events_read(events, &e, 1, &n), HATF_OK);
	ck_assert_uint_eq(e.block, 1);
	ck_assert_uint_eq(e.old_block, 0);
	ck_assert_int_eq(hatf_events_read(events, &e, 1, &n), HATF_OK);
	ck_assert_uint_eq(e.block, 0);
	ck_assert_uint_eq(e.old_block, 1);
	hatf_events_close(events);
	hatf_reader_close(reader);

	events = open_events(fd, false, &reader);
	ck_assert_int_eq(hatf_events_read(events, &e, 1, &n), HATF_OK);
	ck_assert_int_eq(hatf_events_number_blocks(events), HATF_BAD_OPTION);
	hatf_events_close(events);
	hatf_reader_close(reader);

	events = open_events(fd, false, &reader);
	ck_assert_int_eq(hatf_events_keep_order(events), HATF_OK);
	ck_assert_int_eq(hatf_events_number_blocks(events), HATF_BAD_OPTION);
	hatf_events_close(events);
	hatf_reader_close(reader);
	close(fd);
	hand_fini(&h);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		an_array_by_number_finds_each_block,
		numbers_must_be_asked_for_in_time,
	};

	return hand_run("block numbers", tests, COUNT(tests));
}

/* SPDX-License-Identifier: MIT */
/*
 * test_place.c - placement stays below known bytes per record
 *
 * The cost of placement; test_encoder.c checks that the result decodes.
 * Simulated programs must stay below a number of bytes per record.  On
 * adversarial sequences, no field may cost more than a small multiple of the
 * optimum in hindsight.
 */
#include "hatf/codec/encoder.h"
#include "tests/unit/support/mini.h"

#define CAP   (8 * 1024 * 1024)
#define COUNT 100000

#define BRK  0x555555559000u
#define MMAP 0x7f0123450000u

typedef void make_fn(uint64_t i, uint64_t *seed, struct hatf_record *r);

static uint8_t *buf, *span;
static struct encoder encoder;

/* Return the bytes of 'count' records, without the start of the block. */
static size_t
cost(make_fn *make, size_t count, bool is_fast)
{
	struct hatf_record r;
	uint64_t seed = 88172645463325252u;

	encoder_init(&encoder, buf, CAP, NULL, span);
	encoder_set_fast(&encoder, is_fast);
	encoder_begin(&encoder, 0, 0);

	const size_t start = encoder.used;

	for (uint64_t i = 0; i < count; i++) {
		memset(&r, 0, sizeof(r));
		r.tag = HATF_FREE;
		r.address = BRK;
		make(i, &seed, &r);
		mini_check(encoder_put(&encoder, &r));
	}
	encoder_flush(&encoder);
	return encoder.used - start;
}

static void
small_sizes(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	r->tag = i & 1;
	r->size = i & 1 ? 0 : mini_random(seed) % 200;
	r->address = BRK + mini_random(seed) % 0x4000000;
}

static void
rare_large_size(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	small_sizes(i, seed, r);
	if (i % 1000 == 0)
		r->size = 5000;
	if (i % 5000 == 0)
		r->size = 500000;
}

static void
coarse_clock(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	(void)seed;
	r->time = i / 5000 * 1000;
}

static void
fine_clock(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	r->time = i * 20 + mini_random(seed) % 20;
}

static void
clock_with_pauses(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	fine_clock(i, seed, r);
	r->time += i / 1000 * 5000000;
}

static void
thread_phases(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	(void)seed;
	r->thread = i / 1000 % 5;
}

static void
thread_mix(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	(void)i;
	r->thread = mini_random(seed) % 200;
}

static void
many_threads_then_one(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	r->thread = i < COUNT / 10 ? mini_random(seed) % 1000 : 999;
}

static void
rare_far_address(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	r->address = (i % 100 == 0 ? MMAP : BRK) + mini_random(seed) % 65536;
}

static void
failed_allocations(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	(void)seed;
	r->address = i % 1000 == 0 ? 0 : BRK;
}

static void
alternating_clusters(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	r->address = (i & 1 ? MMAP : BRK) + mini_random(seed) % 65536;
}

static void
moved_heap(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	r->address = (i < 100 ? BRK : MMAP) + mini_random(seed) % 65536;
}

static void
moving_heap(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	r->address = (i / 1000 << 40) + mini_random(seed) % 65536;
}

static void
rare_attributes(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	(void)seed;
	if (i % 50 == 0) {
		r->attributes = (const uint8_t *)"\1";
		r->attributes_nbytes = 1;
	}
}

static void
attributes_often(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	(void)i;
	if (mini_random(seed) >> 40 & 1) {
		r->attributes = (const uint8_t *)"\1";
		r->attributes_nbytes = 1;
	}
}

/* Simulated programs, and the most bytes of their records. */
static const struct {
	const char *name;
	make_fn *make;
	double most;	  /* bytes per record */
	double most_fast; /* the same in fast mode */
} habits[] = {
	{ "small sizes", small_sizes, 5.503, 6.01 },
	{ "rare large size", rare_large_size, 5.52, 7.01 },
	{ "coarse clock", coarse_clock, 5.01, 5.01 },
	{ "fine clock", fine_clock, 6.01, 6.01 },
	{ "clock with pauses", clock_with_pauses, 6.05, 6.02 },
	{ "thread phases", thread_phases, 5.013, 5.02 },
	{ "thread mix", thread_mix, 6.01, 7.01 },
	{ "many threads, then one", many_threads_then_one, 5.21, 7.01 },
	{ "rare far address", rare_far_address, 5.13, 9.01 },
	{ "failed allocations", failed_allocations, 5.013, 5.02 },
	{ "alternating clusters", alternating_clusters, 9.01, 9.01 },
	{ "moved heap", moved_heap, 5.01, 5.01 },
	{ "moving heap", moving_heap, 5.07, 5.25 },
	{ "rare attributes", rare_attributes, 5.24, 6.03 },
	{ "attributes often", attributes_often, 6.52, 6.51 },
};
#define HABIT_COUNT ((int)(sizeof(habits) / sizeof(habits[0])))

START_TEST(habits_cost_what_they_should)
{
	const double each = (double)cost(habits[_i].make, COUNT, false) / COUNT;

	ck_assert_msg(each <= habits[_i].most, "%s: %.3f bytes per record",
		      habits[_i].name, each);
}
END_TEST

START_TEST(fast_mode_costs_little_more)
{
	const double each = (double)cost(habits[_i].make, COUNT, true) / COUNT;

	ck_assert_msg(each <= habits[_i].most_fast, "%s: %.3f bytes per record",
		      habits[_i].name, each);
}
END_TEST

/* Sizes in random runs, of any length and any width. */
static uint64_t wild_sizes[COUNT];

static void
make_wild_sizes(uint64_t seed)
{
	uint64_t left = 0, small = 0;

	for (size_t i = 0; i < COUNT; i++) {
		if (left-- == 0) {
			left = mini_random(&seed) % 40;
			small = mini_random(&seed) % 3;
		}
		wild_sizes[i] =
			mini_random(&seed) % (small == 0   ? UINT64_C(256)
					      : small == 1 ? UINT64_C(65536)
							   : UINT64_C(1) << 33);
	}
}

static void
wild_size(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	(void)seed;
	r->tag = HATF_ALLOC;
	r->size = wild_sizes[i];
}

/* Return the least cost of the sizes, by dynamic programming over widths. */
static uint64_t
hindsight(void)
{
	static const unsigned widths[] = { 1, 2, 4, 8 };
	uint64_t best[4] = { 0, 4, 4, 4 };

	for (size_t i = 0; i < COUNT; i++) {
		uint64_t least = best[0];

		for (unsigned w = 1; w < 4; w++)
			least = best[w] < least ? best[w] : least;
		for (unsigned w = 0; w < 4; w++) {
			if (best[w] > least + 4)
				best[w] = least + 4;
			if (w < 3 && wild_sizes[i] >> 8 * widths[w] != 0)
				best[w] = UINT32_MAX;
			else
				best[w] += widths[w];
		}
	}
	for (unsigned w = 1; w < 4; w++)
		best[0] = best[w] < best[0] ? best[w] : best[0];
	return best[0];
}

START_TEST(wild_sizes_cost_little_more_than_in_hindsight)
{
	make_wild_sizes(1 + (uint64_t)_i * 7919);

	const double online =
		(double)cost(wild_size, COUNT, false) - 5.0 * COUNT;

	ck_assert_double_le(online, 1.15 * (double)hindsight());
}
END_TEST

/*
 * All fields alternate between two kinds of values with this period.  The test
 * uses the periods at which adapting costs about as much as not adapting.
 */
static uint64_t period;

static void
alternating(uint64_t i, uint64_t *seed, struct hatf_record *r)
{
	const bool to = i / period & 1;

	(void)seed;
	r->tag = HATF_ALLOC;
	r->size = to ? 256 : 255;
	r->address = (to ? MMAP : BRK) + i % 3000 * 16;
	r->time = i - (to ? 0 : i % period);
	r->thread = to ? i % 2 : 0;
}

START_TEST(no_period_costs_more_than_the_widest_state)
{
	period = (uint64_t)_i + 1;

	/* The tag, and each field at its largest width: 1 + 2 + 8 + 1 + 1. */
	const double each = (double)cost(alternating, COUNT, false) / COUNT;

	ck_assert_msg(each <= 13.05, "period %d: %.3f bytes per record", _i + 1,
		      each);
}
END_TEST

static void
set_up(void)
{
	buf = malloc(CAP);
	span = malloc(encoder_memory_nbytes(NULL));
}

static void
tear_down(void)
{
	free(span);
	free(buf);
}

int
main(void)
{
	Suite *const suite = suite_create("place");
	TCase *const tc = tcase_create("place");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, habits_cost_what_they_should, 0, HABIT_COUNT);
	tcase_add_loop_test(tc, fast_mode_costs_little_more, 0, HABIT_COUNT);
	tcase_add_loop_test(tc, wild_sizes_cost_little_more_than_in_hindsight,
			    0, 20);
	tcase_add_loop_test(tc, no_period_costs_more_than_the_widest_state, 0,
			    64);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}

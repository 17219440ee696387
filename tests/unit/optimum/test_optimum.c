/* SPDX-License-Identifier: MIT */
/*
 * test_optimum.c - "Optimum" placement is as small as exhaustive search
 *
 * "Optimum" must be optimal.  On short sequences it is compared with a search
 * through all possible metadata.  On longer ones each technique is compared
 * with those that allow less, and with a writer that sees one record at a time.
 * Everything that is placed must decode.
 *
 * runs early: it takes half a minute under a sanitizer
 */
#include "hatf/optimum/optimum.h"

#include "tests/unit/support/judge.h"
#include "tests/unit/support/sample.h"
#include "tests/unit/support/search.h"

#define COUNT 4000

static struct hatf_record *records;
static struct place_change *changes;
static uint64_t seed;

static size_t
pick(size_t n)
{
	return (size_t)(mini_random(&seed) >> 20) % n;
}

/* Place a whole block by technique 't', and return its cost. */
static struct judge
place_block_by(const struct technique *t, const struct layout *layout,
	       bool restart, size_t n, size_t cap)
{
	struct optimum *const o = optimum_new(t);
	struct judge j = { .layout = *layout };
	size_t done = 0;

	ck_assert_ptr_nonnull(o);
	while (done < n) {
		size_t count;
		const size_t more = optimum_span(
			o, &j.layout, restart && done == 0, records + done,
			n - done, changes, cap, &count);

		mini_check(more >= 1 && more <= n - done && count <= cap);
		judge_span(&j, records + done, more, changes, count);
		done += more;
	}
	optimum_free(o);
	return j;
}

#define ALL_CHANGES ((size_t)COUNT * 18)

static struct judge
place_by(const char *name, size_t n)
{
	struct layout layout;

	layout_init(&layout);
	return place_block_by(technique_find(name), &layout, true, n,
			      ALL_CHANGES);
}

/* --------------------------------------------------------------- sequences */

/* Pick a value that is related to earlier ones. */
static uint64_t
next_value(const uint64_t *values, size_t i)
{
	static const uint64_t places[] = {
		0, 10, 1000, 0x555555559000, 0x7f0123450000, UINT64_MAX - 5
	};
	static const uint64_t steps[] = { 1, 16, 100, 5000, 100000, 1u << 31 };
	const size_t n = sizeof(places) / sizeof(places[0]);
	const uint64_t step = steps[pick(sizeof(steps) / sizeof(steps[0]))];

	if (i == 0 || pick(8) == 0)
		return places[pick(n)] + pick(300);
	switch (pick(6)) {
	case 0:
		return values[i - 1];
	case 1:
		return values[pick(i)];
	case 2:
		return pick(2) ? values[i - 1] + step : values[i - 1] - step;
	case 3:
		return values[pick(i)] + pick(200) - 100;
	case 4:
		return values[i - 1] + values[i - 1] -
		       values[i < 2 ? 0 : i - 2];
	default:
		return values[pick(i)] + pick(60000) - 30000;
	}
}

/* Pick a state that a field can have. */
static void
any_state(struct layout *l, unsigned field, const uint64_t *values, size_t n)
{
	const struct hatf_metadata width = {
		.op = HATF_SET_FIELD_SIZE,
		.field = (uint8_t)field,
		.argument = (uint8_t)(1u << pick(4)),
	};
	const struct hatf_metadata none = width;
	const struct hatf_metadata interpretation = {
		.op = HATF_SET_FIELD_INTERPRETATION,
		.field = (uint8_t)field,
		.argument = (uint8_t)pick(5),
		.value = values[pick(n)],
		.stride = values[pick(n)] - values[pick(n)],
	};
	struct hatf_metadata empty = none;

	empty.argument = 0;
	layout_init(l);
	if (pick(4) != 0)
		layout_apply(l, &width);
	if (pick(4) != 0)
		layout_apply(l, &interpretation);
	if (pick(3) == 0)
		layout_apply(l, &empty);
}

/*
 * Make a span in which 'field' has these values and other fields need no
 * metadata.
 */
static size_t
make_span(unsigned field, const uint64_t *values, bool *tied, size_t n)
{
	const size_t rarity = pick(2) ? 4 : 40;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		struct hatf_record *const r = &records[count++];

		memset(r, 0, sizeof(*r));
		tied[i] = false;
		r->tag = field == HATF_FIELD_SIZE ? HATF_ALLOC : HATF_FREE;
		if (field == HATF_FIELD_SIZE)
			r->size = values[i];
		if (field == HATF_FIELD_ADDRESS)
			r->address = values[i];
		if (field == HATF_FIELD_TIME)
			r->time = values[i];
		if (field == HATF_FIELD_ADDRESS && i + 1 < n &&
		    pick(rarity) == 0) {
			r->tag = HATF_REALLOC_ALLOC;
			r->old_address = values[i];
			r->address = values[++i];
			tied[i] = true;
		}
	}
	return count;
}

#define SHORT 200

/* Make a few values, or very few that repeat, in runs or at random. */
static size_t
make_values(uint64_t *values)
{
	const size_t kind = pick(4);
	const size_t n = 1 + pick(kind < 2 ? 10 : 3);
	const size_t draw_count = kind == 2 ? 5 + pick(20) : 0;
	uint64_t chosen[10];
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		chosen[i] = next_value(chosen, i);
		for (size_t k = kind == 3 ? 1 + pick(60) : 1; k > 0; k--)
			values[count++] = chosen[i];
	}
	for (size_t i = 0; i < draw_count; i++)
		values[count++] = chosen[pick(n)];
	return count;
}

static void
compare_with_search(const struct technique *t, unsigned field, bool restart)
{
	const struct technique_field *const fields[] = { &t->size, &t->address,
							 &t->other };
	uint64_t values[SHORT];
	bool tied[SHORT];
	struct layout layout;
	const size_t n = make_values(values);

	const size_t count = make_span(field, values, tied, n);

	any_state(&layout, field, values, n);

	const int least = search(field, fields[field], &layout.field[field],
				 restart, values, tied, n);
	/* A small 'cap' must not change the result. */
	const struct judge j =
		place_block_by(t, &layout, restart, count,
			       pick(2) ? PLACE_METADATA_MAX : ALL_CHANGES);

	ck_assert_msg((int)j.nbytes[field] == least,
		      "%s, field %u: %zu bytes, not %d", t->name, field,
		      j.nbytes[field], least);
}

START_TEST(nothing_is_better_than_the_optimum)
{
	const struct technique *const t = technique_find("optimum");

	seed = 88172645463325252u + (uint64_t)_i;
	for (unsigned i = 0; i < 20 / SAMPLE_STEP; i++)
		compare_with_search(t, (unsigned)pick(3), pick(2));
}
END_TEST

START_TEST(each_technique_is_at_its_best)
{
	static const char *const names[] = {
		"small-size",	 "same-size",	  "combined-size",
		"base-offset-1", "base-offset-2", "best-base-offset",
		"best"
	};
	const size_t n = sizeof(names) / sizeof(names[0]);
	const struct technique *const t = technique_find(names[(size_t)_i % n]);

	seed = 88172645463325252u + (uint64_t)_i;
	for (unsigned i = 0; i < 20 / SAMPLE_STEP; i++) {
		const unsigned field = (unsigned)pick(2);
		const bool bases = t->address.any_base;

		if (field == HATF_FIELD_SIZE || bases)
			compare_with_search(t, field, pick(2));
	}
}
END_TEST

/* Make addresses within 'reach' of each other, in random order. */
static size_t
cost_of_reach(uint64_t low, uint64_t reach)
{
	const uint64_t middle[] = { low, low + reach, low + reach / 3 };

	for (size_t i = 0; i < 40; i++)
		records[i] = (struct hatf_record){
			.tag = HATF_FREE,
			.address = middle[i < 2 ? i : pick(3)],
		};
	return place_by("optimum", 40).nbytes[HATF_FIELD_ADDRESS];
}

START_TEST(offsets_reach_as_far_as_their_width_allows)
{
	/* Also where bases or addresses wrap around. */
	static const uint64_t lows[] = { 0x555555559000,
					 0,
					 5,
					 UINT64_MAX - 100,
					 UINT64_MAX - 0x8000,
					 UINT64_MAX - 0x80000000,
					 0x7fffffffffff };

	for (size_t i = 0; i < sizeof(lows) / sizeof(lows[0]); i++) {
		seed = 88172645463325252u + i;
		mini_check(cost_of_reach(lows[i], UINT8_MAX) <= 16 + 40);
		mini_check(cost_of_reach(lows[i], UINT16_MAX) <= 16 + 80);
		mini_check(cost_of_reach(lows[i], UINT32_MAX) <= 16 + 160);
		mini_check(cost_of_reach(lows[i], UINT8_MAX + 1) > 16 + 40);
		mini_check(cost_of_reach(lows[i], UINT16_MAX + 1) > 16 + 80);
	}
}
END_TEST

/* ------------------------------------------------------------ long spans */

/* A program: a few sizes, a heap that is reused, some distant blocks. */
static void
heap_like(size_t i, struct hatf_record *r)
{
	static const uint64_t sizes[] = {
		24, 24, 24, 32, 100, 300, 5000, 70000
	};
	static uint64_t live[64], sequence;
	const size_t slot = pick(64);

	if (i == 0) {
		memset(live, 0, sizeof(live));
		sequence = 0x555555559000;
	}
	r->time = i / 50 + (i > COUNT / 2 ? 1000000 : 0);
	r->thread = i / 300 % 3;
	if (live[slot] != 0) {
		r->tag = HATF_FREE;
		r->address = live[slot];
		live[slot] = 0;
		return;
	}
	r->size = sizes[pick(8)];
	r->address = pick(50) == 0 ? 0x7f0123450000 + pick(1u << 20) : sequence;
	if (pick(20) == 0) {
		r->attributes_nbytes = 1 + (uint32_t)pick(3) * 200;
		r->attributes = (const uint8_t *)records;
	}
	sequence += pick(200) == 0 ? 100000 : 32;
	live[slot] = r->address;
}

/* Random records of every tag. */
static void
wild(size_t i, struct hatf_record *r)
{
	static uint64_t values[COUNT + 1];

	values[i] = next_value(values, i);
	r->tag = (uint8_t)pick(HATF_COMMENT + 1);
	r->size = values[pick(i + 1)];
	r->address = values[i];
	r->old_address = values[pick(i + 1)];
	r->time = pick(3) ? values[i] : i;
	r->thread = pick(4) ? 1 : values[pick(i + 1)];
	r->heap = pick(100) == 0;
	r->attributes_nbytes = pick(3) ? 0 : (uint32_t)pick(300);
	r->attributes = (const uint8_t *)records;
}

/* Long runs of one size, one stride, one region. */
static void
runs(size_t i, struct hatf_record *r)
{
	static uint64_t size, address, stride;

	if (i % 40 == 0) {
		size = pick(3) ? pick(200) : pick(100000);
		address = 0x555555550000 + pick(1u << 28);
		stride = pick(2) ? 16 : pick(70000);
	}
	address += stride;
	r->size = size;
	r->address = pick(30) == 0 ? address - 5000 : address;
	r->time = i * 3 + pick(3);
}

typedef void make_fn(size_t i, struct hatf_record *r);

static make_fn *const makes[] = { heap_like, wild, runs };
#define MAKE_COUNT (sizeof(makes) / sizeof(makes[0]))

static void
make_records(size_t make, size_t n)
{
	memset(records, 0, n * sizeof(*records));
	for (size_t i = 0; i < n; i++)
		makes[make](i, &records[i]);
}

START_TEST(no_technique_beats_one_that_allows_more)
{
	static const char *const order[][2] = {
		{ "naive", "small-size" },
		{ "naive", "same-size" },
		{ "small-size", "combined-size" },
		{ "same-size", "combined-size" },
		{ "naive", "base-offset-1" },
		{ "naive", "base-offset-2" },
		{ "base-offset-1", "best-base-offset" },
		{ "base-offset-2", "best-base-offset" },
		{ "naive", "stride" },
		{ "combined-size", "best" },
		{ "best-base-offset", "best" },
		{ "stride", "best" },
		{ "best", "optimum" },
	};

	seed = 88172645463325252u + (uint64_t)_i;
	make_records((size_t)_i % MAKE_COUNT, COUNT);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const struct judge less = place_by(order[i][0], COUNT);
		const struct judge more = place_by(order[i][1], COUNT);

		for (unsigned field = 0; field < HATF_FIELD_COUNT; field++)
			ck_assert_msg(more.nbytes[field] <= less.nbytes[field],
				      "field %u: %s %zu bytes, %s %zu", field,
				      order[i][0], less.nbytes[field],
				      order[i][1], more.nbytes[field]);
	}
}
END_TEST

/*
 * Otherwise the best of each block would not be the best of all.  A fuzzer
 * found traces of many blocks whose "optimum" was larger than "best": a width
 * used in the first block made the beginning of all later blocks more
 * expensive.
 */
START_TEST(a_block_costs_the_same_after_any_other)
{
	static const char *const names[] = { "naive", "best", "optimum" };
	struct layout layouts[2];

	seed = 88172645463325252u;
	layout_init(&layouts[0]);
	memset(&layouts[1], 0, sizeof(layouts[1]));
	for (unsigned field = 0; field < HATF_FIELD_COUNT; field++) {
		const struct hatf_metadata width = {
			.op = HATF_SET_FIELD_SIZE,
			.field = (uint8_t)field,
			.argument = 2,
		};

		layout_apply(&layouts[1], &width);
	}
	for (size_t make = 0; make < MAKE_COUNT; make++) {
		make_records(make, 200);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const struct technique *const t =
				technique_find(names[i]);
			const struct judge a = place_block_by(
				t, &layouts[0], true, 200, ALL_CHANGES);
			const struct judge b = place_block_by(
				t, &layouts[1], true, 200, ALL_CHANGES);

			ck_assert_mem_eq(a.nbytes, b.nbytes, sizeof(a.nbytes));
		}
	}
}
END_TEST

START_TEST(the_recorder_does_not_beat_the_optimum)
{
	static struct place place;
	struct judge online = { 0 };
	size_t done = 0;

	seed = 88172645463325252u + (uint64_t)_i;
	make_records((size_t)_i % MAKE_COUNT, COUNT);
	layout_init(&online.layout);
	place_init(&place);
	while (done < COUNT) {
		const size_t span = COUNT - done < PLACE_SPAN_RECORDS
					    ? COUNT - done
					    : PLACE_SPAN_RECORDS;
		size_t count;
		const size_t more = place_span(&place, &online.layout,
					       done == 0, records + done, span,
					       changes, ALL_CHANGES, &count);

		judge_span(&online, records + done, more, changes, count);
		done += more;
	}

	const struct judge optimum = place_by("optimum", COUNT);

	for (unsigned field = 0; field < HATF_FIELD_COUNT; field++)
		ck_assert_msg(optimum.nbytes[field] <= online.nbytes[field],
			      "field %u: optimum %zu bytes, online %zu", field,
			      optimum.nbytes[field], online.nbytes[field]);
}
END_TEST

/* ----------------------------------------------------------- greedy writer */

static unsigned
width_of(uint64_t value)
{
	unsigned width = 1;

	while (width < 8 && value >> (8 * width) != 0)
		width *= 2;
	return width;
}

/* Widen at once; narrow as soon as the next 8 sizes allow it. */
static size_t
greedy_small_size(const uint64_t *sizes, size_t n, unsigned least)
{
	size_t cost = 4 + 4;
	unsigned width = least;

	for (size_t i = 0; i < n; i++) {
		unsigned need = least;

		for (size_t k = i; k < n && k < i + 8; k++)
			if (width_of(sizes[k]) > need)
				need = width_of(sizes[k]);
		if (width_of(sizes[i]) > width) {
			width = width_of(sizes[i]);
			cost += 4;
		} else if (need < width) {
			width = need;
			cost += 4;
		}
		cost += width;
	}
	return cost;
}

/* Use 4 bytes, or default for a run that is long enough to pay. */
static size_t
greedy_same_size(const uint64_t *sizes, size_t n)
{
	size_t cost = 4 + 4;

	for (size_t i = 0, length; i < n; i += length) {
		for (length = 1; i + length < n; length++)
			if (sizes[i + length] != sizes[i])
				break;
		cost += 4 * length > 12 + 4 ? 12 + 4 : 4 * length;
	}
	return cost;
}

/* The cost of an address for the greedy ones: near the heap, or far from it. */
static size_t
greedy_address(uint64_t address)
{
	const uint64_t offset = address - 0x555555550000;

	return offset + 0x80000000 <= UINT32_MAX ? 4 : 4 + 8 + 4;
}

/* Use 'width' bytes for a run in one region if it pays for another base. */
static size_t
greedy_base_offset(const uint64_t *addresses, size_t n, unsigned width)
{
	const uint64_t reach = width == 1 ? 0xff : 0xffff;
	size_t cost = 12 + 4;

	for (size_t i = 0, length; i < n; i += length) {
		uint64_t low = addresses[i];
		uint64_t high = low;
		size_t plain = greedy_address(low);

		for (length = 1; i + length < n; length++) {
			const uint64_t a = addresses[i + length];

			if ((a > high ? a : high) - (a < low ? a : low) > reach)
				break;
			high = a > high ? a : high;
			low = a < low ? a : low;
			plain += greedy_address(a);
		}
		if (plain <= 2 * (12 + 4) + width * length) {
			length = 1;
			cost += greedy_address(addresses[i]);
		} else {
			cost += 2 * (12 + 4) + width * length;
		}
	}
	return cost;
}

static size_t
greedy_stride(const uint64_t *addresses, size_t n)
{
	size_t cost = 12 + 4;

	for (size_t i = 0, length; i < n; i += length) {
		size_t plain = greedy_address(addresses[i]);

		for (length = 1; i + length < n; length++) {
			if (length > 1 &&
			    addresses[i + length] - addresses[i + length - 1] !=
				    addresses[i + 1] - addresses[i])
				break;
			plain += greedy_address(addresses[i + length]);
		}
		if (plain <= 20 + 12) {
			length = 1;
			cost += greedy_address(addresses[i]);
		} else {
			cost += 20 + 12;
		}
	}
	return cost;
}

/* Use differences, with the width that the present one needs. */
static size_t
greedy_delta(const uint64_t *times, size_t n)
{
	size_t cost = 12 + 4;
	unsigned width = 1;

	for (size_t i = 1; i < n; i++) {
		/* These times never decrease. */
		const unsigned need = width_of(2 * (times[i] - times[i - 1]));

		cost += need == width ? width : 4 + need;
		width = need;
	}
	return cost + width;
}

static size_t
cost_of(const char *technique, unsigned field)
{
	return place_by(technique, COUNT).nbytes[field];
}

START_TEST(the_greedy_writer_does_not_beat_any_technique)
{
	static uint64_t sizes[COUNT], addresses[COUNT], times[COUNT];
	size_t size_count = 0;

	seed = 88172645463325252u + (uint64_t)_i;
	make_records(_i % 2 ? 2 : 0, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		addresses[i] = records[i].address;
		times[i] = records[i].time;
		if (records[i].tag == HATF_ALLOC)
			sizes[size_count++] = records[i].size;
	}
	mini_check(cost_of("naive", HATF_FIELD_SIZE) <=
		   greedy_small_size(sizes, size_count, 4));
	mini_check(cost_of("small-size", HATF_FIELD_SIZE) <=
		   greedy_small_size(sizes, size_count, 1));
	mini_check(cost_of("same-size", HATF_FIELD_SIZE) <=
		   greedy_same_size(sizes, size_count));
	mini_check(cost_of("base-offset-1", HATF_FIELD_ADDRESS) <=
		   greedy_base_offset(addresses, COUNT, 1));
	mini_check(cost_of("base-offset-2", HATF_FIELD_ADDRESS) <=
		   greedy_base_offset(addresses, COUNT, 2));
	mini_check(cost_of("stride", HATF_FIELD_ADDRESS) <=
		   greedy_stride(addresses, COUNT));
	mini_check(cost_of("optimum", HATF_FIELD_TIME) <=
		   greedy_delta(times, COUNT));
}
END_TEST

START_TEST(a_span_of_comments_puts_every_field_into_a_state)
{
	struct judge j;

	records[0].tag = HATF_COMMENT;
	j = place_by("optimum", 1);
	for (unsigned field = 0; field < HATF_FIELD_COUNT; field++) {
		ck_assert_uint_ge(j.nbytes[field], 4);
		ck_assert_uint_le(j.nbytes[field], 12);
		ck_assert_uint_eq(j.layout.field[field].interpretation,
				  HATF_NONE);
	}
}
END_TEST

static void
set_up(void)
{
	records = calloc(COUNT, sizeof(*records));
	changes = calloc(ALL_CHANGES, sizeof(*changes));
}

static void
tear_down(void)
{
	free(records);
	free(changes);
}

int
main(void)
{
	Suite *const suite = suite_create("optimum");
	TCase *const tc = tcase_create("optimum");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, nothing_is_better_than_the_optimum, 0, 20);
	tcase_add_loop_test(tc, each_technique_is_at_its_best, 0, 14);
	tcase_add_test(tc, offsets_reach_as_far_as_their_width_allows);
	tcase_add_loop_test(tc, no_technique_beats_one_that_allows_more, 0,
			    2 * MAKE_COUNT);
	tcase_add_test(tc, a_block_costs_the_same_after_any_other);
	tcase_add_loop_test(tc, the_recorder_does_not_beat_the_optimum, 0,
			    2 * MAKE_COUNT);
	tcase_add_loop_test(tc, the_greedy_writer_does_not_beat_any_technique,
			    0, 4);
	tcase_add_test(tc, a_span_of_comments_puts_every_field_into_a_state);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * test_stack_entries.c - columns of stacks are read back, or refused
 *
 * What stack_column.c writes, stack_entries.c must read, for stacks that the
 * model predicts and for stacks that it cannot.  A malformed column must be
 * refused as a whole, whatever byte is missing or wrong.
 */
#include "hatf/decoder/stack_entries.h"

#include "tests/unit/support/mini.h"

#define RECORD_COUNT 60000

static struct stack_column *column;
static struct stack_entries *entries;

static void
setup(void)
{
	column = calloc(1, sizeof(*column));
	entries = malloc(sizeof(*entries));
}

static void
teardown(void)
{
	free(column);
	free(entries);
}

/* Begin to read 'nbytes' of text; is it a column? */
static bool
begin(const uint8_t *text, size_t nbytes)
{
	const struct hatf_record comment = {
		.tag = HATF_COMMENT,
		.attributes = text,
		.attributes_nbytes = (uint32_t)nbytes,
	};

	ck_assert(stack_entries_is_column(&comment));
	return stack_entries_begin(entries, &comment);
}

/* A stack for record 'i': 'spread' tells how hard it is to predict. */
static uint32_t
stack_of(uint64_t *seed, size_t i, unsigned spread)
{
	const uint64_t random = mini_random(seed);

	if (random % 64 >= spread)
		return (uint32_t)(i % 7);
	return (uint32_t)(random >> 32);
}

static struct hatf_record
record_of(size_t i, uint8_t *item, uint32_t stack)
{
	struct hatf_record rec = {
		.tag = i % 3 == 0 ? HATF_FREE : HATF_ALLOC,
		.thread = i % 20,
		.attributes = item,
	};
	const struct hatf_attr_item what = { .key = HATF_ATTR_STACK,
					     .value = stack };
	size_t used = 0;

	if (stack != 0)
		hatf_attr_put(item, 8, &used, &what);
	rec.attributes_nbytes = (uint32_t)used;
	return rec;
}

START_TEST(what_is_written_is_read)
{
	static const unsigned spreads[] = { 0, 1, 8, 64 };
	static uint32_t stacks[RECORD_COUNT];
	static bool is_taken[RECORD_COUNT];
	uint64_t seed = 7 + (uint64_t)_i, again;
	uint8_t item[8];
	size_t taken_count = 0;

	column->has_frees = _i % 2 != 0;
	stack_column_begin(column);
	again = seed;
	for (size_t i = 0; i < RECORD_COUNT; i++) {
		const uint32_t stack = stack_of(&seed, i, spreads[_i / 2]);
		struct hatf_record rec = record_of(i, item, stack);

		stacks[i] = stack;
		stack_column_add(column, &rec);
		is_taken[i] = rec.attributes_nbytes == 0 && stack != 0;
		taken_count += is_taken[i];
	}
	/* Only stacks that cannot be predicted fill a column. */
	if (_i / 2 != 2)
		mini_check(stack_column_is_nearly_full(column) ==
			   (_i / 2 == 3));
	stack_column_end(column);
	mini_check(column->used <= STACK_COLUMN_MAX);
	mini_check(taken_count > RECORD_COUNT / 20);
	ck_assert(begin(column->text, column->used));
	for (size_t i = 0; i < RECORD_COUNT; i++) {
		const uint32_t stack = stack_of(&again, i, spreads[_i / 2]);
		const struct hatf_record rec = record_of(i, item, stack);
		const uint32_t got = entries->is_active
					     ? stack_entries_next(entries, &rec)
					     : 0;

		mini_check(got == (is_taken[i] ? stacks[i] : 0));
	}
}
END_TEST

START_TEST(a_column_begins_anew)
{
	uint8_t item[8];

	/* The second column must not refer to what the first one stored. */
	for (unsigned round = 0; round < 3; round++) {
		struct hatf_record rec;

		stack_column_begin(column);
		for (uint32_t i = 1; i < 100; i++) {
			rec = record_of(i, item, i);
			rec.tag = HATF_ALLOC;
			stack_column_add(column, &rec);
		}
		stack_column_end(column);
		ck_assert(begin(column->text, column->used));
		rec.thread = 0;
		ck_assert_uint_eq(stack_entries_next(entries, &rec), 1);
	}
}
END_TEST

#define KIND "HATF stacks\n"

static const struct {
	const char *text;
	size_t nbytes;
} malformed[] = {
#define TEXT(text)                               \
	{                                        \
		KIND text, sizeof(KIND text) - 1 \
	}
	TEXT(""),			      /* no byte for frees */
	TEXT("\x00"),			      /* no run */
	TEXT("\x02\x00"),		      /* frees is neither 0 nor 1 */
	TEXT("\x00\x80"),		      /* a number that does not end */
	TEXT("\x00\x80\x80\x80\x80\x10"),     /* 2^32 */
	TEXT("\x00\x80\x80\x80\x80\x80\x00"), /* six bytes */
	TEXT("\x00\x00\x01"),		      /* no difference */
	TEXT("\x00\x00\x01\x0a"),	      /* no run after an entry */
	TEXT("\x00\x00\x01\x00\x00"),	      /* the value 0 */
	TEXT("\x00\x00\x02\x00"),	      /* nothing was stored */
	TEXT("\x00\x00\x01\x0a\x00\x03\x00"), /* only one was stored */
};

START_TEST(a_malformed_column_is_refused)
{
	ck_assert(!begin((const uint8_t *)malformed[_i].text,
			 malformed[_i].nbytes));
	ck_assert(!entries->is_active);
}
END_TEST

START_TEST(a_truncated_column_ends_or_is_refused)
{
	static const char text[] = KIND "\x00\x00\x01\x0a\x00\x02\x01\x00";

	for (size_t n = sizeof(KIND) - 1; n < sizeof(text); n++) {
		const bool is_whole = n == 14 || n == 17 || n == 19 || n == 21;

		ck_assert_int_eq(begin((const uint8_t *)text, n), is_whole);
	}
}
END_TEST

/* Add 1 000 records whose stacks nobody predicts. */
static void
add_unpredicted(uint64_t seed)
{
	uint8_t item[8];

	for (size_t i = 0; i < 1000; i++) {
		struct hatf_record rec =
			record_of(i, item, stack_of(&seed, i, 64));

		stack_column_add(column, &rec);
	}
}

/* The block of a column is cancelled when the disk is full. */
START_TEST(a_column_needs_no_cancelled_one)
{
	uint64_t seed = 11;
	uint8_t item[8];

	column->has_frees = true;
	stack_column_begin(column);
	add_unpredicted(seed);
	column->is_active = false;
	stack_column_begin(column);
	add_unpredicted(seed);
	stack_column_end(column);
	ck_assert(begin(column->text, column->used));
	for (size_t i = 0; i < 1000; i++) {
		const uint32_t stack = stack_of(&seed, i, 64);
		const struct hatf_record rec = record_of(i, item, stack);

		mini_check(stack_entries_next(entries, &rec) == stack);
	}
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("stack_entries");
	TCase *const tc = tcase_create("columns");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, what_is_written_is_read, 0, 8);
	tcase_add_test(tc, a_column_begins_anew);
	tcase_add_loop_test(tc, a_malformed_column_is_refused, 0,
			    sizeof(malformed) / sizeof(malformed[0]));
	tcase_add_test(tc, a_truncated_column_ends_or_is_refused);
	tcase_add_test(tc, a_column_needs_no_cancelled_one);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

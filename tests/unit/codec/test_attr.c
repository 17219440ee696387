/* SPDX-License-Identifier: MIT */
/*
 * test_attr.c - attributes come back as written; malformed ones stop the walk
 *
 * Items must be read as they were put, and unknown keys must be skipped.
 * Malformed bytes must stop the reader at their item, and nothing beyond the
 * end may be read (the buffers have the exact size, for the sanitizers).
 */
#include "hatf/hatf.h"

#include "tests/unit/support/checks.h"
#include <stdlib.h>
#include <string.h>

static const uint8_t name[200] = "a name";

static const struct hatf_attr_item items[] = {
	{ .key = HATF_ATTR_ZEROED },
	{ .key = HATF_ATTR_ALIGNMENT, .value = 4096 },
	{ .key = HATF_ATTR_PARENT, .value = 0 },
	{ .key = HATF_ATTR_TID, .value = 127 },
	{ .key = HATF_ATTR_TID, .value = 128 },
	{ .key = HATF_ATTR_START, .value = UINT64_MAX },
	{ .key = HATF_ATTR_NAME, .text = name, .text_nbytes = 6 },
	{ .key = HATF_ATTR_NAME, .text = name, .text_nbytes = 0 },
	{ .key = HATF_ATTR_NAME, .text = name, .text_nbytes = 200 },
	{ .key = 0x3f },
	{ .key = 0x7f, .value = UINT64_C(1) << 63 },
	{ .key = 0xbf, .text = name, .text_nbytes = 1 },
};
#define ITEM_COUNT (sizeof(items) / sizeof(items[0]))

START_TEST(items_come_back)
{
	uint8_t buf[1024];
	const uint8_t *next = buf;
	struct hatf_attr_item item;
	size_t used = 0;

	for (size_t i = 0; i < ITEM_COUNT; i++)
		ck_assert(hatf_attr_put(buf, sizeof(buf), &used, &items[i]));
	for (size_t i = 0; i < ITEM_COUNT; i++) {
		ck_assert(hatf_attr_next(&next, buf + used, &item));
		ck_assert_uint_eq(item.key, items[i].key);
		ck_assert_uint_eq(item.value, items[i].value);
		ck_assert_uint_eq(item.text_nbytes, items[i].text_nbytes);
		if (item.text_nbytes != 0)
			ck_assert_mem_eq(item.text, name, item.text_nbytes);
	}
	ck_assert(!hatf_attr_next(&next, buf + used, &item));
	ck_assert_ptr_eq(next, buf + used);
}
END_TEST

START_TEST(the_bytes_are_those_of_the_format)
{
	static const uint8_t want[] = { 0x01, 0x41, 0x80, 0x20,
					0x81, 0x02, 'm',  'e' };
	static const struct hatf_attr_item three[] = {
		{ .key = HATF_ATTR_ZEROED },
		{ .key = HATF_ATTR_ALIGNMENT, .value = 4096 },
		{ .key = HATF_ATTR_NAME,
		  .text = (const uint8_t *)"me",
		  .text_nbytes = 2 },
	};
	uint8_t buf[sizeof(want)];
	size_t used = 0;

	for (size_t i = 0; i < 3; i++)
		ck_assert(hatf_attr_put(buf, sizeof(buf), &used, &three[i]));
	ck_assert_uint_eq(used, sizeof(want));
	ck_assert_mem_eq(buf, want, sizeof(want));
}
END_TEST

START_TEST(what_does_not_fit_changes_nothing)
{
	for (size_t i = 0; i < ITEM_COUNT; i++) {
		uint8_t whole[256], buf[256];
		size_t need = 0;

		ck_assert(
			hatf_attr_put(whole, sizeof(whole), &need, &items[i]));
		for (size_t cap = 0; cap <= need; cap++) {
			size_t used = 0;

			memset(buf, 0x5a, sizeof(buf));
			ck_assert_int_eq(
				hatf_attr_put(buf, cap, &used, &items[i]),
				cap == need);
			ck_assert_uint_eq(used, cap == need ? need : 0);
			ck_assert_uint_eq(buf[used], 0x5a);
		}
	}
}
END_TEST

START_TEST(an_item_cut_anywhere_is_malformed)
{
	for (size_t i = 0; i < ITEM_COUNT; i++) {
		uint8_t whole[256];
		size_t need = 0;

		hatf_attr_put(whole, sizeof(whole), &need, &items[i]);
		for (size_t cut = 1; cut < need; cut++) {
			uint8_t *const copy = malloc(cut);
			const uint8_t *next = copy;
			struct hatf_attr_item item;

			memcpy(copy, whole, cut);
			ck_assert(!hatf_attr_next(&next, copy + cut, &item));
			ck_assert_ptr_eq(next, copy);
			free(copy);
		}
	}
}
END_TEST

START_TEST(malformed_items_stop_the_walk)
{
	static const struct {
		size_t nbytes;
		uint8_t bytes[16];
	} cases[] = {
		{ 1, { 0xc0 } }, /* a reserved kind */
		{ 2, { 0xff, 0x00 } },
		{ 12,
		  { 0x41, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		    0x02 } }, /* 2^64 and more */
		{ 13,
		  { 0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		    0x80, 0x00 } }, /* 11 bytes for a number */
		{ 12,
		  { 0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		    0x01, 'x' } }, /* a length of 2^64 - 1 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *next = cases[i].bytes;
		struct hatf_attr_item item;

		ck_assert(
			!hatf_attr_next(&next, next + cases[i].nbytes, &item));
		ck_assert_ptr_eq(next, cases[i].bytes);
	}

	uint8_t buf[4];
	size_t used = 0;
	const struct hatf_attr_item reserved = { .key = 0xc1 };

	ck_assert(!hatf_attr_put(buf, sizeof(buf), &used, &reserved));
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("attr");
	TCase *const tc = tcase_create("attr");

	tcase_add_test(tc, items_come_back);
	tcase_add_test(tc, the_bytes_are_those_of_the_format);
	tcase_add_test(tc, what_does_not_fit_changes_nothing);
	tcase_add_test(tc, an_item_cut_anywhere_is_malformed);
	tcase_add_test(tc, malformed_items_stop_the_walk);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}

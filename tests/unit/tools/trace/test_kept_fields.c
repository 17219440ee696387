/* SPDX-License-Identifier: MIT */
/*
 * test_kept_fields.c - a conversion reports exactly the fields that it drops
 *
 * A conversion must report each field that the trace has and the format does
 * not keep, and no other field.
 */
#include "tools/trace/kept_fields.h"

#include "tests/unit/support/checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(s) \
	.attributes = (const uint8_t *)(s), .attributes_nbytes = sizeof(s) - 1

#define SIZES (HATF_KEEPS_SIZE | HATF_KEEPS_ADDRESS)

static const struct {
	struct hatf_record rec;
	unsigned want;
} cases[] = {
	{ { .tag = HATF_ALLOC, .size = 1, .address = 1 }, SIZES },
	{ { .tag = HATF_FREE, .address = 1 }, HATF_KEEPS_ADDRESS },
	{ { .tag = HATF_FREE, .address = 1, .thread = 1 },
	  HATF_KEEPS_ADDRESS | HATF_KEEPS_THREAD },
	{ { .tag = HATF_FREE, .address = 1, .time = 1 },
	  HATF_KEEPS_ADDRESS | HATF_KEEPS_TIME },
	{ { .tag = HATF_FREE, .address = 1, .heap = 1 },
	  HATF_KEEPS_ADDRESS | HATF_KEEPS_HEAP },
	{ { .tag = HATF_REALLOC_ALLOC, .size = 1, .address = 1 },
	  SIZES | HATF_KEEPS_REALLOC },
	{ { .tag = HATF_REALLOC_FREE, .old_address = 1 },
	  HATF_KEEPS_REALLOC | HATF_KEEPS_OLD_ADDRESS },
	{ { .tag = HATF_CREATE_THREAD }, HATF_KEEPS_THREAD },
	{ { .tag = HATF_DESTROY_HEAP }, HATF_KEEPS_HEAP },
	{ { .tag = HATF_FREE, TEXT("\x45\x00") }, 0 },
	{ { .tag = HATF_FREE, TEXT("\x45\x01") }, HATF_KEEPS_SITE },
	{ { .tag = HATF_FREE, TEXT("\x01") }, HATF_KEEPS_ATTRIBUTES },
	{ { .tag = HATF_FREE, TEXT("\x45\x01\xff") },
	  HATF_KEEPS_SITE | HATF_KEEPS_ATTRIBUTES },
	{ { .tag = HATF_COMMENT, TEXT("HATF 1.0\n") }, 0 },
	{ { .tag = HATF_COMMENT, TEXT("HATF block\nblock=0\n") }, 0 },
	{ { .tag = HATF_COMMENT, TEXT("HATF sum\ncrc32c=00000000\n") }, 0 },
	{ { .tag = HATF_COMMENT, TEXT("HATF end\ncomplete=1\n") }, 0 },
	{ { .tag = HATF_COMMENT, TEXT("HATF frame\nframe=1\nline=2\n") }, 0 },
	{ { .tag = HATF_COMMENT, TEXT("HATF frame\nframe=1\nfunction=\n") },
	  0 },
	{ { .tag = HATF_COMMENT, TEXT("HATF frame\nframe=1\nfunction=f\n") },
	  HATF_KEEPS_SYMBOLS },
	{ { .tag = HATF_COMMENT, TEXT("HATF stack\nstack=1\nframe=1\n") }, 0 },
	{ { .tag = HATF_COMMENT,
	    TEXT("HATF stack\nstack=1\nparent=0\nframe=1\n") },
	  0 },
	{ { .tag = HATF_COMMENT,
	    TEXT("HATF stack\nstack=1\nframe=1\nparent=0\n") },
	  0 },
	{ { .tag = HATF_COMMENT,
	    TEXT("HATF stack\nstack=2\nparent=1\nframe=1\n") },
	  HATF_KEEPS_STACKS },
	{ { .tag = HATF_COMMENT, TEXT("HATF thread\nthread=1\n") },
	  HATF_KEEPS_COMMENTS },
	{ { .tag = HATF_COMMENT, TEXT("") }, HATF_KEEPS_COMMENTS },
};
#define CASE_COUNT (sizeof(cases) / sizeof(cases[0]))

START_TEST(what_occurs)
{
	for (size_t i = 0; i < CASE_COUNT; i++) {
		struct kept_fields k = { .occurs = 0 };

		kept_fields_note(&k, &cases[i].rec, 1);
		ck_assert_msg(k.occurs == cases[i].want,
			      "case %zu: 0x%x, want 0x%x", i, k.occurs,
			      cases[i].want);
	}
}
END_TEST

START_TEST(what_is_dropped)
{
	const struct hatf_format f = { .name = "f",
				       .keeps = SIZES | HATF_KEEPS_HEAP };
	struct kept_fields k = { .occurs = 0 };

	ck_assert_uint_eq(kept_fields_dropped(&k, &f, 0), 0);
	for (size_t i = 0; i < CASE_COUNT; i++)
		kept_fields_note(&k, &cases[i].rec, 1);
	ck_assert_uint_eq(kept_fields_dropped(&k, &f, 0),
			  ((1u << HATF_KEEPS_COUNT) - 1) & ~f.keeps);
	ck_assert_uint_eq(
		kept_fields_dropped(
			&k, &f,
			HATF_DROP_TIME | HATF_DROP_THREAD | HATF_DROP_HEAP |
				HATF_DROP_ATTRIBUTES | HATF_DROP_COMMENTS),
		HATF_KEEPS_OLD_ADDRESS | HATF_KEEPS_REALLOC);
}
END_TEST

/* The table of the formats is consistent. */
START_TEST(the_formats)
{
	struct hatf_format f = { .struct_nbytes = sizeof(f) };
	struct hatf_format other = { .struct_nbytes = sizeof(other) };
	unsigned n = 0;

	while (hatf_format_get(n, &f)) {
		const char *compression;
		char path[64];

		ck_assert(hatf_format_find(f.name, &other));
		ck_assert_str_eq(f.name, other.name);
		ck_assert(f.reads || f.writes);
		ck_assert_uint_eq(f.keeps >> HATF_KEEPS_COUNT, 0);
		for (unsigned i = 0; i < n; i++) {
			ck_assert(hatf_format_get(i, &other));
			ck_assert_str_ne(f.name, other.name);
		}
		if (f.suffix != NULL && f.writes) {
			snprintf(path, sizeof(path), "x%s", f.suffix);
			ck_assert_str_eq(
				hatf_format_of_path(path, &compression),
				f.name);
		}
		for (const char *const *end = f.other_suffixes;
		     end != NULL && *end != NULL; end++) {
			snprintf(path, sizeof(path), "x%s.zst", *end);
			ck_assert_str_eq(
				hatf_format_of_path(path, &compression),
				f.name);
			ck_assert_str_eq(compression, "zstd");
		}
		n++;
	}
	ck_assert_uint_ge(n, 7);
	ck_assert_str_eq(f.name, "hatf");
	ck_assert(hatf_format_find(NULL, &other));
	ck_assert_str_eq(other.name, "hatf");
	ck_assert(!hatf_format_find("nothing", &other));
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("keeping");
	TCase *const tc = tcase_create("keeping");

	tcase_add_test(tc, what_occurs);
	tcase_add_test(tc, what_is_dropped);
	tcase_add_test(tc, the_formats);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

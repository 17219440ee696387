/* SPDX-License-Identifier: MIT */
/*
 * test_globs.c
 *
 * Which names a list of globs chooses, and which lists are none.
 */
#include "globs.h"

#include "checks.h"
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *globs, *name;
	bool chosen;
} names[] = {
	{ "true", "true", true },
	{ "true", "tru", false },
	{ "true", "trues", false },
	{ "t?ue", "true", true },
	{ "t?ue", "tue", false },
	{ "?", "", false },
	{ "*", "", true },
	{ "**", "any", true },
	{ "*rm", "chrm", true },
	{ "a*b*c", "aXbYbZc", true },
	{ "a*b*c", "aXcYcZb", false },
	{ "*ab", "aab", true },
	{ "*a?b*", "aaab", true },
	{ "no,p*l", "perl", true },
	{ "no,p*l", "no", true },
	{ "no,p*l", "no,perl", false },
	{ "!sh", "sh", false },
	{ "!sh", "dash", true },
	{ "*sh,!dash", "bash", true },
	{ "*sh,!dash", "dash", false },
	{ "!dash,*sh", "dash", false },
	{ "*sh,!dash", "true", false },
	{ "", "any", true },
};

START_TEST(a_list_chooses_names)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_msg(globs_choose(names[i].globs, names[i].name) ==
				      names[i].chosen,
			      "'%s' and '%s'", names[i].globs, names[i].name);
}
END_TEST

START_TEST(an_empty_glob_is_illegal)
{
	static const char *const wrong[] = { "",  ",",	 "a,",	",a",
					     "!", "!,a", "a,!", "a,,b" };
	static const char *const right[] = { "a", "!a", "*", "a,!b,?", "!!" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!globs_are_legal(wrong[i]), "'%s'", wrong[i]);
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		ck_assert_msg(globs_are_legal(right[i]), "'%s'", right[i]);
}
END_TEST

START_TEST(a_list_has_a_longest_length)
{
	char globs[GLOBS_NBYTES + 1];

	memset(globs, 'a', sizeof(globs));
	globs[GLOBS_NBYTES] = '\0';
	ck_assert(!globs_are_legal(globs));
	globs[GLOBS_NBYTES - 1] = '\0';
	ck_assert(globs_are_legal(globs));
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("globs");
	TCase *const tc = tcase_create("all");
	SRunner *const runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, a_list_chooses_names);
	tcase_add_test(tc, an_empty_glob_is_illegal);
	tcase_add_test(tc, a_list_has_a_longest_length);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

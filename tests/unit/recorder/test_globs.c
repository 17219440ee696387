/* SPDX-License-Identifier: MIT */
/*
 * test_globs.c - lists of globs match the right names; malformed ones fail
 *
 * The names that a list of globs chooses, and the lists that are not legal.
 */
#include "hatf/recorder/globs.h"

#include "tests/unit/support/hand.h"

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
	const TTest *const tests[] = {
		a_list_chooses_names,
		an_empty_glob_is_illegal,
		a_list_has_a_longest_length,
	};

	return hand_run("globs", tests, 3);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_known_objects.c - an object that is loaded again is a new one
 *
 * The loader maps an object that is loaded again where it was before, and
 * appends it to its list.  If nothing else is loaded, the list then looks as it
 * did before.  Each case loads and unloads libraries of libc that no test uses,
 * and checks how many objects are known afterwards.
 */
#include <dlfcn.h>
#include <link.h>

#include "preload/heaps/known_objects.h"
#include "tests/unit/support/hand.h"

static const char *const libraries[] = {
	"libanl.so.1",
	"libBrokenLocale.so.1",
	"libresolv.so.2",
};

#define LIBRARY_COUNT (sizeof(libraries) / sizeof(*libraries))

/*
 * 'steps' are loads (A, B, C) and unloads (a, b, c) of the libraries, and looks
 * ('.').  'known' has a digit for each look: how many objects are known beside
 * those of the beginning.
 */
static const struct {
	const char *steps, *known;
} cases[] = {
	{ "..", "00" },
	{ "A.B.C.", "012" },
	{ "ABC..", "03" },
	/* loaded again, at the same place in the list */
	{ "A.aA.aA.", "000" },
	{ "A.a.A.", "000" },
	{ "AB.bB.", "01" },
	{ "AB.abAB.", "00" },
	{ "ABC.bcBC.", "01" },
	{ "ABC.cbBC.", "01" },
	/* Those behind an unloaded one have moved. */
	{ "ABC.aA.", "00" },
	{ "ABC.bB.", "01" },
	{ "ABC.b.", "01" },
	{ "ABC.c.", "02" },
	/* The unload of another object makes the last known one doubtful. */
	{ "AB.CcC.", "01" },
	/* An unload before the first look: nothing is known for certain. */
	{ "Aa.", "-" },
	{ "AaB.b.", "-0" },
};

static int
count(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	(void)info;
	(void)nbytes;
	++*(size_t *)context;
	return 0;
}

static size_t
object_count(void)
{
	size_t n = 0;

	dl_iterate_phdr(count, &n);
	return n;
}

static void
run_case(const char *steps, const char *known)
{
	void *handles[LIBRARY_COUNT] = { NULL };
	const size_t beginning = object_count();
	const char *expected = known;

	known_objects_begin();
	for (const char *step = steps; *step != '\0'; step++) {
		if (*step == '.') {
			const size_t n = known_objects_renew().count;

			if (*expected == '-')
				ck_assert_msg(n == 0, "'%s': %zu", steps, n);
			else
				ck_assert_msg(
					n == beginning + (size_t)(*expected -
								  '0'),
					"'%s', look %td: %zu of %zu", steps,
					expected - known, n, beginning);
			expected++;
		} else if (*step <= 'C') {
			handles[*step - 'A'] =
				dlopen(libraries[*step - 'A'], RTLD_NOW);
			ck_assert_ptr_nonnull(handles[*step - 'A']);
		} else {
			ck_assert_int_eq(dlclose(handles[*step - 'a']), 0);
			handles[*step - 'a'] = NULL;
		}
	}
	for (size_t i = 0; i < LIBRARY_COUNT; i++)
		if (handles[i] != NULL)
			ck_assert_int_eq(dlclose(handles[i]), 0);
	ck_assert_uint_eq(object_count(), beginning);
}

START_TEST(only_objects_that_stayed_are_known)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		run_case(cases[i].steps, cases[i].known);
}
END_TEST

struct first_look {
	const struct known_objects *known;
	size_t index, found;
};

static int
look(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct first_look *const l = context;

	(void)nbytes;
	l->found += known_objects_have(l->known, info, l->index++);
	return 0;
}

/* An unload between the two calls makes all objects new. */
START_TEST(known_objects_are_of_one_moment)
{
	const size_t beginning = object_count();
	struct known_objects known;
	struct first_look l = { .known = &known };
	void *handle;

	known_objects_begin();
	handle = dlopen(libraries[0], RTLD_NOW);
	ck_assert_ptr_nonnull(handle);
	known = known_objects_renew();
	dl_iterate_phdr(look, &l);
	ck_assert_uint_eq(l.found, beginning);
	dlclose(handle);
	l = (struct first_look){ .known = &known };
	dl_iterate_phdr(look, &l);
	ck_assert_uint_eq(l.found, 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		only_objects_that_stayed_are_known,
		known_objects_are_of_one_moment,
	};

	return hand_run("known_objects", tests, 2);
}

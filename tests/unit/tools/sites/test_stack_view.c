/* SPDX-License-Identifier: MIT */
/*
 * test_stack_view.c - hidden frames are skipped, at a cost linear in the stacks
 *
 * A trace may have a long chain of stacks whose frames are all hidden.  A view
 * that searched the chain for each of them would run into the time limit.
 */
#include "tools/sites/pair_set.h"
#include "tools/sites/stack_view.h"

#include "tests/unit/support/checks.h"
#include <stdio.h>
#include <string.h>

#define CHAIN 300000

static struct hatf_stacks *stacks;

static void
note(const char *text)
{
	const struct hatf_record rec = {
		.tag = HATF_COMMENT,
		.attributes = (const uint8_t *)text,
		.attributes_nbytes = (uint32_t)strlen(text),
	};

	hatf_stacks_note(stacks, &rec, NULL);
}

static void
note_frame(unsigned id, const char *function)
{
	char text[256];

	snprintf(text, sizeof(text), "HATF frame\nframe=%u\nfunction=%s\n", id,
		 function);
	note(text);
}

static void
note_stack(unsigned id, unsigned parent, unsigned frame)
{
	char text[256];

	if (parent == 0)
		snprintf(text, sizeof(text), "HATF stack\nstack=%u\nframe=%u\n",
			 id, frame);
	else
		snprintf(text, sizeof(text),
			 "HATF stack\nstack=%u\nparent=%u\nframe=%u\n", id,
			 parent, frame);
	note(text);
}

static struct stack_view *
open_view(bool is_raw, bool fold_std)
{
	const struct stack_view_options options = { .is_raw = is_raw,
						    .fold_std = fold_std };
	struct stack_view *const view = stack_view_open(stacks, &options);

	ck_assert_ptr_nonnull(view);
	return view;
}

static void
begin(void)
{
	ck_assert_int_eq(hatf_stacks_open(&stacks), HATF_OK);
	note_frame(1, "main");
	note_frame(2, "std::vector<int>::resize(unsigned long)");
	note_frame(3, "operator new(unsigned long)");
	note_frame(4, "malloc");
}

static void
end(void)
{
	hatf_stacks_close(stacks);
}

START_TEST(innermost_frames_are_hidden)
{
	static const struct {
		bool is_raw, fold_std;
		uint64_t top;
		const char *site;
	} cases[] = {
		{ false, false, 3, "operator new(unsigned long)" },
		{ false, true, 1, "main" },
		{ true, false, 4, "malloc" },
	};

	begin();
	for (unsigned i = 1; i <= 4; i++)
		note_stack(i, i - 1, i);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stack_view *const view =
			open_view(cases[i].is_raw, cases[i].fold_std);
		const uint32_t site = stack_view_site(view, 4);

		ck_assert_uint_eq(stack_view_top(view, 4), cases[i].top);
		ck_assert_str_eq(stack_view_site_name(view, site),
				 cases[i].site);
		ck_assert_uint_eq(stack_view_top(view, 5), 0);
		ck_assert_uint_eq(stack_view_top(view, 0), 0);
		ck_assert_uint_eq(stack_view_site(view, 5), 0);
		stack_view_close(view);
	}
	end();
}
END_TEST

/* The user's wrappers are hidden above the allocator, not below another frame.
 */
START_TEST(wrappers_are_hidden)
{
	struct stack_view_options options = { .fold_std = true };
	struct stack_view *view;

	begin();
	note_frame(5, "xmalloc(unsigned long)");
	note_frame(6, "parse");
	note_stack(1, 0, 1);
	note_stack(2, 1, 5);
	note_stack(3, 2, 6);
	note_stack(4, 3, 5);
	note_stack(5, 4, 4);
	ck_assert(stack_view_add_wrapper(&options, "test", "xm*"));
	view = stack_view_open(stacks, &options);
	ck_assert_ptr_nonnull(view);
	ck_assert_uint_eq(stack_view_top(view, 5), 3);
	ck_assert_uint_eq(stack_view_top(view, 2), 1);
	stack_view_close(view);
	options.is_raw = true;
	view = stack_view_open(stacks, &options);
	ck_assert_uint_eq(stack_view_top(view, 5), 5);
	stack_view_close(view);
	while (options.wrapper_count < STACK_VIEW_WRAPPERS_MAX)
		ck_assert(stack_view_add_wrapper(&options, "test", "f"));
	ck_assert(!stack_view_add_wrapper(&options, "test", "f"));
	end();
}
END_TEST

/* A stack without any other frame is its own top. */
START_TEST(a_chain_of_hidden_frames_is_searched_once)
{
	struct stack_view *view;

	begin();
	for (unsigned i = 1; i <= CHAIN; i++)
		note_stack(i, i - 1, 4);
	note_stack(CHAIN + 1, 0, 1);
	for (unsigned i = CHAIN + 2; i <= 2 * CHAIN; i++)
		note_stack(i, i - 1, 4);
	for (int downward = 0; downward < 2; downward++) {
		view = open_view(false, false);
		for (unsigned i = 1; i <= 2 * CHAIN; i++) {
			const unsigned id = downward ? 2 * CHAIN + 1 - i : i;

			ck_assert_uint_eq(stack_view_top(view, id),
					  id > CHAIN ? CHAIN + 1 : id);
		}
		ck_assert_uint_eq(stack_view_site(view, CHAIN),
				  stack_view_site(view, 1));
		ck_assert_str_eq(stack_view_site_name(
					 view, stack_view_site(view, CHAIN)),
				 "malloc");
		ck_assert_uint_eq(stack_view_site_count(view), 1);
		ck_assert_str_eq(
			stack_view_site_name(view,
					     stack_view_site(view, 2 * CHAIN)),
			"main");
		stack_view_close(view);
	}
	end();
}
END_TEST

/* Pairs whose numbers differ in high bits only are as good as any. */
START_TEST(pairs_are_found_and_removed)
{
	struct pair_set set = { .slots = NULL };

	for (uint64_t i = 1; i <= CHAIN; i++)
		ck_assert(pair_set_add(&set, (struct pair){ i % 3, i << 40 }));
	ck_assert_uint_eq(set.count, CHAIN);
	for (uint64_t i = 1; i <= CHAIN; i += 2)
		ck_assert(
			pair_set_remove(&set, (struct pair){ i % 3, i << 40 }));
	for (uint64_t i = 1; i <= CHAIN; i++) {
		const struct pair other = { i % 3 + 1, i << 40 };

		ck_assert_int_eq(
			pair_set_has(&set, (struct pair){ i % 3, i << 40 }),
			i % 2 == 0);
		ck_assert(!pair_set_has(&set, other));
	}
	pair_set_fini(&set);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("stack_view");
	TCase *const tc = tcase_create("stack_view");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, innermost_frames_are_hidden);
	tcase_add_test(tc, wrappers_are_hidden);
	tcase_add_test(tc, a_chain_of_hidden_frames_is_searched_once);
	tcase_add_test(tc, pairs_are_found_and_removed);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * test_live_sites.c - growth and rate of a row compare the same blocks
 *
 * A stack gets its name at a later update than others, and then moves to a row
 * that exists.  The traces are logs of mtrace, in which each address is a stack
 * and several stacks have the same site.  An update without time gives a name
 * to one stack: the one with the most live bytes.
 */
#include "tools/live/live_sites.h"

#include "tests/unit/support/hand.h"

#define UNNAMED "[not named yet]"

static struct live_sites *sites;
static char text[4096]; /* the log */
static size_t used;

static void
begin_log(void)
{
	used = (size_t)snprintf(text, sizeof(text), "= Start\n");
}

/* Append an allocation by "keep" to the log. */
static void
allocate(unsigned stack, unsigned size)
{
	used += (size_t)snprintf(text + used, sizeof(text) - used,
				 "@ ./p:(keep+0x%x)[0x%x] + 0x%zx 0x%x\n",
				 stack, 0x1000 + stack, 0x1000 * used, size);
	ck_assert_uint_lt(used, sizeof(text));
}

static void
begin(void)
{
	static const struct stack_view_options view = { .fold_std = true };

	sites = live_sites_open(BY_SITE, &view);
	ck_assert_ptr_nonnull(sites);
	begin_log();
}

/* Update the table from the log so far. */
static void
update(void)
{
	const struct followed_file log = {
		.path = "log",
		.fd = hand_file((const uint8_t *)text, used),
	};
	struct live_trace *const trace = live_trace_open(&log);

	ck_assert_ptr_nonnull(trace);
	while (!live_trace_wait(trace, UINT64_MAX, 1000))
		;
	ck_assert(live_sites_update(sites, trace, live_trace_lock(trace), 0));
	live_trace_unlock(trace);
	live_trace_close(trace);
}

static void
check_row(const char *name, uint64_t live, int64_t growth, uint64_t recent)
{
	size_t n;
	const struct live_site *const rows = live_sites_rows(sites, &n);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		ck_assert_uint_eq(rows[i].live.nbytes, live);
		ck_assert_int_eq(live_site_growth(&rows[i]), growth);
		ck_assert_uint_eq(live_site_recent(&rows[i]), recent);
		return;
	}
	ck_abort_msg("no row %s", name);
}

/* An idle process: nothing grows while stacks get their names. */
START_TEST(a_name_is_no_growth)
{
	begin();
	allocate(1, 1000);
	allocate(2, 500);
	allocate(3, 30);
	update();
	check_row("keep", 1000, 0, 1000);
	check_row(UNNAMED, 530, 0, 530);
	update();
	check_row("keep", 1500, 0, 0);
	check_row(UNNAMED, 30, 0, 0);
	update();
	check_row("keep", 1530, 0, 0);
	check_row(UNNAMED, 0, 0, 0);
	live_sites_close(sites);
}
END_TEST

/* What stacks allocate before they get their names is growth afterwards. */
START_TEST(growth_moves_along)
{
	begin();
	allocate(1, 1000);
	allocate(2, 300);
	allocate(3, 200);
	update();
	allocate(1, 1000);
	allocate(2, 300);
	allocate(3, 200);
	update();
	check_row("keep", 2600, 1300, 1300);
	check_row(UNNAMED, 400, 200, 200);
	update();
	check_row("keep", 3000, 1500, 0);
	check_row(UNNAMED, 0, 0, 0);
	/* The site has a new stack. */
	allocate(4, 10);
	update();
	check_row("keep", 3010, 1510, 10);
	live_sites_forget_growth(sites);
	update();
	check_row("keep", 3010, 0, 0);
	allocate(4, 10);
	update();
	check_row("keep", 3020, 10, 10);
	live_sites_close(sites);
}
END_TEST

/* Growth goes on in the next trace of the process. */
START_TEST(growth_goes_on_in_another_trace)
{
	begin();
	allocate(1, 1000);
	update();
	begin_log();
	live_sites_forget_stacks(sites);
	allocate(2, 1000);
	allocate(2, 1000);
	update();
	check_row("keep", 2000, 1000, 2000);
	live_sites_close(sites);
}
END_TEST

/* A stack without a name is unknown in the next trace. */
START_TEST(unnamed_stacks_do_not_grow_in_another_trace)
{
	begin();
	allocate(1, 1000);
	allocate(2, 300);
	update();
	check_row(UNNAMED, 300, 0, 300);
	begin_log();
	live_sites_forget_stacks(sites);
	allocate(2, 300);
	allocate(1, 1000);
	update();
	update();
	check_row("keep", 1300, 0, 0);
	check_row(UNNAMED, 0, 0, 0);
	live_sites_close(sites);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_name_is_no_growth,
		growth_moves_along,
		growth_goes_on_in_another_trace,
		unnamed_stacks_do_not_grow_in_another_trace,
	};

	return hand_run("live_sites", tests, sizeof(tests) / sizeof(tests[0]));
}

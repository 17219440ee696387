/* SPDX-License-Identifier: MIT */
/*
 * test_process_state.c - the table of the process's states, entry by entry
 *
 * A second table has the expected next state and action for each state and
 * cause.  Then a child process for each entry gets into the state and checks
 * the entry by process_move().
 */
#include "tests/unit/support/checks.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/record/record.h"
#include "preload/state/process_state.h"

/* In a pair, the first letter is the state, the second one the action. */
static const char state_letters[] = "NSTEO";
static const char action_letters[] = ".-bwts";

/*
 * Rows: causes; columns: NEW, STARTING, TRACING, ENDED, OFF.  "..": refused;
 * else the next state and the action: nothing, begin, wait, trace or skip.
 */
static const char *const expected[PROCESS_CAUSES] = {
	[PROCESS_WANTED] = "Sb Sw Tt Et Os",
	[PROCESS_WANTED_BARRED] = "Ns Sw Tt Et Os",
	[PROCESS_IMPOSSIBLE] = "Ns Ss Ts Es Os",
	[PROCESS_BEGAN] = ".. Tt .. .. ..",
	[PROCESS_BEGAN_DORMANT] = ".. Tt .. .. ..",
	[PROCESS_NOT_BEGUN] = ".. Os .. .. ..",
	[PROCESS_REFUSED] = ".. S- .. .. ..",
	[PROCESS_TRACE_OPENED] = ".. .. T- E- ..",
	[PROCESS_TRACE_FAILED] = ".. .. T- E- ..",
	[PROCESS_WRITER_OVER] = ".. .. O- O- O-",
	[PROCESS_EXITED] = "N- S- E- E- O-",
	[PROCESS_SANDBOXED] = "N- S- T- E- O-",
	[PROCESS_CHILDREN_BARRED] = "N- S- T- E- O-",
	[PROCESS_CONFINED] = "N- S- T- E- O-",
	[PROCESS_CHILD_OF_RECORDING] = "N- .. .. .. ..",
	[PROCESS_CHILD_OF_DORMANT] = "N- .. .. .. ..",
	[PROCESS_CHILD_OF_UNTRACED] = "N- .. .. .. ..",
};

/* The causes that lead from NEW to each state. */
static const enum process_cause ways[PROCESS_STATES][3] = {
	[PROCESS_STARTING] = { PROCESS_WANTED, PROCESS_CAUSES },
	[PROCESS_TRACING] = { PROCESS_WANTED, PROCESS_BEGAN, PROCESS_CAUSES },
	[PROCESS_ENDED] = { PROCESS_WANTED, PROCESS_BEGAN, PROCESS_EXITED },
	[PROCESS_OFF] = { PROCESS_WANTED, PROCESS_NOT_BEGUN, PROCESS_CAUSES },
	[PROCESS_NEW] = { PROCESS_CAUSES },
};

static bool
is_refusal(const struct process_move *m)
{
	return m->action == PROCESS_DO_REFUSE;
}

START_TEST(each_entry)
{
	for (unsigned s = 0; s < PROCESS_STATES; s++)
		for (unsigned c = 0; c < PROCESS_CAUSES; c++) {
			const struct process_move *const m =
				process_lookup(s, c);
			const char *const e = &expected[c][3 * s];

			ck_assert_int_eq(action_letters[m->action], e[1]);
			if (!is_refusal(m))
				ck_assert_int_eq(state_letters[m->next], e[0]);
		}
}
END_TEST

/* A refused cause has no effect. */
START_TEST(refusals_are_empty)
{
	for (unsigned s = 0; s < PROCESS_STATES; s++)
		for (unsigned c = 0; c < PROCESS_CAUSES; c++) {
			const struct process_move *const m =
				process_lookup(s, c);

			if (is_refusal(m))
				ck_assert(m->set == 0 && m->clear == 0 &&
					  m->sleep == PROCESS_SLEEP_KEEP);
			ck_assert((m->set & m->clear) == 0);
			ck_assert(((m->set | m->clear) & ~PROCESS_FACTS) == 0);
		}
}
END_TEST

/* Every state can be reached from NEW; from OFF, only OFF. */
START_TEST(reach)
{
	unsigned seen = 1u << PROCESS_NEW, before;

	do {
		before = seen;
		for (unsigned s = 0; s < PROCESS_STATES; s++)
			for (unsigned c = 0; c < PROCESS_CAUSES; c++)
				if ((seen & 1u << s) != 0 &&
				    !is_refusal(process_lookup(s, c)))
					seen |= 1u
						<< process_lookup(s, c)->next;
	} while (seen != before);
	ck_assert_uint_eq(seen, (1u << PROCESS_STATES) - 1);
	for (unsigned c = 0; c < PROCESS_CAUSES; c++)
		ck_assert(is_refusal(process_lookup(PROCESS_OFF, c)) ||
			  process_lookup(PROCESS_OFF, c)->next == PROCESS_OFF);
}
END_TEST

static uint32_t
all_facts(void)
{
	uint32_t set = 0;

	for (uint32_t fact = 1; fact < PROCESS_FACTS; fact <<= 1)
		set |= process_has(fact) ? fact : 0;
	return set;
}

static bool
is_asleep_after(const struct process_move *m, bool was)
{
	if (is_refusal(m) || m->sleep == PROCESS_SLEEP_KEEP)
		return was;
	return m->sleep == PROCESS_SLEEP_ON;
}

/* In a child: get into 'state', report 'cause', and compare. */
static bool
check_move(unsigned state, unsigned cause)
{
	const struct process_move *const m = process_lookup(state, cause);
	const enum process_cause *way = ways[state];

	if (!process_map())
		return false;
	for (unsigned i = 0; i < 3 && way[i] != PROCESS_CAUSES; i++)
		process_move(way[i]);
	if (process_state() != state)
		return false;

	const uint32_t facts = all_facts();
	const bool was_asleep = record_is_dormant();
	const unsigned next = is_refusal(m) ? state : m->next;

	return (unsigned)process_move(cause) == m->action &&
	       process_state() == next &&
	       all_facts() == ((facts & ~(uint32_t)m->clear) | m->set) &&
	       record_is_dormant() == is_asleep_after(m, was_asleep);
}

START_TEST(each_move)
{
	for (unsigned s = 0; s < PROCESS_STATES; s++)
		for (unsigned c = 0; c < PROCESS_CAUSES; c++) {
			const pid_t child = fork();
			int status;

			if (child == 0)
				_exit(!check_move(s, c));
			ck_assert_int_eq(waitpid(child, &status, 0), child);
			ck_assert_msg(status == 0, "state %u, cause %u", s, c);
		}
}
END_TEST

/* Before there is memory for a state, facts are noted, but the state stays. */
START_TEST(without_memory)
{
	ck_assert(process_move(PROCESS_WANTED) == PROCESS_DO_REFUSE);
	ck_assert(process_move(PROCESS_CONFINED) == PROCESS_DO_NOTHING);
	ck_assert(process_state() == PROCESS_NEW && !process_is_closed());
	ck_assert(process_has(PROCESS_IS_CONFINED));
	ck_assert_uint_eq(process_next_ticket(), 0);
}
END_TEST

static void
begin(enum process_cause how)
{
	ck_assert(process_map());
	ck_assert(process_move(PROCESS_WANTED) == PROCESS_DO_BEGIN);
	process_set_pid();
	ck_assert(process_move(how) == PROCESS_DO_TRACE);
}

/* Runs in a child; return the number of the failed check, or 0. */
static unsigned
judge_child(bool begins_dormant)
{
	const bool is_new = process_state() == PROCESS_NEW &&
			    !process_is_tracing() && !process_is_own();

	process_report_child();
	if (!is_new)
		return 1;
	if (process_has(PROCESS_BEGINS_DORMANT) != begins_dormant)
		return 2;
	if (!process_has(PROCESS_IS_FRESH) || process_has(PROCESS_IS_OFF))
		return 3;
	return record_is_dormant() ? 4 : 0;
}

static void
expect_child(bool begins_dormant)
{
	const pid_t child = fork();
	int status;

	if (child == 0)
		_exit((int)judge_child(begins_dormant));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

/*
 * Children begin as the parent was; a failed trace does not make them dormant.
 */
START_TEST(children)
{
	begin(PROCESS_BEGAN_DORMANT);
	expect_child(true);
	process_move(PROCESS_TRACE_FAILED);
	expect_child(false);
	process_move(PROCESS_TRACE_OPENED);
	expect_child(true);
	atomic_store(&process_dormant, false);
	expect_child(false);
	/* Once the process is off, its children begin as it began itself. */
	process_move(PROCESS_WRITER_OVER);
	expect_child(true);
}
END_TEST

START_TEST(sandbox)
{
	begin(PROCESS_BEGAN);
	ck_assert(process_is_own() && process_scope() == PROCESS_SCOPE_TRACED);
	process_move(PROCESS_SANDBOXED);
	ck_assert(!process_is_own() && record_is_dormant());
	ck_assert(process_is_barred());
	ck_assert(process_scope() == PROCESS_SCOPE_UNTRACED);

	const pid_t child = fork();
	int status;

	/* The child stays dormant, and has no trace. */
	if (child == 0) {
		process_report_child();
		_exit(!record_is_dormant() || !process_is_closed() ||
		      process_scope() != PROCESS_SCOPE_NEW);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("process_state");
	TCase *const tests = tcase_create("states");
	SRunner *const runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, each_entry);
	tcase_add_test(tests, refusals_are_empty);
	tcase_add_test(tests, reach);
	tcase_add_test(tests, each_move);
	tcase_add_test(tests, without_memory);
	tcase_add_test(tests, children);
	tcase_add_test(tests, sandbox);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

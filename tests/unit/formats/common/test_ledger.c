/* SPDX-License-Identifier: MIT */
/*
 * test_ledger.c - each call makes one ledger entry; heaps free their blocks
 *
 * The ledger describes the effect of each record on a block.  One call is one
 * entry, however many records it has.  Destroying a heap reports every block in
 * it.
 */
#include "hatf/formats/common/ledger.h"

#include "tests/unit/support/checks.h"
#include <stdlib.h>

static struct ledger ledger;
static struct ledger_entry entry;
static struct hatf_record last; /* the last record entered */

/* Give the block of the last entry an object number. */
static void
number(uint64_t object)
{
	entry.block.object = object;
	ck_assert(ledger_keep(&ledger, &last, &entry));
}

static void
enter(const struct hatf_record *rec)
{
	ck_assert(ledger_enter(&ledger, rec, &entry));
	last = *rec;
}

static void
enter_alloc(uint64_t address, uint64_t size, uint64_t heap)
{
	enter(&(struct hatf_record){ .tag = HATF_ALLOC,
				     .address = address,
				     .size = size,
				     .heap = heap,
				     .time = 7 });
}

static void
enter_realloc(unsigned tag, uint64_t from, uint64_t to, uint64_t size)
{
	enter(&(struct hatf_record){ .tag = (uint8_t)tag,
				     .old_address = from,
				     .address = to,
				     .size = size,
				     .time = 9 });
}

static void
enter_free(uint64_t address)
{
	enter(&(struct hatf_record){ .tag = HATF_FREE, .address = address });
}

static void
setup(void)
{
	ledger_init(&ledger);
}

static void
teardown(void)
{
	ledger_fini(&ledger);
}

START_TEST(a_block_keeps_the_number_of_the_sink)
{
	enter_alloc(0x10, 24, 0);
	ck_assert_int_eq(entry.kind, LEDGER_ALLOC);
	ck_assert(!entry.known && !entry.replaced);
	number(5);
	enter_free(0x10);
	ck_assert_int_eq(entry.kind, LEDGER_FREE);
	ck_assert(entry.known);
	ck_assert_uint_eq(entry.old.object, 5);
	ck_assert_uint_eq(entry.old.size, 24);
	ck_assert_uint_eq(entry.old.birth_time, 7);
	enter_free(0x10);
	ck_assert_int_eq(entry.kind, LEDGER_FREE);
	ck_assert(!entry.known);
}
END_TEST

START_TEST(a_realloc_is_one_entry)
{
	enter_alloc(0x10, 24, 0);
	number(5);
	enter_realloc(HATF_REALLOC_ALLOC_FREE, 0x10, 0x20, 48);
	ck_assert_int_eq(entry.kind, LEDGER_REALLOC);
	ck_assert(entry.known);
	ck_assert_uint_eq(entry.block.object, 5);
	ck_assert_uint_eq(entry.block.size, 48);
	ck_assert_uint_eq(entry.block.birth_time, 7);
	enter_alloc(0x20, 48, 0);
	ck_assert_int_eq(entry.kind, LEDGER_NONE);
	enter_free(0x10);
	ck_assert_int_eq(entry.kind, LEDGER_NONE);
	ck_assert(ledger_is_live(&ledger, 0x20));
	ck_assert(!ledger_is_live(&ledger, 0x10));
	enter_realloc(HATF_REALLOC_NO_ALLOC, 0x20, 0x20, 8);
	ck_assert_int_eq(entry.kind, LEDGER_REALLOC);
	ck_assert_uint_eq(entry.old.size, 48);
	enter_realloc(HATF_REALLOC_NO_ALLOC, 0x20, 0, 99);
	ck_assert_int_eq(entry.kind, LEDGER_FAILED);
	ck_assert(ledger_is_live(&ledger, 0x20));
	enter_realloc(HATF_REALLOC_FREE, 0x20, 0, 0);
	ck_assert_int_eq(entry.kind, LEDGER_FREE);
	ck_assert(entry.known);
	enter_free(0x20);
	ck_assert_int_eq(entry.kind, LEDGER_NONE);
	enter_realloc(HATF_REALLOC_ALLOC, 0, 0x30, 9);
	ck_assert_int_eq(entry.kind, LEDGER_ALLOC);
	ck_assert(!entry.known);
	ck_assert_uint_eq(ledger.call_count, 6);
}
END_TEST

START_TEST(what_is_handed_out_twice_is_told)
{
	enter_alloc(0x10, 24, 0);
	number(5);
	enter_alloc(0x10, 25, 0);
	ck_assert(entry.replaced);
	ck_assert_uint_eq(entry.lost.object, 5);
	ck_assert_uint_eq(entry.block.object, 0);
	enter_realloc(HATF_REALLOC_ALLOC_FREE, 0x40, 0x10, 7);
	ck_assert(entry.replaced && !entry.known);
	ck_assert_uint_eq(entry.lost.size, 25);
	/* A failed call does not allocate address 0. */
	enter_alloc(0, 25, 0);
	ck_assert_int_eq(entry.kind, LEDGER_FAILED);
	ck_assert(!entry.lives);
}
END_TEST

static unsigned visited;

static void
visit(void *ctx, uint64_t address, const struct block *block)
{
	ck_assert_ptr_eq(ctx, &ledger);
	ck_assert_uint_eq(block->size, address);
	visited++;
}

static uint64_t last_address;

static void
visit_downwards(void *ctx, uint64_t address, const struct block *block)
{
	ck_assert_uint_lt(address, last_address);
	last_address = address;
	visit(ctx, address, block);
}

START_TEST(they_go_in_the_order_of_their_births)
{
	visited = 0;
	last_address = UINT64_MAX;
	for (uint64_t address = 0x2000; address > 0; address -= 0x20)
		enter_alloc(address, address, 3);
	ck_assert(ledger_destroy(&ledger, 3, visit_downwards, &ledger));
	ck_assert_uint_eq(visited, 256);
}
END_TEST

START_TEST(the_blocks_of_a_heap_go_with_it)
{
	visited = 0;
	enter_alloc(0x10, 0x10, 0);
	enter_alloc(0x10, 0x10, 3);
	ck_assert(!entry.replaced);
	enter_alloc(0x20, 0x20, 3);
	ck_assert(ledger_destroy(&ledger, 3, visit, &ledger));
	ck_assert_uint_eq(visited, 2);
	ck_assert(ledger_is_live(&ledger, 0x10));
	ck_assert(ledger_destroy(&ledger, 3, visit, &ledger));
	ck_assert(ledger_destroy(&ledger, 4, NULL, NULL));
	ck_assert_uint_eq(visited, 2);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("ledger");
	TCase *const tc = tcase_create("ledger");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_block_keeps_the_number_of_the_sink);
	tcase_add_test(tc, a_realloc_is_one_entry);
	tcase_add_test(tc, what_is_handed_out_twice_is_told);
	tcase_add_test(tc, the_blocks_of_a_heap_go_with_it);
	tcase_add_test(tc, they_go_in_the_order_of_their_births);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

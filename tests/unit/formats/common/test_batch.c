/* SPDX-License-Identifier: MIT */
/*
 * test_batch.c - any batch size yields every record once and in order
 *
 * Whatever the size of the caller's batches, the source delivers every record
 * once and in order, with the bytes that it points to, and the end only after
 * the last record.
 */
#include "hatf/formats/common/batch.h"

#include "tests/unit/support/checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 60

/* A source of items: item n is n % 5 comments and an alloc of size n. */
struct items {
	struct source source;
	struct batch batch;
	struct hatf_stacks *stacks;
	unsigned next, count;
	enum hatf_status end;
};

static void
take_item(struct items *items)
{
	struct batch *const b = &items->batch;
	struct hatf_record *rec;
	const unsigned n = items->next++;
	char text[32];

	for (unsigned i = 0; i < n % 5; i++) {
		snprintf(text, sizeof(text), "%u of %u", i, n);
		ck_assert(batch_comment(b, text, strlen(text), n));
	}
	rec = batch_add(b, HATF_ALLOC);
	ck_assert_ptr_nonnull(rec);
	rec->size = n;
	ck_assert(batch_stack(b, rec, n));
}

static size_t
read_items(struct items *items, struct hatf_record *records, size_t max)
{
	batch_begin(&items->batch, records, max);
	while (batch_has_room(&items->batch)) {
		if (items->next == items->count) {
			source_stop(&items->source, items->end, NULL);
			break;
		}
		take_item(items);
	}
	return batch_end(&items->batch, &items->source);
}

/*
 * Check that the record is comment 'i' of item 'n', or its alloc if i = n % 5.
 */
static void
check_record(const struct hatf_record *rec, unsigned n, unsigned i)
{
	char text[32];

	if (i == n % 5) {
		ck_assert_int_eq(rec->tag, HATF_ALLOC);
		ck_assert_uint_eq(rec->size, n);
		ck_assert_uint_eq(hatf_record_stack(rec), n);
		return;
	}
	snprintf(text, sizeof(text), "%u of %u", i, n);
	ck_assert_int_eq(rec->tag, HATF_COMMENT);
	ck_assert_uint_eq(rec->offset, n);
	ck_assert_uint_eq(rec->attributes_nbytes, strlen(text));
	ck_assert_mem_eq(rec->attributes, text, strlen(text));
}

static void
check_batches(size_t first_max, size_t max, enum hatf_status end)
{
	struct items items = { .count = ITEMS, .end = end };
	struct hatf_record records[64];
	unsigned n = 0, i = 0;
	size_t got;

	got = read_items(&items, records, first_max);
	for (;;) {
		for (size_t j = 0; j < got; j++) {
			check_record(&records[j], n, i);
			if (i++ == n % 5) {
				n++;
				i = 0;
			}
		}
		if (items.source.err.status != HATF_OK)
			break;
		ck_assert_uint_ne(got, 0);
		got = read_items(&items, records, max);
	}
	ck_assert_uint_eq(n, ITEMS);
	ck_assert_int_eq(items.source.err.status, end);
	batch_fini(&items.batch);
}

START_TEST(every_record_comes_out_once)
{
	for (size_t max = 1; max <= 64; max++) {
		check_batches(1, max, HATF_END);
		check_batches(max, 1, HATF_NO_TRAILER);
	}
}
END_TEST

/*
 * If every batch ends with a surplus, as a hostile file can arrange, memory
 * does not grow, and the surplus still has its bytes.
 */
START_TEST(a_surplus_in_each_batch_takes_bounded_memory)
{
	struct batch b = { 0 };
	struct source source = { 0 };
	struct hatf_record records[3];
	static char text[60000];
	unsigned first = 0;

	for (unsigned n = 1; n <= 1000; n++) {
		batch_begin(&b, records, 3);
		ck_assert_uint_eq(b.count, n == 1 ? 0 : 1);
		/* One more record than the batch has room for. */
		for (size_t i = b.max - b.count + 1; i-- > 0;) {
			memset(text, (int)(n % 128), sizeof(text));
			ck_assert(batch_comment(&b, text, sizeof(text), n));
		}
		ck_assert_uint_eq(batch_end(&b, &source), 3);
		for (size_t i = 0; i < 3; i++) {
			const unsigned from = i == 0 && n > 1 ? n - 1 : n;

			ck_assert_uint_eq(records[i].offset, from);
			ck_assert_uint_eq(records[i].attributes[59999],
					  from % 128);
		}
		if (n == 10)
			first = (unsigned)(b.memory[0].chunk_count +
					   b.memory[1].chunk_count);
	}
	ck_assert_uint_eq(b.memory[0].chunk_count + b.memory[1].chunk_count,
			  first);
	batch_fini(&b);
}
END_TEST

static size_t
add_realloc(struct hatf_record *out, uint64_t old_address, uint64_t address,
	    bool frees)
{
	const struct hatf_record rec = { .size = 40,
					 .old_address = old_address,
					 .address = address,
					 .thread = 3,
					 .heap = 4,
					 .time = 5,
					 .attributes = (const uint8_t *)"\1",
					 .attributes_nbytes = 1 };
	struct source source = { .line = 0 };
	struct batch b = { .count = 0 };
	size_t n;

	batch_begin(&b, out, 4);
	ck_assert(batch_realloc(&b, &rec, frees));
	n = batch_end(&b, &source);
	batch_fini(&b);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(out[i].thread, 3);
		ck_assert_uint_eq(out[i].heap, 4);
		ck_assert_uint_eq(out[i].time, 5);
		ck_assert_uint_eq(out[i].attributes_nbytes, i == 0);
	}
	return n;
}

START_TEST(a_realloc_announces)
{
	struct hatf_record out[4];

	ck_assert_uint_eq(add_realloc(out, 1, 2, false), 3);
	ck_assert_int_eq(out[0].tag, HATF_REALLOC_ALLOC_FREE);
	ck_assert_int_eq(out[1].tag, HATF_ALLOC);
	ck_assert_uint_eq(out[1].address, 2);
	ck_assert_uint_eq(out[1].size, 40);
	ck_assert_int_eq(out[2].tag, HATF_FREE);
	ck_assert_uint_eq(out[2].address, 1);
	ck_assert_uint_eq(out[2].size, 0);
	ck_assert_uint_eq(add_realloc(out, 1, 1, false), 1);
	ck_assert_int_eq(out[0].tag, HATF_REALLOC_NO_ALLOC);
	ck_assert_uint_eq(add_realloc(out, 0, 2, false), 2);
	ck_assert_int_eq(out[0].tag, HATF_REALLOC_ALLOC);
	ck_assert_uint_eq(add_realloc(out, 1, 0, false), 1);
	ck_assert_int_eq(out[0].tag, HATF_REALLOC_NO_ALLOC);
	ck_assert_uint_eq(add_realloc(out, 1, 0, true), 2);
	ck_assert_int_eq(out[0].tag, HATF_REALLOC_FREE);
	ck_assert_int_eq(out[1].tag, HATF_FREE);
	ck_assert_uint_eq(add_realloc(out, 0, 0, true), 1);
	ck_assert_int_eq(out[0].tag, HATF_REALLOC_NO_ALLOC);
}
END_TEST

/* A chunk has room for the longest attributes plus a stack. */
START_TEST(bytes_may_be_many)
{
	static uint8_t many[UINT16_MAX];
	struct hatf_record out[2];
	struct source source = { .line = 0 };
	struct batch b = { .count = 0 };

	memset(many, 7, sizeof(many));
	batch_begin(&b, out, 2);
	for (unsigned i = 0; i < 8; i++) {
		struct hatf_record *const rec = batch_add(&b, HATF_FREE);

		rec->attributes = many;
		rec->attributes_nbytes = sizeof(many);
		ck_assert(batch_stack(&b, rec, UINT64_MAX));
		ck_assert_uint_eq(rec->attributes_nbytes, sizeof(many) + 11);
		ck_assert_mem_eq(rec->attributes, many, sizeof(many));
	}
	ck_assert_uint_eq(batch_end(&b, &source), 2);
	batch_fini(&b);
}
END_TEST

START_TEST(definitions_come_as_comments)
{
	struct hatf_record out[8];
	struct source source = { .line = 0 };
	struct batch b = { .count = 0 };
	struct hatf_stacks *stacks;
	uint64_t id;

	ck_assert_int_eq(hatf_stacks_open(&stacks), HATF_OK);
	batch_begin(&b, out, 8);
	ck_assert_int_eq(
		hatf_stacks_add_frame(
			stacks, &(struct hatf_frame){ .function = "f" }, &id),
		HATF_OK);
	ck_assert_int_eq(hatf_stacks_add(stacks, 0, id, &id), HATF_OK);
	ck_assert(batch_define(&b, stacks, 77));
	ck_assert(batch_define(&b, stacks, 78));
	ck_assert_uint_eq(batch_end(&b, &source), 2);
	ck_assert_mem_eq(out[0].attributes, "HATF frame\n", 11);
	ck_assert_mem_eq(out[1].attributes, "HATF stack\n", 11);
	ck_assert_uint_eq(out[1].offset, 77);
	batch_fini(&b);
	hatf_stacks_close(stacks);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("batch");
	TCase *const tc = tcase_create("batch");

	tcase_add_test(tc, every_record_comes_out_once);
	tcase_add_test(tc, a_surplus_in_each_batch_takes_bounded_memory);
	tcase_add_test(tc, a_realloc_announces);
	tcase_add_test(tc, bytes_may_be_many);
	tcase_add_test(tc, definitions_come_as_comments);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

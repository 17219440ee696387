/* SPDX-License-Identifier: MIT */
/*
 * test_live_blocks.c - the table of live blocks agrees with a plain list
 *
 * The table has the same blocks as a plain list, with the same stacks, whatever
 * the program does, while it grows and shrinks.  After it is cleared, it is
 * empty.
 */
#include "preload/trace/live_blocks.h"

#include "tests/unit/support/checks.h"
#include <stdlib.h>

#define PLACES 30000u
#define STEPS  600000u

/* The list: the size at each address; 0: not live. */
static uint64_t size_at[PLACES];
static uint32_t thread_at[PLACES], stack_at[PLACES];

/* Of the next events. */
static uint32_t stack;

static uint64_t
address_of(unsigned place)
{
	/* Some are close together, and many differ in high bits only. */
	return 0x7f0000000010 + 16 * (uint64_t)(place % 1000) +
	       ((uint64_t)(place / 1000) << 32);
}

static uint64_t
next_random(void)
{
	static uint64_t seed = 88172645463325252;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void
tell(struct live_blocks *c, enum event_type type, unsigned flags,
     uint32_t thread, uint64_t op0, uint64_t op1, uint64_t op2)
{
	const struct order_producer producer = { .id = thread, .stack = stack };
	const struct event ev = { .type = type,
				  .flags = flags,
				  .operand = { op0, op1, op2 } };

	ck_assert(live_blocks_add_event(c, &producer, &ev));
}

static void
resize(struct live_blocks *c, unsigned from, unsigned to, uint64_t size,
       uint32_t thread)
{
	tell(c, EVENT_REALLOC_END, 0, thread, address_of(from), address_of(to),
	     size);
	if (from != to) {
		size_at[from] = 0;
		thread_at[to] = thread;
	}
	size_at[to] = size;
	stack_at[to] = stack;
}

/* Do a random operation; 'fill' of 16 are allocations. */
static void
step(struct live_blocks *c, unsigned fill)
{
	const uint64_t n = next_random();
	const unsigned place = (unsigned)(n % PLACES);
	const unsigned other = (unsigned)(n >> 20) % PLACES;
	const uint64_t size = 1 + (n >> 40) % 5000;
	const uint32_t thread = (uint32_t)(n >> 60);

	stack = (uint32_t)(n >> 42);
	if (size_at[place] == 0) {
		if ((n >> 56) % 16 >= fill)
			return;
		tell(c, EVENT_ALLOC, 0, thread, address_of(place), size, 0);
		size_at[place] = size;
		thread_at[place] = thread;
		stack_at[place] = stack;
	} else if (n >> 32 & 1) {
		tell(c, EVENT_FREE, 0, thread, address_of(place), 0, 0);
		size_at[place] = 0;
	} else if (n >> 33 & 1) {
		resize(c, place, place, size, thread);
	} else if (size_at[other] == 0) {
		resize(c, place, other, size, thread);
	} else {
		/* The realloc failed, or it freed the block. */
		const bool freed = n >> 34 & 1;

		tell(c, EVENT_REALLOC_END, freed ? EVENT_FLAG_FREED : 0, thread,
		     address_of(place), 0, size);
		if (freed)
			size_at[place] = 0;
	}
}

static void
compare(struct live_blocks *c)
{
	uint64_t used = 0, nbytes = 0, found = 0;

	ck_assert(live_blocks_apply_queue(c));
	for (unsigned i = 0; i < PLACES; i++) {
		used += size_at[i] != 0;
		nbytes += size_at[i];
	}
	ck_assert_uint_eq(c->used, used);
	ck_assert_uint_eq(c->nbytes, nbytes);
	for (uint64_t i = 0; i < c->slot_count; i++) {
		const struct live_block *const b = &c->slots[i];
		const uint64_t off = b->address - 0x7f0000000010;
		const uint64_t place =
			(off & 0xffffffff) / 16 + (off >> 32) * 1000;

		if (b->address == 0)
			continue;
		found++;
		if (place >= PLACES || size_at[place] != b->size ||
		    thread_at[place] != b->thread ||
		    (c->stacks != NULL &&
		     live_blocks_stack(c, i) != stack_at[place]) ||
		    (c->stacks == NULL && live_blocks_stack(c, i) != 0))
			ck_abort_msg("place %lu is wrong",
				     (unsigned long)place);
	}
	ck_assert_uint_eq(found, used);
}

START_TEST(it_holds_what_is_live)
{
	struct live_blocks c;

	/* Without stacks, and with. */
	ck_assert(live_blocks_init(&c, _i));
	for (unsigned i = 0; i < STEPS; i++) {
		/* The table fills, then empties. */
		step(&c, i / (STEPS / 6) % 2 == 0 ? 16 : 1);
		if (i % (STEPS / 60) == 0)
			compare(&c);
	}
	for (unsigned i = 0; i < PLACES; i++)
		if (size_at[i] != 0) {
			tell(&c, EVENT_FREE, 0, 0, address_of(i), 0, 0);
			size_at[i] = 0;
		}
	compare(&c);
	ck_assert_uint_eq(c.used, 0);
	/* Now few blocks are left. */
	for (unsigned i = 0; i < 1000; i++) {
		tell(&c, EVENT_ALLOC, 0, 0, 16, 1, 0);
		tell(&c, EVENT_FREE, 0, 0, 16, 0, 0);
	}
	ck_assert(live_blocks_apply_queue(&c));
	ck_assert_uint_le(c.slot_count, 4096);
	live_blocks_fini(&c);
	tell(&c, EVENT_ALLOC, 0, 0, 16, 1, 0);
	ck_assert_uint_eq(c.used, 0);
}
END_TEST

START_TEST(what_it_does_not_know_changes_nothing)
{
	struct live_blocks c;

	ck_assert(live_blocks_init(&c, false));
	tell(&c, EVENT_FREE, 0, 0, 0x1000, 0, 0);
	tell(&c, EVENT_ALLOC, 0, 0, 0, 100, 0); /* it failed */
	ck_assert(live_blocks_apply_queue(&c));
	ck_assert_uint_eq(c.used, 0);
	/* A block from before the trace, which becomes known by a realloc. */
	tell(&c, EVENT_REALLOC_END, 0, 0, 0x1000, 0x1000, 7);
	tell(&c, EVENT_REALLOC_END, 0, 0, 0x2000, 0x3000, 8);
	/* An address allocated twice, because a free was lost. */
	tell(&c, EVENT_ALLOC, 0, 0, 0x3000, 9, 0);
	ck_assert(live_blocks_apply_queue(&c));
	ck_assert_uint_eq(c.used, 2);
	ck_assert_uint_eq(c.nbytes, 16);
	live_blocks_fini(&c);
}
END_TEST

START_TEST(a_heap_takes_its_blocks_with_it)
{
	struct live_blocks c;

	ck_assert(live_blocks_init(&c, false));
	/*
	 * Many heaps one after the other, with the same addresses as malloc's.
	 */
	for (uint64_t heap = 1; heap <= 2000; heap++) {
		tell(&c, EVENT_CREATE_HEAP, 0, 0, heap, 0, 0);
		for (uint64_t i = 1; i <= 100; i++) {
			if (heap == 1)
				tell(&c, EVENT_ALLOC, 0, 0, 16 * i, 1000, 0);
			tell(&c, EVENT_HEAP_ALLOC, 0, 0, 16 * i, 10, heap);
		}
		tell(&c, EVENT_HEAP_FREE, 0, 0, 16, heap, 0);
		if (heap != 7 && heap != 1999)
			tell(&c, EVENT_DESTROY_HEAP, 0, 0, heap, 0, 0);
	}
	/* Destroyed heaps must not make the table grow. */
	ck_assert_uint_le(c.slot_count, 4096);
	ck_assert(live_blocks_apply_queue(&c));
	ck_assert_uint_eq(c.used, 100 + 2 * 99);
	ck_assert_uint_eq(c.nbytes, 100 * 1000 + 2 * 99 * 10);
	for (uint64_t i = 0; i < c.slot_count; i++)
		if (c.slots[i].address != 0)
			ck_assert(c.slots[i].heap == 0 ||
				  c.slots[i].heap == 7 ||
				  c.slots[i].heap == 1999);
	live_blocks_fini(&c);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("live_blocks");
	TCase *const tcase = tcase_create("live_blocks");
	SRunner *const runner = srunner_create(suite);

	tcase_add_loop_test(tcase, it_holds_what_is_live, 0, 2);
	tcase_add_test(tcase, a_heap_takes_its_blocks_with_it);
	tcase_add_test(tcase, what_it_does_not_know_changes_nothing);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* narrate_run.c - see narrate_run.h */

#include "hatf/rings/narrate_run.h"

#include "hatf/rings/narrate_stacks.h"

_Static_assert((unsigned)EVENT_KIND_ALLOC == (unsigned)HATF_ALLOC &&
		       (unsigned)EVENT_KIND_FREE == (unsigned)HATF_FREE,
	       "the kind of a one-word event must equal its tag");

bool
narrate_can_take_run(const struct narrator *n)
{
	return n->stacks == NULL ||
	       (!n->stacks->has_frees &&
		stack_column_takes_allocs(&n->stacks->column));
}

/*
 * Put the stack of an alloc into the column (stack_column.h).  Return false if
 * the trace has no definition of the stack.  '*defined' caches a stack that has
 * a definition.
 */
static inline bool
put_stack(struct narrate_stacks *s, uint64_t thread, uint32_t stack,
	  uint32_t *defined)
{
	if (stack != *defined) {
		if (!narrate_is_defined(s, stack))
			return false;
		*defined = stack;
	}
	stack_column_add_stack(&s->column, thread, stack);
	return true;
}

/*
 * Put plain records of the events in 'words'.  Stop before a word that is
 * neither an alloc nor a free, and before an event that encoder_run_put()
 * refuses.  Return how many words were put.  The loop works on a copy of '*run'
 * and calls only inline functions, so that the compiler keeps the members of
 * the copy in registers.
 */
static __attribute__((noinline)) size_t
put_words(struct encoder_run *run, const uint64_t *words, size_t count)
{
	struct encoder_run records = *run;
	size_t i;

	for (i = 0; i < count; i++) {
		const uint64_t word = words[i];
		const unsigned tag = word & EVENT_KIND_MASK;

		if (tag > HATF_FREE ||
		    !encoder_run_put(&records, tag, word >> EVENT_SIZE_SHIFT,
				     word & ~EVENT_ADDRESS_EXTRA_BITS))
			break;
	}
	*run = records;
	return i;
}

size_t
narrate_put_run(struct narrator *n, uint64_t thread, uint64_t time,
		struct order_run *run)
{
	const size_t room = encoder_span_left(&n->encoder);
	const size_t count = run->count < room ? run->count : room;
	struct encoder_run records;
	bool is_open = encoder_begin_run(&n->encoder, thread, time, &records);
	uint32_t defined = 0;
	size_t i = 0;

	for (; i < count; i++) {
		if (is_open && n->stacks == NULL) {
			const size_t taken =
				put_words(&records, &run->words[i], count - i);

			run->events_taken += taken;
			i += taken;
			if (i == count)
				break;
		}
		const uint64_t word = run->words[i];
		const unsigned tag = word & EVENT_KIND_MASK;
		const uint64_t size = word >> EVENT_SIZE_SHIFT;
		const uint64_t address = word & ~EVENT_ADDRESS_EXTRA_BITS;

		if (tag > HATF_FREE) {
			run->stack = event_stack_of(word);
			continue;
		}
		if (tag == HATF_ALLOC && n->stacks != NULL &&
		    !put_stack(n->stacks, thread, run->stack, &defined))
			break;
		run->events_taken++;
		if (is_open && encoder_run_put(&records, tag, size, address))
			continue;
		if (is_open)
			encoder_end_run(&n->encoder, &records);
		encoder_put_taken(&n->encoder, (uint8_t)tag, size, address,
				  thread, time);
		if (is_open)
			is_open = encoder_begin_run(&n->encoder, thread, time,
						    &records);
	}
	if (is_open)
		encoder_end_run(&n->encoder, &records);
	return i;
}

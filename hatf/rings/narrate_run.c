/* SPDX-License-Identifier: MIT */
/* narrate_run.c - see narrate_run.h */

#include "hatf/rings/narrate_run.h"

#include "hatf/rings/narrate_stacks.h"
#include "hatf/rings/narrate_time.h"

_Static_assert((unsigned)EVENT_KIND_ALLOC == (unsigned)HATF_ALLOC &&
		       (unsigned)EVENT_KIND_FREE == (unsigned)HATF_FREE,
	       "the kind of a one-word event must equal its tag");
_Static_assert((unsigned)EVENT_KIND_FREE_STAMPED -
			       (unsigned)EVENT_KIND_ALLOC_STAMPED ==
		       (unsigned)HATF_FREE,
	       "the kinds of two-word events must be in the order of the tags");

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
 * How to make a plain record of an alloc or a free as one big-endian number of
 * 8 bytes.  The first 'nbytes' bytes of the number are the record.
 */
struct short_form {
	uint64_t constant; /* the tag, and the bytes after the address */
	/*
	 * of a size in its stored form (layout_raw()): the upper limit, and the
	 * mask of the bits that the record holds; a free has no size
	 */
	uint64_t size_max, size_mask;
	uint32_t size_shift, address_shift;
	size_t nbytes; /* length of the record */
};

/*
 * Prepare the form of records with this tag.  Return false if such a record has
 * more than 8 bytes.
 */
static bool
begin_form(const struct encoder_run *run, unsigned tag, struct short_form *form)
{
	const bool has_size = tag == HATF_ALLOC;
	const size_t size_nbytes = has_size ? run->size.nbytes : 0;
	const size_t nbytes = 1 + size_nbytes + run->address.nbytes;
	uint8_t record[8] = { (uint8_t)tag };

	if (nbytes + run->tail_nbytes > sizeof(record))
		return false;
	memcpy(record + nbytes, &run->tail, run->tail_nbytes);
	form->constant = get_be64(record);
	form->size_max = has_size ? run->size.mask : UINT64_MAX;
	form->size_mask = (UINT64_C(1) << 8 * size_nbytes) - 1;
	form->size_shift = (uint32_t)(56 - 8 * size_nbytes);
	form->address_shift = (uint32_t)(64 - 8 * nbytes);
	form->nbytes = nbytes + run->tail_nbytes;
	return true;
}

/*
 * Like put_words(), for records that have at most 8 bytes.  'form' is indexed
 * by the tag.
 */
static __attribute__((noinline)) size_t
put_short_words(struct encoder_run *run, const struct short_form *form,
		const uint64_t *words, size_t count)
{
	const struct layout_field size = run->size, address = run->address;
	const uint64_t address_mask = (UINT64_C(1) << 8 * address.nbytes) - 1;
	const uint8_t *const end = run->end;
	uint8_t *next = run->next;
	uint64_t free_count = 0;
	size_t i;

	for (i = 0; i < count && next < end; i++) {
		const uint64_t word = words[i];
		const unsigned tag = word & EVENT_KIND_MASK;
		const struct short_form *const f = &form[tag & 1];
		const uint64_t raw_size =
			layout_raw(&size, word >> EVENT_SIZE_SHIFT);
		const uint64_t raw_address =
			layout_raw(&address, word & ~EVENT_ADDRESS_EXTRA_BITS);

		if (tag > HATF_FREE ||
		    raw_address + address.sign > address.mask ||
		    raw_size + size.sign > f->size_max)
			break;
		put_be64(next, f->constant |
				       (raw_size & f->size_mask)
					       << f->size_shift |
				       (raw_address & address_mask)
					       << f->address_shift);
		next += f->nbytes;
		free_count += tag;
	}
	run->next = next;
	run->count += i;
	run->free_count += free_count;
	return i;
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
	struct short_form form[2];
	size_t i;

	if (begin_form(run, HATF_ALLOC, &form[HATF_ALLOC]) &&
	    begin_form(run, HATF_FREE, &form[HATF_FREE]))
		return put_short_words(run, form, words, count);
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

size_t
narrate_put_stamped_run(struct narrator *n, uint64_t thread,
			struct order_run *run)
{
	const size_t room = encoder_span_left(&n->encoder);
	const size_t events = run->count / 2;
	const size_t count = events < room ? events : room;
	size_t i;

	if (n->stacks != NULL)
		return 0;
	for (i = 0; i < count; i++) {
		const uint64_t word = run->words[2 * i];
		const uint64_t stamp = run->words[2 * i + 1];

		if (stamp > n->timeline.stamp1)
			break;
		narrate_time_of(n, stamp);
		encoder_put_plain(&n->encoder,
				  (uint8_t)((word & EVENT_KIND_MASK) -
					    EVENT_KIND_ALLOC_STAMPED),
				  word >> EVENT_SIZE_SHIFT,
				  word & ~EVENT_ADDRESS_EXTRA_BITS, thread,
				  n->time);
	}
	run->events_taken = i;
	n->event_count += i;
	return 2 * i;
}

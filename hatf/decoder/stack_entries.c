/* SPDX-License-Identifier: MIT */
/*
 * stack_entries.c - see stack_entries.h and FORMAT "Columns of stacks"
 *
 * stack_entries_begin() checks the whole column, so take_entry() need not check
 * the entries again.
 */
#include "hatf/decoder/stack_entries.h"

#include "hatf/codec/hatf_record.h"

#define KIND_NBYTES (sizeof(STACK_COLUMN_KIND) - 1)

bool
stack_entries_is_column(const struct hatf_record *comment)
{
	return hatf_record_comment_starts(comment, STACK_COLUMN_KIND);
}

/*
 * Read a number of at most 5 bytes; return false if it is malformed or not
 * below 2^32.
 */
static bool
get_checked(struct stack_entries *s, uint32_t *n_ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 35 && s->next != s->end; shift += 7) {
		const uint8_t byte = s->text[s->next++];

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*n_ret = (uint32_t)n;
			return n <= UINT32_MAX;
		}
	}
	return false;
}

/* Read a number that get_checked() accepted before. */
static uint32_t
get(struct stack_entries *s)
{
	uint32_t n = 0;

	(void)get_checked(s, &n);
	return n;
}

/* Return 'from' plus the difference 'n', whose lowest bit is the sign. */
static uint32_t
add_difference(uint32_t from, uint32_t n)
{
	return from + ((n & 1) != 0 ? ~(n >> 1) : n >> 1);
}

/*
 * Are the remaining bytes a valid column: a run (how many values are as
 * predicted), and then any number of pairs of an entry and a run?
 */
static bool
are_entries(struct stack_entries *s)
{
	uint32_t n, literal = 0, stored_count = 0;

	for (;;) {
		if (!get_checked(s, &n))
			return false;
		if (s->next == s->end)
			return true;
		if (!get_checked(s, &n))
			return false;
		if (n == STACK_LITERAL) {
			if (!get_checked(s, &n))
				return false;
			literal = add_difference(literal, n);
			if (literal == 0)
				return false;
			stored_count++;
		} else if (n >= STACK_STORED &&
			   n - STACK_STORED >= stored_count) {
			return false;
		}
	}
}

bool
stack_entries_begin(struct stack_entries *s, const struct hatf_record *comment)
{
	const size_t nbytes = comment->attributes_nbytes;

	s->is_active = false;
	if (nbytes <= KIND_NBYTES || comment->attributes[KIND_NBYTES] > 1)
		return false;
	memcpy(s->text, comment->attributes, nbytes);
	s->next = KIND_NBYTES + 1;
	s->end = nbytes;
	if (!are_entries(s))
		return false;
	s->next = KIND_NBYTES + 1;
	s->stored_count = 0;
	s->run = get(s);
	s->is_active = true;
	stack_model_init(&s->model, s->text[KIND_NBYTES] != 0);
	return true;
}

/*
 * Take an entry, and the run after it, which says how many of the next values
 * are as predicted.  Return the value of the entry.
 */
static uint32_t
take_entry(struct stack_entries *s)
{
	const uint32_t code = get(s);
	uint32_t id = 0;

	if (code >= STACK_STORED) {
		id = s->stored[code - STACK_STORED];
	} else if (code == STACK_LITERAL) {
		id = add_difference(s->model.literal, get(s));
		s->model.literal = id;
		s->stored[s->stored_count++] = id;
	}
	s->run = get(s);
	return id;
}

uint32_t
stack_entries_next(struct stack_entries *s, const struct hatf_record *rec)
{
	uint32_t id;

	if (!stack_model_has_entry(&s->model, rec))
		return 0;
	if (s->run == 0 && s->next == s->end) {
		s->is_active = false;
		return 0;
	}

	const struct stack_model_place place =
		stack_model_find(&s->model, rec->thread);

	if (s->run != 0) {
		s->run--;
		id = stack_model_predict(&place);
	} else {
		id = take_entry(s);
	}
	stack_model_note(&place, id);
	return id;
}

size_t
stack_entries_append(struct hatf_record *rec, uint32_t stack, uint8_t *buf)
{
	size_t nbytes = rec->attributes_nbytes;

	if (nbytes > UINT16_MAX - STACK_ENTRIES_ITEM_NBYTES)
		return 0;
	if (nbytes != 0)
		memcpy(buf, rec->attributes, nbytes);
	buf[nbytes++] = HATF_ATTR_STACK;
	for (; stack >= 0x80; stack >>= 7)
		buf[nbytes++] = (uint8_t)(stack | 0x80);
	buf[nbytes++] = (uint8_t)stack;
	rec->attributes = buf;
	rec->attributes_nbytes = (uint32_t)nbytes;
	return nbytes;
}

/* SPDX-License-Identifier: MIT */
/* gperftools_events.c - see gperftools.h */
#include "hatf/formats/foreign/gperftools.h"

#include <string.h>

#include "hatf/codec/bytes.h"

/* Sizes are in words of 8 bytes, and 2^61 words fill the address space. */
#define WORDS_LIMIT ((uint64_t)1 << 61)

/*
 * The type of an event is in the low 3 bits of its first number.  If these bits
 * are all set, the type is in the low 8 bits.
 */
#define TYPE_BITS	   3
#define TYPE_MASK	   7
#define TYPE_EXTENDED	   7
#define TYPE_EXTENDED_BITS 8

/*
 * The number of trailing zero bits of the first byte is the number of bytes
 * that follow it.  The encoded number is in the bits above the lowest set bit.
 * If the first byte is 0, the encoded number is in the eight bytes that follow.
 */
bool
gperftools_take_number(const uint8_t **next, const uint8_t *end,
		       uint64_t *n_ret)
{
	const uint8_t *const p = *next;
	uint8_t bytes[8] = { 0 };
	unsigned nbytes, skip;

	if (p == end)
		return false;
	skip = p[0] == 0;
	nbytes = skip ? 8 : 1 + (unsigned)__builtin_ctz(p[0]);
	if (nbytes + skip > (size_t)(end - p))
		return false;
	if (end - p >= GPERFTOOLS_NUMBER_MAX)
		*n_ret = get_le64(p + skip) << (64 - 8 * nbytes) >>
			 (64 - 8 * nbytes);
	else
		*n_ret = get_le64(memcpy(bytes, p + skip, nbytes));
	if (!skip)
		*n_ret >>= nbytes;
	*next = p + nbytes + skip;
	return true;
}

/* Decode a difference: 0, 1, 2, 3 stand for 0, -1, 1, -2, and so on. */
static uint64_t
zigzag_decode(uint64_t n)
{
	return n >> 1 ^ (0 - (n & 1));
}

enum gperftools_type
gperftools_type_of(uint64_t first)
{
	return (first & TYPE_MASK) == TYPE_EXTENDED ? first & 0xff
						    : first & TYPE_MASK;
}

uint64_t
gperftools_argument_of(uint64_t first)
{
	return first >> ((first & TYPE_MASK) == TYPE_EXTENDED
				 ? TYPE_EXTENDED_BITS
				 : TYPE_BITS);
}

static const char *
take_size(struct gperftools_thread *t, uint64_t difference)
{
	t->words += zigzag_decode(difference);
	if (t->words >= WORDS_LIMIT)
		return "size";
	t->event.nbytes = t->words << 3;
	return NULL;
}

static const char *
take_new_token(struct gperftools_thread *t)
{
	/* The block gets the address token + 1, which must not overflow. */
	if (t->next_token == UINT64_MAX)
		return "token";
	t->event.new_token = t->next_token++;
	return NULL;
}

static const char *
take_old_token(struct gperftools_thread *t, uint64_t difference)
{
	t->token += zigzag_decode(difference);
	t->event.token = t->token;
	return t->token == UINT64_MAX ? "token" : NULL;
}

const char *
gperftools_decode(struct gperftools_thread *t, const uint8_t *end,
		  bool *is_event_ret)
{
	struct gperftools_event *const e = &t->event;
	uint64_t first, second = 0;
	const char *fault = NULL;

	if (!gperftools_take_number(&t->next, end, &first))
		return "event";
	e->type = gperftools_type_of(first);
	if ((e->type == GPERFTOOLS_TOKENS || e->type == GPERFTOOLS_REALLOC ||
	     e->type == GPERFTOOLS_MEMALIGN) &&
	    !gperftools_take_number(&t->next, end, &second))
		return "event";
	first = gperftools_argument_of(first);
	*is_event_ret = true;
	switch (e->type) {
	case GPERFTOOLS_TOKENS:
		t->time = second & ~GPERFTOOLS_CPU_MASK;
		t->next_token = first;
		*is_event_ret = false;
		return NULL;
	case GPERFTOOLS_FREE:
	case GPERFTOOLS_FREE_SIZED:
		return take_old_token(t, first);
	case GPERFTOOLS_REALLOC:
		fault = take_old_token(t, second);
		break;
	case GPERFTOOLS_MALLOC:
		break;
	case GPERFTOOLS_MEMALIGN:
		e->alignment = second;
		break;
	default:
		return "type";
	}
	if (fault == NULL)
		fault = take_size(t, first);
	return fault != NULL ? fault : take_new_token(t);
}

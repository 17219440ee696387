/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_fields.c - see heaptrack_fields.h
 */
#include "hatf/formats/heaptrack/heaptrack_fields.h"

#include <string.h>

bool
heaptrack_take_number(struct heaptrack_fields *f, uint64_t *n_ret)
{
	const uint8_t *p = f->next;
	uint64_t n = 0;

	for (; p != f->end && *p != ' '; p++) {
		unsigned digit = *p - (unsigned)'0';

		if (digit > 9)
			digit = *p - (unsigned)'a' + 10;
		if (digit > 15 || (digit > 9 && *p < 'a') || n >> 60 != 0)
			return false;
		n = n << 4 | digit;
	}
	if (p == f->next)
		return false;
	f->next = p == f->end ? p : p + 1;
	*n_ret = n;
	return true;
}

bool
heaptrack_take_string(struct heaptrack_fields *f, bool has_length, bool rest,
		      struct heaptrack_fields *string_ret)
{
	uint64_t nbytes = (uint64_t)(f->end - f->next);

	if (has_length) {
		/* A blank follows the length, unless the string is empty. */
		if (!heaptrack_take_number(f, &nbytes) ||
		    nbytes > (uint64_t)(f->end - f->next))
			return false;
	} else if (!rest && nbytes != 0) {
		const uint8_t *const blank = memchr(f->next, ' ', nbytes);

		if (blank != NULL)
			nbytes = (uint64_t)(blank - f->next);
	}
	string_ret->next = f->next;
	string_ret->end = f->next + nbytes;
	f->next = string_ret->end;
	/* Refuse a NUL: the string may become a name, which a NUL would end. */
	if (nbytes != 0 && memchr(string_ret->next, '\0', nbytes) != NULL)
		return false;
	return f->next == f->end || *f->next++ == ' ';
}

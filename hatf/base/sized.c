/* SPDX-License-Identifier: MIT */
/* sized.c - see sized.h */
#include "hatf/base/sized.h"

#include <stdint.h>
#include <string.h>

/*
 * Return the size that the caller has set in its struct; 0 if this size is
 * impossible for any struct.
 */
static size_t
size_of(const void *given)
{
	size_t nbytes;

	memcpy(&nbytes, given, sizeof(nbytes));
	return nbytes < sizeof(nbytes) || nbytes > SIZED_MAX ? 0 : nbytes;
}

static bool
is_zero(const uint8_t *next, const uint8_t *end)
{
	while (next < end && *next == 0)
		next++;
	return next >= end;
}

bool
sized_take(void *own, size_t own_nbytes, const void *given)
{
	const uint8_t *const bytes = given;
	size_t nbytes = own_nbytes;

	memset(own, 0, own_nbytes);
	if (given != NULL) {
		nbytes = size_of(given);
		if (nbytes == 0)
			return false;
		if (nbytes > own_nbytes &&
		    !is_zero(bytes + own_nbytes, bytes + nbytes))
			return false;
		memcpy(own, given, nbytes < own_nbytes ? nbytes : own_nbytes);
	}
	memcpy(own, &own_nbytes, sizeof(own_nbytes));
	return true;
}

void
sized_give(void *given, const void *own, size_t own_nbytes)
{
	const size_t nbytes = size_of(given), head = sizeof(size_t);
	const size_t known = nbytes < own_nbytes ? nbytes : own_nbytes;
	uint8_t *const bytes = given;

	if (nbytes == 0)
		return;
	memcpy(bytes + head, (const uint8_t *)own + head, known - head);
	memset(bytes + known, 0, nbytes - known);
}

/* SPDX-License-Identifier: MIT */
/* ours.h - the formats that keep everything that a HATF trace can have */
#ifndef TESTS_OURS_H
#define TESTS_OURS_H

#include "hatf/hatf.h"

/* Return the n-th of them, from 0; NULL if there are fewer. */
static inline const char *
ours_format(unsigned idx)
{
	struct hatf_format f = { .struct_nbytes = sizeof(f) };

	for (unsigned i = 0; hatf_format_get(i, &f); i++)
		if (!f.foreign && f.reads && f.writes && idx-- == 0)
			return f.name;
	return NULL;
}

#endif /* TESTS_OURS_H */

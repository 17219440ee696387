/* SPDX-License-Identifier: MIT */
/* wrapper_hint.c - see wrapper_hint.h */
#include "tools/show/wrapper_hint.h"

#include <stdlib.h>

static uint64_t
nbytes_of(const struct wrapper_hint *h, uint32_t site)
{
	return groups_amount(h->sites->census, &h->sites->rows[site].sum,
			     h->key)
		.nbytes;
}

void
wrapper_hint_print(struct out *o, const struct wrapper_hint *h)
{
	struct main_caller caller = { NULL, true };
	char glob[CALLERS_GLOB_NBYTES];
	uint64_t sum = 0;
	uint32_t n, i;

	for (n = 0; n < h->count && n < 2 && sum <= h->nbytes / 2; n++)
		sum += nbytes_of(h, h->order[n]);
	if (sum <= h->nbytes / 2)
		return;
	for (i = 0; i < n && caller.name == NULL; i++)
		if (!callers_find(h->callers, h->order[i], h->key, &caller))
			return;
	if (caller.name == NULL)
		return;
	free(caller.name);
	if (callers_glob(h->callers, h->order[i - 1], glob))
		out_printf(o,
			   "  to list callers instead of this function: "
			   "--wrapper '%s'\n",
			   glob);
	else
		out_str(o, "  to list callers instead: --wrapper GLOB\n");
}

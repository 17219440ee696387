/* SPDX-License-Identifier: MIT */
/* account.c - see account.h */
#include "tools/summary/account.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct account) == 128,
	       "an account fills two cache lines");

void
account_sum(struct account *a, const struct account *b, uint64_t epoch)
{
	const struct amount at_peak = account_at_peak(b, epoch);

	a->saved = account_at_peak(a, epoch);
	a->epoch = epoch;
	amount_sum(&a->saved, &at_peak);
	amount_sum(&a->live, &b->live);
	amount_sum(&a->allocated, &b->allocated);
	amount_sum(&a->freed, &b->freed);
	amount_sum(&a->temporary, &b->temporary);
	amount_sum(&a->moved, &b->moved);
	a->in_place += b->in_place;
	a->lifetime_events += b->lifetime_events;
	a->lifetime_time += b->lifetime_time;
}

void
account_restart(struct account *t)
{
	*t = (struct account){ .live = t->live };
}

bool
account_list_reach(struct account_list *list, uint32_t row)
{
	uint32_t cap = list->cap == 0 ? 32 : list->cap;
	struct account *rows;

	if (row >= list->cap) {
		while (cap <= row)
			cap *= 2;
		rows = aligned_alloc(64, cap * sizeof(*rows));
		if (rows == NULL)
			return false;
		if (list->count != 0)
			memcpy(rows, list->rows, list->count * sizeof(*rows));
		free(list->rows);
		list->rows = rows;
		list->cap = cap;
	}
	while (list->count <= row)
		list->rows[list->count++] = (struct account){ 0 };
	return true;
}

void
account_list_free(struct account_list *list)
{
	free(list->rows);
	*list = (struct account_list){ 0 };
}

/* SPDX-License-Identifier: MIT */
/* pairs.c - see pairs.h */
#include "tools/summary/pairs.h"

#include <stdlib.h>

/* Add a row for a new pair.  Return false if there is no memory. */
static bool
add_pair(struct pairs *p, uint64_t key)
{
	const uint32_t row = p->ids.count;

	if (row == p->cap) {
		const uint32_t cap = p->cap == 0 ? 64 : 2 * p->cap;
		struct pair *const rows = realloc(p->rows, cap * sizeof(*rows));

		if (rows == NULL)
			return false;
		p->rows = rows;
		p->cap = cap;
	}
	p->rows[row] = (struct pair){ (uint32_t)(key >> 32), (uint32_t)key };
	return account_list_reach(&p->accounts, row) &&
	       id_rows_add(&p->ids, key) != ID_ROWS_NONE;
}

struct account *
pairs_account(struct pairs *p, uint32_t thread, uint32_t stack)
{
	uint64_t key = (uint64_t)thread << 32 | stack;
	uint32_t row = id_rows_find(&p->ids, key);

	if (row == ID_ROWS_NONE && p->ids.count >= PAIRS_MAX) {
		key = (uint64_t)thread << 32 | PAIRS_OTHERS;
		row = id_rows_find(&p->ids, key);
	}
	if (row != ID_ROWS_NONE)
		return &p->accounts.rows[row];
	if (p->no_memory || !add_pair(p, key)) {
		p->no_memory = true;
		return NULL;
	}
	return &p->accounts.rows[p->ids.count - 1];
}

void
pairs_restart(struct pairs *p)
{
	for (uint32_t i = 0; i < p->accounts.count; i++)
		account_restart(&p->accounts.rows[i]);
}

void
pairs_free(struct pairs *p)
{
	id_rows_free(&p->ids);
	free(p->rows);
	account_list_free(&p->accounts);
}
